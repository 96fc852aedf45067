"""Random kernels beside the same program for the processor: one CUDA file that runs and compares both.

A kernel is a list of steps: what each thread does alone, is the same function for both sides; what warps and
blocks do together, is written twice: for the device, and over all states of a warp or block.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.differential.expressions import STATE, Author

WIDE = ("u32", "u64", "i32", "f32", "f64")
SHAPES = ((32, 1), (64, 1), (16, 8), (96, 1), (8, 4), (128, 1), (40, 1), (33, 1), (7, 3), (256, 1))
"""Extents of blocks."""


@dataclass
class Kernel:
    """A kernel under construction: functions before it, and its body on either side."""

    name: str
    draw: random.Random
    functions: list[str] = field(default_factory=list)
    device: list[str] = field(default_factory=list)
    host: list[str] = field(default_factory=list)
    shared: int = 0
    author: Author = field(init=False)

    def __post_init__(self) -> None:
        self.blocks = self.draw.randint(1, 3)
        self.shape = self.draw.choice(SHAPES)
        self.threads = self.shape[0] * self.shape[1]
        names = [f"{self.name}_f{k}" for k in range(self.draw.randint(0, 2))]
        plain = Author(self.draw)
        for name in names:
            self.functions += plain.function(name)
        self.author = Author(self.draw, names)

    def both(self, line: str) -> None:
        """Write a line for both sides."""
        self.device.append(line)
        self.host.append(line)

    # -- steps ----------------------------------------------------------------------------------------

    def step(self, depth: int) -> None:
        """Write a step; with ``depth`` it may hold others."""
        kinds = [self.alone, self.warp, self.warp, self.exchange, self.shared_atomics, self.vote_of_block,
                 self.global_atomics, self.tree]  # fmt: skip
        if depth and self.draw.random() < 0.2:
            self.uniform(depth - 1)
        else:
            self.draw.choice(kinds)()

    def uniform(self, depth: int) -> None:
        """Write a loop or a branch that all threads of a block take together."""
        where = f"(g.input[{self.draw.randrange(64)}] + block)"
        if self.draw.random() < 0.5:
            turn = f"t{len(self.device)}"
            self.both(f"for (u32 {turn} = 0; {turn} < 1 + {where} % 3; ++{turn}) {{")
        else:
            self.both(f"if ({where} % {self.draw.choice((2, 3))}) {{")
        for _ in range(self.draw.randint(1, 3)):
            self.step(depth)
        self.both("}")

    def alone(self) -> None:
        """Write what each thread does by itself."""
        name = f"{self.name}_{len(self.functions)}"
        lines = self.author.block(3)
        if self.draw.random() < 0.4:  # an early end
            lines[len(lines) :] = [f"if ({self.author.expression('bool', 1)}) return;", *self.author.block(2)]
        self.functions.append(f"INLINE void {name}(State& s, const Given& g, u32* own) {{")
        self.functions += [*lines, "}"]
        self.device.append(f"{name}(s, g, g.own + n * kOwn);")
        self.host.append(
            f"for (u32 k = 0; k < threads; ++k) {name}(t[k], g, g.own + (block * threads + k) * kOwn);"
        )

    def value(self) -> tuple[str, str]:
        """Return the name of something that a thread holds, and its type."""
        kind = self.draw.choice(WIDE)
        return self.draw.choice(STATE[kind])[2:], kind

    def condition(self) -> str:
        """Return a condition of a state ``S``."""
        word = self.draw.choice(("a", "b", "c"))
        tests = (
            f"(S.{word} & {self.draw.choice((1, 2, 5))}u)",
            f"(S.{word} % 3u == 1)",
            "(S.x < S.y)",
            "(S.i > 0)",
        )
        return f"({self.draw.choice(tests)} != 0)"

    def warp(self) -> None:
        """Write what the lanes of a warp do together: here once, there by lane of ``o``, what they held."""
        turns = self.draw.choice((1, 1, 2))
        self.both(f"for (u32 r = 0; r < {turns}; ++r) {{")
        device, host = self.draw.choice((self._shuffle, self._shuffle, self._vote, self._match, self._reduce,
                                         self._in_part))()  # fmt: skip
        self.device += [*device, "}"]
        self.host += ["for (u32 w = 0; w < threads; w += 32) {", "State o[32];",
                      "u32 lanes = least(32u, threads - w);",
                      "for (u32 k = 0; k < lanes; ++k) o[k] = t[w + k];",
                      "for (u32 l = 0; l < lanes; ++l) {", "State& s = t[w + l]; (void)s;", *host, "}", "}",
                      "}"]  # fmt: skip

    def _shuffle(self) -> tuple[list[str], list[str]]:
        v, _ = self.value()
        whole = self.threads % 32 == 0
        width = self.draw.choice((32, 16, 8, 4)) if whole else 32
        k = self.draw.randrange(1, width)
        match self.draw.choice(("idx", "idx", "up", "down", "xor") if whole else ("idx", "up")):
            case "idx":
                factor, more = self.draw.randrange(9), self.draw.randrange(32)
                place = f"(S.c * {factor}u + {more}u + L) % lanes"
                return (
                    [f"s.{v} = __shfl_sync(full, s.{v}, {place.replace('S.', 's.').replace('L', 'lane')});"],
                    [f"s.{v} = o[{place.replace('S.', 'o[l].').replace('L', 'l')}].{v};"],
                )
            case "up":
                there = f"l % {width} >= {k} ? l - {k} : l"
            case "down":
                there = f"l % {width} + {k} < {width} ? l + {k} : l"
            case _:
                there = f"l ^ {k}"
        name = "up" if ">=" in there else "down" if "<" in there else "xor"
        return [f"s.{v} = __shfl_{name}_sync(full, s.{v}, {k}, {width});"], [f"s.{v} = o[{there}].{v};"]

    def _vote(self) -> tuple[list[str], list[str]]:
        test = self.condition()
        here, mask = (
            test.replace("S.", "s."),
            f"u32 m = 0; for (u32 k = 0; k < lanes; ++k) m |= (u32){test.replace('S.', 'o[k].')} << k;",
        )
        name = self.draw.choice(("ballot", "any", "all"))
        what = {"ballot": "m", "any": "(u32)(m != 0)", "all": "(u32)(m == (u32)((1ull << lanes) - 1))"}[name]
        device = f"s.b = s.b * 3 + (u32)__{name}_sync(full, {here});"
        return [device], [mask, f"s.b = s.b * 3 + {what};"]

    def _match(self) -> tuple[list[str], list[str]]:
        v, kind = self.draw.choice((("a", "u32"), ("c", "u32"), ("p", "u64"), ("i", "i32")))
        low = self.draw.choice((1, 3, 7))
        alike = f"(o[k].{v} & {low}) == (o[l].{v} & {low})"
        same = f"u32 m = 0; for (u32 k = 0; k < lanes; ++k) m |= (u32)({alike}) << k;"
        if self.draw.random() < 0.5:
            return [f"s.c ^= __match_any_sync(full, ({kind})(s.{v} & {low}));"], [same, "s.c ^= m;"]
        all_same = "s.c += m == (u32)((1ull << lanes) - 1) ? m : 5;"
        return (
            [
                f"int yes; u32 m = __match_all_sync(full, ({kind})(s.{v} & {low}), &yes);",
                "s.c += yes ? m : m + 5;",
            ],
            [same, all_same],
        )

    def _reduce(self) -> tuple[list[str], list[str]]:
        name, v, fold = self.draw.choice((
            ("add", "a", "m + o[k].a"), ("min", "b", "least(m, o[k].b)"), ("max", "c", "most(m, o[k].c)"),
            ("and", "a", "m & o[k].a"), ("or", "b", "m | o[k].b"), ("xor", "c", "m ^ o[k].c"),
            ("min", "i", "least(m, o[k].i)"), ("max", "j", "most(m, o[k].j)"),
        ))  # fmt: skip
        loop = fold.replace(f"o[k].{v}", f"__shfl_sync(full, s.{v}, k)")
        kind = "i32" if v in "ij" else "u32"
        device = [
            "#if __CUDA_ARCH__ >= 800", f"{kind} m = __reduce_{name}_sync(full, s.{v});", "#else",
            f"{kind} m = __shfl_sync(full, s.{v}, 0); for (u32 k = 1; k < lanes; ++k) m = {loop};", "#endif",
        ]  # fmt: skip
        host = [f"{kind} m = o[0].{v}; for (u32 k = 1; k < lanes; ++k) m = {fold};"]
        return [*device, "s.q = mixed(s.q, (u32)m);"], [*host, "s.q = mixed(s.q, (u32)m);"]

    def _in_part(self) -> tuple[list[str], list[str]]:
        """Return what only some lanes do: a vote says which, and they exchange among themselves."""
        test, (v, _) = self.condition(), self.value()
        device = [
            f"bool in = {test.replace('S.', 's.')}; u32 m = __ballot_sync(full, in);", "if (in) {",
            f"s.{v} = __shfl_sync(m, s.{v}, (int)first(m) - 1);", "s.c += ones(m & ((1u << lane) - 1));",
            "__syncwarp(m);", "s.a += __ballot_sync(m, (s.b & 1u) != 0);", "}",
        ]  # fmt: skip
        there = test.replace("S.", "o[k].")
        host = [
            "u32 m = 0, odd = 0;",
            "for (u32 k = 0; k < lanes; ++k)",
            f"m |= (u32){there} << k, odd |= (u32)({there} && (o[k].b & 1u)) << k;",
            "if (m >> l & 1) {", f"s.{v} = o[first(m) - 1].{v};", "s.c += ones(m & ((1u << l) - 1));",
            "s.a += ODD;", "}",
        ]  # fmt: skip
        if v == "b":  # the vote is about what was exchanged
            host[-2] = "s.a += o[first(m) - 1].b & 1u ? m : 0;"
        elif v == "c":
            host[-4:-2] = ["s.c = o[first(m) - 1].c + ones(m & ((1u << l) - 1));"]
        return device, [line.replace("ODD", "odd") for line in host]

    def exchange(self) -> None:
        """Write an exchange of values through shared memory."""
        v, kind = self.value()
        factor = self.draw.choice([k for k in range(1, 40) if math.gcd(k, self.threads) == 1])
        more, far = self.draw.randrange(self.threads), self.draw.randrange(1, 9)
        place, other = f"(s.tid * {factor} + {more}) % threads", f"(s.tid * {far} + s.c) % threads"
        name = self._shared(f"{kind} NAME[{self.threads}]")
        self.device += [
            f"{name}[{place}] = s.{v};",
            "__syncthreads();",
            f"s.{v} = {name}[{other}];",
            "__syncthreads();",
        ]
        self.host += ["{", f"std::vector<{kind}> box(threads);", f"for (State& s : t) box[{place}] = s.{v};",
                      f"for (State& s : t) s.{v} = box[{other}];", "}"]  # fmt: skip

    def _shared(self, declaration: str) -> str:
        self.shared += 1
        name = f"box{self.shared}"
        self.device.append(f"__shared__ {declaration.replace('NAME', name)};")
        return name

    def shared_atomics(self) -> None:
        """Write atomics in shared memory whose order does not matter."""
        kind, v, name, fold = self.draw.choice((
            ("u32", "a", "Add", "x + y"), ("u32", "b", "Max", "most(x, y)"), ("u32", "c", "Xor", "x ^ y"),
            ("i32", "i", "Min", "least(x, y)"), ("i32", "j", "Max", "most(x, y)"),
            ("u32", "a", "Or", "x | y"),
            ("u32", "b", "And", "x & y"), ("u64", "p", "Add", "x + y"), ("u64", "q", "Max", "most(x, y)"),
            ("f32", "tid", "Add", "x + y"), ("f64", "tid", "Add", "x + y"),
            ("u32", "tid", "Inc", "x >= 11 ? 0 : x + 1"),
        ))  # fmt: skip
        box = self._shared(f"{kind} NAME[8]")
        given = "11u" if name == "Inc" else f"({_of_cuda(kind)})s.{v}"
        self.device += [
            f"if (s.tid < 8) {box}[s.tid] = ({kind})(s.tid * 5); __syncthreads();",
            f"atomic{name}(({_of_cuda(kind)} *)&{box}[s.b & 7u], {given}); __syncthreads();",
            f"s.q = mixed(s.q, (u64){box}[(s.tid + 3) & 7u]); __syncthreads();",
        ]
        self.host += ["{", f"{kind} box[8]; for (u32 k = 0; k < 8; ++k) box[k] = ({kind})(k * 5);",
                      f"for (State& s : t) {{ {kind} x = box[s.b & 7u], y = ({kind})s.{v}; (void)y;",
                      f"box[s.b & 7u] = {fold}; }}",
                      "for (State& s : t) s.q = mixed(s.q, (u64)box[(s.tid + 3) & 7u]);", "}"]  # fmt: skip

    def vote_of_block(self) -> None:
        """Write a barrier that counts."""
        test = self.condition()
        name, fold = self.draw.choice((("count", "n"), ("or", "(n != 0)"), ("and", "(n == threads)")))
        self.device.append(
            f"s.a += 7u * (u32)({'!!' * (name != 'count')}__syncthreads_{name}({test.replace('S.', 's.')}));"
        )
        self.host += ["{", f"u32 n = 0; for (State& s : t) n += {test.replace('S.', 's.')};",
                      f"for (State& s : t) s.a += 7u * (u32){fold};", "}"]  # fmt: skip

    def tree(self) -> None:
        """Write a reduction in shared memory, floats in the same order on both sides."""
        v, kind = self.draw.choice((("x", "f32"), ("z", "f64"), ("a", "u32"), ("p", "u64")))
        box = self._shared(f"{kind} NAME[{self.threads}]")
        self.device += [
            f"{box}[s.tid] = s.{v}; __syncthreads();",
            "for (u32 d = 1; d < threads; d *= 2) {",
            f"if (s.tid % (2 * d) == 0 && s.tid + d < threads) {box}[s.tid] += {box}[s.tid + d];",
            "__syncthreads();",
            "}",
            f"if (s.tid % 3 == 0) s.{v} = {box}[0];",
            "__syncthreads();",
        ]
        self.host += ["{", f"std::vector<{kind}> box(threads); for (State& s : t) box[s.tid] = s.{v};",
                      "for (u32 d = 1; d < threads; d *= 2)",
                      "for (u32 k = 0; k + d < threads; k += 2 * d) box[k] += box[k + d];",
                      f"for (State& s : t) if (s.tid % 3 == 0) s.{v} = box[0];", "}"]  # fmt: skip

    def global_atomics(self) -> None:
        """Write atomics in global memory, each place with one operation; order does not matter."""
        place, device, host = self.draw.choice((
            ("g.totals[s.a % 3]", "atomicAdd(&PLACE, s.b);", "PLACE += s.b;"),
            ("g.totals[3 + s.a % 2]", "atomicMin(&PLACE, s.b | 1u);", "PLACE = least(PLACE, s.b | 1u);"),
            ("g.totals[5 + s.b % 2]", "atomicMax(&PLACE, s.c);", "PLACE = most(PLACE, s.c);"),
            ("g.totals[7 + s.b % 2]", "atomicXor(&PLACE, s.a);", "PLACE ^= s.a;"),
            ("g.totals[9]", "atomicOr(&PLACE, s.a & 0xf0f0u);", "PLACE |= s.a & 0xf0f0u;"),
            ("g.totals[10]", "u32 x = atomicAdd(&g.totals[11], 1u); atomicAdd(&PLACE, x * x);",
             "PLACE += g.totals[11] * g.totals[11]; ++g.totals[11];"),
            ("g.totals[12 + s.c % 4]",
             "u32 x = PLACE, y; do { y = x; x = atomicCAS(&PLACE, y, y * (s.a | 1u)); } while (x != y);",
             "PLACE *= s.a | 1u;"),
            ("g.wide[s.c % 4]", "atomicAdd((unsigned long long *)&PLACE, (unsigned long long)s.p);",
             "PLACE += s.p;"),
            ("g.wide[4 + s.c % 4]", "atomicMax((unsigned long long *)&PLACE, (unsigned long long)s.q);",
             "PLACE = most(PLACE, s.q);"),
            ("g.wide[8 + s.a % 4]", "atomicAdd((double *)&PLACE, (double)(s.b & 15u));",
             "PLACE = bit_cast<u64>(bit_cast<f64>(PLACE) + (s.b & 15u));"),
            ("g.wide[12 + s.a % 4]", "atomicAdd((float *)&PLACE, (float)(s.c & 15u));",
             "PLACE = bits(bit_cast<f32>((u32)PLACE) + (s.c & 15u));"),
        ))  # fmt: skip
        test = self.condition().replace("S.", "s.")
        self.device.append(f"if ({test}) {{ {device.replace('PLACE', place)} }}")
        self.host.append(f"for (State& s : t) if ({test}) {{ {host.replace('PLACE', place)} }}")

    # -- the whole ------------------------------------------------------------------------------------

    def text(self) -> Iterator[str]:
        """Yield the kernel, its twin and how they are called."""
        yield from self.functions
        x, y = self.shape
        leaves = self.condition()
        yield f"__global__ void {self.name}(Given g) {{"
        yield f"const u32 threads = {self.threads}, tid = threadIdx.x + {x} * threadIdx.y;"
        yield "const u32 block = blockIdx.x, n = block * threads + tid;"
        yield "const u32 lane = tid % 32, lanes = least(32u, threads - tid / 32 * 32);"
        yield "const u32 full = (u32)((1ull << lanes) - 1); (void)lane; (void)full;"
        yield "State s = begun(g, tid, block);"
        yield from self.device
        yield f"if ({leaves.replace('S.', 's.')}) {{ g.sums[n] = checksum(s); return; }}"
        yield f"{self.name}_last(s, g, g.own + n * kOwn);"
        yield "g.sums[n] = checksum(s);"
        yield "}"
        yield f"static void {self.name}_device(u32 blocks, u32, Given g) {{"
        yield f"{self.name}<<<blocks, dim3({x}, {y})>>>(g);"
        yield "}"
        yield f"static void {self.name}_host(u32 blocks, u32 threads, Given g) {{"
        yield "for (u32 block = 0; block < blocks; ++block) {"
        yield "std::vector<State> t; for (u32 k = 0; k < threads; ++k) t.push_back(begun(g, k, block));"
        yield from self.host
        yield "for (State& s : t) {"
        yield f"if (!{leaves.replace('S.', 's.')})"
        yield f"{self.name}_last(s, g, g.own + (block * threads + s.tid) * kOwn);"
        yield "g.sums[block * threads + s.tid] = checksum(s);"
        yield "}"
        yield "}"
        yield "}"


def _of_cuda(kind: str) -> str:
    """Return the type that CUDA's atomics have for one."""
    return {"u64": "unsigned long long", "u32": "unsigned", "i32": "int", "f32": "float", "f64": "double"}[
        kind
    ]


def kernel(seed: int) -> Kernel:
    """Return the kernel of a seed."""
    made = Kernel(f"k{seed}", random.Random(seed))
    last = [f"INLINE void k{seed}_last(State& s, const Given& g, u32* own) {{", *made.author.block(2), "}"]
    for _ in range(made.draw.randint(2, 5)):
        made.step(2)
    made.functions += last
    return made


def source(seeds: list[int]) -> str:
    """Return a CUDA program that runs the kernels of some seeds, and says of each whether both agree."""
    kernels = [kernel(seed) for seed in seeds]
    lines = ['#include "prelude.cuh"', *(line for one in kernels for line in one.text())]
    lines += ["int main() {", "int wrong = 0;"]
    for one in kernels:
        program = f'{{"{one.name}", {one.blocks}, {one.threads}, {one.name}_device, {one.name}_host}}'
        lines.append(f"wrong += compared({program});")
    return "\n".join([*lines, "return wrong != 0;", "}", ""])
