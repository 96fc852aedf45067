"""``warpwatt sweep``: kernels and applications in many configurations, launches, GPUs and clocks."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import click

from warpwatt.commands import options as o
from warpwatt.commands.axes import Axes, InputsThenFlags, axes_options
from warpwatt.commands.destination import Destination, destination_options
from warpwatt.commands.workers import Workers, run_all, workers_options
from warpwatt.core.errors import InputError, OutputExistsError, UsageError

if TYPE_CHECKING:
    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep


SORTS = ("time", "power", "energy", "edp")


class SweepFormat(StrEnum):
    """Output formats of a sweep."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"
    HTML = "html"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class SweepDestination(Destination[SweepFormat]):
    """Where the rows go, how many of them and in which order."""

    verbose: bool = False
    sort: str | None = None


destination = destination_options(
    SweepFormat,
    SweepDestination,
    click.option("-v", "--verbose", is_flag=True, help="Show every point."),
    click.option("--sort", type=click.Choice(SORTS), help="Order of the rows.  [default: as given]"),
    file_help="Write to a file; a sweep that was killed goes on from FILE.partial.",
)


@click.command(
    cls=InputsThenFlags,
    epilog="An INPUT ending in .toml is an application: launches, copies, streams. More: docs/tuning.md, "
    "docs/how-to/cluster.md.",
)
@o.gpu_option
@axes_options
@click.option("--curve", is_flag=True, hidden=True, help="Nothing: times over the clock are smooth.")
@workers_options
@destination
def sweep(gpu: str, axes: Axes, curve: bool, workers: Workers, writing: SweepDestination) -> None:  # noqa: ARG001 - was a choice
    """Predict kernels and applications in many configurations, launches, GPUs and clocks.

    Every combination of the values given is a point; one that fails becomes a row with the reason.

    \b
    warpwatt sweep matmul.cu -D TILE=8,16,32 --block TILE,TILE --arg n=1024/4096
    warpwatt sweep kernel.cu --gpu h200 --clock 510:1980:15 -o clocks.html
    warpwatt sweep *.cu app.toml --gpu all --dask tcp://HOST:8786 -o all.parquet
    """  # noqa: D301 - click keeps the lines behind this mark as they are
    from warpwatt.commands.axes import sweep_of

    shape = _checked(writing)
    workers.check()
    if not done(sweep_of(gpu, axes), workers, shape, writing):
        sys.exit(1)


def done(swept: Sweep, workers: Workers, shape: SweepFormat, writing: SweepDestination) -> bool:
    """Do what of a sweep is not done yet, write all of it, and return whether any point has a result.

    Raises
    ------
    OutputExistsError
        If rows of another sweep are there, and ``--force`` was not given.
    ClusterError
        If the cluster cannot be used or was lost; what is done stays.
    """
    from warpwatt.storage.witness import witnessed
    from warpwatt.sweep.journal import Journal

    if writing.output is None:
        kept: list[Row] = []
        run_all(swept, workers, (), kept.extend)
        kept.sort(key=lambda row: row.number)
        _write(kept, shape, writing)
        return any(not row.error for row in kept)
    with (
        witnessed() as heard,
        Journal(writing.output, swept, force=writing.force, heard=heard) as journal,
    ):
        if len(journal):
            click.echo(f"note: {len(journal)} of {len(swept)} points were done before", err=True)
        try:
            run_all(swept, workers, journal.done, journal.add, len(journal), journal.path)
        except KeyboardInterrupt:
            click.echo(f"{len(journal)} of {len(swept)} points are kept; the same command goes on", err=True)
            raise
        _write(journal, shape, writing)
        good = any(not row.error for row in journal)
        journal.remove()
    return good


def _checked(writing: SweepDestination) -> SweepFormat:
    """Return the format, checked before any work: that it can be written, and to where it shall go."""
    from warpwatt.sweep.journal import partial

    shape, output = writing.shape(SweepFormat), writing.output
    if shape is SweepFormat.PARQUET:
        from warpwatt.render.sweep import parquet

        parquet.check()
        if output is None:
            raise UsageError("Parquet is not for terminals", hint="-o FILE.parquet")
    if output is not None and not output.parent.is_dir():
        raise InputError("no such folder", file=output.parent)
    if output is not None and output.exists() and not partial(output).exists() and not writing.force:
        raise OutputExistsError("the output file exists", file=output, hint="--force overwrites it")
    return shape


def _write(rows: Sequence[Row], shape: SweepFormat, writing: SweepDestination) -> None:
    """Write the rows in the order asked for; a file appears whole or not at all."""
    if writing.sort is not None:
        rows = sorted(rows, key=lambda row: _key(row, str(writing.sort)))
    from warpwatt.commands.output import say_written, table_context
    from warpwatt.render.sweep import write

    output = writing.output
    context = table_context(verbose=writing.verbose, colour=output is None)
    if output is None:
        buffer = io.BytesIO()
        write(shape, rows, context, buffer)
        click.echo(buffer.getvalue().decode(), nl=False)
        return
    scratch = output.with_name(f"{output.name}.writing")
    with scratch.open("wb") as file:
        write(shape, rows, context, file)
    scratch.replace(output)
    say_written(output)


def _key(row: Row, name: str) -> tuple[bool, float]:
    """Return what a row is ordered by; rows without result come last."""
    value = row.energy_delay if name == "edp" else getattr(getattr(row, name), "value", None)
    return value is None, value or 0.0
