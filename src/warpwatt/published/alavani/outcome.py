"""What both models say the same way: interval, warnings, shares per instruction, overhead of the launch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from warpwatt.core.case import Case
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.execution import with_assumed
from warpwatt.published.alavani.machine import (
    published_error,
    reproduction_spread,
    worst_published_error,
)

if TYPE_CHECKING:
    from warpwatt.published.alavani.blocks import Code
    from warpwatt.published.alavani.machine import AbstractGpu

LAUNCH_OVERHEAD = "launch overhead (not in the time)"
"""Key of l_overhead in a breakdown."""
UNTESTED_GPU = 0.5
"""Further spread of the logarithm on GPUs for which the thesis reports no error."""
LOANED_SHARE = 0.3
"""Further spread where every latency on the way is borrowed; scales with the borrowed share of the delay."""


def estimate(
    seconds: float, cycles: Sequence[float], case: Case, machine: AbstractGpu, code: Code, model: str
) -> Estimate:
    """Return the time with an interval no narrower than the published error of the model, and its warnings.

    For a log-normal error the mean absolute error is σ·√(2/π). To it comes the scatter of our own
    predictions around the published times, whose launches we had to infer. GPUs without a published error
    take the worst published one and :data:`UNTESTED_GPU`. ``cycles`` are the delays of the instructions, of
    which some rest on borrowed latencies.
    """
    own = published_error(model, case.gpu.name)
    sigma = math.sqrt(math.pi / 2) * (worst_published_error(model) if own is None else own)
    spreads = {
        f"alavani {model} published error": sigma,
        f"alavani {model} reproduction": reproduction_spread(model),
        "alavani borrowed latencies": LOANED_SHARE * _loaned_share(cycles, code, machine),
    }
    if own is None:
        spreads["alavani untested gpu"] = UNTESTED_GPU
    if unknown := _unclassified(code):
        total = len(case.workload.execution.program.instructions)
        spreads["unknown instructions"] = unknown / total
    assumed = case.workload.assumptions or case.workload.execution.assumptions
    source = Source.MODELLED if own is not None else Source.ASSUMED
    warnings = _warnings(case, machine, code, model)
    return Estimate.spread(seconds, with_assumed(spreads, assumed), "s", source, warnings)


def _warnings(case: Case, machine: AbstractGpu, code: Code, model: str) -> tuple[str, ...]:
    """Return what a reader must know: untested GPU, borrowed latencies, unclassified instructions."""
    used = {c.operation for c, n in zip(code.classes, code.per_warp, strict=True) if n}
    borrowed = sorted(used & set(machine.loans))
    lines = []
    if published_error(model, case.gpu.name) is None:
        lines.append(f"the thesis reports no error of this model on {case.gpu.name}")
    if borrowed:
        listed = ", ".join(f"{name} ({machine.loans[name]})" for name in borrowed)
        lines.append(f"latencies the thesis did not measure on {case.gpu.name}: {listed}")
    if "global" in used and "global_latency" in machine.published.borrowed_from:
        lines.append("global latency does not depend on the launch here: Table 3.3 is for the Tesla K20 only")
    unknown = _unclassified(code)
    if unknown:
        lines.append(f"{unknown} instructions have no class in the thesis and count as their unit suggests")
    return tuple(lines)


def _loaned_share(cycles: Sequence[float], code: Code, machine: AbstractGpu) -> float:
    """Return the share of the cycles that instructions with a borrowed latency account for."""
    total = sum(cycles)
    pairs = zip(cycles, code.classes, strict=True)
    return sum(n for n, c in pairs if c.operation in machine.loans) / total if total else 0.0


def _unclassified(code: Code) -> int:
    """Return how many executed instructions were classified by their unit alone."""
    return sum(not c.known for c, n in zip(code.classes, code.per_warp, strict=True) if n)


def launch_overhead(case: Case, machine: AbstractGpu) -> float:
    """Return l_overhead in seconds: the thesis' fit on the K20, else the launch interval, else the K20's.

    The thesis adds it to the kernel's time (4.2), (4.8). Our time is the GPU's alone, as its measured times
    (nvprof) are, so the overhead stands beside it.
    """
    measured = case.gpu.memory.launch_interval
    if measured is not None and "launch_slope" in machine.published.borrowed_from:
        return measured
    return machine.published.launch_overhead_at(case.launch.threads)


def normalised(cycles: Sequence[float]) -> tuple[float, ...]:
    """Return shares that sum to 1; equal ones if nothing counts, none of nothing.

    >>> normalised([1, 3]), normalised([0, 0]), normalised([])
    ((0.25, 0.75), (0.5, 0.5), ())
    """
    total = sum(cycles)
    if total <= 0:
        return tuple(1 / len(cycles) for _ in cycles)
    return tuple(c / total for c in cycles)


def spread_over(amount: float, weights: Mapping[int, float]) -> dict[int, float]:
    """Return ``amount`` divided among keys in proportion to their weights.

    >>> spread_over(6.0, {4: 1.0, 7: 2.0}), spread_over(6.0, {})
    ({4: 2.0, 7: 4.0}, {})
    """
    total = sum(weights.values())
    return {key: amount * w / total for key, w in weights.items()} if total else {}


def largest(parts: Mapping[str, float], *, without: Iterable[str] = ()) -> str:
    """Return the key of the largest value.

    >>> largest({"a": 1.0, "b": 2.0, "c": 9.0}, without=["c"])
    'b'
    """
    allowed = {key: value for key, value in parts.items() if key not in set(without)}
    return max(allowed, key=lambda key: allowed[key])
