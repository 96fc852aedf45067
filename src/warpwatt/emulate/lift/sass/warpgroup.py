"""Semantics of the matrix instructions of warp groups (PTX ISA 9.7.15, wgmma): each warp its 16 rows of D.

B, and A where it is not in registers, are read from shared memory by descriptors in uniform registers. It is
done at once, which is one of the orders that the machine allows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warpwatt.core.program import Address, Operand, Register, Symbol
from warpwatt.emulate.ir import Type
from warpwatt.emulate.lift.sass.operands import (
    is_predicate,
    is_zero,
    next_register,
    register_of,
    require,
)
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step

_SHAPE = re.compile(r"64x(\d+)x(\d+)$")
_SHAPES = " ".join(f"64x{n}x{k}" for n in range(8, 257, 8) for k in (8, 16, 32, 256))
_REGISTERS_OF_A = 4
_DESCRIPTOR_WORDS = 4
_AROUND = frozenset({"gdesc", "tnspA", "tnspB", "negA", "negB"})


@lifts("HGMMA", knows=f"{_SHAPES} F16 F32 BF16 TF32")
def halves(s: Step) -> None:
    """Multiply fp16, bfloat16 or tf32."""
    kind = {"BF16": "bf16", "TF32": "tf32"}.get(s.one_of(("BF16", "TF32"), ""), "f16")
    _multiply(s, kind, kind, s.one_of(("F16", "F32")).lower())


@lifts("QGMMA", knows=f"{_SHAPES} F16 F32 E4M3 E5M2")
def small_floats(s: Step) -> None:
    """Multiply floats of 8 bits."""
    a, b = _pair(s, ("E4M3", "E5M2"))
    _multiply(s, a, b, s.one_of(("F16", "F32")).lower())


@lifts("IGMMA", knows=f"{_SHAPES} S8 U8 SAT")
def integers(s: Step) -> None:
    """Multiply integers of 8 bits, summed in 32."""
    a, b = _pair(s, ("S8", "U8"))
    _multiply(s, a, b, "s32")


def _pair(s: Step, names: tuple[str, ...]) -> tuple[str, str]:
    found = [m.lower() for m in s.modifiers if m in names]
    require(len(found) == 2)
    return found[0], found[1]


def _multiply(s: Step, a: str, b: str, accumulator: str) -> None:
    """Write D = A x B + C by the runtime function ``wgmma``."""
    require(s.b.guard is None)
    n, k = next((int(m[1]), int(m[2])) for m in map(_SHAPE.match, s.modifiers) if m)
    to, *operands = _values(s)
    count = n // 2 if accumulator != "f16" else n // 4
    in_registers = isinstance(operands[0], Register)
    require(len(operands) >= 2 + in_registers)
    rows = _words(s, operands.pop(0), _REGISTERS_OF_A) if in_registers else []
    matrices, sum_, *flags = operands
    require(len(flags) <= 1 and all(is_predicate(f) for f in flags), "scale of a matrix")
    require(isinstance(matrices, Address), "descriptor")
    assert isinstance(matrices, Address)
    words = _descriptors(s, matrices)
    sums = _words(s, sum_, count)
    around = [name in matrices.modifiers for name in ("tnspA", "tnspB", "negA", "negB")]
    constants = (n, k, a, b, accumulator, in_registers, *around)
    added = s.b.zext(s.predicate(flags[0]), Type.I32) if flags else s.b.i32(1)
    results = s.b.call("wgmma", constants, (Type.I32, count), *rows, *words, added, *sums)
    for place, value in enumerate(results):
        s.set(next_register(register_of(to).name, place), value)


def _values(s: Step) -> list[Operand]:
    """Return the operands but the name of the group's scoreboard."""
    return [o for o in s.operands if not (isinstance(o, Symbol) and o.name.startswith("gsb"))]


def _descriptors(s: Step, operand: Address) -> list[Value]:
    """Return the words of the descriptors of A and B."""
    require(operand.base is not None and set(operand.modifiers) <= _AROUND, "descriptor")
    name = register_of(operand.base or operand).name
    return [s.get(next_register(name, k)) for k in range(_DESCRIPTOR_WORDS)]


def _words(s: Step, operand: Operand, count: int) -> list[Value]:
    register = register_of(operand)
    require(not register.negated and set(register.modifiers) <= {"reuse"})
    if is_zero(register):
        return [s.b.i32(0)] * count
    return [s.get(next_register(register.name, k)) for k in range(count)]
