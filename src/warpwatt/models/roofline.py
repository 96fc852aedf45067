"""``roofline``: the time of the resource that takes longest.

A hierarchical roofline (Williams, Waterman and Patterson 2009; memory levels after Ilic et al. 2014;
instruction roofs after Ding and Williams 2019) with one more roof for latency, which binds small launches.
Resources overlap perfectly here, so it is a lower bound, with rates from data sheets and publications;
:data:`MODEL_SPREAD` says how far real kernels stay from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.case import Case, Timing
from warpwatt.core.estimate import DRAWS, Estimate, Source, factor_draws
from warpwatt.core.execution import with_assumed
from warpwatt.core.gpu import clock_parameter
from warpwatt.core.program import Level
from warpwatt.models.roofs import roofs

if TYPE_CHECKING:
    from warpwatt.models.roofs import Roof

MODEL_SPREAD = 0.30
"""Standard deviation of log(measured / predicted) beyond what the rates explain: with it the interval holds
80 % of the times of docs/validation/time_models.md, every program weighing the same."""
STARTUP_SECONDS = 1.1e-6
"""Dispatch of the first block and drain of the last: a tiny kernel in a graph (gpu-benches, A40 and others:
0.95-1.34 µs between kernels)."""


class Roofline:
    """The longest of all roofs of a case."""

    name = "roofline"
    summary = "longest of DRAM, L2, L1, shared memory, issue, pipe and latency roofs; every GPU"
    levels = (Level.SASS, Level.PTX)

    def predict(self, case: Case) -> Timing:
        """Return the timing; needs nothing beyond the GPU's specification."""
        found = sorted(roofs(case), key=lambda roof: -roof.seconds)
        longest = found[0].seconds if found else 0.0
        seconds = STARTUP_SECONDS + longest
        time = Estimate.from_draws(seconds, _draws(case, found), "s", Source.MODELLED)
        binding = found[0].name if longest > STARTUP_SECONDS else "launch latency"
        return Timing(
            model=self.name,
            time=time,
            bottleneck=binding,
            breakdown={roof.name: roof.seconds for roof in found},
            utilisation={
                roof.key: min(1.0, roof.seconds / seconds) for roof in found if roof.key != "latency"
            },
            shares=_shares(found, len(case.workload.execution.counts)),
        )


def _draws(case: Case, found: list[Roof]) -> list[float]:
    """Return draws of the maximum: each roof with its rate and clock, then model and assumption spreads."""
    gpu, clock = case.gpu, case.clocks.spread
    per_roof = []
    for roof in found:
        on_clock = 0.0 if roof.key == "dram" else -clock
        rates = {f"rate:{roof.key}:{gpu.name}": roof.spread, clock_parameter(gpu): on_clock}
        per_roof.append([roof.seconds * factor for factor in factor_draws(rates)])
    columns = zip(*per_roof, strict=True) if per_roof else [()] * DRAWS
    spreads = with_assumed({"model:roofline": MODEL_SPREAD}, case.workload.assumptions)
    return [
        (STARTUP_SECONDS + max(column, default=0.0)) * factor
        for column, factor in zip(columns, factor_draws(spreads), strict=True)
    ]


def _shares(found: list[Roof], instructions: int) -> tuple[float, ...]:
    """Spread each roof's time over the instructions that load it, weighted by the roof; sums to 1."""
    shares = [0.0] * instructions
    for roof in found:
        total = sum(roof.loads)
        if total > 0:
            weight = roof.seconds**4 / total  # the binding roof dominates, near ties share
            shares = [share + weight * load for share, load in zip(shares, roof.loads, strict=True)]
    whole = sum(shares)
    return tuple(share / whole for share in shares) if whole > 0 else tuple(shares)
