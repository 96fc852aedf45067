"""What ``warpwatt simulate`` does: read, predict, simulate, write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warpwatt.commands.applications import predictor, run_application
from warpwatt.commands.output import Writer
from warpwatt.commands.output import write as write_file
from warpwatt.core.errors import UsageError
from warpwatt.core.toml import read_toml
from warpwatt.jobs.platform import one_node, read_platform
from warpwatt.jobs.reading import read_jobs
from warpwatt.jobs.schedule import Place
from warpwatt.jobs.sharing import share_application
from warpwatt.jobs.simulation import hosts, simulate, tasks
from warpwatt.jobs.writing import jobs_toml, platform_toml
from warpwatt.published.boughzala.platform_file import platform_xml, read_platform_xml
from warpwatt.published.boughzala.simgrid import run as run_simgrid
from warpwatt.render.simulation import render_json, render_shared_json, render_shared_text, render_text
from warpwatt.request.applications import load_application
from warpwatt.request.choices import complete_gpus

if TYPE_CHECKING:
    from pathlib import Path

    from warpwatt.jobs.application import Predictor
    from warpwatt.jobs.hosts import Outcome
    from warpwatt.jobs.jobs import Job
    from warpwatt.jobs.platform import Platform
    from warpwatt.jobs.simulation import Simulation
    from warpwatt.request.session import Session

    Renderer = Callable[..., Any]


def is_application(path: Path) -> bool:
    """Return whether a file describes one application in place of jobs."""
    return path.suffix.lower() == ".toml" and "step" in read_toml(path)


def simulated(session: Session, platform: Path | None, place: str) -> Simulation:
    """Return the job list of the session simulated on a platform file, or on one node with its GPUs."""
    jobs = read_jobs(session.file)
    where = (
        _platform(platform)
        if platform
        else one_node(complete_gpus(session.gpus, power_limit=session.modelling.power_limit))
    )

    def predictors(job: Job) -> Predictor:
        modelling = replace(
            session.modelling,
            clock=job.clock or session.modelling.clock,
            model=(*session.modelling.model, *job.model),
            profile=job.profile or session.modelling.profile,
        )
        return predictor(replace(session, modelling=modelling))

    return simulate(jobs, where, predictors, Place(place))


def in_simgrid(simulation: Simulation) -> Outcome:
    """Return what SimGrid makes of the same; raises ToolchainError where it is not installed."""
    return run_simgrid(hosts(simulation), tasks(simulation))


def write(simulation: Simulation, writer: Writer, simgrid: Outcome | None) -> None:
    """Write a simulation as text or JSON."""
    renderers = {"text": render_text, "json": render_json}
    writer.write_text(_chosen(renderers, writer)(simulation, writer.context(), simgrid))


def _platform(path: Path) -> Platform:
    return read_platform_xml(path) if path.suffix.lower() == ".xml" else read_platform(path)


def write_platform(simulation: Simulation, path: Path) -> None:
    """Write the platform: for SimGrid, or, by the file's name, as TOML."""
    is_toml = path.suffix.lower() == ".toml"
    text = platform_toml(simulation.platform) if is_toml else platform_xml(hosts(simulation))
    write_file(text, path)


def write_jobs(simulation: Simulation, path: Path, *, force: bool) -> None:
    """Write the job list, with a file beside it for each whole application.

    Raises
    ------
    OutputExistsError
        If one of these is there, and not ``force``.
    """
    files = jobs_toml(simulation.jobs, path)
    for file in files:
        Writer.check(file, force=force)
    for file, text in files.items():
        write_file(text, file)


def write_shared(session: Session, writer: Writer) -> None:
    """Write an application with its kernels one at a time and side by side, for every GPU."""
    application = load_application(session.file)
    gpus = complete_gpus(session.gpus, power_limit=session.modelling.power_limit)
    alone = run_application(session)
    pairs = [(a, share_application(application, a, gpu)) for a, gpu in zip(alone, gpus, strict=True)]
    renderers = {"text": render_shared_text, "json": render_shared_json}
    writer.write_text(_chosen(renderers, writer)(pairs, writer.context()))


def _chosen(renderers: dict[str, Renderer], writer: Writer) -> Renderer:
    found = renderers.get(str(writer.format))
    if found is None:
        raise UsageError(f"no output format {str(writer.format)!r} here", hint="formats: text json")
    return found
