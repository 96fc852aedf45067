"""Random routines: straight-line code, structured control flow, memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Instruction, Level, Program
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.ir import Op, Routine, Type
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.run import Context

if TYPE_CHECKING:
    from random import Random

    from warpwatt.emulate.ir import Value

_Choice = TypeVar("_Choice")

INTS = (Type.I8, Type.I16, Type.I32, Type.I64)
FLOATS = (Type.F16, Type.F32, Type.F64)
MODES = (None, "rn", "rz", "rm", "rp")
INT_BINARY = (
    Op.ADD, Op.SUB, Op.MUL, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.LSHR, Op.ASHR, Op.UDIV, Op.SDIV, Op.UREM,
    Op.SREM, Op.UMIN, Op.UMAX, Op.SMIN, Op.SMAX,
)  # fmt: skip
INT_COMPARE = (Op.EQ, Op.NE, Op.SLT, Op.SLE, Op.ULT, Op.ULE)
FLOAT_COMPARE = (Op.FEQ, Op.FLT, Op.FLE, Op.FUNO)
FLOAT_BINARY = (Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV)
WHOLE = (Op.FFLOOR, Op.FCEIL, Op.FTRUNC, Op.FRINT)
FUNCTIONS = ("rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos", "tanh")
SPECIAL_BITS = {
    Type.F16: (0, 0x8000, 0x3C00, 0x7C00, 0xFC00, 0x7E00, 1, 0x7BFF, 0x400),
    Type.F32: (
        0,
        0x80000000,
        0x3F800000,
        0x7F800000,
        0xFF800000,
        0x7FC00000,
        1,
        0x7F7FFFFF,
        0x4F000000,
        0x38800000,
    ),
    Type.F64: (
        0,
        1 << 63,
        0x3FF << 52,
        0x7FF << 52,
        0xFFF << 52,
        0x7FF8 << 48,
        1,
        0x41E << 52,
        0x47EFFFFFE0000000,
    ),
}
NAN = {Type.F16: 0x7FFF, Type.F32: 0x7FFFFFFF, Type.F64: 0x7FF8000000000000}
BITS = {Type.F16: Type.I16, Type.F32: Type.I32, Type.F64: Type.I64}
INPUT, OUTPUT = 2 << 40, 3 << 40


@dataclass
class Writer:
    """A builder and the values that may be used, by type; ``floats`` are those computed with."""

    random: Random
    floats: tuple[Type, ...] = FLOATS
    b: Builder = field(default_factory=Builder)
    values: dict[Type, list[Value]] = field(default_factory=dict)
    index: int = 0

    def keep(self, value: Value) -> Value:
        if value.type.is_float:
            value = self.canonical(value)
        self.values.setdefault(value.type, []).append(value)
        return value

    def canonical(self, value: Value) -> Value:
        """NaN in one form, since engines differ in its bits."""
        b = self.b
        nan = b.cast_bits(b.const(BITS[value.type], NAN[value.type]), value.type)
        return b.select(b.op(Op.FUNO, value, value), nan, value)

    def pick(self, type_: Type) -> Value:
        known = self.values.get(type_)
        if not known:
            return self.constant(type_)
        return self.random.choice(known)

    def constant(self, type_: Type) -> Value:
        if type_.is_float:
            bits = self.random.choice(SPECIAL_BITS[type_])
            return self.b.cast_bits(self.b.const(BITS[type_], bits), type_)
        return self.b.const(type_, self.random.choice((0, 1, -1, 2, 5, 31, 1 << (type_.bits - 1))))

    def next(self) -> None:
        self.b.at(self.index)
        self.index += 1

    # -- one random operation ---------------------------------------------------------------------------

    def operation(self) -> None:
        self.next()
        kinds = (
            self.int_binary, self.int_unary, self.int_compare, self.float_binary, self.float_other,
            self.float_compare, self.convert, self.select, self.warp, self.fresh,
        )  # fmt: skip
        self.random.choice(kinds)()

    def one(self, choices: tuple[_Choice, ...]) -> _Choice:
        return self.random.choice(choices)

    def int_binary(self) -> None:
        type_ = self.one(INTS)
        self.keep(self.b.op(self.one(INT_BINARY), self.pick(type_), self.pick(type_)))

    def int_unary(self) -> None:
        self.keep(self.b.op(self.one((Op.POPC, Op.CLZ, Op.BREV)), self.pick(self.one(INTS))))

    def int_compare(self) -> None:
        type_ = self.one(INTS)
        self.keep(self.b.op(self.one(INT_COMPARE), self.pick(type_), self.pick(type_)))

    def float_binary(self) -> None:
        type_ = self.one(self.floats)
        self.keep(self.b.op(self.one(FLOAT_BINARY), self.pick(type_), self.pick(type_), data=self.one(MODES)))

    def float_other(self) -> None:
        type_, mode = self.one(self.floats), self.one(MODES)
        a = self.pick(type_)
        kind = self.one(("fma", "sqrt", "sign", "extreme", "whole", "math"))
        if kind == "fma":
            made = self.b.op(Op.FMA, a, self.pick(type_), self.pick(type_), data=mode)
        elif kind == "sqrt":
            made = self.b.op(Op.FSQRT, a, data=mode)
        elif kind == "sign":
            made = self.b.op(self.one((Op.FNEG, Op.FABS)), a)
        elif kind == "extreme":
            made = self.b.op(self.one((Op.FMIN, Op.FMAX)), a, self.pick(type_))
        elif kind == "whole":
            made = self.b.op(self.one(WHOLE), a)
        else:
            made = self.b.math(self.one(FUNCTIONS), self.pick(Type.F32))
        self.keep(made)

    def float_compare(self) -> None:
        type_ = self.one(self.floats)
        self.keep(self.b.op(self.one(FLOAT_COMPARE), self.pick(type_), self.pick(type_)))

    def convert(self) -> None:
        b, mode = self.b, self.one(MODES)
        kind = self.one(("resize", "from", "to", "float", "bits"))
        if kind == "resize":
            start, end = self.one((*INTS, Type.I1)), self.one((*INTS, Type.I1))
            if start.bits < end.bits:
                self.keep(self.one((b.zext, b.sext))(self.pick(start), end))
            elif start.bits > end.bits:
                self.keep(b.trunc(self.pick(start), end))
        elif kind == "from":
            how = self.one((Op.SITOFP, Op.UITOFP))
            self.keep(b.convert(how, self.one(self.floats), self.pick(self.one(INTS)), mode))
        elif kind == "to":
            self.keep(
                b.convert(self.one((Op.FPTOSI, Op.FPTOUI)), self.one(INTS), self.pick(self.one(self.floats)))
            )
        elif kind == "float":
            start, end = self.one(self.floats), self.one(self.floats)
            if start.bits < end.bits:
                self.keep(b.convert(Op.FPEXT, end, self.pick(start)))
            elif start.bits > end.bits:
                self.keep(b.convert(Op.FPTRUNC, end, self.pick(start), mode))
        else:
            type_ = self.one(self.floats)
            self.keep(b.cast_bits(self.pick(type_), BITS[type_]))
            self.keep(b.cast_bits(self.pick(BITS[type_]), type_))

    def select(self) -> None:
        type_ = self.one((*INTS, *self.floats, Type.I1))
        self.keep(self.b.select(self.pick(Type.I1), self.pick(type_), self.pick(type_)))

    def warp(self) -> None:
        b = self.b
        kind = self.one(("lane", "active", "ballot", "shuffle", "match", "reduce", "logic"))
        if kind == "lane":
            self.keep(b.lane())
        elif kind == "active":
            self.keep(b.active())
        elif kind == "ballot":
            self.keep(b.ballot(self.pick(Type.I1)))
        elif kind == "shuffle":
            self.keep(b.shuffle(self.pick(self.one((*INTS, *self.floats, Type.I1))), self.pick(Type.I32)))
        elif kind == "match":
            self.keep(b.match(self.pick(self.one((Type.I32, Type.I64)))))
        elif kind == "reduce":
            ops = (Op.ADD, Op.AND, Op.OR, Op.XOR, Op.UMIN, Op.UMAX, Op.SMIN, Op.SMAX)
            self.keep(b.reduce(self.one(ops), self.pick(Type.I32)))
        else:
            self.keep(b.op(self.one((Op.AND, Op.OR, Op.XOR)), self.pick(Type.I1), self.pick(Type.I1)))

    def fresh(self) -> None:
        self.keep(self.constant(self.one((*INTS, *self.floats, Type.I1))))

    # -- frame --------------------------------------------------------------------------------------------

    def thread(self) -> Value:
        """The thread's number in the grid, I64."""
        b = self.b
        linear = b.add(b.special("tid.x"), b.mul(b.special("ctaid.x"), b.special("ntid.x")))
        return b.zext(linear, Type.I64)

    def inputs(self) -> None:
        """Load a value of each type."""
        b = self.b
        self.next()
        at = b.add(b.const(Type.I64, INPUT), b.mul(self.thread(), b.const(Type.I64, 64)))
        for place, type_ in enumerate((*FLOATS, *INTS)):
            if type_ in (*self.floats, *INTS):
                self.keep(b.load("global", b.add(at, b.const(Type.I64, 8 * place)), type_)[0])
        self.keep(b.trunc(self.values[Type.I32][0], Type.I1))

    def outputs(self, per_type: int = 3) -> None:
        """Store the last values of each type."""
        b = self.b
        place = 0
        for type_, values in self.values.items():
            for value in values[-per_type:]:
                self.next()
                bits = b.cast_bits(value, BITS[type_]) if type_.is_float else value
                at = b.add(
                    b.const(Type.I64, OUTPUT + 8 * place), b.mul(self.thread(), b.const(Type.I64, 256))
                )
                b.store("global", at, b.zext(bits, Type.I64))
                place += 1

    def routine(self) -> Routine:
        self.next()
        self.b.exit()
        return finish(self.b, self.index)


def finish(b: Builder, instructions: int) -> Routine:
    """A routine of what was built, over a program of so many instructions without text."""
    nothing = tuple(Instruction(i, "nop") for i in range(instructions))
    program = Program(name="random", level=Level.PTX, target="sm_90", instructions=nothing)
    return Routine(program, b.finish(), b.registers, tuple(sorted(b.functions)), b.uncovered)


def environment(seed: int, threads: int = 64, blocks: int = 2, shared: int = 1024, local: int = 64):
    """A context and memory with random inputs, rich in special values."""
    rng = np.random.default_rng(seed)
    total = threads * blocks
    data = rng.integers(0, 2**64, (total, 8), np.uint64, endpoint=False)
    for place, type_ in enumerate(FLOATS):
        special = np.array(SPECIAL_BITS[type_], np.uint64)
        chosen = rng.random(total) < 0.4
        data[chosen, place] = rng.choice(special, int(chosen.sum()))
        usual = rng.random(total) < 0.6
        numbers = rng.normal(size=total).astype({16: np.float16, 32: np.float32, 64: np.float64}[type_.bits])
        data[usual, place] = numbers.view(f"u{type_.bits // 8}").astype(np.uint64)[usual]
    for place in range(3, 7):
        chosen = rng.random(total) < 0.4
        data[chosen, place] = rng.choice(
            np.array([0, 1, 2**64 - 1, 2**31, 2**63, 7], np.uint64), int(chosen.sum())
        )
    memory = DeviceMemory()
    assert memory.place("input", data) == INPUT
    assert memory.place("output", np.zeros((max(total, 128), 32), np.uint64)) == OUTPUT
    launch = Launch(Dim3(blocks), Dim3(threads))
    return Context(launch, {0: bytes(range(64)), 3: b"abcdefgh"}, shared, local), memory
