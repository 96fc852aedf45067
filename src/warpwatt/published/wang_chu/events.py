"""Exact simulation of one round: a serial compute server and a first-come-first-served memory server."""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.published.wang_chu.regimes import Round


def simulated_cycles(r: Round) -> float:
    """Return when the last of ``warps`` has its last datum; both counts are taken as whole numbers.

    A warp computes when the server is free, in the order in which warps become ready. Its request takes the
    memory server for ``delay`` and the data arrive ``latency`` after the request was taken.

    >>> from warpwatt.published.wang_chu.regimes import Round
    >>> simulated_cycles(Round(compute=20, delay=9, latency=400, warps=64, iterations=5))
    6800.0
    """
    iterations = round(r.iterations)
    waiting = [(0.0, warp, iterations) for warp in range(round(r.warps))]
    heapify(waiting)
    computed = served = last = 0.0
    while waiting[0][2]:
        ready, warp, left = waiting[0]
        computed = max(ready, computed) + r.compute
        taken = max(computed, served)
        served = taken + r.delay
        arrival = taken + r.latency
        last = max(last, arrival)
        heapreplace(waiting, (arrival if left > 1 else float("inf"), warp, left - 1))
    return last
