"""Lowering: data flow, names, labels, lines, calls, variables; each answer written out by hand."""

import struct

import pytest

from warpwatt.core.errors import KernelSelectionError, ParseError
from warpwatt.core.program import (
    Access,
    Address,
    Flow,
    Guard,
    Immediate,
    Level,
    MemoryAccess,
    Parameter,
    Register,
    SourceLine,
    Space,
    Symbol,
    Variable,
    Vector,
)
from warpwatt.isa.ptx import lower, parse

HEADER = '.version 9.0 .target sm_90, debug .address_size 64 .file 1 "a.cu" .file 2 "b.h" .file 3 "c.h"\n'


def program(body: str, before: str = "", parameters: str = ""):
    return lower(parse(f"{HEADER}{before} .visible .entry k({parameters}) {{ {body} }}", "k.ptx"), "k")


@pytest.mark.parametrize(
    ("text", "writes", "reads"),
    [
        ("add.s32 %r1, %r2, %r3;", ("%r1",), ("%r2", "%r3")),
        ("add.s32 %r1, %r1, %r1;", ("%r1",), ("%r1",)),
        ("mov.u32 %r1, %tid.x;", ("%r1",), ("%tid.x",)),
        ("@!%p1 mov.u32 %r1, 3;", ("%r1",), ("%r1", "%p1")),
        ("@%p1 bra L;", (), ("%p1",)),
        ("ld.global.v2.f32 {%f1, %f2}, [%rd1+8];", ("%f1", "%f2"), ("%rd1",)),
        ("st.global.v2.f32 [%rd1+8], {%f1, %f2};", (), ("%rd1", "%f1", "%f2")),
        ("red.global.add.u32 [%rd1], %r1;", (), ("%rd1", "%r1")),
        ("atom.global.cas.b32 %r1, [%rd1], %r2, %r3;", ("%r1",), ("%rd1", "%r2", "%r3")),
        ("atom.global.add.u32 _, [%rd1], %r2;", (), ("%rd1", "%r2")),
        ("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;", ("%p1", "%p2"), ("%r1", "%r2", "%p3")),
        ("setp.lt.and.s32 _|%p2, %r1, 5, %p3;", ("%p2",), ("%r1", "%p3")),
        ("mov.b64 {%r1, _}, %rd1;", ("%r1",), ("%rd1",)),
        ("mov.b64 %rd1, {%r1, %r2};", ("%rd1",), ("%r1", "%r2")),
        ("shfl.sync.bfly.b32 %r1|%p1, %r2, %r3, 31, -1;", ("%r1", "%p1"), ("%r2", "%r3")),
        ("tex.2d.v4.f32.s32 {%f1, %f2, _, _}, [%rd1, {%r1, %r2}];", ("%f1", "%f2"), ("%rd1", "%r1", "%r2")),
        ("sust.b.2d.b32.trap [s, {%r1, %r2}], {%r3};", (), ("%r1", "%r2", "%r3")),
        ("add.cc.u32 %r1, %r2, %r3;", ("%r1", "%cc"), ("%r2", "%r3")),
        ("addc.cc.u32 %r1, %r2, %r3;", ("%r1", "%cc"), ("%r2", "%r3", "%cc")),
        ("madc.hi.u32 %r1, %r2, %r3, 0;", ("%r1",), ("%r2", "%r3", "%cc")),
        ("cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;", (), ("%r1", "%rd1", "%r2")),
        ("mbarrier.arrive.shared.b64 %rd1, [%r1];", ("%rd1",), ("%r1",)),
        ("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];", (), ("%r1",)),
        ("bar.sync %r1, %r2;", (), ("%r1", "%r2")),
        ("bar.red.popc.u32 %r1, 0, %r2, %p1;", ("%r1",), ("%r2", "%p1")),
        ("brx.idx %r1, ts;", (), ("%r1",)),
        ("call (%r1), %rd1, (%r2, %r3), proto;", ("%r1",), ("%rd1", "%r2", "%r3")),
        ("mov.f32 %v1.x, %v2.y;", ("%v1",), ("%v1", "%v2")),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1;",
            ("%f1", "%f2", "%f3", "%f4"),
            ("%f1", "%f2", "%f3", "%f4", "%rd1", "%rd2", "%p1"),
        ),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2}, {%r1}, {%r2}, {%f1,%f2};",
            ("%f1", "%f2"),
            ("%r1", "%r2", "%f1", "%f2"),
        ),
        (
            "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
            (),
            ("%r1", "%rd1", "%rd2", "%r2", "%p1"),
        ),
        ("frobnicate %r1, %r2;", ("%r1",), ("%r2",)),
        ("ret;", (), ()),
    ],
)
def test_registers_written_and_read(text, writes, reads):
    (found, *_) = program(text).instructions
    assert (found.writes, found.reads) == (writes, reads)


def test_an_instruction_in_full():
    (found,) = program("@!%p1 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+-16];").instructions
    assert found.index == 0
    assert found.opcode == "ld.global.v4.f32"
    assert found.guard == Guard("%p1", negated=True)
    assert found.operands[1] == Address(Register("%rd1"), -16)
    assert found.memory == MemoryAccess(Space.GLOBAL, Access.LOAD, 16)
    assert found.flow is Flow.NEXT
    assert found.known


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("cp.async.cg.shared.global [%r1], [%rd1], 16;", 16),
        ("cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;", 4),
        (
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 4096, [%r2];",
            4096,
        ),
        ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r3, [%r2];", 0),
        ("cp.async.bulk.prefetch.L2.global [%rd1], 512;", 512),
        ("st.bulk.weak.shared::cta [%r1], 1024, 0;", 1024),
    ],
)
def test_sizes_that_stand_in_operands(text, size):
    (found,) = program(text).instructions
    assert found.memory is not None
    assert found.memory.bytes == size


def test_operands_without_syntax_of_their_own():
    setp, tex, mov = program(
        "setp.eq.s32 %p1|_, %r1, 0; tex.1d.v4.f32.s32 {%f1,_,_,_}, [t, s, {%r1}]; mov.u64 %rd1, v+8;"
    ).instructions
    assert setp.operands[0] == Vector((Register("%p1"), Register("_")))
    assert tex.operands[1:] == (Address(Symbol("t")), Symbol("s"), Vector((Register("%r1"),)))
    assert mov.operands[1] == Address(Symbol("v"), 8)


def test_labels_and_targets():
    found = program("""
        bra L2;
    L1: L1b: add.s32 %r1, %r1, 1;
        @%p1 bra.uni L1;
    L2: brx.idx %r1, ts;
    ts: .branchtargets L1, L2, END;
    END:
    """)
    assert found.labels == {"L1": 1, "L1b": 1, "L2": 3, "END": 4}
    assert [i.targets for i in found.instructions] == [("L2",), (), ("L1",), ("L1", "L2", "END")]
    assert [i.flow for i in found.instructions] == [Flow.JUMP, Flow.NEXT, Flow.JUMP, Flow.JUMP]


def test_names_of_nested_scopes_become_unique():
    """Inline assembly repeats its labels and registers in every copy."""
    wait = "{ .reg .pred P; W: setp.eq.u32 P, x, 0; @P bra D; bra W; D: }"
    shadow = "{ .reg .u32 x; neg.s32 x, x; { neg.s32 x, x; } }"
    found = program(f".reg .u32 x; {wait} {wait} {shadow} neg.s32 x, x; D: bra D;")
    assert found.labels == {"W": 0, "D@2": 3, "W@2": 3, "D@3": 6, "D": 9}
    assert [i.targets for i in found.instructions if i.targets] == [
        ("D@2",),
        ("W",),
        ("D@3",),
        ("W@2",),
        ("D",),
    ]
    first, second = (i for i in found.instructions if i.opcode == "setp.eq.u32")
    assert (first.writes, second.writes) == (("P",), ("P@2",))
    assert found.instructions[4].guard == Guard("P@2")
    assert [i.writes for i in found.instructions[6:9]] == [("x@2",), ("x@2",), ("x",)]


def test_register_ranges_of_nested_scopes():
    found = program(".reg .b32 %r<9>; { .reg .b32 %r<2>; mov.u32 %r1, %r0; } mov.u32 %r1, %r0;")
    assert [(i.writes, i.reads) for i in found.instructions] == [
        (("%r1@2",), ("%r0@2",)),
        (("%r1",), ("%r0",)),
    ]


def test_jump_out_of_a_scope_and_table_behind_its_use():
    found = program("{ L: brx.idx %r1, t; } M: t: .branchtargets M, N; { N: ret; }")
    assert found.instructions[0].targets == ("M", "N")


def test_lines_with_inlining_chains():
    found = program("""
        ret;
        .loc 1 10 3
        ret;
        .loc 2 20 5, function_name f, inlined_at 1 10 3
        ret;
        .loc 3 30 7, function_name g, inlined_at 2 20 5
        ret;
        .loc 1 0 3
        ret;
        .loc 9 1 1
        ret;
    """)
    outer = SourceLine("a.cu", 10)
    middle = SourceLine("b.h", 20, outer)
    inner = SourceLine("c.h", 30, middle)
    assert [i.line for i in found.instructions] == [
        None,
        outer,
        middle,
        inner,
        None,
        SourceLine("<file 9>", 1),
    ]


def test_recursive_inlining_chain_is_cut():
    text = " ".join([".loc 1 1 1, function_name f, inlined_at 1 1 1"] * 1000)
    line, length = program(text + " ret;").instructions[0].line, 0
    while line is not None:
        line, length = line.inlined_at, length + 1
    assert length < 100


def test_parameters():
    found = program(
        "ret;",
        parameters=".param .u64 .ptr .global .align 16 a, .param .u64 b, .param .align 8 .b8 s[24], "
        ".param .f32 x, .param .u16 h",
    )
    assert found.parameters == (
        Parameter("a", "u64", 8, 8, pointer=True),
        Parameter("b", "u64", 8, 8),
        Parameter("s", "b8", 24, 8),
        Parameter("x", "f32", 4, 4),
        Parameter("h", "u16", 2, 2),
    )
    assert (found.name, found.target, found.level) == ("k", "sm_90", Level.PTX)


def test_variables_are_those_mentioned():
    before = """
    .extern .shared .align 16 .b8 dyn[];
    .const .align 4 .f32 coef[16];
    .global .u64 table[2] = {generic(far), 0};
    .global .v4 .f32 far;
    .global .u32 unused;
    .global .texref image;
    """
    found = program(
        """
        .shared .align 8 .b8 tile[2][64];
        .local .align 4 .b8 depot[28];
        mov.u32 %r1, dyn; ld.const.f32 %f1, [coef+4]; mov.u64 %rd1, table; mov.u32 %r2, tile;
        tex.1d.v4.f32.s32 {%f1,_,_,_}, [image, {%r1}];
        { .param .b32 a; st.param.b32 [a], %r1; }
        """,
        before,
    )
    assert found.variables == (
        Variable("dyn", Space.SHARED, 0, 16, "b8", external=True),
        Variable("coef", Space.CONST, 64, 4, "f32"),
        Variable("table", Space.GLOBAL, 16, 8, "u64", initial=bytes(16)),
        Variable("far", Space.GLOBAL, 16, 16, "f32"),
        Variable("image", Space.GLOBAL, 8, 8, "texref"),
        Variable("tile", Space.SHARED, 128, 8, "b8"),
        Variable("depot", Space.LOCAL, 28, 4, "b8"),
        Variable("a", Space.PARAM, 4, 4, "b32"),
    )


CALLS = """
.func (.param .b32 r) leaf(.param .b32 a) { ret; }
.func even(.param .b32 a) { call odd, (a); ret; }
.func odd(.param .b32 a) { call even, (a); call leaf; ret; }
.func pointed() { ret; }
.func unused() { ret; }
.extern .func vprintf(.param .b64 a);
"""


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        (".u32 x = 5", struct.pack("<I", 5)),
        (".s32 x = -5", struct.pack("<i", -5)),
        (".b8 x[4] = {37, 100, 0x0A}", b"\x25\x64\x0a"),
        (".f32 x[2] = {0f3F800000, 2.5}", struct.pack("<2f", 1.0, 2.5)),
        (".f64 x = 0d3FE0000000000000", struct.pack("<d", 0.5)),
        (".f32 x = 0f7FC00001", b"\x01\x00\xc0\x7f"),
        (".u16 x[2][3] = {{1, 2}, {3}}", struct.pack("<6H", 1, 2, 0, 3, 0, 0)),
        (".v2 .u16 x[2] = {{1}, {2, 3}}", struct.pack("<4H", 1, 0, 2, 3)),
        (".u64 x[3] = {7, generic(x)+4, 8}", struct.pack("<3Q", 7, 0, 8)),
        (".u8 x[2] = {-1, (1 << 3) | 1}", b"\xff\x09"),
        (".u8 x[2]", b""),
        (".texref x = {a = b}", b""),
    ],
)
def test_initial_contents(declaration, expected):
    (variable,) = program("mov.u64 %rd1, x;", f".global {declaration};").variables
    assert variable.initial == expected


def test_called_functions_recursion_included():
    found = program("call.uni even, (p); mov.u64 %rd1, pointed; call vprintf, (q);", CALLS)
    assert set(found.functions) == {"even", "odd", "leaf", "pointed"}
    assert found.functions["even"].functions is found.functions
    assert [i.targets for i in found.functions["odd"].instructions] == [("even",), ("leaf",), ()]


def test_calls_have_one_shape():
    text = """
    call leaf; call leaf, (a); call (r), leaf; call (r), leaf, (a, b);
    call (r), %rd1, (a), proto;
    call %rd1, (), table;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    table: .calltargets leaf, even;
    """
    found = program(text, CALLS)
    r, a, b, leaf = (Symbol(name) for name in ("r", "a", "b", "leaf"))
    pointer = Register("%rd1")
    assert [i.operands for i in found.instructions] == [
        (Vector(()), leaf, Vector(())),
        (Vector(()), leaf, Vector((a,))),
        (Vector((r,)), leaf, Vector(())),
        (Vector((r,)), leaf, Vector((a, b))),
        (Vector((r,)), pointer, Vector((a,)), Symbol("proto")),
        (Vector(()), pointer, Vector(()), Symbol("table")),
    ]
    assert [i.targets for i in found.instructions] == [("leaf",)] * 4 + [(), ("leaf", "even")]
    assert set(found.functions) == {"leaf", "even", "odd"}


def test_unknown_opcodes_count():
    found = program("frob.f32 %f1, %f2; add.s32 %r1, %r2, 1; frob;")
    assert found.unknown == 2


def test_tcgen05_takes_its_shape_from_a_constant_descriptor():
    descriptor = 128 // 16 << 24 | 64 // 8 << 17
    mma = "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, {}, %p1;"
    sparse = "tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r4], %r2, %p1;"
    text = f"mov.b32 %r2, {descriptor}; add.s32 %r3, %r3, 1; {mma.format('%r2')} {sparse} {mma.format('%r3')}"
    *_, known, thin, opaque = program(text).instructions
    assert known.flops == thin.flops == 2 * 128 * 64 * 16
    assert known.known
    assert (opaque.flops, opaque.known) == (0, False)


def test_selection():
    module = parse(HEADER + ".entry one() { ret; } .entry two();", "k.ptx")
    with pytest.raises(KernelSelectionError) as caught:
        lower(module, "two")
    assert caught.value.hint == "choose one of: one"
    assert caught.value.file == "k.ptx"


def test_malformed_bodies_raise_when_lowered():
    module = parse(HEADER + "\n\n.entry k() {\n add }", "k.ptx")
    with pytest.raises(ParseError) as caught:
        lower(module, "k")
    assert (caught.value.file, caught.value.line) == ("k.ptx", 5)


def test_immediates_keep_their_value():
    (found,) = program("fma.rn.f32 %f1, %f2, 0f40000000, -1;").instructions
    assert found.operands[2:] == (Immediate(2.0, "0f40000000"), Immediate(-1, "-1"))
