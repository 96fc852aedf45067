"""``warpwatt recommend``: which clocks, configuration or GPU to choose, and what that saves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import click

from warpwatt.commands import options as o
from warpwatt.commands.axes import Axes, InputsThenFlags, axes_options
from warpwatt.commands.workers import Workers, workers_options

PAID = ("cost", "carbon")
"""Objectives that depend on which GPU it is."""


class _Share(click.ParamType):  # type: ignore[type-arg, unused-ignore] # generic in newer clicks only
    """A share as ``5%`` or ``0.05``."""

    name = "share"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError:
            share = -1.0
        if not 0.0 <= share < float("inf"):
            self.fail(f"{text!r} is no share; write 5% or 0.05", param, ctx)
        return share


class AdviceFormat(StrEnum):
    """Output formats of a recommendation."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"
    HTML = "html"


@dataclass(frozen=True, slots=True)
class Aim:
    """What is to be made small and what must hold, as typed."""

    objective: str = "energy"
    max_slowdown: float | None = None
    prices: Path | None = None
    carbon: str | None = None


aim_options = o.group(
    "aim",
    Aim,
    click.option(
        "--objective",
        type=click.Choice(["time", "energy", "edp", "cost", "carbon"]),
        default="energy",
        show_default=True,
        help="What to make small; edp is energy times time.",
    ),
    click.option(
        "--max-slowdown",
        type=_Share(),
        metavar="SHARE",
        help="How much longer it may take than now, or than on the fastest GPU: 5%.",
    ),
    click.option(
        "--prices",
        type=click.Path(path_type=Path),
        metavar="FILE.toml",
        help="What GPUs and energy cost: docs/how-to/choosing-a-gpu.md.",
    ),
    click.option(
        "--carbon", metavar="0.35kg/kWh|FILE.toml:ZONE", help="CO2e per kWh, as a number or of a zone."
    ),
)


@dataclass(frozen=True, slots=True)
class AdviceOutput:
    """Where the advice goes and how it looks; ``format`` None means by the file's name, else text."""

    format: AdviceFormat | None = None
    output: Path | None = None
    force: bool = False
    verbose: bool = False

    @property
    def shape(self) -> AdviceFormat:
        """The format, by the file's name where nothing is said."""
        suffix = self.output.suffix.lower() if self.output is not None else ""
        by_suffix = {f".{shape}": shape for shape in AdviceFormat} | {".htm": AdviceFormat.HTML}
        return self.format or by_suffix.get(suffix, AdviceFormat.TEXT)


output_options = o.group(
    "writing",
    AdviceOutput,
    click.option("--format", type=o.EnumChoice(AdviceFormat), help="Default: by the file's name, else text."),
    click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to a file."),
    click.option("--force", is_flag=True, help="Overwrite the file."),
    click.option("-v", "--verbose", is_flag=True, help="Show every GPU."),
)


@click.command(
    cls=InputsThenFlags, epilog="An INPUT ending in .toml is an application: launches and copies on streams."
)
@o.gpu_option
@axes_options
@aim_options
@workers_options
@output_options
def recommend(gpu: str, axes: Axes, aim: Aim, workers: Workers, writing: AdviceOutput) -> None:
    """Name the clocks and the configuration, or the GPU, that make time, energy, cost or carbon small.

    Without values to choose from, the clocks that each GPU offers are compared. Commands that set clocks are
    printed, never run. With --gpu all, --prices or --carbon the question is which GPU: all inputs together
    are one run, and the boards choose their clocks.

    \b
    warpwatt recommend kernel.cu --gpu h200 --objective energy --max-slowdown 5%
    warpwatt recommend kernel.cu --gpu h200,a100 -D TILE=8,16,32 --objective edp
    warpwatt recommend a.cu app.toml --gpu all --objective cost --prices prices.toml --carbon 0.35kg/kWh
    """  # noqa: D301 - click keeps the lines behind this mark as they are
    from warpwatt.commands import advising  # noqa: PLC0415 - verbs load lazily
    from warpwatt.commands.output import Writer  # noqa: PLC0415

    if writing.output is not None:
        Writer.check(writing.output, force=writing.force)
    workers.check()
    which = gpu == "all" or aim.prices is not None or aim.carbon is not None or aim.objective in PAID
    text = (advising.gpu_choice if which else advising.settings)(gpu, axes, aim, workers, writing)
    if writing.output is None:
        click.echo(text, nl=False)
    else:
        writing.output.write_text(text, encoding="utf-8", newline="")
