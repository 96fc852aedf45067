"""Printing and reading again: generated modules, compiled sources, and ptxas as the judge."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.program import Address, Guard, Immediate, Register, Symbol, Vector
from warpwatt.isa.ptx import entries, lower, parse
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
    Module,
    Pair,
    Prototype,
    ScopeClose,
    ScopeOpen,
    Section,
    SymbolOffset,
    Targets,
    Variable,
)

from .printer import _statement, print_module

names = st.from_regex(r"[A-Za-z][A-Za-z0-9_$]{0,6}|_[A-Za-z0-9_$]{1,4}", fullmatch=True).filter(
    lambda n: n != "WARP_SZ"
)
register_names = st.from_regex(r"%[a-z]{1,2}[0-9]{1,3}|%tid\.[xyz]", fullmatch=True)
registers = st.builds(Register, register_names)
small = st.integers(0, 10**9)
immediates = st.one_of(
    st.from_regex(
        r"-?(0|[1-9][0-9]{0,15})|0x[0-9A-F]{1,16}U?|0f[0-9A-F]{8}|0d[0-9A-Fa-f]{16}|[0-9]\.[0-9]e-[0-9]",
        fullmatch=True,
    )
).map(lambda text: Immediate(evaluate(text), text))
symbols = st.builds(Symbol, names)
scalars = st.one_of(registers, immediates, symbols)
vectors = st.builds(Vector, st.lists(scalars, min_size=1, max_size=4).map(tuple))
offsets = st.integers(-(2**31), 2**31)
addresses = st.one_of(
    st.builds(Address, st.one_of(registers, symbols), offsets),
    st.builds(Address, st.none(), st.integers(0, 2**40)),
)
brackets = st.builds(Bracket, st.tuples(st.one_of(registers, symbols), vectors))
operands = st.one_of(
    scalars,
    vectors,
    addresses,
    brackets,
    st.builds(Pair, registers, st.one_of(registers, st.just(Register("_")))),
    st.builds(Register, register_names, st.just(True)),
    st.builds(SymbolOffset, names, st.integers(1, 10**6)),
)
guards = st.none() | st.builds(Guard, st.from_regex(r"%p[0-9]{1,2}", fullmatch=True), st.booleans())
opcodes = st.from_regex(r"[a-z]{2,6}[0-9]?(\.[a-z0-9]{1,5}(::[a-zA-Z0-9_]{1,5})?){0,3}", fullmatch=True)
instructions = st.builds(Instruction, opcodes, st.lists(operands, max_size=5).map(tuple), guards)
lists = st.lists(st.one_of(registers, symbols, immediates), max_size=3).map(tuple)
calls = st.builds(
    lambda ret, callee, arguments: Instruction("call.uni", (Group(ret), callee, Group(arguments))),
    lists, st.one_of(symbols, registers), lists,
)  # fmt: skip
types = st.sampled_from(["b8", "u16", "s32", "b64", "f32", "f64", "f16x2", "pred", "b128"])


def variables(*spaces: str) -> st.SearchStrategy[Variable]:
    """Declarations in some of these spaces."""
    return st.builds(
        Variable,
        name=names,
        space=st.sampled_from(spaces),
        type=types,
        vector=st.sampled_from([1, 2, 4]),
        align=st.sampled_from([0, 4, 16]),
        dimensions=st.lists(st.none() | small, max_size=2).map(tuple),
    )


initialised = st.builds(
    Variable,
    name=names,
    space=st.sampled_from(["global", "const"]),
    type=types,
    dimensions=st.just((None,)),
    linkage=st.sampled_from([(), (".visible",), (".weak",)]),
    attributes=st.sampled_from([(), (".attribute(.managed)",)]),
    initialiser=st.lists(st.integers(0, 255), min_size=1).map(lambda v: "{" + ", ".join(map(str, v)) + "}"),
)
parameters = st.lists(
    st.builds(
        Variable,
        name=names,
        space=st.just("param"),
        type=types,
        pointer=st.sampled_from([None, (), (".global",), (".shared", ".align", "16")]),
    ),
    max_size=3,
).map(tuple)
places = st.tuples(small, small, small)
locations = st.builds(Location, small, small, small, names | st.just(""), st.just(0), st.none() | places)
statements = st.one_of(
    instructions,
    calls,
    locations,
    st.builds(Label, names),
    variables("local", "shared", "param"),
    st.builds(Variable, st.just("%r"), st.just("reg"), types, count=st.integers(1, 99)),
    st.builds(
        Targets, st.sampled_from([".branchtargets", ".calltargets"]), st.lists(names, min_size=1).map(tuple)
    ),
    st.builds(Prototype, parameters, names, parameters, st.sampled_from([(), (Directive(".noreturn"),)])),
    st.just(Directive(".pragma", ('"nounroll"',))),
)


@st.composite
def bodies(draw) -> list:
    """Statements with balanced scopes."""
    found, depth = [], 0
    for statement in draw(
        st.lists(st.one_of(statements, st.sampled_from([ScopeOpen(), ScopeClose()])), max_size=12)
    ):
        if statement == ScopeClose():
            if not depth:
                continue
            depth -= 1
        depth += statement == ScopeOpen()
        found.append(statement)
    return found + [ScopeClose()] * depth


functions = st.builds(
    Function,
    kind=st.sampled_from(["entry", "func"]),
    name=names,
    parameters=parameters,
    returns=parameters,
    linkage=st.sampled_from([(), (".visible",), (".extern",)]),
    directives=st.sampled_from([(), (Directive(".maxntid", ("128", "1", "1")), Directive(".noreturn"))]),
    body=st.none() | bodies(),
)
items = st.one_of(
    functions,
    variables("global", "const", "shared"),
    initialised,
    st.builds(File, small, names, st.sampled_from([(), (1, 2)])),
    st.builds(Section, st.just(".debug_str"), st.lists(names.map(".b32 {}".format)).map(tuple)),
    st.just(Directive(".alias", ("f", "g"))),
)
header = (
    Directive(".version", ("9.0",)),
    Directive(".target", ("sm_90", "debug")),
    Directive(".address_size", ("64",)),
)


@settings(max_examples=200, deadline=None)
@given(st.builds(Module, st.lists(items, max_size=5).map(lambda found: (*header, *found))))
def test_generated_modules_survive_printing(module):
    """The generated body is a plain list; what is read back must hold the same statements."""
    again = parse(print_module(module))
    assert len(again.items) == len(module.items)
    for one, two in zip(module.items, again.items, strict=True):
        if isinstance(one, Function) and one.body is not None:
            assert list(two.body) == list(one.body)
            assert [
                getattr(two, f) for f in ("kind", "name", "parameters", "returns", "linkage", "directives")
            ] == [getattr(one, f) for f in ("kind", "name", "parameters", "returns", "linkage", "directives")]
        else:
            assert one == two
    assert parse(print_module(again)) == again


@settings(max_examples=200, deadline=None)
@given(statements)
def test_a_statement_takes_one_line(statement):
    assert "\n" not in _statement(statement)


def test_bodies_differ_where_statements_do():
    one, two, three = (parse(f".func f() {{ mov.u32 %r1, {n}; }}") for n in ("1", " 1 ", "2"))
    assert one == two
    assert one != three


SOURCES = {
    "arithmetic": """
        __constant__ float coef[4] = {1, 2, 3, 4};
        __device__ int counter;
        __device__ __noinline__ float f(float a, int b) { return a * sinf(a) + b; }
        extern "C" __global__ void k(float *o, const float *__restrict__ a, int n, float4 s, double d) {
            __shared__ float t[256];
            extern __shared__ float dyn[];
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            t[threadIdx.x] = a[i];
            dyn[threadIdx.x] = a[i + 1];
            __syncthreads();
            float acc = 0;
            for (int j = 0; j < n; j++) acc += coef[j & 3] * t[j] * f(dyn[j], j);
            atomicAdd(&counter, 1);
            if (i < n) o[i] = acc + s.x + d;
            switch (n) {
                case 0: o[0] = 1; break;
                case 1: o[1] = 2 * o[i]; break;
                case 2: o[2] = __shfl_xor_sync(~0u, o[i], 3); break;
                case 3: o[3] = 3 + n; break;
                case 4: o[7] = n / 3; break;
                case 5: o[8] = __popc(n) + __ffsll(n); break;
            }
        }""",
    "calls": """
        #include <cstdio>
        struct Base { __device__ virtual int f(int) = 0; };
        struct One : Base { int n; __device__ int f(int a) override { return a + n; } };
        struct Two : Base { __device__ int f(int a) override { printf("%d", a); return a ? f(a - 1) : 7; } };
        extern "C" __global__ void k(int *o, int n) {
            One one; Two two; one.n = n;
            Base *b = n > 3 ? (Base *)&one : &two;
            *o = b->f(n);
        }""",
    "tensor": """
        #include <mma.h>
        extern "C" __global__ void k(half *a, half *b, float *c) {
            using namespace nvcuda;
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
            wmma::fill_fragment(fc, 0.f);
            wmma::load_matrix_sync(fa, a, 16);
            wmma::load_matrix_sync(fb, b, 16);
            wmma::mma_sync(fc, fa, fb, fc);
            wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
            asm volatile("{ .reg .pred p; W: setp.ne.s32 p, %0, 0; @p bra D; bra W; D: }" :: "r"(*(int *)c));
            asm volatile("{ .reg .pred p; W: setp.ne.s32 p, %0, 1; @p bra D; bra W; D: }" :: "r"(*(int *)c));
        }""",
    "textures": """
        extern "C" __global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t s, float4 *o) {
            o[0] = tex2D<float4>(t, 0.5f, 1.5f);
            o[1] = tex3D<float4>(t, 0.5f, 1.5f, 2.f);
            surf2Dwrite(o[0].x, s, 4, 4);
            surf1Dread(&o[2].x, s, 8);
        }""",
}


def tool(name: str) -> Path:
    """A compiler of the installed wheels."""
    spec = find_spec("nvidia.cu13")
    places = [Path(p) / "bin" / name for p in (spec.submodule_search_locations or ())] if spec else []
    return next((place for place in places if place.exists()), Path(name))


def run(*command: object) -> None:
    result = subprocess.run(
        [str(c) for c in command], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def machine_code(cubin: Path) -> dict[str, bytes]:
    """Instructions and data by section; debug sections hold the text of the PTX and are left out."""
    with cubin.open("rb") as file:
        sections = {s.name: s.data() for s in ELFFile(file).iter_sections()}
    code = {
        name: data
        for name, data in sections.items()
        if name.startswith((".text", ".nv.constant", ".nv.global"))
    }
    assert any(name.startswith(".text") for name in code)
    return code


@pytest.mark.toolchain
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("flag", ["-lineinfo", "-G"])
def test_compiled_sources(tmp_path, name, flag):
    """ptxas must make the same machine code of the printed text as of the compiler's own."""
    source, compiled, printed = tmp_path / "k.cu", tmp_path / "k.ptx", tmp_path / "p.ptx"
    source.write_text(SOURCES[name])
    run(tool("nvcc"), "-ptx", "-arch=sm_90", flag, source, "-o", compiled)
    text = compiled.read_text()
    module = parse(text, str(compiled))
    printed.write_text(print_module(module))
    assert parse(printed.read_text()) == module
    assert entries(module) == ("k",)
    program = lower(module, "k")
    assert program.unknown == 0
    assert program.instructions[-1].line is not None
    if flag == "-lineinfo":
        for path in (compiled, printed):
            run(tool("ptxas"), "-arch=sm_90", path, "-o", path.with_suffix(".cubin"))
        assert machine_code(compiled.with_suffix(".cubin")) == machine_code(printed.with_suffix(".cubin"))
