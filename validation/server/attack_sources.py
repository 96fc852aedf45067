"""Hostile sources for ``warpwatt serve``: what each tries, and which answers mean that it failed to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LAUNCH = {"grid": 64, "block": 64, "args": {"p": "i32[65536]:zeros"}}
KERNEL = "__global__ void f(int *p) { p[threadIdx.x] = 1; }\n"
REFUSED = frozenset(
    {"compile", "input", "parse", "argument", "launch", "request", "usage", "kernel-selection"}
)
STOPPED = frozenset({"limit", "toolchain", "endless-loop", "compile", "memory-fault", "argument", "launch"})


@dataclass(frozen=True, slots=True)
class Attack:
    """One request; ``kinds`` are the problems that may answer it, ``good`` whether a prediction may."""

    group: str
    name: str
    source: str
    launch: dict[str, Any] = field(default_factory=lambda: LAUNCH)
    more: dict[str, Any] = field(default_factory=dict)
    kinds: frozenset[str] = REFUSED
    good: bool = False

    @property
    def request(self) -> dict[str, Any]:
        """The body of the request."""
        return {"source": self.source, "launch": self.launch, "advice": False, **self.more}


def inclusions(canary: str) -> list[Attack]:
    """Return attempts to make a compiler read the file ``canary``, or tell whether it is there."""
    slash, rest = canary[0], canary[1:]
    tricks = {
        "quoted": f'#include "{canary}"\n',
        "in angle brackets": f"#include <{canary}>\n",
        "relative": f'#include "{"../" * 12}{rest}"\n',
        "behind a header of CUDA": f'#include "crt/{"../" * 24}{rest}"\n',
        "name from a macro": f'#define P "{canary}"\n#include P\n',
        "name from a macro with arguments": f"#define P(x) <x>\n#include P({canary})\n",
        "name from pasted macros": f"#define C(a, b) a##b\n#define S C(__FI, LE__)\n#include S\n#include <{canary}>\n",
        "by -D": "#include P\n",
        "`#embed`": f'__device__ const unsigned char a[] = {{\n#embed "{canary}"\n}};\n',
        "`__has_include`": f'#if __has_include("{canary}")\n#error yes\n#endif\n',
        "`__has_include` from a macro": f'#define H __has_include\n#if H("{canary}")\n#error yes\n#endif\n',
        "`__has_include` pasted": f'#define C(a, b) a##b\n#if C(__has_, include)("{canary}")\n#error yes\n#endif\n',
        "`__has_include` through a header's macro": f'#include <cuda/std/cstdint>\n#if _CCCL_HAS_INCLUDE("{canary}")\n#error yes\n#endif\n',
        "`__has_embed`": f'#if __has_embed("{canary}")\n#error yes\n#endif\n',
        "`#include_next`": f'#include_next "{canary}"\n',
        "`#import`": f'#import "{canary}"\n',
        "`import`": f'import "{canary}";\n',
        "digraph": f'%:include "{canary}"\n',
        "trigraph": f'??=include "{canary}"\n',
        "line splice": f'#inc\\\nlude "{canary}"\n',
        "line splice and spaces": f'#inc\\  \nlude "{canary}"\n',
        "splice by trigraph": f'#inc??/\nlude "{canary}"\n',
        "splice in the name": f'#include "{slash}\\\n{rest}"\n',
        "carriage returns": f'int a;\r#include "{canary}"\r',
        "comment inside the directive": f'#/* x */include/**/"{canary}"\n',
        "comment over two lines": f'#/*\n*/include "{canary}"\n',
        "vertical tab and form feed": f'#\vinclude\f"{canary}"\n',
        "no-break space": f'#\u00a0include "{canary}"\n',
        "universal character name": f'#incl\\u0075de "{canary}"\n',
        "after an unfinished raw string": f'const char *s = R"(\n)"; /*"*/\n#include "{canary}"\n',
        "inside a raw string's look-alike": f'/* R"( */ \n#include "{canary}"\n/* )" */\n',
        "inside `#if 0` of a macro": f'#define X 0\n#if X\n#else\n#include "{canary}"\n#endif\n',
        "`_Pragma`": f'_Pragma("include_alias(\\"a.h\\", \\"{canary}\\")")\n#include "a.h"\n',
        "`#pragma GCC dependency`": f'#pragma GCC dependency "{canary}"\n',
        "computed name in a header of Thrust": f"#define __THRUST_DEVICE_SYSTEM_ROOT {canary[:-1]}\n#include <thrust/detail/config/device_system.h>\n#include <thrust/iterator/detail/device_system_tag.h>\n",
        "`#line` names it": f'#line 1 "{canary}"\n',
        "a name of 5,000 letters": f'#include "{"a" * 5000}.h"\n#include "{canary}"\n',
        "a name of 300 levels": f'#include "{"../" * 300}{rest}"\n',
        "a name with a NUL": f'#include "{canary}\0.h"\n',
        "a URL": f'#include "file://{canary}"\n',
        "its own memory": '#include "/proc/self/environ"\n#include "/proc/self/mem"\n',
        "`__has_include` spliced": f'#if __has_\\\ninclude("{canary}")\n#error yes\n#endif\n',
        "`__has_include_next`": f'#if __has_include_next("{canary}")\n#error yes\n#endif\n',
        "`__has_include` behind `defined`": f'#if defined(__has_include) && __has_include("{canary}")\n#error yes\n#endif\n',
        "`#pragma once` and `#include`": f'#pragma once\n#pragma push_macro("include")\n#include "{canary}"\n',
        "module map": f'#pragma clang module import "{canary}"\n',
        "`#pragma comment`": f'#pragma comment(lib, "{canary}")\n',
    }
    attacks = [
        Attack(
            "inclusion",
            name,
            text + KERNEL,
            more={"compilation": {"define": {"P": f'"{canary}"'}}} if name == "by -D" else {},
            good=True,
        )
        for name, text in tricks.items()
    ]
    asm = {
        "inline assembly `.file`": f'asm volatile(".file 7 \\"{canary}\\"\\n\\t.loc 7 1 1;");',
        "inline assembly `.include`": f'asm volatile(".include \\"{canary}\\"");',
        "inline assembly `.incbin`": f'asm volatile(".incbin \\"{canary}\\"");',
        "inline assembly `.section`": f'asm volatile(".section .debug_str {{ .b8 0 }} .include \\"{canary}\\"");',
        "inline assembly, another entry": f'asm volatile("ret; }} .visible .entry h() {{ .include \\"{canary}\\"");',
    }
    attacks += [
        Attack("inclusion", name, f"__global__ void f(int *p) {{ {text} p[0] = 1; }}\n", good=True)
        for name, text in asm.items()
    ]
    ptx = {
        "PTX `.file`": f'.file 1 "{canary}"\n',
        "PTX `.include`": f'.include "{canary}"\n',
        "PTX `.incbin`": f'.incbin "{canary}"\n',
        "PTX `#include`": f'#include "{canary}"\n',
        "PTX `.pragma`": f'.pragma "include {canary}";\n',
    }
    attacks += [
        Attack(
            "inclusion", name, PTX.format(text), {"grid": 1, "block": 32, "args": {"0": "i32[64]"}}, good=True
        )
        for name, text in ptx.items()
    ]
    attacks += [
        Attack("files", "buffer from a file", KERNEL, {**LAUNCH, "args": {"p": f"i32[64]:{canary}.npy"}}),
        Attack(
            "files",
            "buffer from a file, by comment",
            f"// warpwatt: --grid 1 --block 32 --arg p=i32[64]:{canary}.npy\n{KERNEL}",
            {},
        ),
        Attack(
            "files",
            "arguments from a file, by comment",
            f"// warpwatt: --grid 1 --block 32 --args {canary}\n{KERNEL}",
            {},
        ),
        Attack(
            "files",
            "`@file` for compilers",
            KERNEL,
            more={"compilation": {"define": {"X": f"@{canary}"}}},
            good=True,
        ),
        Attack("files", "name of the source", KERNEL, more={"name": canary}),
        Attack("files", "name of the source, relative", KERNEL, more={"name": "../x.cu"}),
        Attack("files", "flag for compilers", KERNEL, more={"compilation": {"flags": ["-I/etc"]}}),
        Attack(
            "files",
            "flag inside a macro",
            KERNEL,
            more={"compilation": {"define": {"X": f" --pre-include={canary}"}}},
            good=True,
        ),
    ]
    return attacks


PTX = """.version 8.0
.target sm_90
.address_size 64
{}.visible .entry f(.param .u64 p) {{
.reg .b64 %rd<3>; .reg .b32 %r<2>;
.loc 1 1 1
ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, 1; st.global.u32 [%rd2], %r1;
ret; }}
"""


def compile_bombs() -> list[Attack]:
    """Return sources that would keep a compiler busy for ever, or make it eat all memory."""
    doubled = "".join(f"#define M{i} M{i - 1} M{i - 1}\n" for i in range(1, 40))
    many = "".join(f"__global__ void f{i}(int *p) {{ p[{i}] = {i}; }}\n" for i in range(6000))
    texts = {
        "template recursion, one way": f"template <int N> struct A {{ static const int v = A<N + 1>::v; }};\n{_use('A<0>::v')}",
        "template recursion, exponential": "template <int N, int M> struct A { static const int v = A<N - 1, 2 * M>::v + A<N - 1, 2 * M + 1>::v; };\n"
        f"template <int M> struct A<0, M> {{ static const int v = M; }};\n{_use('A<24, 1>::v')}",
        "macro expansion": f"#define M0 +1\n{doubled}{_use('0 M39')}",
        "constexpr loop": f"__device__ constexpr long f(long n) {{ long s = 0; for (long i = 0; i < n; ++i) s += i; return s; }}\n{_use('([]{ constexpr long v = f(1000000000000); return v; })()')}",
        "huge array": f"__device__ char a[1l << 46];\n{_use('a[0]')}",
        "huge initialised array": f"__device__ int a[400000000] = {{1, 2, 3}};\n{_use('a[p[0]]')}",
        "huge local array": "__global__ void g(int *p) { volatile int a[1 << 28]; a[p[0]] = 1; p[0] = a[p[1]]; }\n",
        "unrolling": "__global__ void g(int *p) {\n#pragma unroll 100000000\nfor (int i = 0; i < 100000000; ++i) p[i % 7] += i * p[i % 5]; }\n",
        "nested parentheses": _use("(" * 60000 + "1" + ")" * 60000),
        "nested braces": "__global__ void g(int *p) { " + "{" * 100000 + "}" * 100000 + " }\n",
        "one long expression": _use(" + ".join(f"p[{i}]" for i in range(30000))),
        "6,000 kernels": many,
        "no `>` for the reader of launches": "template " + "a<" * 100000 + KERNEL,
        "unfinished comment and strings": KERNEL + '/*"' * 60000,
        "preprocessor lines": "#if 1\n" * 60000 + KERNEL,
        "self-including header": "#include <cuda_fp16.h>\n" * 15000 + KERNEL,
    }
    found = [
        Attack("compile bomb", name, text, kinds=STOPPED | REFUSED, good=True) for name, text in texts.items()
    ]
    lines = "\n".join("add.s32 %r1, %r1, %r1;" for _ in range(18000))
    long = PTX.format("").replace("ret;", lines + "\nret;")
    jumps = "".join(f"L{i}: setp.eq.s32 %q, %r1, {i}; @%q bra L{(i * 7919) % 9000};\n" for i in range(9000))
    tangled = PTX.format("").replace(".loc 1 1 1", ".reg .pred %q;").replace("ret;", jumps + "ret;")
    ptx = {"PTX of 18,000 instructions": long, "PTX of 9,000 tangled jumps": tangled}
    launch = {"grid": 1, "block": 32, "args": {"0": "i32[64]:zeros"}}
    return found + [
        Attack("compile bomb", name, text, launch, kinds=STOPPED | REFUSED, good=True)
        for name, text in ptx.items()
    ]


def _use(expression: str) -> str:
    return f"__global__ void g(int *p) {{ p[0] = {expression}; }}\n"


def emulation_bombs() -> list[Attack]:
    """Return kernels that never end, or that want all time or memory of whoever runs them."""
    touch = "__global__ void g(long n, double *p) { for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) p[i] = i; }\n"
    big = {"grid": 1, "block": 1024, "args": {"n": 12 * 2**30, "p": "f64[n]"}}
    return [
        _run("endless loop", "__global__ void f(volatile int *p) { while (p[0] == 0); }\n"),
        _run(
            "endless loop without memory",
            "__global__ void f(int *p) { unsigned x = p[0]; while (x != 7 || p == 0) x = x * 2; p[1] = x; }\n",
        ),
        _run(
            "waiting for another block",
            "__global__ void f(volatile int *p) { if (blockIdx.x == 0) while (p[1] == 0); else p[1] = 1; }\n",
        ),
        _run(
            "barrier that not all reach",
            "__global__ void f(int *p) { if (threadIdx.x < 7) __syncthreads(); p[0] = 1; }\n",
        ),
        _run(
            "10^12 iterations",
            "__global__ void f(int *p) { int s = p[0]; for (long i = 0; i < 1000000000000l; ++i) s = s * 3 + (int)i; p[0] = s; }\n",
        ),
        _run(
            "nested loops over data",
            "__global__ void f(int *p) { for (int i = 0; i < 1 << 30; ++i) for (int j = 0; j < p[i & 1023] + 9999; ++j) atomicAdd(p, j); }\n",
        ),
        _run(
            "recursion",
            "__device__ int r(int *p, int n) { return n > 1000000000 ? p[n & 7] : r(p, n + 1) + r(p, n + 2) + p[n & 3]; }\n__global__ void f(int *p) { p[0] = r(p, p[1]); }\n",
        ),
        _run(
            "printf flood",
            '#include <stdio.h>\n__global__ void f(int *p) { for (int i = 0; i < 1000000; ++i) printf("%d\\n", p[i & 7]); }\n',
        ),
        _run(
            "recursion behind an argument",
            "__device__ int r(int n) { return n < 2 ? n : r(n - 1) + r(n - 2); }\n__global__ void f(int *p) { p[0] = r(64 + p[1]); }\n",
        ),
        _run(
            "malloc until the heap is full, for ever",
            "__global__ void f(int *p) { for (long i = 0; i < 1l << 40; ++i) { int *q = (int *)malloc(1 << 20); if (q) q[0] = p[i & 7]; } }\n",
        ),
        _run(
            "freeing what is not its own",
            "__global__ void f(int *p) { free(p); free((char *)p + 3); free((void *)8); int *q = (int *)malloc(64); free(q); free(q); }\n",
        ),
        _run(
            "waiting on a clock for a day",
            "__global__ void f(int *p) { long a = clock64(); while (clock64() - a < 1l << 47); p[0] = 1; }\n",
        ),
        _run(
            "sleeping for ever",
            "__global__ void f(int *p) { for (long i = 0; i < 1l << 40; ++i) __nanosleep(1000000); p[0] = 1; }\n",
        ),
        _run(
            "races at a million places",
            "__global__ void f(int *p) { __shared__ int s[8192]; for (int k = 0; k < 1 << 20; ++k) s[(threadIdx.x * 7 + k) & 8191] += s[k & 8191]; p[0] = s[p[1] & 8191]; }\n",
        ),
        _run(
            "a barrier that no phase ends",
            '__global__ void f(int *p) { __shared__ unsigned long long b; unsigned a = (unsigned)__cvta_generic_to_shared(&b); asm volatile("mbarrier.init.shared.b64 [%0], 77;" :: "r"(a)); '
            'asm volatile("{ .reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra L; }" :: "r"(a) : "memory"); p[0] = 1; }\n',
        ),
        _run(
            "a bulk copy of what is not there",
            "__global__ void f(int *p) { __shared__ alignas(128) int s[1024]; __shared__ unsigned long long b; unsigned a = (unsigned)__cvta_generic_to_shared(&b), d = (unsigned)__cvta_generic_to_shared(s); "
            'asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1048560, [%2];" :: "r"(d), "l"((char *)p + (1l << 36)), "r"(a) : "memory"); p[0] = s[p[1] & 1023]; }\n',
        ),
        _run(
            "another block's shared memory that is not there",
            '__global__ void f(int *p) { __shared__ int s[32]; unsigned a = (unsigned)__cvta_generic_to_shared(s), r; asm volatile("mapa.shared::cluster.u32 %0, %1, 13;" : "=r"(r) : "r"(a)); '
            'int v; asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(r + 0xfffff0)); p[0] = v; }\n',
        ),
        Attack(
            "emulation bomb",
            "tensor map of 2^60 elements",
            "#include <cuda.h>\n__global__ void f(const __grid_constant__ CUtensorMap m, int *p) { p[0] = 1; }\n",
            {
                "grid": 1,
                "block": 32,
                "args": {"m": "tensor(f16[1073741824,1073741824], box=256x256, swizzle=128)", "p": "i32[64]"},
            },
            kinds=REFUSED | STOPPED,
            good=True,
        ),
        Attack(
            "emulation bomb",
            "tensor map of 40 dimensions",
            "#include <cuda.h>\n__global__ void f(const __grid_constant__ CUtensorMap m, int *p) { p[0] = 1; }\n",
            {
                "grid": 1,
                "block": 32,
                "args": {
                    "m": f"tensor(f16[{','.join(['9'] * 40)}], box={'x'.join(['9'] * 40)})",
                    "p": "i32[64]",
                },
            },
            kinds=REFUSED,
        ),
        _run("far out of bounds", "__global__ void f(int *p) { p[1l << 37] = 1; }\n"),
        _run("writing to address 0", "__global__ void f(int *p) { *(volatile int *)0 = p[0]; }\n"),
        _run(
            "reading the host's memory by address",
            "__global__ void f(int *p) { p[0] = *(volatile int *)0x7fff00000000ull; }\n",
        ),
        _run(
            "jumping into data",
            "__global__ void f(int *p) { void (*g)(int) = (void (*)(int))(unsigned long)p; g(1); }\n",
        ),
        Attack("emulation bomb", "touching 96 GiB", touch, big, kinds=STOPPED, good=True),
        Attack(
            "emulation bomb",
            "grid of 2^31-1 blocks",
            KERNEL,
            {"grid": 2147483647, "block": 1024, "args": {"p": "i32[1024]"}},
            kinds=STOPPED,
            good=True,
        ),
        Attack(
            "emulation bomb",
            "buffer of 2^48 bytes",
            KERNEL,
            {"grid": 1, "block": 32, "args": {"p": f"u8[{2**48}]"}},
            kinds=STOPPED,
        ),
        Attack(
            "emulation bomb",
            "shape that overflows",
            KERNEL,
            {"grid": 1, "block": 32, "args": {"n": 2**40, "p": "u8[n*n*n*n]"}},
            kinds=REFUSED,
        ),
        Attack(
            "emulation bomb",
            "shape of 400 brackets",
            KERNEL,
            {"grid": 1, "block": 32, "args": {"p": f"u8[{'(' * 190}1{')' * 190}]"}},
            kinds=REFUSED | STOPPED,
            good=True,
        ),
        Attack(
            "emulation bomb",
            "16 GPUs",
            KERNEL,
            more={"gpus": ["h200"] * 16},
            kinds=STOPPED | REFUSED,
            good=True,
        ),
        Attack(
            "emulation bomb",
            "500 launches by comment",
            "// warpwatt: --grid 1 --block 32 --arg p=i32[64]\n" * 500 + KERNEL,
            {},
            kinds=REFUSED,
        ),
    ]


def _run(name: str, source: str) -> Attack:
    return Attack("emulation bomb", name, source, kinds=STOPPED | REFUSED | {"deadlock"}, good=True)


MARKUP = "</script><img src=x onerror=alert(document.domain)>"


def markup() -> list[Attack]:
    """Return sources whose every name and text is markup."""
    commented = f"// {MARKUP}\n__global__ void f(int *p) {{ p[threadIdx.x] = 1; /* {MARKUP} */ }}\n"
    return [
        Attack("markup", "in comments of costly lines", commented, good=True),
        Attack("markup", "as the name of a file", f'#line 1 "{MARKUP}"\n{KERNEL}', good=True),
        Attack("markup", "as the name of a kernel", KERNEL, {**LAUNCH, "kernel": MARKUP}),
        Attack("markup", "as an argument", KERNEL, {**LAUNCH, "args": {"p": MARKUP}}),
        Attack("markup", "as the name of a macro", KERNEL, more={"compilation": {"define": {MARKUP: "1"}}}),
        Attack("markup", "as a model", KERNEL, more={"model": MARKUP}),
        Attack("markup", "as a clock", KERNEL, more={"clock": MARKUP}),
        Attack(
            "markup",
            "in a file's name of PTX",
            PTX.format(f'.file 1 "{MARKUP}"\n'),
            {"grid": 1, "block": 32, "args": {"0": "i32[64]"}},
            good=True,
        ),
        Attack("markup", "in an error", f"#error {MARKUP}\n{KERNEL}"),
        Attack("markup", "as a GPU", KERNEL, more={"gpus": [MARKUP]}, kinds=frozenset({"unknown-gpu"})),
        Attack(
            "markup",
            "template arguments",
            "template <char... C> __global__ void f(int *p) { p[0] = sizeof...(C); }\n"
            "template __global__ void f<'<', 'b', '>'>(int *);\n",
            good=True,
        ),
    ]
