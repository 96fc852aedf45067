"""A program's saved run on many GPUs, at many clocks: its messages are read once for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import default_clocks
from warpwatt.run.recording import Recording
from warpwatt.run.session import BUDGET, Wanted, rerun
from warpwatt.sweep.outcome import of_run

if TYPE_CHECKING:
    from warpwatt.run.result import GpuRun, RunResult
    from warpwatt.sweep.outcome import Outcome
    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.tasks import Task


def predict_run(sweep: Sweep, task: Task, rows: Sequence[Row]) -> Iterator[tuple[Row, Outcome | None]]:
    """Yield each row with what the whole program comes to, or with None and why there is no result.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    by_name = {gpu.name: gpu for gpu in sweep.gpus}
    gpus = [by_name[row.gpu] for row in rows]
    clocks = [_clocks(row, default_clocks(gpu)) for row, gpu in zip(rows, gpus, strict=True)]
    wanted = Wanted(gpus, sweep.choice, clocks, BUDGET * len(rows), lambda _: None, measured=sweep.measured)
    recording = Recording(Path(task.source.name), task.source.data)
    result = rerun(recording, wanted)
    for row, run in zip(rows, result.runs, strict=True):
        yield _outcome(row, run, result)


def _clocks(row: Row, default: Clocks) -> Clocks | None:
    """Return the clocks that a row asks for, None where the board chooses."""
    if row.sm_clock is None or not row.clocks_fixed:
        return None
    return Clocks(row.sm_clock, row.memory_clock or default.memory)


def _outcome(row: Row, run: GpuRun, result: RunResult) -> tuple[Row, Outcome | None]:
    named = replace(row, kernel=Path(result.program).name)
    reasons = (reason.partition(f", {run.gpu}: ") for reason in result.failures)
    why = next((reason for _, found, reason in reasons if found), "")
    try:
        return (replace(named, error=why), None) if why else (named, of_run(run))
    except InputError as error:
        return replace(named, error=str(error)), None
