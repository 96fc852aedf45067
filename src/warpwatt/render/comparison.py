"""Several predictions side by side: one row each, in the given order, the best marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.choose.odds import told_apart
from warpwatt.core.estimate import Estimate
from warpwatt.core.launch import Dim3
from warpwatt.core.prediction import Prediction
from warpwatt.core.units import si
from warpwatt.render.console import QUIET, plain
from warpwatt.render.figures import bounds, launch_shape, percent, quantity
from warpwatt.render.warned import all_warnings

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.render.context import Context

BEST = "★"
WIDE = 110
"""Columns from which clock and occupancy have room and intervals stand on the same line."""


def comparison(predictions: Sequence[Prediction], context: Context) -> Iterator[RenderableType]:
    """Yield one table per kernel and launch with its GPUs in the given order, then all warnings."""
    if not predictions:
        yield Text("no predictions")
        return
    wide = context.width >= WIDE
    groups = by_launch(predictions)
    marked = any(len(group) > 1 for group in groups)
    if not marked:
        yield _shared(predictions)
        yield comparison_table(
            predictions, [_own(p, predictions) for p in predictions], wide=wide, marked=False
        )
    else:
        yield from _tables(groups, wide=wide)
    if context.verbosity >= 0:
        yield Text("")
        yield Text(_legend(predictions, marked=marked), style=QUIET)
    for warning in shared_warnings(predictions):
        yield Text(f"! {plain(warning)}", style="yellow")


def _tables(groups: Sequence[Sequence[Prediction]], *, wide: bool) -> Iterator[RenderableType]:
    for number, group in enumerate(groups):
        if number:
            yield Text("")
        yield _name(group[0], f"  {launch_shape(group[0].case.launch)}")
        names = [Text(p.case.gpu.name) for p in group]
        yield comparison_table(group, names, wide=wide, marked=len(group) > 1)


def ordered(predictions: Sequence[Prediction], key: str) -> list[Prediction]:
    """Return predictions launch by launch, each launch's by time, power, energy or the GPU's name."""
    reads: dict[str, Callable[[Prediction], float | str]] = {
        "time": lambda p: p.time.value,
        "power": lambda p: p.power.value,
        "energy": lambda p: p.energy.value,
        "gpu": lambda p: p.case.gpu.name,
    }
    groups = by_launch(predictions)
    if all(len(group) == 1 for group in groups):
        return sorted(predictions, key=reads[key])
    return [p for group in groups for p in sorted(group, key=reads[key])]


def by_launch(predictions: Sequence[Prediction]) -> list[list[Prediction]]:
    """Return the predictions grouped by kernel and launch shape, first seen first."""
    groups: dict[tuple[str, Dim3, Dim3], list[Prediction]] = {}
    for prediction in predictions:
        launch = prediction.case.launch
        groups.setdefault((prediction.case.kernel.name, launch.grid, launch.block), []).append(prediction)
    return list(groups.values())


def comparison_table(
    group: Sequence[Prediction], names: Sequence[Text], *, wide: bool, marked: bool
) -> Table:
    """Return a table with one named row per prediction; stars at the best if ``marked``."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("GPU" if marked else "", overflow="fold")
    for head in ("time", "power", "energy"):
        table.add_column(head if head == "power" else f"  {head}", no_wrap=True)
    if wide:
        table.add_column("clock", justify="right", no_wrap=True)
        table.add_column("occ.", justify="right", no_wrap=True)
    table.add_column("limited by", overflow="fold")
    fastest, thriftiest = told_apart([p.time for p in group]), told_apart([p.energy for p in group])
    for i, (name, prediction) in enumerate(zip(names, group, strict=True)):
        stars = (marked and i == fastest, marked and i == thriftiest)
        table.add_row(name, *_cells(prediction, stars, wide=wide))
    return table


def _cells(prediction: Prediction, stars: tuple[bool, bool], *, wide: bool) -> Iterator[Text]:
    yield _cell(prediction.time, marked=stars[0], wide=wide)
    yield Text(quantity(prediction.power) + ("*" if prediction.limited_by_power else ""))
    yield _cell(prediction.energy, marked=stars[1], wide=wide)
    if wide:
        yield Text(si(prediction.case.clocks.sm, "Hz"))
        yield Text(percent(prediction.case.workload.occupancy.resident))
    yield Text(plain(prediction.timing.bottleneck))


def _cell(estimate: Estimate, *, marked: bool, wide: bool) -> Text:
    """Return value and interval: beside each other where there is room, else below each other."""
    value = f"{BEST if marked else ' '} {quantity(estimate)}"
    gap = " " * max(1, 12 - len(value)) if wide else "\n  "
    around = bounds(estimate)
    return Text.assemble((value, "bold green" if marked else ""), (gap + around if around else "", QUIET))


def _name(prediction: Prediction, shape: str) -> Text:
    return Text.assemble((plain(prediction.kernel_name), "bold cyan"), (shape, QUIET))


def _parts(prediction: Prediction) -> tuple[str, str, str]:
    """Return kernel, launch and GPU."""
    case = prediction.case
    return plain(prediction.kernel_name), launch_shape(case.launch), case.gpu.name


def _shared(predictions: Sequence[Prediction]) -> Text:
    """Return what all predictions share of kernel, launch and GPU."""
    columns = zip(*map(_parts, predictions), strict=True)
    return Text("  ".join(values[0] for values in columns if len(set(values)) == 1), style=QUIET)


def _own(prediction: Prediction, predictions: Sequence[Prediction]) -> Text:
    """Return what sets a prediction apart from the others; all of it where nothing does."""
    columns = zip(*map(_parts, predictions), strict=True)
    own = [part for part, values in zip(_parts(prediction), columns, strict=True) if len(set(values)) > 1]
    return Text("\n".join(own or _parts(prediction)), style="bold cyan")


def _legend(predictions: Sequence[Prediction], *, marked: bool) -> str:
    star = f"{BEST} best; without it several cannot be told apart. " if marked else ""
    power = " * at the power limit." if any(p.limited_by_power for p in predictions) else ""
    return f"{star}Intervals hold 80 %.{power} One kernel on one --gpu gives the full account."


def shared_warnings(predictions: Sequence[Prediction]) -> list[str]:
    """Return every warning once, behind the GPUs it concerns where these are not all."""
    gpus = list(dict.fromkeys(p.case.gpu.name for p in predictions))
    concerned: dict[str, list[str]] = {}
    for prediction in predictions:
        for warning in all_warnings(prediction):
            concerned.setdefault(warning, []).append(prediction.case.gpu.name)
    return [
        warning if set(names) == set(gpus) else f"{', '.join(dict.fromkeys(names))}: {warning}"
        for warning, names in concerned.items()
    ]
