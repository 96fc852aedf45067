"""Runs of several sampled units put together: one trace, and sums weighted by what each unit stands for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.run import Run, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SUMMED = (
    "requests", "lanes", "sectors", "lines", "tag_passes", "wavefronts", "ideal", "collisions", "uniform",
)  # fmt: skip
IRREGULAR = int(np.iinfo(np.int64).min)


@dataclass(slots=True)
class AccessSums:
    """Sums of one instruction over the whole grid; ``stride`` and ``slot`` None where requests differ."""

    sums: dict[str, float]
    spaces: set[int]
    stride: int | None
    slot: int | None


@dataclass(frozen=True, slots=True, eq=False)
class GridRun:
    """What the whole grid does, scaled from units that were run.

    ``spread`` is the standard error of the number of warp instructions, relative to it.
    """

    executions: NDArray[np.float64]
    lanes: NDArray[np.float64]
    accesses: dict[int, AccessSums]
    spread: float


def scaled(runs: Sequence[Run], weights: Sequence[float], strata: Sequence[object]) -> GridRun:
    """Return sums over the grid; ``weights`` are how many units each run stands for."""
    executions, lanes = np.zeros(len(runs[0].executions)), np.zeros(len(runs[0].lanes))
    accesses: dict[int, AccessSums] = {}
    for stratum in dict.fromkeys(strata):
        of = [k for k, s in enumerate(strata) if s == stratum]
        population = _whole(sum(weights[k] for k in of))
        executions += sum(runs[k].executions for k in of) * population / len(of)
        lanes += sum(runs[k].lanes for k in of) * population / len(of)
        part: dict[int, AccessSums] = {}
        for k in of:
            _add(part, runs[k])
        for index, own in part.items():
            _merge(accesses, index, own, population / len(of))
    spread = _standard_error(runs, weights, strata) / max(1.0, float(np.sum(executions)))
    return GridRun(executions, lanes, accesses, spread)


def _whole(number: float) -> float:
    """Return a number without what rounding did to a whole one, so that exact counts stay exact."""
    nearest = float(round(number))
    return nearest if math.isclose(number, nearest, rel_tol=1e-12) else number


def _add(accesses: dict[int, AccessSums], run: Run) -> None:
    """Add the accesses of one run."""
    found = run.accesses
    for row, instruction in enumerate(found.instruction.tolist()):
        stride, slot = int(found.stride[row]), int(found.slot[row])
        sums = {name: float(getattr(found, name)[row]) for name in SUMMED}
        own = AccessSums(sums, {int(found.space[row])}, None if stride == IRREGULAR else stride, slot)
        _merge(accesses, instruction, own, 1.0)


def _merge(accesses: dict[int, AccessSums], index: int, own: AccessSums, factor: float) -> None:
    """Add sums times a factor to those of the same instruction."""
    known = accesses.get(index)
    if known is None:
        accesses[index] = replace(own, sums={name: value * factor for name, value in own.sums.items()})
        return
    known.spaces |= own.spaces
    known.stride = known.stride if known.stride == own.stride else None
    known.slot = known.slot if known.slot == own.slot else None
    for name, value in own.sums.items():
        known.sums[name] += value * factor


def _standard_error(runs: Sequence[Run], weights: Sequence[float], strata: Sequence[object]) -> float:
    """Return the standard error of the grid's warp instructions (Cochran, 1977, equation 5.6)."""
    variance = 0.0
    for stratum in set(strata):
        of = [k for k, s in enumerate(strata) if s == stratum]
        population = sum(weights[k] for k in of)
        if len(of) < 2 or population <= len(of):
            continue
        values = [float(runs[k].executions.sum()) for k in of]
        left = 1 - len(of) / population
        variance += population**2 * left * float(np.var(values, ddof=1)) / len(of)
    return float(variance**0.5)


def joined(traces: Sequence[Trace]) -> Trace:
    """Return one trace of the warps of several, in order."""

    def starts(name: str) -> NDArray[np.int64]:
        parts, base = [np.zeros(1, np.int64)], 0
        for trace in traces:
            own = getattr(trace, name)
            parts.append(own[1:] - own[0] + base)
            base += int(own[-1] - own[0])
        return np.concatenate(parts)

    def flat(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(trace, name) for trace in traces])

    return Trace(
        step_start=starts("step_start"),
        step_block=flat("step_block").astype(np.int32),
        step_mask=flat("step_mask").astype(np.uint32),
        access_start=starts("access_start"),
        access_instruction=flat("access_instruction").astype(np.int32),
        access_mask=flat("access_mask").astype(np.uint32),
        access_wavefronts=flat("access_wavefronts").astype(np.uint8),
        line_start=starts("line_start"),
        lines=flat("lines").astype(np.uint64),
        complete=all(trace.complete for trace in traces),
    )
