"""``warpwatt recommend``: which clocks, configuration or GPU to choose, and what that saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from warpwatt.commands import options as o
from warpwatt.commands.axes import Axes, InputsThenFlags, axes_options
from warpwatt.commands.workers import Workers, run_all, workers_options
from warpwatt.core.errors import InputError

if TYPE_CHECKING:
    from warpwatt.advise.rows import Row
    from warpwatt.advise.sweep import Sweep


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


@click.command(cls=InputsThenFlags)
@o.gpu_option
@axes_options
@click.option(
    "--objective",
    type=click.Choice(["time", "energy", "edp"]),
    default="energy",
    show_default=True,
    help="What to make small; edp is energy times time.",
)
@click.option("--max-slowdown", type=_Share(), metavar="SHARE", help="How much longer it may take: 5%.")
@workers_options
@click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def recommend(
    gpu: str,
    axes: Axes,
    objective: str,
    max_slowdown: float | None,
    workers: Workers,
    shape: str,
) -> None:
    r"""Name the clocks, the configuration and the GPU that make time or energy small.

    Without values to choose from, the clocks that each GPU offers are compared. Commands that set clocks are
    printed, never run.

    \b
    warpwatt recommend kernel.cu --gpu h200 --objective energy --max-slowdown 5%
    warpwatt recommend kernel.cu --gpu h200,a100 -D TILE=8,16,32 --objective edp
    """
    from warpwatt.advise import recommend as advice  # noqa: PLC0415 - verbs load lazily
    from warpwatt.commands.axes import sweep_of  # noqa: PLC0415
    from warpwatt.commands.output import table_context  # noqa: PLC0415
    from warpwatt.render.sweep import advice as pages  # noqa: PLC0415

    sweep = advice.choices(sweep_of(gpu, axes))
    rows = _rows(sweep, workers)
    found = advice.recommend(sweep, rows, objective, max_slowdown)
    if not found:
        reasons = list(dict.fromkeys(row.error for row in rows if row.error))
        raise InputError("nothing to choose from: no point has a result", details="\n".join(reasons))
    context = table_context()
    text = (
        pages.render_json(found, context) if shape == "json" else pages.render(found, max_slowdown, context)
    )
    click.echo(text, nl=False)


def _rows(sweep: Sweep, workers: Workers) -> list[Row]:
    kept: list[Row] = []
    run_all(sweep, workers, (), kept.extend)
    return kept
