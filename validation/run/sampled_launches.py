"""One program under ``warpwatt run``: its launches sampled, as predictions do it, beside their whole grids.

``python -m validation.run.sampled_launches GPU LIMIT PROGRAM [ARGS]...``: both start from what memory holds
when the launch begins. A JSON line on stdout for each launch, the first few of each kernel and grid.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partialmethod
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from validation.corpus.sampling import FLOOR
from validation.run.gpuflopbench_launches import base_name
from validation.run.gpuflopbench_page import INTEGER
from warpwatt.core.errors import WarpWattError
from warpwatt.core.program import Unit
from warpwatt.emulate import emulation
from warpwatt.emulate.run import Limits, Stop
from warpwatt.emulate.sampling import whole
from warpwatt.emulate.workload import workload
from warpwatt.gpus import find
from warpwatt.native.demangle import demangle
from warpwatt.run.client import Bounds, run_program
from warpwatt.run.predictions import Predictor
from warpwatt.run.session import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from warpwatt.core.execution import Execution
    from warpwatt.core.launch import Launch
    from warpwatt.core.program import Kernel, Program
    from warpwatt.emulate.emulation import Emulation, Load
    from warpwatt.program.binding import BoundLaunch

MOST_INSTRUCTIONS = 20_000_000
"""Launches of more warp instructions are left out."""
MOST_TRACED = 1_500_000
"""Launches of more are compared without what caches see of them, whose trace would not fit."""
TRACE_BYTES = 1 << 29
LAUNCHES = 3
"""Of one kernel with one grid."""
WALL = 10
"""Wall time that a program may take, in limits of CPU time: the machine may have other work."""


@dataclass(frozen=True, slots=True, eq=False)
class _Sampling:
    """One call of :func:`~warpwatt.emulate.emulation.run_sample`, and what it returned."""

    bound: BoundLaunch
    found: Emulation


class Comparison:
    """Runs every grid that a predictor samples a second time, as a whole."""

    def __init__(self) -> None:
        self._last: list[_Sampling] = []
        self._seen: Counter[tuple[object, ...]] = Counter()
        self._run_sample, self._analyse = emulation.run_sample, Predictor._analyse

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Compare the launches that are predicted meanwhile."""
        analyse = partialmethod(_analyse, self)
        with (
            mock.patch.object(emulation, "run_sample", self._remember),
            mock.patch.object(Predictor, "_analyse", analyse),
        ):
            yield

    def _remember(self, bound: BoundLaunch, *given: Any, **named: Any) -> Emulation:
        found = self._run_sample(bound, *given, **named)
        self._last.append(_Sampling(bound, found))
        return found

    def compared(self, predictor: Predictor, kernel: Kernel, launch: Launch, load: Load) -> Execution:
        """Return what a launch does by its sample, and print how that compares."""
        self._last.clear()
        found = self._analyse(predictor, kernel, launch, load)
        key = (kernel.name, launch.grid, launch.block)
        self._seen[key] += 1
        if self._last and self._seen[key] <= LAUNCHES:
            print(json.dumps(self._row(predictor, kernel, found, load)), flush=True)
        return found

    def _row(self, predictor: Predictor, kernel: Kernel, found: Execution, load: Load) -> dict[str, Any]:
        launch, sampled = found.launch, self._last[-1].found.sampled
        row: dict[str, Any] = {
            "kernel": base_name(demangle(kernel.name)),
            "grid": [launch.grid.x, launch.grid.y, launch.grid.z],
            "block": [launch.block.x, launch.block.y, launch.block.z],
            "level": found.program.level.value,
            "blocks_run": found.blocks_run,
            "classes": 0 if sampled.sample.order is None else len(sampled.sample.work),
            "cut": sampled.cut is not None,
            "assumptions": sorted({a.parameter for a in found.assumptions}),
        }
        try:
            return row | self._differences(predictor, kernel, found, load)
        except WarpWattError as error:
            return row | {"why": f"{type(error).__name__}: {error}"}

    def _differences(
        self, predictor: Predictor, kernel: Kernel, found: Execution, load: Load
    ) -> dict[str, Any]:
        last = self._last[-1]
        if found.program is not last.found.bound.program:
            return {"why": "not the program that was sampled"}
        if found.warp_instructions > 2 * MOST_INSTRUCTIONS:
            return {"why": "large"}
        traced = found.warp_instructions <= MOST_TRACED
        limits = Limits(MOST_INSTRUCTIONS, TRACE_BYTES if traced else 1)
        with (
            mock.patch.object(emulation, "sample_by_work", lambda grid, _: whole(grid)),
            mock.patch.object(emulation, "sample", lambda grid, _: whole(grid)),
        ):
            every = self._run_sample(last.bound, limits, load=load)
        if every.stopped is not None:
            stop = every.stopped.stop
            return {"why": "large" if stop is Stop.INSTRUCTIONS else stop.value}
        run = every.sampled.runs[0]
        executions = run.executions.astype(np.float64)
        pairs = {
            "sampled": counts(found.program, np.array(found.counts), np.array(found.lanes)),
            "whole": counts(found.program, executions, run.lanes / np.maximum(1.0, executions)),
        }
        if traced and run.trace is not None and run.trace.complete:
            gpu = predictor.gpus[0]
            for name, execution in {"sampled": found, "whole": emulation.scale_to_grid(every)}.items():
                work = workload(execution, gpu, kernel.resources, predictor.choice.unknown)
                pairs[name] |= {"L2 bytes": work.l2.total, "DRAM bytes": work.dram.total}
        return pairs


def _analyse(
    predictor: Predictor, comparison: Comparison, kernel: Kernel, launch: Launch, load: Load
) -> Execution:
    return comparison.compared(predictor, kernel, launch, load)


def counts(program: Program, executions: NDArray[np.float64], lanes: NDArray[np.float64]) -> dict[str, float]:
    """Return warp instructions, and operations of predicated-on threads."""
    found = dict.fromkeys(("warp instructions", "FP32", "FP64", "integer"), 0.0)
    found["warp instructions"] = float(executions.sum())
    for i, threads in zip(program.instructions, (executions * lanes).tolist(), strict=True):
        if i.unit in (Unit.FP32, Unit.FP64):
            found[i.unit.name] += i.flops * threads
        if i.opcode.partition(".")[0] in INTEGER:
            found["integer"] += threads
    return found


def difference(row: dict[str, Any], name: str) -> float | None:
    """Return how far the sampled count is from the whole one, relative; None where it was not compared.

    Small counts are taken as :data:`~validation.corpus.sampling.FLOOR`: of warp instructions or sectors,
    32 times that of threads or bytes.
    """
    if name not in row.get("whole", {}):
        return None
    floor = FLOOR * (1 if name == "warp instructions" else 32)
    sampled, every = (max(floor, row[which][name]) for which in ("sampled", "whole"))
    return float(sampled / every - 1)


def main() -> None:
    """Run the program and print a line for each launch that is compared."""
    gpu, limit = find(sys.argv[1]), float(sys.argv[2])
    device = Wanted(
        [gpu], budget=limit / 2, notify=lambda text: print(text, file=sys.stderr), flush_l2=True
    ).device()
    device.predictor.budget = limit
    command = ["prlimit", f"--cpu={limit:.0f}", *sys.argv[3:]]
    try:
        with Comparison().installed():
            run_program(command, device, Bounds(WALL * limit, 6 << 30), sys.stderr)
            if not device.ended:
                device.finish()
    finally:
        device.arena.close()


if __name__ == "__main__":
    main()
