"""What a time model reserves when: :class:`ReservationTable`, units over cycles, block by block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpwatt.core.program import SourceLine


@dataclass(frozen=True, slots=True)
class Reservation:
    """One instruction of a basic block and the cycles it holds all units of its kind, from its block's start.

    ``label`` names it within its block, ``after`` is the label of the one it waited for, empty without any.
    """

    label: str
    opcode: str
    unit: str
    start: int
    end: int
    after: str = ""
    line: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class ScheduledBlock:
    """A basic block: its number in the program, how often a warp runs it, its delay in cycles."""

    number: int
    executions: float
    delay: int
    reservations: tuple[Reservation, ...]

    @property
    def cycles(self) -> float:
        """Cycles of all its executions."""
        return self.delay * self.executions


@dataclass(frozen=True, slots=True)
class ReservationTable:
    """The blocks on the longest path of one wave, in order.

    ``threads`` of a wave run on an SM with ``units`` of each kind; ``waves`` follow one another; ``others``
    is how many blocks are not on the path.
    """

    threads: int
    waves: int
    units: Mapping[str, float]
    blocks: tuple[ScheduledBlock, ...]
    others: int = 0
