"""Runs of several sampled units put together: one trace, and sums weighted by what each unit stands for."""

from __future__ import annotations

from dataclasses import dataclass
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
    executions = sum(w * r.executions for r, w in zip(runs, weights, strict=True))
    lanes = sum(w * r.lanes for r, w in zip(runs, weights, strict=True))
    accesses: dict[int, AccessSums] = {}
    for run, weight in zip(runs, weights, strict=True):
        _add(accesses, run, weight)
    spread = _standard_error(runs, weights, strata) / max(1.0, float(np.sum(executions)))
    return GridRun(np.asarray(executions, float), np.asarray(lanes, float), accesses, spread)


def _add(accesses: dict[int, AccessSums], run: Run, weight: float) -> None:
    found = run.accesses
    for row, instruction in enumerate(found.instruction.tolist()):
        stride, slot = int(found.stride[row]), int(found.slot[row])
        own = accesses.setdefault(
            instruction,
            AccessSums(dict.fromkeys(SUMMED, 0.0), set(), None if stride == IRREGULAR else stride, slot),
        )
        own.spaces.add(int(found.space[row]))
        own.stride = own.stride if own.stride == stride else None
        own.slot = own.slot if own.slot == slot else None
        for name in SUMMED:
            own.sums[name] += weight * float(getattr(found, name)[row])


def _standard_error(runs: Sequence[Run], weights: Sequence[float], strata: Sequence[object]) -> float:
    """Return the standard error of the grid's warp instructions (stratified sampling; Cochran, 1977, eq. 5.6)."""
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
