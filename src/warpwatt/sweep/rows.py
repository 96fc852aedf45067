"""One row of a sweep: what was tried, and what came of it or why nothing did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from warpwatt.core.estimate import Estimate
from warpwatt.core.objective import Objective


@dataclass(frozen=True, slots=True)
class Range:
    """A value with its 10 % and 90 % quantiles."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, estimate: Estimate) -> Range:
        """Return an estimate without its draws."""
        return cls(float(estimate.value), float(estimate.low), float(estimate.high))


@dataclass(frozen=True, slots=True)
class Row:
    """One launch of one configuration on one GPU at one pair of clocks; SI units.

    Attributes
    ----------
    number
        Its place in the sweep, from 0.
    launch
        Which of the tasks of the sweep, from 0: launches and applications.
    defines
        The macros of the configuration.
    clocks_fixed
        Whether clocks were asked for; else the board chose ``sm_clock``.
    at_power_limit
        Whether the power limit binds: it lowered the clock, or will where ``clocks_fixed``.
    time, power, energy
        Seconds, watts, joules per launch; None where ``error`` says why.
    registers, spills
        Per thread, in registers and in bytes stored.
    error
        Why there is no result; empty if there is.
    input
        The file, as it was named.
    arguments
        Scalar arguments of the launch, as they were written.
    toolkit
        Version of the compiler.
    """

    number: int
    launch: int
    gpu: str
    kernel: str = ""
    defines: tuple[tuple[str, str], ...] = ()
    max_registers: int | None = None
    grid: str = ""
    block: str = ""
    shared: int = 0
    sm_clock: float | None = None
    memory_clock: float | None = None
    clocks_fixed: bool = False
    time: Range | None = None
    power: Range | None = None
    energy: Range | None = None
    limited_by: str = ""
    at_power_limit: bool = False
    occupancy: float | None = None
    registers: int | None = None
    spills: int | None = None
    warnings: tuple[str, ...] = ()
    error: str = ""
    input: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    toolkit: str = ""

    @property
    def energy_delay(self) -> float | None:
        """Joules times seconds."""
        return self.energy.value * self.time.value if self.energy and self.time else None

    def to_json(self) -> list[Any]:
        """Return the fields in order, as JSON can hold them."""
        return [_plain(getattr(self, name)) for name in _names()]

    @classmethod
    def from_json(cls, values: Sequence[Any]) -> Row:
        """Return what :meth:`to_json` was made of.

        Raises
        ------
        ValueError, TypeError
            If it was not made of a row of this version.

        >>> row = Row(3, 0, "Tesla T4", defines=(("TILE", "8"),), time=Range(2.0, 1.0, 3.0))
        >>> Row.from_json(row.to_json()) == row
        True
        """
        read = dict(zip(_names(), values, strict=True))
        for name in ("time", "power", "energy"):
            read[name] = Range(*read[name]) if read[name] is not None else None
        for name in ("defines", "arguments"):
            read[name] = tuple((macro, value) for macro, value in read[name])
        read["warnings"] = tuple(read["warnings"])
        return cls(**read)


@lru_cache(maxsize=1)
def _names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Row))


def _plain(value: Any) -> Any:
    return [value.value, value.low, value.high] if isinstance(value, Range) else value


OBJECTIVES = tuple(Objective)
"""What may be made small: seconds, joules, joules times seconds."""


def objective(row: Row, name: str) -> float:
    """Return what a row is judged by, infinite where there is no result."""
    if row.time is None or row.energy is None:
        return float("inf")
    return {"time": row.time.value, "energy": row.energy.value, "edp": row.time.value * row.energy.value}[
        name
    ]


def least(rows: Sequence[Row], goal: str) -> Row:
    """Return the row with the least objective, the first of equals."""
    return min(rows, key=lambda row: objective(row, goal))


def pareto(rows: Iterable[Row]) -> frozenset[int]:
    """Return the numbers of the rows that no other row of the same launch beats in both time and energy.

    Rows of equal time and energy are both in.

    >>> def row(number, time, energy, launch=0):
    ...     return Row(number, launch, "", time=Range(time, time, time), energy=Range(energy, energy, energy))
    >>> sorted(pareto([row(0, 1.0, 5.0), row(1, 2.0, 4.0), row(2, 2.0, 6.0), row(3, 9.0, 9.0, launch=1)]))
    [0, 1, 3]
    """
    front: set[int] = set()
    for group in _by_launch(rows).values():
        best, previous = float("inf"), (0.0, 0.0)
        for time, energy, number in sorted(group):
            if energy < best or (time, energy) == previous:
                best, previous = energy, (time, energy)
                front.add(number)
    return frozenset(front)


def _by_launch(rows: Iterable[Row]) -> Mapping[int, list[tuple[float, float, int]]]:
    groups: dict[int, list[tuple[float, float, int]]] = {}
    for row in rows:
        if row.time is not None and row.energy is not None:
            groups.setdefault(row.launch, []).append((row.time.value, row.energy.value, row.number))
    return groups
