"""``warpwatt sweep``: one kernel in many configurations, launches, GPUs and clocks."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpwatt.commands import options as o
from warpwatt.commands.axes import Axes, axes_options, default_jobs, jobs_option
from warpwatt.core.errors import InputError, OutputExistsError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from warpwatt.advise.rows import Row
    from warpwatt.advise.sweep import Sweep


class SweepFormat(StrEnum):
    """Output formats of a sweep."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"
    HTML = "html"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class SweepOutput:
    """Where the rows go and how they look; ``format`` None means by the file's name, else text."""

    format: SweepFormat | None = None
    output: Path | None = None
    force: bool = False
    verbose: bool = False


output_options = o.group(
    "writing",
    SweepOutput,
    click.option("--format", type=o.EnumChoice(SweepFormat), help="Default: by the file's name, else text."),
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write to a file; a sweep that was killed goes on from FILE.partial.",
    ),
    click.option("--force", is_flag=True, help="Overwrite the file."),
    click.option("-v", "--verbose", is_flag=True, help="Show every point."),
)


@click.command()
@o.input_argument
@o.gpu_option
@axes_options
@click.option("--curve", is_flag=True, help="Read times off a smooth curve through few simulated clocks.")
@jobs_option
@output_options
def sweep(
    source: str,
    gpu: str,
    axes: Axes,
    curve: bool,
    jobs: int | None,
    writing: SweepOutput,
) -> None:
    r"""Predict one kernel in many configurations, launches, GPUs and clocks.

    Every combination of the values given is a point; one that fails becomes a row with the reason.

    \b
    warpwatt sweep matmul.cu -D TILE=8,16,32 --block TILE,TILE --grid n/TILE,n/TILE --arg n=4096 ...
    warpwatt sweep kernel.cu --gpu h200 --clock 510:1980:15 -o clocks.html
    """
    from warpwatt.commands.axes import sweep_of  # noqa: PLC0415 - verbs load lazily

    rows = done(sweep_of(source, gpu, axes, curve=curve), default_jobs(jobs), writing)
    if all(row.error for row in rows):
        sys.exit(1)


def done(swept: Sweep, jobs: int, writing: SweepOutput) -> list[Row]:
    """Do what of a sweep is not done yet, write all of it, and return the rows in order.

    Raises
    ------
    OutputExistsError
        If the file is there, or rows of another sweep are, and ``--force`` was not given.
    ToolchainError
        If what writes Parquet is missing.
    """
    from warpwatt.advise.journal import Journal  # noqa: PLC0415 - verbs load lazily

    shape = _checked(writing)
    if writing.output is None:
        rows = _finished(swept, [], jobs, lambda _: None)
        _write(rows, shape, writing)
        return rows
    with Journal(writing.output, swept, force=writing.force) as journal:
        if journal.rows:
            click.echo(f"note: {len(journal.rows)} of {len(swept)} points were done before", err=True)
        rows = _finished(swept, journal.rows, jobs, journal.add)
        _write(rows, shape, writing)
        journal.remove()
    return rows


def _finished(swept: Sweep, before: Sequence[Row], jobs: int, keep: Callable[[list[Row]], None]) -> list[Row]:
    """Return all rows in order, those from ``before`` among them; new ones are kept at once."""
    from warpwatt.advise.pool import run_pooled  # noqa: PLC0415 - verbs load lazily

    rows = list(before)
    with _progress(len(swept), len(rows)) as advance:
        for batch in run_pooled(swept, {row.number for row in rows}, jobs):
            keep(batch)
            rows += batch
            advance(len(batch))
    return sorted(rows, key=lambda row: row.number)


@contextmanager
def _progress(total: int, before: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that moves a bar on stderr on; there is a bar only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich import progress  # noqa: PLC0415 - only where there is a bar
    from rich.console import Console  # noqa: PLC0415

    columns = progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeRemainingColumn()
    with progress.Progress("points", *columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("points", total=total, completed=before)
        yield lambda number: bar.advance(task, number)


def _checked(writing: SweepOutput) -> SweepFormat:
    """Return the format, checked before any work: that it can be written, and to where it shall go."""
    from warpwatt.advise.journal import partial  # noqa: PLC0415 - verbs load lazily

    shape, output = _format(writing), writing.output
    if shape is SweepFormat.PARQUET:
        from warpwatt.render.sweep.tables import parquet_writer  # noqa: PLC0415 - only where it is wanted

        parquet_writer()
        if output is None:
            raise UsageError("Parquet is not for terminals", hint="-o FILE.parquet")
    if output is not None and not output.parent.is_dir():
        raise InputError("no such folder", file=output.parent)
    if output is not None and output.exists() and not partial(output).exists() and not writing.force:
        raise OutputExistsError("the output file exists", file=output, hint="--force overwrites it")
    return shape


def _format(writing: SweepOutput) -> SweepFormat:
    suffix = writing.output.suffix.lower() if writing.output is not None else ""
    by_suffix = {f".{shape}": shape for shape in SweepFormat} | {".htm": SweepFormat.HTML}
    return writing.format or by_suffix.get(suffix, SweepFormat.TEXT)


def _write(rows: Sequence[Row], shape: SweepFormat, writing: SweepOutput) -> None:
    """Write the rows; a file appears whole or not at all."""
    from warpwatt.commands.output import table_context  # noqa: PLC0415 - verbs load lazily
    from warpwatt.render.sweep import renderer  # noqa: PLC0415

    output = writing.output
    result = renderer(shape)(rows, table_context(verbose=writing.verbose, colour=output is None))
    if output is None:
        click.echo(result, nl=False)
        return
    scratch = output.with_name(f"{output.name}.writing")
    scratch.write_bytes(result if isinstance(result, bytes) else result.encode())
    scratch.replace(output)
