"""Semantics of the warp's matrix instructions: D = A x B + C on fragments in registers.

The fragments lie in registers as PTX's ``mma`` has them (:mod:`warpwatt.emulate.fragments`), one machine
instruction for one PTX instruction, as compiled probes show.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warpwatt.core.program import Operand
from warpwatt.emulate.formats import BITS
from warpwatt.emulate.fragments import fragment
from warpwatt.emulate.ir import Type
from warpwatt.emulate.lift.sass.operands import Unsupported, is_zero, next_register, register_of, require
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step

_PACKED_SHAPE = re.compile(r"(16|8)8(\d+)$")
"""``16816`` is 16 x 8 x 16: all shapes of this spelling have n = 8."""
_SPELT_SHAPE = re.compile(r"(\d+)x(\d+)x(\d+)$")
_SHAPES = "884 1684 1688 16816 8816 16832 8832 16864 88128 168256 8x8x4 16x8x4 16x8x8 16x8x16"
_SMALL_FLOATS = ("E4M3", "E5M2", "E2M1", "E3M2", "E2M3")
_INTEGERS = ("S4", "U4", "S8", "U8")


@lifts("HMMA", knows=f"{_SHAPES} F16 F32 BF16 TF32")
def halves(s: Step) -> None:
    """Multiply fp16, bfloat16 or tf32; the accumulator is named first."""
    kind = {"BF16": "bf16", "TF32": "tf32"}.get(s.one_of(("BF16", "TF32"), ""), "f16")
    accumulator = s.one_of(("F16", "F32")).lower()
    _multiply(s, kind, kind, accumulator)


@lifts("DMMA", knows=_SHAPES)
def doubles(s: Step) -> None:
    """Multiply doubles."""
    _multiply(s, "f64", "f64", "f64")


@lifts("IMMA", knows=f"{_SHAPES} {' '.join(_INTEGERS)} SAT")
def integers(s: Step) -> None:
    """Multiply integers of 4 or 8 bits, summed in 32."""
    a, b = _pair_of(s, _INTEGERS)
    _multiply(s, a, b, "s32", *(("satfinite",) if s.has("SAT") else ()))


@lifts("BMMA", knows=f"{_SHAPES} XOR AND POPC")
def bits(s: Step) -> None:
    """Count the ones of A xor B, or A and B."""
    require(s.has("POPC"))
    _multiply(s, "b1", "b1", "s32", s.one_of(("XOR", "AND")).lower())


@lifts("QMMA", knows=f"{_SHAPES} F16 F32 {' '.join(_SMALL_FLOATS)}")
def small_floats(s: Step) -> None:
    """Multiply floats of 8 bits or less, a byte each."""
    a, b = _pair_of(s, _SMALL_FLOATS)
    _multiply(s, a, b, s.one_of(("F16", "F32")).lower())


@lifts("QMMA.SF", "OMMA.SF", knows=f"{_SHAPES} F32 {' '.join(_SMALL_FLOATS)} E8 UE4M3 4X")
def scaled_floats(s: Step) -> None:
    """Multiply small floats, of which 32, or 16 of nvfp4, share a scale.

    Behind the matrices stand the registers of A's and B's scales and which threads' bytes they are; here
    those that a zero names: of A's rows of the first two threads of four, of B's columns of the first.
    """
    require(len(s.operands) == 7 and is_zero(s.operands[6]), "which scales")
    m, n, k = _shape(s)
    a, b = _pair_of(s, _SMALL_FLOATS)
    block, scales = (16 if s.has("4X") else 32), "ue4m3" if s.has("UE4M3") else "ue8m0"
    inputs = (("a", m, k, a), ("b", k, n, b), ("c", m, n, "f32"))
    matrices = [
        value
        for operand, (name, rows, columns, kind) in zip(s.operands[1:4], inputs, strict=True)
        for value in _registers(s, operand, _layout(s, name, rows, columns, kind), kind)
    ]
    factors = [s.get(register_of(o).name) for o in s.operands[4:6]]
    constants = (m, n, k, a, b, block, scales)
    values = s.b.call("scaled mma", constants, (Type.I32, 4), *matrices, *factors)
    for place, value in enumerate(values):
        s.set(next_register(register_of(s.operands[0]).name, place), value)


def _layout(s: Step, name: str, rows: int, columns: int, kind: str) -> int:
    """Return the registers of a fragment; but for products of four bits alone, elements fill bytes."""
    bits = 32 if name == "c" else 4 if s.opcode == "OMMA" else 8
    return fragment(name, rows, columns, BITS[kind] if bits == 32 else bits).registers


def _pair_of(s: Step, names: tuple[str, ...]) -> tuple[str, str]:
    """Return the types of A and B, which stand in this order."""
    found = [m.lower() for m in s.modifiers if m in names]
    require(len(found) == 2)
    return found[0], found[1]


def _shape(s: Step) -> tuple[int, int, int]:
    """Return m, n and k."""
    for modifier in s.modifiers:
        if found := _PACKED_SHAPE.match(modifier):
            return int(found[1]), 8, int(found[2])
        if found := _SPELT_SHAPE.match(modifier):
            return int(found[1]), int(found[2]), int(found[3])
    raise Unsupported("shape of a matrix instruction")


def _multiply(s: Step, a: str, b: str, accumulator: str, *rest: str) -> None:
    """Write D = A x B + C by the runtime function ``mma``."""
    require(len(s.operands) == 4)
    m, n, k = _shape(s)
    inputs = (("a", m, k, a), ("b", k, n, b), ("c", m, n, accumulator))
    arguments = [
        value
        for operand, (name, rows, columns, kind) in zip(s.operands[1:], inputs, strict=True)
        for value in _registers(s, operand, fragment(name, rows, columns, BITS[kind]).registers, kind)
    ]
    constants = (m, n, k, a, b, accumulator, accumulator, *rest)
    result = fragment("c", m, n, BITS[accumulator])
    type_ = Type.I64 if accumulator == "f64" else Type.I32
    values = s.b.call("mma", constants, (type_, result.registers), *arguments)
    to = register_of(s.operands[0])
    for place, value in enumerate(values):
        s.set(next_register(to.name, place * type_.bits // 32), value)


def _registers(s: Step, operand: Operand, count: int, kind: str) -> list[Value]:
    """Return a fragment's registers, pairs for doubles."""
    operand = register_of(operand)
    require(not operand.negated and set(operand.modifiers) <= {"reuse", "ROW", "COL"})
    if kind != "f64":
        return [s.get(next_register(operand.name, k)) for k in range(count)]
    if is_zero(operand):
        return [s.b.const(Type.I64, 0)] * count
    words = [s.get(next_register(operand.name, k)) for k in range(2 * count)]
    return [s.b.pair(words[2 * k], words[2 * k + 1]) for k in range(count)]
