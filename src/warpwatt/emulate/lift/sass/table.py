"""The table of SASS semantics: opcode -> function that writes micro-operations.

A function declares every modifier it knows. An instruction with another one, or of a form that makes the
function raise :class:`~warpwatt.emulate.lift.sass.operands.Unsupported`, is *uncovered*: its destinations
become zero and the builder notes it. Nothing is ignored in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.program import Instruction, Program
from warpwatt.emulate.lift.sass.operands import Step, Unsupported

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value

    Semantics = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Entry:
    """Semantics of an opcode: ``needs`` are modifiers it must have, ``knows`` those it may have."""

    function: Semantics
    needs: frozenset[str]
    knows: frozenset[str]


_TABLE: dict[str, list[Entry]] = {}


def lifts(*opcodes: str, knows: str = "") -> Callable[[Semantics], Semantics]:
    """Register a function for opcodes, with the modifiers it knows, separated by blanks (``*``: any).

    ``IMAD.WIDE`` registers it for IMAD with the modifier WIDE; of several entries, the one that needs most
    modifiers is taken. The name of a uniform twin (``UIADD3``) is given beside the other.
    """

    def register(function: Semantics) -> Semantics:
        for opcode in opcodes:
            base, *needs = opcode.split(".")
            entry = Entry(function, frozenset(needs), frozenset([*needs, *knows.split()]))
            _TABLE.setdefault(base, []).append(entry)
            _TABLE[base].sort(key=lambda e: -len(e.needs))
        return function

    return register


def find(opcode: str) -> Entry | None:
    """Return the entry for a full opcode, or None if its base or a modifier is not known."""
    base, *modifiers = opcode.split(".")
    there = frozenset(modifiers)
    entry = next((e for e in _TABLE.get(base, ()) if e.needs <= there), None)
    return entry if entry is not None and (there <= entry.knows or "*" in entry.knows) else None


def lift_instruction(builder: Builder, instruction: Instruction, program: Program) -> None:
    """Write what an instruction does; the builder's guard is set already.

    ``program`` is the kernel or the function that the instruction belongs to.
    """
    step = Step(builder, instruction, program)
    entry = find(instruction.opcode)
    if entry is not None:
        try:
            entry.function(step)
        except (Unsupported, ValueError):  # the latter: operands that do not unpack
            pass
        else:
            return
    builder.uncovered[builder.instruction] = instruction.opcode
    for name in instruction.writes:
        step.set(name, _zero(step, name))


def _zero(step: Step, name: str) -> Value:
    """Return the zero of a register's type."""
    step.declare(name)
    return step.b.const(step.b.registers[name].type, 0)
