"""From options to a finished campaign: opens device, code, files and supply, and runs what is planned."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.lab.measure.bench import Bench
from warpwatt.lab.measure.campaign import Campaign, Outcome, Unwatched, plan
from warpwatt.lab.measure.choice import PointChoice
from warpwatt.lab.measure.columns import FILES
from warpwatt.lab.measure.corpus import Corpus
from warpwatt.lab.measure.driver import CudaDevice
from warpwatt.lab.measure.microbench import points as micro
from warpwatt.lab.measure.points import points as corpus_points
from warpwatt.lab.measure.prepared import Prepared, Unprepared
from warpwatt.lab.measure.protocol import Settings
from warpwatt.lab.measure.results import Store, drop
from warpwatt.lab.measure.simulated import Behaviour, SimulatedDevice, set_results
from warpwatt.lab.measure.supply import Supply
from warpwatt.lab.measure.timing import Stopwatch

if TYPE_CHECKING:
    from warpwatt.lab.measure.bench import Point
    from warpwatt.lab.measure.campaign import Watcher
    from warpwatt.lab.measure.columns import Column
    from warpwatt.lab.measure.device import Device, DeviceInfo
    from warpwatt.lab.measure.prepared import Codes


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure, with what, and where to.

    Attributes
    ----------
    corpus, output
        Folders of the programs, and of the results (one folder for each device is made in it).
    prepared
        Folder of compiled programs; None: compile now.
    budget
        Seconds after which no point is begun that would overrun it, or None.
    choice
        Which points.
    redo
        Statuses of points to forget and measure again.
    workers
        Processes that make inputs and references ahead; 0: none.
    behaviour
        A simulated device instead of a real one.
    scratch
        Folder in which workers hand over arrays; None: make one.
    """

    corpus: Path
    output: Path
    prepared: Path | None = None
    budget: float | None = None
    choice: PointChoice = field(default_factory=PointChoice)
    redo: tuple[str, ...] = ()
    seed: int = 0
    device: int = 0
    workers: int = 0
    settings: Settings = field(default_factory=Settings)
    behaviour: Behaviour | None = None
    scratch: Path | None = None


def default_workers() -> int:
    """Return how many processes may make inputs while one drives the device."""
    return max(1, min(12, (os.cpu_count() or 1) - 2))


def run(options: Options, watcher: Watcher | None = None) -> Outcome:
    """Measure until all is done or the budget is spent.

    Raises
    ------
    DeviceError
        If there is no device, or it is lost.
    WarpWattError
        If the corpus, the prepared folder or a result file is not usable.
    """
    began = time.monotonic()
    corpus = Corpus.load(options.corpus)
    with closing(open_device(options)) as device:
        codes = _codes(options, corpus, device.info)
        chosen = [one for one in _points(options, corpus, device.info) if options.choice.takes(one.label)]
        planned = plan((point for point in chosen if _is_prepared(point, codes)), options.seed)
        bench = Bench(device, codes, options.settings, options.seed, Stopwatch(device), set_results)
        columns = {**FILES, **micro.FILES}
        folder = options.output / device.info.slug
        _forget(folder, columns, options.redo)
        with (
            Store(folder, columns) as files,
            Supply(options.workers, options.scratch) as supply,
        ):
            bench.measure_floor()
            # a simulated clock stands still while files are read
            spent = 0.0 if options.behaviour is not None else time.monotonic() - began
            campaign = Campaign(bench, files, supply, watcher or Unwatched())
            outcome = campaign.run(planned, options.budget, device.clock.now() - spent)
            return replace(outcome, unprepared=len(chosen) - len(planned))


def _forget(folder: Path, columns: Mapping[str, Sequence[Column]], statuses: tuple[str, ...]) -> None:
    """Drop points of these statuses from the files that exist."""
    for name, listed in columns.items():
        file = folder / f"{name}.csv"
        if statuses and file.exists():
            drop(file, listed, statuses)


def open_device(options: Options) -> Device:
    """Open the simulated or the real device."""
    if options.behaviour is not None:
        return SimulatedDevice(options.behaviour)
    return CudaDevice(options.device)


def _codes(options: Options, corpus: Corpus, info: DeviceInfo) -> Codes:
    """Return the machine code: prepared, compiled now, or none for a simulation without a prepared folder."""
    folder = options.prepared
    if folder is None and options.behaviour is not None:
        return Unprepared()
    if folder is None:
        from warpwatt.core.folders import cache_directory
        from warpwatt.lab.measure.prepare import prepare

        folder = cache_directory() / "prepared" / info.target
        prepare(corpus, folder, info.target, choice=options.choice)
    prepared = Prepared.read(folder)
    if prepared.target.rstrip("af") != info.target:
        hint = f"warpwatt measure --prepare DIR --target {info.target}"
        raise UnsupportedGpuError(f"{folder} is for {prepared.target}, the GPU is {info.target}", hint=hint)
    return prepared


def _is_prepared(point: Point, codes: Codes) -> bool:
    """Whether what a point runs is there; microbenchmarks that are not are no points in the first place."""
    return point.order is None or codes.has(point.order.program)


def _points(options: Options, corpus: Corpus, info: DeviceInfo) -> list[Point]:
    """Return the points of the protocols that were asked for."""
    target = int(info.target.removeprefix("sm_"))
    found = corpus_points(corpus, target)
    if "micro" in options.choice.protocols:
        found += micro.points(options.prepared, info, simulated=options.behaviour is not None)
    return found
