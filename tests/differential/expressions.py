"""Random expressions and statements of one thread, the same C++ for both sides, of bounded depth and time.

After csmith (Yang, Chen, Eide and Regehr, "Finding and understanding bugs in C compilers", PLDI 2011): every
operation is defined for all operands (``prelude.cuh``). Code behind ``g.zero`` never runs (Le, Afshari and
Su, "Compiler validation via equivalence modulo inputs", PLDI 2014).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

STATE = {
    "u32": ("s.a", "s.b", "s.c"), "i32": ("s.i", "s.j"), "u64": ("s.p", "s.q"), "i64": ("s.m",),
    "f32": ("s.x", "s.y"), "f64": ("s.z",), "f16": ("s.h", "s.g"),
}  # fmt: skip
"""What a thread holds, by type."""
OPERATIONS = {
    "u32": (
        "({u32} + {u32})", "({u32} - {u32})", "({u32} * {u32})", "({u32} & {u32})", "({u32} | {u32})",
        "({u32} ^ {u32})", "~{u32}", "divide({u32}, {u32})", "rest({u32}, {u32})", "shl({u32}, {u32})",
        "shr({u32}, {u32})", "least({u32}, {u32})", "most({u32}, {u32})", "pick({bool}, {u32}, {u32})",
        "high({u32}, {u32})", "ones({u32})", "ones({u64})", "zeros({u32})", "zeros({u64})", "first({u32})",
        "reversed({u32})", "permuted({u32}, {u32}, {u32})", "funnel({u32}, {u32}, {u32})",
        "distance({i32}, {i32}, {u32})", "products({u32}, {u32}, {u32})", "by_bytes({u32}, {u32})",
        "(u32){i32}", "(u32)({u64} >> 32)", "(u32){u64}", "(u32)(u8){u32}", "(u32)(i32)(std::int8_t){u32}",
        "(u32)(u16){u32}", "bits({f32})", "bits({f16})", "to_u32({f32})", "(u32){bool}",
        "g.input[{u32} % kInputs]", "s.tid", "s.block",
    ),
    "i32": (
        "add({i32}, {i32})", "sub({i32}, {i32})", "mul({i32}, {i32})", "divide({i32}, {i32})",
        "rest({i32}, {i32})", "shr({i32}, {u32})", "least({i32}, {i32})", "most({i32}, {i32})",
        "pick({bool}, {i32}, {i32})", "high({i32}, {i32})", "products({i32}, {i32}, {i32})", "(i32){u32}",
        "(i32){i64}", "(i32)(std::int16_t){i32}", "to_i32({f32})", "({i32} ^ {i32})", "({i32} & {i32})",
    ),
    "u64": (
        "({u64} + {u64})", "({u64} - {u64})", "({u64} * {u64})", "({u64} ^ {u64})", "({u64} & {u64})",
        "divide({u64}, {u64})", "rest({u64}, {u64})", "shl({u64}, {u32})", "shr({u64}, {u32})",
        "least({u64}, {u64})", "most({u64}, {u64})", "pick({bool}, {u64}, {u64})", "high({u64}, {u64})",
        "((u64){u32} * {u32})", "((u64){u32} << 32 | {u32})", "(u64){i64}", "(u64){i32}", "(u64){u32}",
        "bits({f64})", "to_u64({f64})",
    ),
    "i64": (
        "add({i64}, {i64})", "sub({i64}, {i64})", "mul({i64}, {i64})", "divide({i64}, {i64})",
        "rest({i64}, {i64})", "shr({i64}, {u32})", "least({i64}, {i64})", "pick({bool}, {i64}, {i64})",
        "((i64){i32} * {i32})", "(i64){u64}", "(i64){i32}", "to_i64({f64})",
    ),
    "f32": (
        "({f32} + {f32})", "({f32} - {f32})", "({f32} * {f32})", "({f32} / {f32})", "sqrtf(fabsf({f32}))",
        "fmaf({f32}, {f32}, {f32})", "(-({f32}))", "fabsf({f32})", "floorf({f32})", "ceilf({f32})",
        "truncf({f32})", "rintf({f32})", "least({f32}, {f32})", "most({f32}, {f32})",
        "pick({bool}, {f32}, {f32})", "(f32){i32}", "(f32){u32}", "(f32){i64}", "(f32){u64}", "(f32){f64}",
        "widen({f16})",
    ),
    "f64": (
        "({f64} + {f64})", "({f64} - {f64})", "({f64} * {f64})", "({f64} / {f64})", "sqrt(fabs({f64}))",
        "fma({f64}, {f64}, {f64})", "floor({f64})", "least({f64}, {f64})", "pick({bool}, {f64}, {f64})",
        "(f64){i32}", "(f64){u64}", "(f64){i64}", "(f64){f32}",
    ),
    "f16": ("add({f16}, {f16})", "sub({f16}, {f16})", "mul({f16}, {f16})", "narrow({f32})"),
    "bool": (
        "({u32} < {u32})", "({u32} == {u32})", "({i32} < {i32})", "({i32} >= {i32})", "({u64} < {u64})",
        "({i64} <= {i64})", "({f32} < {f32})", "({f32} != {f32})", "({f64} <= {f64})",
        "(widen({f16}) < widen({f16}))", "({u32} & 1u) != 0", "!({bool})", "({bool} && {bool})",
        "({bool} || {bool})",
    ),
}  # fmt: skip
"""Templates of expressions, by their types; names in braces are types of what stands there."""
NUMBERS = (0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 127, 255, 256, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000,
           0xFFFFFFFF, 0xDEADBEEF)  # fmt: skip
FLOATS = ("0.0", "-0.0", "1.0", "-1.5", "0.1", "1e-40", "3e38", "1e10", "-7.25", "65504.0", "6e-8")
DEAD = (
    "__trap();", "*(volatile int *)8 = 1;", "for (;;) g.totals[0] += 1;", "__syncthreads();",
    "atomicAdd(g.totals, 1u);",
    "s.a = clock();", "asm volatile(\"exit;\");", "s.p = __shfl_sync(1u, s.p, 0);",
)  # fmt: skip
"""What the device alone has, and never does."""
_PLACE = re.compile(r"\{(\w+)\}")


class Author:
    """Writes code by a random generator of its own."""

    def __init__(self, draw: random.Random, functions: Sequence[str] = ()) -> None:
        self.draw = draw
        self.functions = functions
        self._names = 0

    def expression(self, kind: str, depth: int) -> str:
        """Return an expression of a type."""
        if kind != "bool" and (depth <= 0 or self.draw.random() < 0.15):
            return self._leaf(kind)
        template = self.draw.choice(OPERATIONS[kind][-12:] if depth <= 0 else OPERATIONS[kind])
        return _PLACE.sub(lambda found: self.expression(found[1], depth - 1), template)

    def _leaf(self, kind: str) -> str:
        if self.draw.random() < 0.7:
            return self.draw.choice(STATE[kind])
        if kind in ("f32", "f64"):
            return self.draw.choice(FLOATS) + "f" * (kind == "f32")
        if kind == "f16":
            return f"f16{{{self.draw.choice((0, 0x3C00, 0xBC00, 0x7BFF, 1, 0x3555, 0xC500))}}}"
        number = self.draw.choice(NUMBERS)
        return (
            f"({kind}){number}u"
            if kind[1:] == "32"
            else f"({kind}){number * self.draw.choice((1, 65537)):#x}ull"
        )

    def assignment(self, depth: int) -> str:
        """Return the assignment of an expression to something that a thread holds."""
        kind = self.draw.choice(("u32", "u32", "u32", "i32", "i32", "u64", "i64", "f32", "f32", "f64", "f16"))
        return f"{self.draw.choice(STATE[kind])} = {self.expression(kind, depth)};"

    def block(self, depth: int, *, loop: bool = False) -> list[str]:
        """Return a few statements."""
        return [line for _ in range(self.draw.randint(1, 3)) for line in self.statement(depth, loop=loop)]

    def statement(self, depth: int, *, loop: bool = False) -> list[str]:
        """Return a statement, with statements of less depth in it; ``loop``: whether it stands in one."""
        kinds = [self._branch, self._choice, self._counted, self._fuelled, self._array, self._own, self._dead]
        if depth <= 0 or self.draw.random() < 0.45:
            return [self.assignment(self.draw.randint(1, 3))]
        if loop and self.draw.random() < 0.25:
            word = self.draw.choice(("break", "continue"))
            return [f"if ({self.expression('bool', 1)}) {word};"]
        if self.functions and self.draw.random() < 0.2:
            name = self.draw.choice(self.functions)
            return [f"s.a ^= {name}({self.expression('u32', 1)}, {self.expression('i32', 1)}, 3);"]
        return self.draw.choice(kinds)(depth - 1)

    def _branch(self, depth: int) -> list[str]:
        lines = [f"if ({self.expression('bool', 2)}) {{", *self.block(depth)]
        if self.draw.random() < 0.6:
            lines += ["} else {", *self.block(depth)]
        return [*lines, "}"]

    def _choice(self, depth: int) -> list[str]:
        lines = [f"switch ({self.expression('u32', 1)} & 7u) {{"]
        for number in range(self.draw.randint(2, 6)):
            lines += [
                f"case {number}: {{",
                *self.block(depth),
                "}",
                *(["break;"] if self.draw.random() < 0.7 else []),
            ]
        return [*lines, "default:", self.assignment(1), "}"]

    def _counted(self, depth: int) -> list[str]:
        k = self._name("k")
        most = f"({self.expression('u32', 1)} & {self.draw.choice((3, 7, 15))}u)"
        return [
            f"for (u32 {k} = 0; {k} < {most}; ++{k}) {{",
            *self.block(depth, loop=True),
            f"s.c += {k};",
            "}",
        ]

    def _fuelled(self, depth: int) -> list[str]:
        fuel = self._name("fuel")
        test = f"while ({fuel}-- && {self.expression('bool', 2)}) {{"
        return [
            "{",
            f"u32 {fuel} = {self.draw.randint(1, 9)};",
            test,
            *self.block(depth, loop=True),
            "}",
            "}",
        ]

    def _array(self, depth: int) -> list[str]:
        name, k, kind = self._name("v"), self._name("k"), self.draw.choice(("u32", "u64", "f32", "u8", "u16"))
        of = "u32" if kind in ("u8", "u16") else kind
        size = self.draw.choice((4, 8, 16))
        each = f"for (u32 {k} = 0; {k} < {size}; ++{k})"
        return [
            f"{kind} {name}[{size}];",
            f"{each} {name}[{k}] = ({kind})({self.expression(of, 1)}) + ({kind}){k};",
            *(
                f"{name}[{self.expression('u32', 1)} % {size}] = ({kind})({self.expression(of, depth)});"
                for _ in range(self.draw.randint(1, 3))
            ),
            each,
            f"s.p = mixed(s.p, {'bits' * (kind == 'f32')}({name}[{k}]));",
        ]

    def _own(self, depth: int) -> list[str]:
        """Return an access to memory that nobody else reads, as words, halves or bytes of them."""
        kind, many = self.draw.choice((("u32", 1), ("u16", 2), ("u8", 4)))
        place = f"(({kind} *)own)[{self.expression('u32', 1)} % (kOwn * {many})]"
        if self.draw.random() < 0.5:
            return [f"{place} = ({kind})({self.expression('u32', depth)});"]
        return [f"s.b ^= {place};"]

    def _dead(self, depth: int) -> list[str]:
        lines = ["if (g.zero) {", *self.block(depth)]
        return [*lines, "#ifdef __CUDA_ARCH__", self.draw.choice(DEAD), "#endif", "}"]

    def _name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def function(self, name: str) -> Iterator[str]:
        """Yield a function that is called, not inlined; it may call itself, ``depth`` times at most."""
        yield f"BOTH __noinline__ static u32 {name}(u32 a, i32 i, u32 depth) {{"
        yield "State s{}; Given g{}; s.a = a; s.i = i; s.x = (f32)i; s.p = a * 77ull;"
        yield f"if (depth && (a & {self.draw.choice((1, 2, 4))}u)) a ^= {name}(a >> 1, i, depth - 1);"
        for _ in range(self.draw.randint(2, 4)):
            yield (
                re.sub(r"g\.input\[(.*) % kInputs\]", r"(\1)", self.assignment(2)) if False else self._pure()
            )
        yield "return (u32)checksum(s) ^ a;"
        yield "}"

    def _pure(self) -> str:
        """Return an assignment that reads no memory."""
        while "g." in (found := self.assignment(2)):
            pass
        return found
