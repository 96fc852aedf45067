"""``warpwatt run`` without its words: a program, GPUs and limits to a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from warpwatt.compose import Choice
from warpwatt.request.measured import MeasuredLaunches
from warpwatt.run.client import Bounds, Ending, run_program
from warpwatt.run.device import Device
from warpwatt.run.recording import Recorder, Recording
from warpwatt.run.result import RunResult, result

if TYPE_CHECKING:
    from warpwatt.core.gpu import Clocks, Gpu

BUDGET = 60.0
"""Seconds of CPU time for computing kernels."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run is predicted for: GPUs, of which the program sees the first, models, and clocks of each.

    ``flush_l2``: every launch finds L2 empty, as Nsight Compute leaves it, not with what was there.
    ``measured`` launches correct those like them. ``timing_only`` is that of
    :class:`~warpwatt.run.device.Device`.
    """

    gpus: Sequence[Gpu]
    choice: Choice = field(default_factory=Choice)
    clocks: Sequence[Clocks | None] = ()
    budget: float = BUDGET
    notify: Callable[[str], None] = print
    flush_l2: bool = False
    measured: MeasuredLaunches = field(default_factory=MeasuredLaunches)
    timing_only: bool | None = None

    def device(self) -> Device:
        """Return the device that the program sees."""
        each = self.clocks or [None] * len(self.gpus)
        return Device(
            self.gpus,
            self.choice,
            each,
            self.budget,
            self.notify,
            self.flush_l2,
            self.measured,
            self.timing_only,
        )


def run(
    command: Sequence[str],
    wanted: Wanted,
    bounds: Bounds,
    output: IO[str] | None = None,
    save: Path | None = None,
) -> RunResult:
    """Run a program and predict its launches.

    What the program writes to stdout goes to ``output``, if that is given; ``save`` names the file that keeps
    the run for :func:`rerun`.

    Raises
    ------
    InputError, ToolchainError
        As :func:`~warpwatt.run.client.run_program`.
    """
    device = wanted.device()
    recorder = None if save is None else Recorder()
    if recorder is not None:
        device.work.before_prediction = partial(_keep, recorder, device)
    devices = [device]

    def another() -> Device:
        devices.append(wanted.device())
        return devices[-1]

    try:
        seen = recorder.message if recorder else None
        ending = run_program(command, device, bounds, output, seen, another)
        for one in devices:
            if not one.ended:
                one.finish()
    finally:
        for one in devices:
            one.arena.close()
    if recorder is not None and save is not None:
        recorder.save(save)
        if recorder.left_out:
            wanted.notify(f"memory before {recorder.left_out} launches is not in {save}: it is too much")
    return result(_busiest(devices, wanted.notify), ending)


def _busiest(devices: Sequence[Device], notify: Callable[[str], None]) -> Device:
    """Return the device of the process that asked for most; say that others asked for something too."""
    others = sum(bool(one.timelines[0].spans) for one in devices) - 1
    if others > 0:
        notify(f"{others} further processes used the device: the account is of the one that asked for most")
    return max(devices, key=lambda one: len(one.timelines[0].spans))


def _keep(recorder: Recorder, device: Device, launch: int) -> None:
    recorder.memory(launch, device.arena, device.allocations)


def rerun(recording: Recording, wanted: Wanted) -> RunResult:
    """Predict a run on file for other GPUs or clocks; the program does not run.

    A GPU may be wanted several times, at one pair of clocks after the other.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    device = wanted.device()
    device.work.computes = False
    device.work.before_prediction = partial(recording.restore, area=device.arena.shared)
    try:
        recording.replay(device)
        if not device.ended:
            device.finish()
    finally:
        device.arena.close()
    return result(device, Ending(0))
