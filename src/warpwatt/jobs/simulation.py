"""A job list on a platform: makespan and energy, by our own simulation; SimGrid must agree.

:mod:`warpwatt.published.boughzala.simgrid` asks it. Every piece of work takes one whole GPU. GPUs draw their
idle power between pieces and nodes their own all the time, from second 0 to the end of the last piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.core.estimate import DRAWS, Estimate, Source, weakest
from warpwatt.core.progress import step
from warpwatt.jobs.hosts import FLOPS_PER_SECOND, GPU, NODE, Host, State
from warpwatt.jobs.jobs import cost
from warpwatt.jobs.schedule import Piece, Place, list_schedule

if TYPE_CHECKING:
    from warpwatt.jobs.jobs import Cost, Job, Predictors
    from warpwatt.jobs.platform import Platform
    from warpwatt.jobs.schedule import Run

MOST_STEPS = 2_000_000
"""Choices of a device, over all draws; longer job lists are simulated under fewer draws."""


@dataclass(frozen=True, slots=True)
class Energies:
    """Joules by who draws them."""

    work: float
    idle: float
    """GPUs between pieces of work."""
    hosts: float

    @property
    def total(self) -> float:
        """All of them."""
        return self.work + self.idle + self.hosts


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """A simulated job list. ``costs`` are by job and name of the GPU; ``runs`` in order of arrival."""

    platform: Platform
    jobs: tuple[Job, ...]
    costs: tuple[Mapping[str, Cost], ...]
    runs: tuple[Run, ...]
    place: Place
    time: Estimate
    """Makespan."""
    energy: Estimate
    energies: Energies
    warnings: tuple[str, ...] = ()

    def busy(self, device: int) -> float:
        """Return the seconds that a device works."""
        return sum(run.end - run.start for run in self.runs if run.device == device)

    @property
    def waiting(self) -> float:
        """Mean seconds between arrival and start."""
        return sum(run.start - run.piece.arrival for run in self.runs) / len(self.runs)


def simulate(
    jobs: Sequence[Job], platform: Platform, predictors: Predictors, place: Place = Place.START
) -> Simulation:
    """Return the simulation.

    Raises
    ------
    InputError
        If no GPU of the platform may run a job; and whatever predicting a job raises.
    """
    costs = tuple(_costs(job, platform, predictors) for job in jobs)
    pieces = [Piece(i, arrival) for i, job in enumerate(jobs) for arrival in job.arrivals]
    kinds = [device.gpu.name for device in platform.devices]

    def outcome(draw: int | None) -> tuple[list[Run], Energies]:
        seconds = [{kind: c.time.drawn(draw) for kind, c in by_gpu.items()} for by_gpu in costs]
        joules = [{kind: c.energy.drawn(draw) for kind, c in by_gpu.items()} for by_gpu in costs]
        runs = list_schedule(pieces, seconds, joules, kinds, place)
        return runs, _energies(runs, joules, platform)

    runs, energies = outcome(None)
    stride = -(-len(pieces) * len(kinds) * DRAWS // MOST_STEPS)
    drawn = [outcome(draw) for draw in range(0, DRAWS, stride)]
    sources = [c.time.source for by_gpu in costs for c in by_gpu.values()]
    energy_sources = [c.energy.source for by_gpu in costs for c in by_gpu.values()]
    spans = [_makespan(found) for found, _ in drawn]
    joules = [found.total for _, found in drawn]
    return Simulation(
        platform=platform,
        jobs=tuple(jobs),
        costs=costs,
        runs=tuple(runs),
        place=place,
        time=Estimate.from_draws(_makespan(runs), spans, "s", weakest(Source.MODELLED, *sources)),
        energy=Estimate.from_draws(energies.total, joules, "J", weakest(Source.MODELLED, *energy_sources)),
        energies=energies,
        warnings=_warnings(jobs, costs),
    )


def hosts(simulation: Simulation) -> tuple[Host, ...]:
    """Return the platform for SimGrid: GPUs with a state for each job they may run, then the nodes."""
    found = []
    for device in simulation.platform.devices:
        states = [
            _state(job, by_gpu[device.gpu.name], device.idle_watts)
            for job, by_gpu in zip(simulation.jobs, simulation.costs, strict=True)
            if device.gpu.name in by_gpu
        ]
        unused = State(FLOPS_PER_SECOND, device.idle_watts, device.idle_watts)
        own = {GPU: device.gpu.name, NODE: device.node}
        found.append(Host(device.name, tuple(states) or (unused,), device.off_watts, own))
    for name, watts in simulation.platform.nodes.items():
        found.append(Host(name, (State(FLOPS_PER_SECOND, watts, watts),), properties={NODE: name}))
    return tuple(found)


def tasks(simulation: Simulation) -> dict[str, list[tuple[float, int, float, int]]]:
    """Return for each host its work in order: arrival, state, flops and how many times."""
    found: dict[str, list[tuple[float, int, float, int]]] = {host.name: [] for host in hosts(simulation)}
    for run in simulation.runs:
        device = simulation.platform.devices[run.device]
        runnable = [i for i, by_gpu in enumerate(simulation.costs) if device.gpu.name in by_gpu]
        flops = _flops(simulation.costs[run.piece.job][device.gpu.name])
        found[device.name].append((run.piece.arrival, runnable.index(run.piece.job), flops, 1))
    return found


def _costs(job: Job, platform: Platform, predictors: Predictors) -> dict[str, Cost]:
    gpus = [gpu for gpu in platform.gpus if not job.gpus or gpu.name in job.gpus]
    if not gpus:
        names = ", ".join(gpu.name for gpu in platform.gpus)
        raise InputError(
            f"{job.name}: no GPU of the platform may run it ({', '.join(job.gpus)})",
            hint=f"the platform has {names}",
        )
    with step(job.name):
        return {gpu.name: cost(job, gpu, predictors) for gpu in gpus}


def _makespan(runs: Sequence[Run]) -> float:
    return max(run.end for run in runs)


def _energies(runs: Sequence[Run], joules: Sequence[Mapping[str, float]], platform: Platform) -> Energies:
    whole = _makespan(runs)
    busy = [0.0] * len(platform.devices)
    work = 0.0
    for run in runs:
        busy[run.device] += run.end - run.start
        work += joules[run.piece.job][platform.devices[run.device].gpu.name]
    idle = sum(d.idle_watts * (whole - used) for d, used in zip(platform.devices, busy, strict=True))
    return Energies(work, idle, platform.host_watts * whole)


def _state(job: Job, found: Cost, idle: float) -> State:
    speed = _flops(found) / found.time.value
    return State(speed, idle, found.watts, f"{job.name}{f' at {job.clock} MHz' if job.clock else ''}")


def _flops(found: Cost) -> float:
    """Return the amount of one piece of work in SimGrid: its threads, else what its seconds stand for."""
    return float(found.threads) or found.time.value * FLOPS_PER_SECOND


def _warnings(jobs: Sequence[Job], costs: Sequence[Mapping[str, Cost]]) -> tuple[str, ...]:
    notes = {
        f"{job.name}: {note}"
        for job, by_gpu in zip(jobs, costs, strict=True)
        for found in by_gpu.values()
        for note in found.warnings
    }
    return tuple(sorted(notes))
