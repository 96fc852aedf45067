"""Closed forms of a round of warps that use shared memory (Wang and Chu 2018, equations 16-21)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.published.wang_chu.regimes import Round


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

    >>> from warpwatt.published.wang_chu.regimes import Round
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
