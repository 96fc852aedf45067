"""Long loops cut short: find repetition in what a warp does, and leave out iterations from the middle.

Plain functions of arrays, compiled by :mod:`.native` like the simulator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.native.pointers import i64_at, i64_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

CANDIDATES = 24
"""Periods tried from one place: distances to the next so many visits of the same code."""
FEWEST = 4
"""A run has at least this many repetitions."""


def find_runs(starts: Ints, codes: Ints, following: Ints, longest: int, runs: Ints) -> int:
    """Fill ``runs`` with rows (first step, steps per repetition, repetitions) and return how many.

    ``codes``: what each step executes; ``following``: the warp's next step with the same code, or -1. From
    each place the period that covers most steps wins if ``longest``, else the shortest one. Runs do not
    overlap.
    """
    count = 0
    for warp in range(starts.shape[0] - 1):
        step, end = starts[warp], starts[warp + 1]
        while step < end:
            best, best_period, best_times = 0, 0, 0
            other = following[step]
            for _ in range(CANDIDATES):
                if other < 0:
                    break
                period = other - step
                if step + FEWEST * period > end:
                    break
                times = repetitions(codes, step, period, end)
                if times >= FEWEST and times * period > best:
                    best, best_period, best_times = times * period, period, times
                    if not longest:
                        break
                other = following[other]
            if best > 0:
                runs[count, 0], runs[count, 1], runs[count, 2] = step, best_period, best_times
                count += 1
                step += best
            else:
                step += 1
    return count


def repetitions(codes: Ints, step: int, period: int, end: int) -> int:
    """Return how often the ``period`` steps from ``step`` on repeat before ``end``."""
    at = step + period
    while at < end and codes[at] == codes[at - period]:
        at += 1
    return (at - step) // period


def next_visits(starts: Ints, codes: Ints, seen: Ints, following: Ints) -> None:
    """Fill ``following`` with each step's next step of the same warp and code, -1 if none.

    ``seen``: one scratch entry per code.
    """
    for warp in range(starts.shape[0] - 1):
        for step in range(starts[warp], starts[warp + 1]):
            seen[codes[step]] = -1
        for step in range(starts[warp + 1] - 1, starts[warp] - 1, -1):
            following[step] = seen[codes[step]]
            seen[codes[step]] = step


def find_runs_at(warps: int, starts: int, codes: int, following: int, longest: int, runs: int) -> int:
    """Do :func:`find_runs` with arrays at addresses. For the compiler."""
    start = i64_at(starts, warps + 1)
    steps = start[warps]
    return find_runs(
        start, i64_at(codes, steps), i64_at(following, steps), longest, i64_rows(runs, steps // 4 + 1, 3)
    )


def next_visits_at(warps: int, starts: int, codes: int, most: int, seen: int, following: int) -> int:
    """Do :func:`next_visits` with arrays at addresses; ``most``: the largest code. For the compiler."""
    start = i64_at(starts, warps + 1)
    steps = start[warps]
    next_visits(start, i64_at(codes, steps), i64_at(seen, most + 1), i64_at(following, steps))
    return 0
