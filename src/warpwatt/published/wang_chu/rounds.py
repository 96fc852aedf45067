"""From counts and clocks to seconds: the closed form that holds, over all rounds of active warps.

Equation (6) multiplies the time of one round, and so pays for filling and draining the SM once per round. A
block that ends makes room for the next at once, so here the rounds of a resident warp's place follow one
another as further iterations. On the measured clock sweeps that is the better reading
(docs/validation/wang_chu.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.gpu import Clocks
from warpwatt.published.wang_chu.regimes import (
    Round,
    SharedUse,
    active_cycles,
    hidden_cycles,
    infrequent,
    phased_cycles,
    regime,
)

if TYPE_CHECKING:
    from warpwatt.published.wang_chu.counts import Counts
    from warpwatt.published.wang_chu.memory import MemoryParameters

KNEE = 4.0
"""Exponent of the transition between both servers. The closed forms are exact where every period is equal;
real requests come in bunches, and both servers idle at times where they are about equally busy: time is
(C^k + M^k)^(1/k) with C, M the busy times. Chosen on GTX 980 (docs/validation/wang_chu.md); not in the
paper."""


HIDDEN = "memory queue, shared memory hidden"
PHASES = "phases between barriers"
"""The cases of kernels that use shared memory between barriers: equations (16), (17) and (18) to (21)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Seconds of a launch: in all, in which either server is busy, and the case that holds."""

    seconds: float
    computing: float
    queueing: float
    regime: str


def answer(counts: Counts, memory: MemoryParameters, clocks: Clocks, *, knee: float = KNEE) -> Answer:
    """Return how long a launch takes at a pair of clocks."""
    r = round_at(counts, memory, clocks)
    cycles, case = _active(counts, memory, r)
    busy = r.computing, r.queueing
    if max(busy) > 0.0:
        cycles *= (1.0 + (min(busy) / max(busy)) ** knee) ** (1.0 / knee)
    scale = 1.0 / clocks.sm
    return Answer(cycles * scale, r.computing * scale, r.queueing * scale, case)


def round_at(counts: Counts, memory: MemoryParameters, clocks: Clocks) -> Round:
    """Return what the resident warps of an SM do at a pair of clocks, one warp after the other."""
    delay = memory.delay(clocks.sm, clocks.memory, counts.l2_hit_rate, counts.sm_share)
    return Round(
        compute=counts.compute / counts.iterations,
        delay=delay * counts.sectors,
        latency=memory.latency(clocks.sm, clocks.memory, counts.l2_hit_rate) if counts.sectors else 0.0,
        warps=counts.active_warps,
        iterations=counts.iterations * counts.rounds,
    )


def _active(counts: Counts, memory: MemoryParameters, r: Round) -> tuple[float, str]:
    """Return T_active and the name of the case.

    Computation before a global request and before a shared one is the same (section V.A), so shared
    transactions divide it further.
    """
    if not (counts.shared and counts.barriers):
        return active_cycles(r), regime(r).value
    use = SharedUse(memory.shared_latency, counts.shared, counts.warps_per_block)
    if infrequent(r, use):
        return hidden_cycles(r), HIDDEN
    split = replace(r, compute=r.compute / (1.0 + counts.shared))
    return max(phased_cycles(split, use), r.computing), PHASES
