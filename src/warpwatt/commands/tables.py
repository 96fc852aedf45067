"""A table of measurements as the options of ``warpwatt train`` describe it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from warpwatt.core.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from warpwatt.lab.learn.layout import Layout
    from warpwatt.lab.learn.samples import Samples

MOST_NUMBERS = 0.95
"""Share of a column's cells that must be numbers for it to be a feature that --select may choose."""


def read_samples(data: Path, options: dict[str, object], features: list[str] | None = None) -> Samples:
    """Return a table's samples as the options describe it, and write to stderr what was wrong with it.

    ``features`` stand in for ``--features``.
    """
    from warpwatt.lab.learn.samples import load

    said, layout = _described(options, features)
    wanted = said or (numeric_columns(data, layout) if options["select"] else None)
    samples = _on_gpu(load(data, str(options["target"]), wanted, layout), options["gpu"])
    _report_defects(samples)
    return samples


def numeric_columns(data: Path, layout: Layout | None) -> list[str]:
    """Return the columns of a table that may be features: nearly all cells are numbers, none is a target."""
    from warpwatt.lab.learn.table import read_table

    table = read_table(data, layout)
    targets = {target.column for target in table.layout.targets.values()}
    least = MOST_NUMBERS * len(table.rows)
    known = Counter(name for row in table.rows for name in row.numbers)
    return [name for name in dict.fromkeys(table.columns) if known[name] >= least and name not in targets]


def _described(
    options: dict[str, object], wanted: list[str] | None = None
) -> tuple[list[str] | None, Layout | None]:
    """Return the features asked for, and the layout of a table of one's own."""
    from warpwatt.lab.learn.layout import Target, snake_case, user_layout
    from warpwatt.lab.learn.samples import UNITS

    text = str(options["features"] or "")
    features = wanted or [snake_case(name) for name in text.split(",") if name.strip()] or None
    program, column = options["program_column"], options["target_column"]
    if program is None and column is None:
        return features, None
    if program is None or column is None or (features is None and not options["select"]):
        message = "a table of one's own needs --program-column, --target-column and --features or --select"
        raise UsageError(message)
    target = str(options["target"])
    targets = {target: Target(str(column), 1.0, UNITS[target])}
    return features, user_layout(str(program), targets, features or (), str(options["dwarf_column"] or ""))


def _on_gpu(samples: Samples, name: object) -> Samples:
    """Return the samples with their GPU: the one named, else what the table says, by its full name."""
    from warpwatt.core.errors import UnknownGpuError
    from warpwatt.gpus import find

    def canonical(text: str) -> str:
        try:
            return find(text).name
        except UnknownGpuError:
            return text

    if name is not None:
        return replace(samples, gpus=(find(str(name)).name,) * len(samples))
    names = {text: canonical(text) for text in set(samples.gpus)}
    return replace(samples, gpus=tuple(names[text] for text in samples.gpus))


def _report_defects(samples: Samples) -> None:
    """Write to stderr what was wrong with the data."""
    for text in samples.defects:
        click.echo(f"{samples.name}: {text}", err=True)
    for reason, count in samples.left_out.items():
        click.echo(f"{samples.name}: {count} rows left out: {reason}", err=True)
