"""On any text at all, the parser either succeeds or raises ParseError, in linear time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operations import grows_linearly

from warpwatt.core.errors import ParseError
from warpwatt.isa.ptx import entries, lower, parse

from .printer import print_module

SAMPLE = """\
.version 9.0
.target sm_90
.address_size 64
.file 1 "a.cu"
.global .align 4 .b8 t[8] = {1, 2, 0f3F800000};
.visible .entry k(.param .u64 .ptr .global .align 4 p, .param .f32 x) .maxntid 128, 1, 1
{
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
    .loc 1 3 5, function_name $L__info, inlined_at 1 2 3
    ld.param.u64 %rd1, [p]; // comment
    mov.u32 %r1, %tid.x;
    setp.lt.and.s32 %p1|%p2, %r1, 0x10, !%p2;
    @!%p1 bra $L1;
    ld.global.v2.u32 {%r2, %r3}, [%rd1+-8];
    { .param .b32 a; st.param.b32 [a+0], %r2; call.uni (a), f, (a), proto; }
    /* inline */ tex.2d.v4.f32.s32 {%r1, %r2, %r3, _}, [t, {%r1, %r2}];
    cp.async.cg.shared.global [%r1], [%rd1], 16;
$L1:
    brx.idx %r1, ts;
ts: .branchtargets $L1;
    ret;
}
"""


def digest(text: str) -> None:
    """Do everything that can be done with a text; only ParseError may come out."""
    problem = None
    try:
        module = parse(text, "fuzz.ptx")
        again = print_module(module)
        for entry in entries(module):
            lower(module, entry)
    except ParseError as error:
        problem = error
    if problem is None:
        assert parse(again) == module
    else:
        assert problem.file == "fuzz.ptx"
        assert 1 <= (problem.line or 0) <= text.count("\n") + 1


PIECES = [
    ".entry",
    ".func",
    ".reg",
    ".param",
    ".loc",
    ".file",
    ".section",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "::",
    "@",
    "@!",
    "|",
    "!",
    "_",
    "%r1",
    "%p",
    "x",
    "ret",
    "add.s32",
    "call",
    "bra",
    "ld.v4.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    ".b32",
    ".v4",
    ".align",
    ".global",
    "0",
    "0x",
    "0f3F800000",
    "1e999",
    "-",
    "+",
    "*",
    "/",
    "//",
    "/*",
    "*/",
    '"',
    "\\",
    "WARP_SZ",
    ".ptr",
    ".callprototype",
    ".branchtargets",
    ".pragma",
    ".attribute(",
    "=",
    "?",
    "~",
    "<<",
    "%",
    "@@DWARF",
    "tcgen05.mma",
]
PIECES += [".loc 1 2 3", "9" * 30, "\n", "\0", " ", "\xff"]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join))
def test_word_salad(text):
    digest(text)
    digest(".entry k() {" + text + "}")


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text(text):
    digest(text)


@settings(max_examples=100, deadline=None)
@given(st.binary())
def test_binaries(data):
    digest(data.decode("latin-1"))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(SAMPLE) - 1), st.integers(0, len(SAMPLE)), st.sampled_from([*PIECES, ""]))
def test_damaged_ptx(start, length, piece):
    digest(SAMPLE[:start])
    digest(SAMPLE[:start] + piece + SAMPLE[start + min(length, 12) :])


def test_the_sample_itself_is_sound():
    assert entries(parse(SAMPLE)) == ("k",)
    assert lower(parse(SAMPLE), "k").unknown == 0


@pytest.mark.parametrize(
    "text",
    [
        ".entry k() {" + "{" * 100_000 + "}" * 100_000 + "}",
        ".entry k() { mov.u32 %r1, " + "(" * 50_000 + "1" + ")" * 50_000 + "; }",
        ".entry k() { mov.u32 %r1, " + "-" * 50_000 + "1; }",
        ".entry k() { mov.u32 %r1, " + "1?" * 50_000 + "1; }",
        ".entry k() { ld.u32 %r1, " + "[" * 50_000 + "; }",
        ".entry k() { ld.u32 %r1, " + "[" * 20_000 + "a, b" + "]" * 20_000 + "; }",
        ".entry k() { mov.u32 %r1, " + "{" * 50_000 + "; }",
        ".global .u32 x = " + "{" * 100_000 + "}" * 100_000 + ";",
        ".func .attribute(" + "(" * 100_000 + " f();",
        "/*" * 200_000,
        '"' + '\\"' * 200_000,
        "@" * 100_000,
        ".entry k() {" + "a " * 100_000 + "}",
        ".entry k() {" + "a.b" * 100_000 + "}",
        ".entry k() { .loc " + "1 " * 100_000 + "}",
        ".entry k() {" + "{ .reg .b32 %r<1000000000>; }" * 2000 + "}",
        ".global .u32 x[" + "9" * 100_000 + "];",
        ".reg .b32 " + "a" * 500_000,
        ".entry k() { mov.u32 %r1, 1" + "+1" * 20_000 + "; }",
    ],
    ids=lambda text: text[:30] + "...",
)
def test_hostile_texts_end(text):
    digest(text)  # a quadratic parser would take minutes


def test_work_is_linear():
    kernel = ".visible" + SAMPLE.partition(".visible")[2]

    def read(copies: int) -> None:
        module = parse("".join(kernel.replace(".entry k(", f".entry k{i}(") for i in range(copies)))
        assert len(entries(module)) == copies
        for function in module.functions:
            assert sum(1 for _ in function.body) > 10

    assert grows_linearly(read, 10, 8)


def test_same_text_same_program():
    one, two = (lower(parse(SAMPLE), "k") for _ in range(2))
    assert one.instructions == two.instructions
    assert (one.labels, one.parameters, one.variables) == (two.labels, two.parameters, two.variables)
