"""The parser on every construct of the language, by hand and with the answers written out."""

import math
import textwrap

import pytest

from warpwatt.core.errors import ParseError
from warpwatt.core.program import Address, Guard, Immediate, Register, Symbol, Vector
from warpwatt.isa.ptx import entries, parse
from warpwatt.isa.ptx.constants import evaluate
from warpwatt.isa.ptx.syntax import (
    Bracket,
    Directive,
    File,
    Function,
    Group,
    Instruction,
    Label,
    Location,
    Pair,
    Prototype,
    ScopeClose,
    ScopeOpen,
    Section,
    SymbolOffset,
    Targets,
    Variable,
)

HEADER = ".version 9.0\n.target sm_90a, debug\n.address_size 64\n"


def body(text: str) -> list:
    """Statements of a kernel whose body is ``text``."""
    (function,) = parse(HEADER + ".entry k() {\n" + text + "\n}").functions
    return list(function.body)


def operands(text: str, declarations: str = "") -> tuple:
    """Operands of the one instruction in ``text``."""
    (found,) = [s for s in body(declarations + text) if isinstance(s, Instruction)]
    return found.operands


def only(text: str):
    """The one item behind the header."""
    (found,) = parse(HEADER + text).items[3:]
    return found


def test_header():
    module = parse(HEADER, "a.ptx")
    assert (module.version, module.target, module.file) == ("9.0", "sm_90a", "a.ptx")
    assert module.words(".target") == ("sm_90a", "debug")
    assert parse(".address_size 32").words(".address_size") == ("32",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            ".const .align 4 .b8 coef[64];",
            Variable("coef", "const", "b8", align=4, dimensions=(64,)),
        ),
        (
            ".extern .shared .align 16 .b8 dyn[];",
            Variable("dyn", "shared", "b8", align=16, dimensions=(None,), linkage=(".extern",)),
        ),
        (
            ".visible .global .v4 .f32 v = {0f3F800000, 1.0, 2, -3};",
            Variable(
                "v",
                "global",
                "f32",
                vector=4,
                linkage=(".visible",),
                initialiser="{0f3F800000, 1.0, 2, -3}",
            ),
        ),
        (
            ".weak .global .u64 table[2][2] = {{f, g+8}, {generic(x), 0xFF(y)}};",
            Variable(
                "table",
                "global",
                "u64",
                dimensions=(2, 2),
                linkage=(".weak",),
                initialiser="{{f, g+8}, {generic(x), 0xFF(y)}}",
            ),
        ),
        (
            ".global .attribute(.managed) .s32 m;",
            Variable("m", "global", "s32", attributes=(".attribute(.managed)",)),
        ),
        (".global .texref t;", Variable("t", "global", "texref")),
        (".tex .u32 old;", Variable("old", "tex", "u32")),
        (".const[2] .f32 banked;", Variable("banked", "const[2]", "f32")),
        (".common .global .u32 c;", Variable("c", "global", "u32", linkage=(".common",))),
        (
            ".global .samplerref s = { filter_mode = nearest };",
            Variable("s", "global", "samplerref", initialiser="{ filter_mode = nearest }"),
        ),
        ('.pragma "nounroll";', Directive(".pragma", ('"nounroll"',))),
        (".alias f, g;", Directive(".alias", ("f", "g"))),
        ('.file 1 "a b.cu", 12, 34', File(1, "a b.cu", (12, 34))),
        (
            ".section .debug_str { \n a: .b8 1,2\n\n .b32 a+4 }",
            Section(".debug_str", ("a: .b8 1,2", ".b32 a+4")),
        ),
    ],
)
def test_module_items(text, expected):
    assert only(text) == expected


def test_one_declaration_of_several_names_is_several_variables():
    items = parse(".global .u32 a, b = 3, c[2];").items
    assert [(v.name, v.initialiser, v.dimensions) for v in items] == [
        ("a", "", ()),
        ("b", "3", ()),
        ("c", "", (2,)),
    ]


def test_functions():
    text = """
    .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
    .visible .func .attribute(.unified(1, 2)) none .noreturn;
    .weak .entry k(
        .param .u64 .ptr .global .align 16 p,
        .param .align 8 .b8 s[24]
    )
    .maxntid 128, 2, 1
    .minnctapersm 2 .maxnreg 64
    .reqnctapercluster 2, 1, 1
    .explicitcluster
    .pragma "abi";
    { ret; }
    """
    vprintf, none, kernel = parse(HEADER + text).functions
    assert vprintf.body is None
    assert [p.name for p in vprintf.parameters] == ["a", "b"]
    assert vprintf.returns == (Variable("r", "param", "b32"),)
    assert none == Function(
        "func",
        "none",
        linkage=(".visible",),
        attributes=(".attribute(.unified(1,2))",),
        directives=(Directive(".noreturn"),),
    )
    assert kernel.is_entry
    assert kernel.parameters == (
        Variable("p", "param", "u64", pointer=(".global", ".align", "16")),
        Variable("s", "param", "b8", align=8, dimensions=(24,)),
    )
    assert kernel.directives == (
        Directive(".maxntid", ("128", "2", "1")),
        Directive(".minnctapersm", ("2",)),
        Directive(".maxnreg", ("64",)),
        Directive(".reqnctapercluster", ("2", "1", "1")),
        Directive(".explicitcluster"),
        Directive(".pragma", ('"abi"',)),
    )
    assert list(kernel.body) == [Instruction("ret")]


def test_entries_are_kernels_with_a_body():
    assert entries(parse(HEADER + ".entry a(); .entry b(){ret;} .func c(){ret;} .entry a(){ret;}")) == (
        "b",
        "a",
    )


def test_statements():
    text = """
    .reg .pred p, %q<3>;
    .loc 1 8 44
    .loc 2 107 3, function_name $L__info_string0 + 4, inlined_at 1 15 3
    { // callseq 0
        /* two
           lines */ .param .b32 param0;
    }
    $L_1: @!%q1 bra.uni $L_1;
    @p exit;
    ts: .branchtargets $L_1, L2;
    L2:
    proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _) .noreturn;
    .pragma "nounroll";
    """
    assert body(text) == [
        Variable("p", "reg", "pred"),
        Variable("%q", "reg", "pred", count=3),
        Location(1, 8, 44),
        Location(2, 107, 3, "$L__info_string0", 4, (1, 15, 3)),
        ScopeOpen(),
        Variable("param0", "param", "b32"),
        ScopeClose(),
        Label("$L_1"),
        Instruction("bra.uni", (Symbol("$L_1"),), Guard("%q1", negated=True)),
        Instruction("exit", (), Guard("p")),
        Label("ts"),
        Targets(".branchtargets", ("$L_1", "L2")),
        Label("L2"),
        Label("proto"),
        Prototype(
            (Variable("_", "param", "b32"),),
            "_",
            (Variable("_", "param", "b64"), Variable("_", "param", "b64")),
            (Directive(".noreturn"),),
        ),
        Directive(".pragma", ('"nounroll"',)),
    ]


R = Register


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add.s32 %r1, %r2, -7;", (R("%r1"), R("%r2"), Immediate(-7, "-7"))),
        ("mov.u32 %r1, %tid.x;", (R("%r1"), R("%tid.x"))),
        ("mov.f32 %f1, 0fBF800000;", (R("%f1"), Immediate(-1.0, "0fBF800000"))),
        ("mov.f64 %d, 0d3FE0000000000000;", (R("%d"), Immediate(0.5, "0d3FE0000000000000"))),
        ("mov.u32 %r1, 0xFFU;", (R("%r1"), Immediate(255, "0xFFU"))),
        ("mov.u32 %r1, 0b101;", (R("%r1"), Immediate(5, "0b101"))),
        ("mov.u32 %r1, 017;", (R("%r1"), Immediate(15, "017"))),
        ("mov.u32 %r1, WARP_SZ;", (R("%r1"), Immediate(32, "WARP_SZ"))),
        ("mov.u32 %r1, (2+3)*4;", (R("%r1"), Immediate(20, "(2+3)*4"))),
        ("mov.u64 %r1, var;", (R("%r1"), Symbol("var"))),
        ("mov.u64 %r1, var+4*2;", (R("%r1"), SymbolOffset("var", 8))),
        ("ld.u32 %r1, [%rd1];", (R("%r1"), Address(R("%rd1")))),
        ("ld.u32 %r1, [%rd1+-8];", (R("%r1"), Address(R("%rd1"), -8))),
        ("ld.u32 %r1, [ %rd1 - 8 ];", (R("%r1"), Address(R("%rd1"), -8))),
        ("ld.u32 %r1, [var+0x10];", (R("%r1"), Address(Symbol("var"), 16))),
        ("ld.u32 %r1, [4096];", (R("%r1"), Address(None, 4096))),
        (
            "st.v2.f32 [var], {%f1, 0f00000000};",
            (Address(Symbol("var")), Vector((R("%f1"), Immediate(0.0, "0f00000000")))),
        ),
        ("mov.b64 {%r1,_}, %rd1;", (Vector((R("%r1"), R("_"))), R("%rd1"))),
        (
            "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;",
            (Pair(R("%p1"), R("%p2")), R("%r1"), R("%r2"), R("%p3", True)),
        ),
        (
            "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;",
            (Pair(R("%r1"), R("%p1")), R("%r2"), Immediate(1, "1"), Immediate(31, "31"), Immediate(-1, "-1")),
        ),
        (
            "tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t, {%r1,%r2}];",
            (
                Vector((R("%f1"), R("%f2"), R("%f3"), R("%f4"))),
                Bracket((Symbol("t"), Vector((R("%r1"), R("%r2"))))),
            ),
        ),
        (
            "tex.1d.v4.f32.s32 {%f1,_,_,_}, [%rd1, s, {%r1}];",
            (
                Vector((R("%f1"), R("_"), R("_"), R("_"))),
                Bracket((R("%rd1"), Symbol("s"), Vector((R("%r1"),)))),
            ),
        ),
        ("call f;", (Symbol("f"),)),
        (
            "call.uni (r0), f, (p0, 4), proto;",
            (Group((Symbol("r0"),)), Symbol("f"), Group((Symbol("p0"), Immediate(4, "4"))), Symbol("proto")),
        ),
        (
            "call (a, b), %rd1, (), table;",
            (Group((Symbol("a"), Symbol("b"))), R("%rd1"), Group(()), Symbol("table")),
        ),
        ("vadd.s32.u32.s32 %r1, %r2.b0, %r3.h1, %r4;", (R("%r1"), R("%r2.b0"), R("%r3.h1"), R("%r4"))),
        ("ret;", ()),
        ("bar.sync 0 ;", (Immediate(0, "0"),)),
        ("wgmma.wait_group.sync.aligned 0;", (Immediate(0, "0"),)),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile [%r1], [%rd1, {%r2, %r3}], [%r4];",
            (Address(R("%r1")), Bracket((R("%rd1"), Vector((R("%r2"), R("%r3"))))), Address(R("%r4"))),
        ),
    ],
)
def test_operands(text, expected):
    assert operands(text) == expected


def test_plain_names_are_registers_where_they_are_declared():
    declared = ".reg .u32 x; .reg .u32 r<4>;"
    assert operands("add.u32 x, r3, y;", declared) == (R("x"), R("r3"), Symbol("y"))
    inner, outer = [
        s for s in body("{ .reg .u32 x; neg.s32 x, x; } neg.s32 x, x;") if isinstance(s, Instruction)
    ]
    assert inner.operands == (R("x"), R("x"))
    assert outer.operands == (Symbol("x"), Symbol("x"))


def test_opcodes_with_colons():
    (found,) = body(
        "tcgen05.ld.red.spcompress.sync.aligned.32x32b.x4.max.sp::2:4.f32.b2 {%r1}, {%f1}, [%r2];"
    )
    assert found.opcode.endswith("sp::2:4.f32.b2")
    assert body("foo:bar;")[0] == Label("foo")


def test_nan_literals_compare_equal():
    one, two = operands("mov.f32 %f1, 0f7FC00000;"), operands("mov.f32 %f1, 0f7FC00000;")
    assert math.isnan(one[1].value)
    assert one == two


def test_comments_do_not_join_words_or_hide_strings():
    text = '.file 1 "http://x/*y*/" // "\nadd.s32 %r1,/* a */%r2, // b\n 3;'
    file, add = body(text)
    assert file.path == "http://x/*y*/"
    assert add.operands[2].value == 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("1 << 3 | 1", 9),
        ("~0", -1),
        ("!3", 0),
        ("2 > 1 ? 5 : 6", 5),
        ("(.u64) -1", 2**64 - 1),
        ("(.s64) 0xFFFFFFFFFFFFFFFF", -1),
        ("5 == 5 && 0", 0),
        ("1.5 * 2", 3.0),
        ("1 << 1000000", 1 << (1000000 & 63)),
    ],
)
def test_constant_expressions(text, value):
    assert evaluate(text) == value


@pytest.mark.parametrize(
    "text", ["", "1 +", "1 / 0", "(1", "1 ? 2", "9" * 5000, "0x" + "F" * 17, "2.5 << 1", "a", "0f12"]
)
def test_expressions_that_are_none(text):
    with pytest.raises(ValueError, match=r".*"):
        evaluate(text)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("\n\n.bogus 3;", 3, "unknown directive '.bogus'"),
        ("hello", 1, "expected a directive"),
        ("\n.entry k() { ret;", 2, "function without an end"),
        (".entry k() {\n\n  add.s32 %r1 %r2;\n}", 3, "operands of add.s32"),
        (".entry k() {\n  add.s32 %r1,, %r2;\n}", 2, "operand is missing"),
        (".entry k() {\n  ld.u32 %r1, [a;\n}", 2, "operands of ld.u32"),
        (".entry k() {\n  ret;\n  ?;\n}", 3, "not a statement"),
        (".entry k() {\n  .loc 1 2 3, inlined_at 4;\n}", 2, "malformed .loc"),
        (".entry k() {\n  .reg .b32;\n}", 2, "expected a name"),
        ('.file 1 "x', 1, "string without an end"),
        ("\n/* x", 2, "comment without an end"),
        (".global .u32 x[", 1, "expected a whole number"),
        (".global .u32 x = {1, 2;", 1, "initialiser without an end"),
        (".section .debug_x { 1", 1, "section without an end"),
        (".version", 1, "expected the value of .version"),
        ("\x7fELF\x00\x01", 1, "expected a directive"),
    ],
)
def test_errors_name_file_line_and_hint(text, line, says):
    with pytest.raises(ParseError, match=says) as caught:
        [list(f.body) for f in parse(text, "bad.ptx").functions if f.body is not None]
    assert (caught.value.file, caught.value.line) == ("bad.ptx", line)
    assert caught.value.hint


def test_bodies_know_their_lines_behind_other_functions():
    text = textwrap.dedent("""\
        .func f()
        { ret; }
        .func g() // a
        {
            ret;
            frob frob frob;
        }
        """)
    _, g = parse(text).functions
    with pytest.raises(ParseError) as caught:
        list(g.body)
    assert caught.value.line == 6
