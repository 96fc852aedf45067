"""The walk over a program that writes its routine; the same for PTX and SASS.

A :class:`Language` says what differs: the table of semantics, how a guard is read, what an instruction
without semantics clears, and which blocks have addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from warpwatt.core.errors import InputError
from warpwatt.core.program import Guard, Instruction, Program
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.ir import Op, Routine
from warpwatt.emulate.lift.order import arrange

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Block, Value

B = TypeVar("B", bound=Builder)


class UncoveredError(Exception):
    """An instruction has no semantics here; caught by :func:`drive`, which notes its opcode."""


@dataclass(frozen=True, slots=True)
class Language(Generic[B]):
    """What the driver needs to know of a level.

    Attributes
    ----------
    semantics
        Writes the micro-operations of an instruction. Raises :class:`UncoveredError` if it cannot.
    guard
        Reads a guard as I1; None if it always holds.
    clear
        Sets what an instruction without semantics would write to zero.
    alone
        Whether an instruction must be branched around where its guard fails, because it ends its block.
    address
        Address of the block that begins at an instruction that has a label; None where nothing needs it.
    order
        Puts the blocks in scheduling order.
    """

    semantics: Callable[[B, Instruction], None]
    guard: Callable[[B, Guard], Value | None]
    clear: Callable[[B, Instruction], None]
    alone: Callable[[Instruction], bool]
    address: Callable[[int], int | None] = lambda _index: None
    order: Callable[[Sequence[Block]], tuple[Block, ...]] = arrange


def drive(program: Program, builder: B, language: Language[B]) -> Routine:
    """Lift every instruction of ``program`` with ``builder`` and return the routine in scheduling order.

    Raises
    ------
    InputError
        If the program jumps to a label it does not have.
    """
    names: dict[int, list[str]] = {}
    for name, index in program.labels.items():
        names.setdefault(index, []).append(name)
    builder.begin()
    for instruction in program.instructions:
        if instruction.index in names:
            _begin(builder, language, instruction.index, names[instruction.index])
        _lift(builder, language, instruction)
    end = len(program.instructions)
    builder.instruction = end - 1
    _begin(builder, language, end, names.get(end, []))
    try:
        blocks = builder.finish()
    except KeyError as error:
        raise InputError(f"{program.name} jumps to {error.args[0]}, which is nowhere") from None
    ordered, functions = language.order(blocks), tuple(sorted(builder.functions))
    return Routine(program, ordered, builder.registers, functions, builder.uncovered)


def _begin(builder: B, language: Language[B], index: int, names: list[str]) -> None:
    """Begin the block of some labels."""
    builder.guard = None
    builder.begin(names[0] if names else None, language.address(index) if names else None)
    for name in names[1:]:
        builder.label(name)


def _lift(builder: B, language: Language[B], instruction: Instruction) -> None:
    builder.guard = None
    skip = None
    if instruction.guard is not None and language.alone(instruction):
        skip = f"#behind {instruction.index}"
        _skip(builder, language, instruction, skip)
    builder.at(instruction.index)
    if instruction.guard is not None and skip is None:
        builder.guard = language.guard(builder, instruction.guard)
        if builder.guard is not None:
            builder.emit(Op.COUNT, None, builder.guard, data=instruction.index)
    try:
        language.semantics(builder, instruction)
    except UncoveredError:
        builder.uncovered[instruction.index] = instruction.opcode
        language.clear(builder, instruction)
    if skip is not None:
        builder.guard = None
        builder.begin(skip)


def _skip(builder: B, language: Language[B], instruction: Instruction, label: str) -> None:
    """Branch to ``label`` where the guard of ``instruction`` fails, ahead of its block."""
    assert instruction.guard is not None
    guard = language.guard(builder, instruction.guard)
    if guard is not None:
        builder.instruction = instruction.index
        builder.branch(label, builder.not_(guard))
