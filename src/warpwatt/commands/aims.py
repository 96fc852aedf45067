"""What `recommend` is asked: what to make small, what must hold, and where the advice goes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import click

from warpwatt.commands import options as o
from warpwatt.commands.destination import Destination, destination_options


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
class AdviceDestination(Destination[AdviceFormat]):
    """Where the advice goes, and how much of it."""

    verbose: bool = False


destination = destination_options(
    AdviceFormat,
    AdviceDestination,
    click.option("-v", "--verbose", is_flag=True, help="Show every GPU."),
)
