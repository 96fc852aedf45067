"""Closed forms of one round of active warps (Wang and Chu 2018), and the exact simulation that judges them.

Equations (8)-(15) are without shared memory, (16)-(21) with it.

Every warp repeats a period of computation, which the SM serves one warp after the other, and a memory
request, which one queue serves first come, first served. Two corrections to what is printed, both judged by
the exact simulation (:func:`simulated_cycles`, docs/validation/wang_chu.md): conditions (10b) and (12b) are
exchanged, because the queue is full where one period of a warp is *shorter* than the service of all the
others; and (11) counts the active warps ``#Aw``, not those of one block.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from heapq import heapify, heapreplace


class Regime(StrEnum):
    """Which of the four cases holds."""

    COMPUTE = "computation"
    MEMORY = "memory queue"
    FEW_SHORT = "few warps, short computation"
    FEW_LONG = "few warps, long computation"


@dataclass(frozen=True, slots=True)
class Round:
    """One round of active warps on an SM; core cycles.

    Attributes
    ----------
    compute
        ``avr_comp``, computation of a warp before each of its requests.
    delay
        ``agl_del`` times the sectors of a request: how long it keeps the queue.
    latency
        ``agl_lat``, from leaving the queue to the data's arrival.
    warps
        ``#Aw``, active on the SM.
    iterations
        ``o_itrs``, periods of every warp.
    """

    compute: float
    delay: float
    latency: float
    warps: float
    iterations: float

    @property
    def computing(self) -> float:
        """Cycles in which the compute server is busy."""
        return self.compute * self.warps * self.iterations

    @property
    def queueing(self) -> float:
        """Cycles in which the memory server is busy."""
        return self.delay * self.warps * self.iterations


def regime(r: Round) -> Regime:
    """Return the case of a round: conditions (8), (10), (12), (14), with (10b) and (12b) exchanged.

    >>> regime(Round(compute=2, delay=9, latency=400, warps=64, iterations=5)).value
    'memory queue'
    """
    others = r.warps - 1
    if r.compute >= r.delay:
        return Regime.COMPUTE if r.compute * others >= r.latency else Regime.FEW_LONG
    return Regime.MEMORY if r.compute + r.latency <= r.delay * others else Regime.FEW_SHORT


def active_cycles(r: Round) -> float:
    """Return T_active: equation (9), (11) with ``#Aw``, (13) or (15).

    >>> active_cycles(Round(compute=20, delay=9, latency=400, warps=64, iterations=5))
    6800
    """
    return cycles_in(regime(r), r, r.warps)


def cycles_in(case: Regime, r: Round, queued: float) -> float:
    """Return T_active in a given case; ``queued`` is the number of warps in equation (11)."""
    match case:
        case Regime.COMPUTE:
            return r.compute * r.warps * r.iterations + r.latency
        case Regime.MEMORY:
            return r.latency + r.compute + r.delay * queued * r.iterations
        case Regime.FEW_SHORT:
            period = r.compute + r.latency
            return r.delay * r.warps + period + period * (r.iterations - 1)
        case Regime.FEW_LONG:
            return r.compute * (r.warps - 1) + (r.compute + r.latency) * r.iterations


def printed_cycles(r: Round, warps_per_block: float) -> float:
    """Return T_active as printed, for comparison: (10b), (12b) as they stand, (11) with ``#Wpb``."""
    others = r.warps - 1
    if r.compute >= r.delay:
        return active_cycles(r)
    full = r.compute + r.latency >= r.delay * others
    return cycles_in(Regime.MEMORY if full else Regime.FEW_SHORT, r, warps_per_block)


def waiting_warps(r: Round) -> tuple[float, float]:
    """Return how many warps wait on average for the SM and in the memory queue, without those being served.

    Little's law for a round of many iterations. Each warp takes part in ``1 / (compute + latency)`` periods a
    cycle at most, all of them in no more than the slower server serves; who is beyond that waits there. The
    paper draws the queues (figures 5 to 9) and gives no lengths.

    >>> waiting_warps(Round(compute=2, delay=9, latency=448, warps=64, iterations=100))
    (0.0, 14.0)
    >>> waiting_warps(Round(compute=20, delay=9, latency=400, warps=64, iterations=100))
    (43.0, 0.0)
    """
    period, service = r.compute + r.latency, max(r.compute, r.delay)
    waiting = max(0.0, r.warps - period / service) if service > 0 else 0.0
    return (waiting, 0.0) if r.compute >= r.delay else (0.0, waiting)


@dataclass(frozen=True, slots=True)
class SharedUse:
    """Shared memory in a round.

    ``latency`` is ``sh_lat`` in core cycles, ``transactions`` is ``i_itrs``: those of a warp within one outer
    iteration, ``warps_per_block`` is ``#Wpb``.
    """

    latency: float
    transactions: float
    warps_per_block: float


def infrequent(r: Round, use: SharedUse) -> bool:
    """Return whether global latency hides shared memory: conditions (16a) and (16b).

    The other blocks' requests have to keep memory busy for as long as a warp computes and waits for all its
    shared transactions.
    """
    others = r.delay * (r.warps - use.warps_per_block)
    return r.compute <= r.delay and r.compute + use.latency * use.transactions <= others


def hidden_cycles(r: Round) -> float:
    """Return T_active where shared memory is hidden, equation (17): ``delay`` is of all sectors.

    >>> hidden_cycles(Round(compute=5, delay=9, latency=500, warps=64, iterations=2))
    1657
    """
    return r.compute + r.latency + r.delay * r.warps * r.iterations


def phased_cycles(r: Round, use: SharedUse) -> float:
    """Return T_active where shared memory is used a lot, equations (18)-(21).

    Requests of the first phase queue with those of all active warps, later ones with their own block's only.
    Nothing in the equations stops more warps from computing than there are cycles: no less is returned than
    either server is busy.
    """
    first = 2 * r.compute + r.delay * r.warps + r.latency + use.latency
    second = r.compute * (use.warps_per_block - 1) + (r.compute + use.latency) * use.transactions
    third = 2 * r.compute + r.delay * use.warps_per_block + r.latency + use.latency
    return max(first + (second + third) * r.iterations, r.computing, r.queueing)


def simulated_cycles(r: Round) -> float:
    """Return when the last of ``warps`` has its last datum, simulated exactly; counts as whole numbers.

    A warp computes when the serial compute server is free, in the order in which warps become ready. Its
    request takes the first-come-first-served memory server for ``delay`` and the data arrive ``latency``
    after the request was taken.

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
