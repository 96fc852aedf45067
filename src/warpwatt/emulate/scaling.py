"""Runs of several sampled units put together: one trace, and sums weighted by what each unit stands for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arrays import occurring
from warpwatt.emulate.run import NO_BARRIER_OBJECT, Run, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUMMED = (
    "requests", "lanes", "sectors", "lines", "l1_passes", "wavefronts", "ideal", "collisions", "uniform",
    "constant_misses", "constant_far_misses",
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

    def counted_by(self, run: Run, each: float, error: float) -> GridRun:
        """Return the same with what a run of more blocks counted, each of which stands for so many.

        The run has no trace to tell one buffer from another by; ``error`` is that of its warp instructions.
        """
        sums = _summed([run], len(self.executions)) * each
        executions, lanes = (counts.astype(np.float64) * each for counts in (run.executions, run.lanes))
        accesses = _accesses([run], sums)
        for index, access in accesses.items():
            if index in self.accesses:
                access.slot = self.accesses[index].slot
        return GridRun(executions, lanes, accesses, max(self.spread, error))


def scale(runs: Sequence[Run], weights: Sequence[float], strata: Sequence[object]) -> GridRun:
    """Return sums over the grid; ``weights`` are how many units each run stands for."""
    executions, lanes = np.zeros(len(runs[0].executions)), np.zeros(len(runs[0].lanes))
    sums = np.zeros((len(executions), len(SUMMED)))
    for stratum in dict.fromkeys(strata):
        of = [k for k, s in enumerate(strata) if s == stratum]
        population = _whole(sum(weights[k] for k in of))
        executions += sum(runs[k].executions for k in of) * population / len(of)
        lanes += sum(runs[k].lanes for k in of) * population / len(of)
        sums += _summed([runs[k] for k in of], len(executions)) * (population / len(of))
    return GridRun(executions, lanes, _accesses(runs, sums), relative_error(runs, weights, strata))


def _summed(runs: Sequence[Run], instructions: int) -> NDArray[np.float64]:
    """Return the sums of accesses of some runs, a row per instruction, columns as in :data:`SUMMED`."""
    index = np.concatenate([run.accesses.instruction for run in runs])
    found = np.empty((instructions, len(SUMMED)))
    for column, name in enumerate(SUMMED):
        each = np.concatenate([getattr(run.accesses, name) for run in runs])
        found[:, column] = np.bincount(index, each, instructions)
    return found


def _accesses(runs: Sequence[Run], sums: NDArray[np.float64]) -> dict[int, AccessSums]:
    """Return sums by instruction, with what all its requests have in common."""
    index, space, stride, slot = (
        np.concatenate([getattr(run.accesses, name) for run in runs])
        for name in ("instruction", "space", "stride", "slot")
    )
    spaces = np.zeros(len(sums), np.int64)
    np.bitwise_or.at(spaces, index, 1 << space)
    strides, slots = _common(index, stride, len(sums)), _common(index, slot, len(sums))
    return {
        i: AccessSums(
            dict(zip(SUMMED, sums[i].tolist(), strict=True)),
            {kind for kind in range(4) if spaces[i] >> kind & 1},
            None if strides[i] == IRREGULAR else strides[i],
            slots[i],
        )
        for i in occurring(index)
    }


def _common(index: NDArray[np.int64], values: NDArray[np.int64], size: int) -> dict[int, int | None]:
    """Return for each index the value that all of its entries have, None where they differ.

    >>> _common(np.array([0, 2, 2, 0]), np.array([5, 1, 2, 5]), 3)
    {0: 5, 2: None}
    """
    limits = np.iinfo(np.int64)
    low, high = np.full(size, limits.max), np.full(size, limits.min)
    np.minimum.at(low, index, values)
    np.maximum.at(high, index, values)
    return {i: int(low[i]) if low[i] == high[i] else None for i in occurring(index)}


def _whole(number: float) -> float:
    """Return a number without what rounding did to a whole one, so that exact counts stay exact."""
    nearest = float(round(number))
    return nearest if math.isclose(number, nearest, rel_tol=1e-12) else number


def relative_error(runs: Sequence[Run], weights: Sequence[float], strata: Sequence[object]) -> float:
    """Return the standard error of the grid's warp instructions over them (Cochran, 1977, equation 5.6)."""
    variance = total = 0.0
    for stratum in dict.fromkeys(strata):
        of = [k for k, s in enumerate(strata) if s == stratum]
        population = sum(weights[k] for k in of)
        values = [float(runs[k].warp_instructions) for k in of]
        total += population * (sum(values) / len(values))
        if len(of) < 2 or population <= len(of):
            continue
        left = 1 - len(of) / population
        variance += population**2 * left * float(np.var(values, ddof=1)) / len(of)
    return float(variance**0.5) / max(1.0, total)


def concatenate(traces: Sequence[Trace]) -> Trace:
    """Return one trace of the warps of several, in order."""

    def starts(name: str) -> NDArray[np.int64]:
        parts, base = [np.zeros(1, np.int64)], 0
        for trace in traces:
            own = getattr(trace, name)
            parts.append(own[1:] - own[0] + base)
            base += int(own[-1] - own[0])
        return np.concatenate(parts)

    def flat(name: str, kind: type[np.generic]) -> NDArray[Any]:
        return np.concatenate([getattr(trace, name) for trace in traces], dtype=kind, casting="same_kind")

    def events(name: str, none: int, kind: type[np.generic]) -> NDArray[Any] | None:
        if all(getattr(trace, name) is None for trace in traces):
            return None
        each = [
            np.full(len(trace.access_step), none, kind) if (own := getattr(trace, name)) is None else own
            for trace in traces
        ]
        return np.concatenate(each, dtype=kind)

    steps = np.cumsum([0, *(len(trace.step_block) for trace in traces[:-1])])
    access_step = flat("access_step", np.int64)
    access_step += np.repeat(steps, [len(trace.access_step) for trace in traces])
    return Trace(
        step_start=starts("step_start"),
        step_block=flat("step_block", np.int32),
        step_mask=flat("step_mask", np.uint32),
        access_start=starts("access_start"),
        access_instruction=flat("access_instruction", np.int32),
        access_mask=flat("access_mask", np.uint32),
        access_wavefronts=flat("access_wavefronts", np.uint8),
        access_step=access_step,
        line_start=starts("line_start"),
        lines=flat("lines", np.uint64),
        access_barrier=events("access_barrier", NO_BARRIER_OBJECT, np.uint32),
        access_change=events("access_change", 0, np.int64),
        complete=all(trace.complete for trace in traces),
    )
