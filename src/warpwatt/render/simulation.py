"""A simulated job list as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from warpwatt.core.prediction import ApplicationPrediction
from warpwatt.core.units import si
from warpwatt.render.console import BAR_WIDTH, QUIET, facts_grid, panel, plain, section, to_text
from warpwatt.render.document import quantity_document
from warpwatt.render.figures import bar, interval, percent, plural, quantity
from warpwatt.render.json import Schema, dump, header
from warpwatt.render.sweep.columns import interval_columns

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.core.estimate import Estimate
    from warpwatt.jobs.hosts import Outcome
    from warpwatt.jobs.sharing import Shared
    from warpwatt.jobs.simulation import Simulation
    from warpwatt.render.context import Context

SCHEMA = Schema("simulation", "1.1.0")
AGREES = 1e-6
"""Relative difference to SimGrid that is rounding."""
MOST_DEVICES = 32
"""Rows of the table of GPUs; the rest is summed up."""


def render_text(simulation: Simulation, context: Context, simgrid: Outcome | None = None) -> str:
    """Return totals, jobs, GPUs and warnings; beside them what SimGrid says, where it was asked."""
    return to_text(_account(simulation, simgrid), context)


def render_json(simulation: Simulation, context: Context, simgrid: Outcome | None = None) -> str:
    """Return the simulation as one JSON document."""
    document = {**header(context, SCHEMA), "simulation": simulation_document(simulation)}
    if simgrid is not None:
        document["simulation"]["simgrid"] = {
            "time": simgrid.time,
            "energy": simgrid.energy,
            "energy_by_host": dict(simgrid.energies),
        }
    return dump(document)


def simulation_document(simulation: Simulation) -> dict[str, Any]:
    """Return a simulation as JSON-ready values; seconds, joules, watts."""
    energies = simulation.energies
    return {
        "time": quantity_document(simulation.time),
        "energy": quantity_document(simulation.energy),
        "energy_by": {"work": energies.work, "idle_gpus": energies.idle, "hosts": energies.hosts},
        "mean_waiting": simulation.waiting,
        "place": str(simulation.place),
        "jobs": [
            {
                "name": job.name,
                "count": job.count,
                "costs": {
                    gpu: {"time": quantity_document(c.time), "energy": quantity_document(c.energy)}
                    for gpu, c in by_gpu.items()
                },
            }
            for job, by_gpu in zip(simulation.jobs, simulation.costs, strict=True)
        ],
        "devices": [
            {"name": d.name, "gpu": d.gpu.name, "idle_watts": d.idle_watts, "busy": simulation.busy(i)}
            for i, d in enumerate(simulation.platform.devices)
        ],
        "runs": [
            {
                "job": simulation.jobs[run.piece.job].name,
                "device": simulation.platform.devices[run.device].name,
                "arrival": run.piece.arrival,
                "start": run.start,
                "end": run.end,
            }
            for run in simulation.runs
        ],
        "warnings": list(simulation.warnings),
    }


def _account(simulation: Simulation, simgrid: Outcome | None) -> Iterator[RenderableType]:
    yield _headline(simulation, simgrid)
    yield from section("Jobs", _jobs(simulation))
    yield from section("GPUs", _devices(simulation))
    yield from section("Warnings", *(Text(f"! {plain(w)}", style="yellow") for w in simulation.warnings))
    yield Text("")


def _headline(simulation: Simulation, simgrid: Outcome | None) -> RenderableType:
    energies, platform = simulation.energies, simulation.platform
    facts = facts_grid()
    facts.add_row("Makespan", Text(interval(simulation.time), style="bold green"))
    facts.add_row("Energy", Text(interval(simulation.energy), style="bold green"))
    parts = (("work", energies.work), ("idle GPUs", energies.idle), ("hosts", energies.hosts))
    facts.add_row("of that", ", ".join(f"{name} {si(joules, 'J')}" for name, joules in parts))
    facts.add_row("Waiting", f"{si(simulation.waiting, 's')} on average")
    if simgrid is not None:
        pairs = (simgrid.time, simulation.time.value), (simgrid.energy, simulation.energy.value)
        apart = max(abs(theirs / ours - 1) for theirs, ours in pairs)
        said = f"{si(simgrid.time, 's')}, {si(simgrid.energy, 'J')}"
        facts.add_row("SimGrid", f"{said}; {'agrees' if apart < AGREES else f'apart by {apart:.1e}'}")
    size = f"{plural(len(platform.devices), 'GPU')} in {plural(len(platform.nodes), 'node')}"
    return panel(facts, plural(len(simulation.runs), "piece") + " of work", size)


def _jobs(simulation: Simulation) -> Table:
    table = _table("job", "count", "GPU", "time each", "energy each")
    for job, by_gpu in zip(simulation.jobs, simulation.costs, strict=True):
        for i, (gpu, found) in enumerate(by_gpu.items()):
            names = (plain(job.name), str(job.count)) if i == 0 else ("", "")
            table.add_row(*map(Text, (*names, gpu, quantity(found.time), quantity(found.energy))))
    return table


def _devices(simulation: Simulation) -> Table:
    table = _table("GPU", "", "", "busy", "idle at")
    devices = simulation.platform.devices
    for i, device in enumerate(devices[:MOST_DEVICES]):
        share = simulation.busy(i) / simulation.time.value
        cells = (plain(device.name), device.gpu.name, bar(share, BAR_WIDTH), percent(share))
        table.add_row(*map(Text, (*cells, si(device.idle_watts, "W"))))
    if len(devices) > MOST_DEVICES:
        table.add_row(Text(f"and {len(devices) - MOST_DEVICES} more"))
    return table


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    for head in heads:
        table.add_column(head, overflow="fold")
    return table


def render_shared_text(pairs: Sequence[tuple[ApplicationPrediction, Shared]], context: Context) -> str:
    """Return applications with their kernels one at a time and side by side."""
    return to_text((part for alone, shared in pairs for part in _sharing(alone, shared)), context)


def render_shared_json(pairs: Sequence[tuple[ApplicationPrediction, Shared]], context: Context) -> str:
    """Return the same as one JSON document."""
    found = [
        {
            "name": alone.name,
            "gpu": alone.gpu,
            "one_at_a_time": _cost(alone.time, alone.energy),
            "side_by_side": _cost(shared.time, shared.energy),
            "steps": [
                {"name": name, "start": start, "end": end}
                for name, start, end in zip(shared.names, shared.starts, shared.ends, strict=True)
            ],
        }
        for alone, shared in pairs
    ]
    return dump({**header(context, SCHEMA), "applications": found})


def _cost(time: Estimate, energy: Estimate) -> dict[str, float | None]:
    return {**interval_columns("time", "", time), **interval_columns("energy", "", energy)}


def _sharing(alone: ApplicationPrediction, shared: Shared) -> Iterator[RenderableType]:
    facts = facts_grid()
    facts.add_row("One at a time", f"{interval(alone.time)}, {interval(alone.energy)}")
    both = f"{interval(shared.time)}, {interval(shared.energy)}"
    facts.add_row("Side by side", Text(both, style="bold green"))
    yield panel(facts, plain(alone.name), alone.gpu)
    table = _table("step", "start", "end", "start, one at a time")
    begun = {step.name: step.start for step in alone.steps}
    for name, start, end in zip(shared.names, shared.starts, shared.ends, strict=True):
        table.add_row(*map(Text, (plain(name), si(start, "s"), si(end, "s"), si(begun[name], "s"))))
    yield from section("Steps", table)
    yield Text("")
