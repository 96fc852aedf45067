"""``warpwatt run`` without its words: a program, GPUs and limits to a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING

from warpwatt.compose import Choice
from warpwatt.run.client import Bounds, run_program
from warpwatt.run.device import Device
from warpwatt.run.result import RunResult, result

if TYPE_CHECKING:
    from warpwatt.core.gpu import Clocks, Gpu

BUDGET = 60.0
"""Seconds of CPU time for computing kernels."""


def run(
    command: Sequence[str],
    gpus: Sequence[Gpu],
    *,
    choice: Choice | None = None,
    clocks: Sequence[Clocks | None] = (),
    budget: float = BUDGET,
    bounds: Bounds | None = None,
    notify: Callable[[str], None] = print,
    output: IO[str] | None = None,
) -> RunResult:
    """Run a program and predict its launches on some GPUs; the first one is what the program sees.

    What the program writes to stdout goes to ``output``, if that is given.

    Raises
    ------
    InputError, ToolchainError
        As :func:`~warpwatt.run.client.run_program`.
    """
    each = clocks or [None] * len(gpus)
    device = Device(gpus, choice or Choice(), each, budget, notify)
    try:
        ending = run_program(command, device, bounds or Bounds(), output)
        if not device.ended:
            device.finish()
    finally:
        device.arena.close()
    return result(device, ending)
