"""What Wang and Chu's model sees in a case, in sentences: the case that holds, hit rate, latency, queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warpwatt.published.wang_chu.regimes import Regime, waiting_warps
from warpwatt.published.wang_chu.rounds import HIDDEN, PHASES, round_at
from warpwatt.render.figures import count, percent

if TYPE_CHECKING:
    from warpwatt.core.gpu import Clocks
    from warpwatt.published.wang_chu.counts import Counts
    from warpwatt.published.wang_chu.memory import MemoryParameters
    from warpwatt.published.wang_chu.regimes import Round

EQUATIONS: Mapping[str, str] = {
    Regime.COMPUTE: "(8), (9)",
    Regime.MEMORY: "(10), (11)",
    Regime.FEW_SHORT: "(12), (13)",
    Regime.FEW_LONG: "(14), (15)",
    HIDDEN: "(16), (17)",
    PHASES: "(18) to (21)",
}
"""Equations of the paper by the name of the case that holds."""


def remarks(counts: Counts, memory: MemoryParameters, clocks: Clocks, case: str) -> tuple[str, ...]:
    """Return the sentences; ``case`` is the name of the case that holds."""
    r = round_at(counts, memory, clocks)
    return (_case(r, counts, case), _memory(r, counts), _queues(r, counts, case))


def _case(r: Round, counts: Counts, case: str) -> str:
    return (
        f"Wang and Chu's case is {case}, equations {EQUATIONS[case]}: {_figure(r.warps)} active warps on an "
        f"SM, each {_figure(r.iterations)} times {_figure(r.compute)} core cycles of computation and a "
        f"request of {_figure(counts.sectors)} sectors."
    )


def _memory(r: Round, counts: Counts) -> str:
    return (
        f"L2 answers {percent(counts.l2_hit_rate)} of the sectors; a request takes {_figure(r.latency)} core "
        f"cycles (5a) and keeps the memory queue busy for {_figure(r.delay)} (5b)."
    )


def _figure(value: float) -> str:
    """Return three digits.

    >>> _figure(59.5123), _figure(0.0), _figure(1024.0)
    ('59.5', '0', '1024')
    """
    return count(float(f"{value:.3g}") if value < 1000 else round(value))


def _queues(r: Round, counts: Counts, case: str) -> str:
    """Return how many warps wait, and where."""
    if case == PHASES:
        return (
            f"Requests of the first phase queue with those of all {_figure(r.warps)} active warps, later "
            f"ones with those of their block's {_figure(counts.warps_per_block)}; {_figure(counts.shared)} "
            "shared transactions lie between two requests."
        )
    computing, queueing = waiting_warps(r)
    return (
        f"On average {_figure(queueing)} of the {_figure(r.warps)} warps wait in the memory queue "
        f"({_figure(queueing * counts.sectors)} sectors) and {_figure(computing)} for the SM."
    )
