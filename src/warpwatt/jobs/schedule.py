"""First come, first served: list scheduling of pieces of work on devices.

Pieces are placed in the order of their arrival, each on a device that may run it; a piece never delays one
that came before it. Equal choices fall to the device named first, so the result is always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple


class Place(StrEnum):
    """Which device a piece of work goes to."""

    START = "start"
    """Where it starts first."""
    FINISH = "finish"
    """Where it ends first."""
    ENERGY = "energy"
    """Where it takes the least energy, even if it waits for that."""


class Piece(NamedTuple):
    """One copy of a job."""

    job: int
    arrival: float


class Run(NamedTuple):
    """A piece of work on a device, seconds from the beginning."""

    piece: Piece
    device: int
    start: float
    end: float


def list_schedule(
    pieces: Sequence[Piece],
    seconds: Sequence[Mapping[str, float]],
    joules: Sequence[Mapping[str, float]],
    kinds: Sequence[str],
    place: Place = Place.START,
) -> list[Run]:
    """Return the runs in the order of arrival.

    Parameters
    ----------
    seconds, joules
        For each job, what a piece of it takes on each kind of device that may run it.
    kinds
        The kind of each device.

    >>> runs = list_schedule([Piece(0, 0.0)] * 3, [{"a": 2.0, "b": 3.0}], [{"a": 9.0, "b": 1.0}], "ab")
    >>> [(run.device, run.start, run.end) for run in runs]
    [(0, 0.0, 2.0), (1, 0.0, 3.0), (0, 2.0, 4.0)]
    """
    free = [0.0] * len(kinds)
    runs = []
    for piece in sorted(pieces, key=lambda piece: piece.arrival):
        costs = seconds[piece.job], joules[piece.job]
        device = _choose(piece.arrival, free, kinds, *costs, _KEYS[place])
        start = max(free[device], piece.arrival)
        free[device] = start + costs[0][kinds[device]]
        runs.append(Run(piece, device, start, free[device]))
    return runs


def _choose(
    arrival: float,
    free: Sequence[float],
    kinds: Sequence[str],
    seconds: Mapping[str, float],
    joules: Mapping[str, float],
    key: Callable[[float, float, float], tuple[float, float]],
) -> int:
    best, chosen = None, -1
    for device, kind in enumerate(kinds):
        if kind in seconds:
            found = key(max(free[device], arrival), seconds[kind], joules[kind])
            if best is None or found < best:
                best, chosen = found, device
    return chosen


_KEYS: Mapping[Place, Callable[[float, float, float], tuple[float, float]]] = {
    Place.START: lambda start, seconds, _: (start, start + seconds),
    Place.FINISH: lambda start, seconds, joules: (start + seconds, joules),
    Place.ENERGY: lambda start, seconds, joules: (joules, start + seconds),
}
