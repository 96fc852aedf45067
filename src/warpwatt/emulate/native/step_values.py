"""Values of a block as steps make them: the rows so far, and which value is which."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from warpwatt.emulate.native.step_frame import NONE
from warpwatt.native.records import codes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.emulate.ir import Operation, Value
    from warpwatt.emulate.native.step_frame import Constants, Row
    from warpwatt.emulate.native.tables import RoutineTables


class NoStepError(Exception):
    """There is no step for an operation."""


@cache
def functions() -> Mapping[str, int]:
    """Return the addresses of the functions of steps by name."""
    return codes("emulator_steps")["step"]


class StepValues:
    """The rows of one block and its values; ``length`` is what executing it takes off the budget.

    Attributes
    ----------
    rows
        The steps; values in them are still numbers.
    literals
        The integers that are constants, by value of the routine.
    read
        What was read of constant banks: value by bits, bank and address.
    may_fail
        Whether a step may meet a fault.
    """

    def __init__(self, routine: RoutineTables, constants: Constants, length: int) -> None:
        self.routine, self.constants, self.length = routine, constants, length
        self.rows: list[Row] = []
        self.literals: dict[int, int] = {}
        self.read: dict[tuple[int, int, int], int] = {}
        self.may_fail = False
        self._made = 0
        self._known: dict[int, int] = {}
        self._scalars: set[int] = set()

    def step(self, name: str, *args: int, result: int = NONE, number: int = 0) -> None:
        """Add a step; ``args`` are up to three values."""
        execute = functions().get(name)
        if execute is None:
            raise NoStepError(name)
        a, b, c = (*args, NONE, NONE, NONE)[:3]
        self.rows.append((execute, result, a, b, c, number))

    def make(self, name: str, *args: int, number: int = 0) -> int:
        """Add a step that makes a value; return it."""
        made = self._made
        self._made += 1
        self.step(name, *args, result=made, number=number)
        return made

    def bind(self, value: Value, at: int, *, scalar: bool) -> None:
        """Say which value one of the routine is; ``scalar``: it is the same in all lanes."""
        self._known[value.index] = at
        if scalar:
            self._scalars.add(value.index)

    def let(self, operation: Operation, name: str, number: int = 0) -> None:
        """Make the result of an operation on lanes from its arguments."""
        made = self.make(name, *map(self.at, operation.args), number=number)
        self.bind(operation.results[0], made, scalar=self.are_scalar(*operation.args))

    def at(self, value: Value) -> int:
        """Return what a value of the routine was bound to."""
        return self._known[value.index]

    def mask(self, mask: Value | None) -> int:
        """Return what a mask was bound to; NONE: all lanes."""
        return NONE if mask is None else self.at(mask)

    def are_scalar(self, *values: Value) -> bool:
        """Whether values are the same in all lanes."""
        return all(value.index in self._scalars for value in values)

    def address(self, value: Value) -> None:
        """Hand addresses to the machine."""
        self.step(f"address {value.type.bits}", self.at(value))

    def argument(self, value: Value, row: int) -> None:
        """Hand an argument to the machine."""
        self.step(f"argument {value.type.bits}", self.at(value), number=row)
