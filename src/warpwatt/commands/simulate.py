"""``warpwatt simulate``: a list of jobs on nodes of GPUs, or the streams of an application on one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpwatt.commands import options as o

if TYPE_CHECKING:
    from warpwatt.request.options import CompilationOptions, ModelOptions


@click.command(
    epilog="JOBS holds [[job]] tables (or is a CSV file): kernels, applications, or seconds and watts, each "
    "with count, arrival and GPUs. A file of [[step]] tables is an application: its streams share each GPU."
)
@click.argument("jobs", type=click.Path(path_type=Path))
@o.gpu_option
@click.option(
    "--platform",
    type=click.Path(path_type=Path),
    metavar="FILE.toml|.xml",
    help="Nodes and their GPUs; .xml: as --write-platform wrote it.",
)
@click.option(
    "--place",
    type=click.Choice(["start", "finish", "energy"]),
    default="start",
    show_default=True,
    help="GPU for a job: where it starts first, ends first, or takes least energy.",
)
@click.option(
    "--engine",
    type=click.Choice(["own", "simgrid"]),
    default="own",
    show_default=True,
    help="simgrid: the same in SimGrid too, which must be installed.",
)
@click.option(
    "--write-platform",
    type=click.Path(path_type=Path),
    metavar="FILE.xml|.toml",
    help="Write the platform, for SimGrid or as --platform reads it.",
)
@click.option(
    "--write-jobs",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="Write the jobs, as read.",
)
@o.compilation_options
@o.model_options
@o.output_options
def simulate(  # noqa: PLR0913, PLR0917 - one argument for each option
    jobs: Path,
    gpu: str,
    platform: Path | None,
    place: str,
    engine: str,
    write_platform: Path | None,
    write_jobs: Path | None,
    compilation: CompilationOptions,
    modelling: ModelOptions,
    writing: o.OutputOptions,
) -> None:
    """Simulate a list of jobs on nodes of GPUs: makespan and energy, idle energy included."""
    from warpwatt.commands import simulations as run
    from warpwatt.commands.output import Writer
    from warpwatt.request.session import Session

    writer = Writer.prepare(writing)
    session = Session(str(jobs), gpu, compilation, modelling)
    if run.is_application(jobs):
        run.write_shared(session, writer)
        return
    for target in filter(None, (write_platform, write_jobs)):
        Writer.check(target, force=writing.force)
    simulation = run.simulated(session, platform, place)
    if write_platform is not None:
        run.write_platform(simulation, write_platform)
    if write_jobs is not None:
        run.write_jobs(simulation, write_jobs, force=writing.force)
    run.write(simulation, writer, run.in_simgrid(simulation) if engine == "simgrid" else None)
