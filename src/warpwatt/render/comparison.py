"""Several predictions side by side: one row each, in the given order, the best marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.core.units import si
from warpwatt.render.console import QUIET, plain
from warpwatt.render.document import all_warnings
from warpwatt.render.figures import bounds, dimensions, percent, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from warpwatt.core.estimate import Estimate
    from warpwatt.core.prediction import Prediction
    from warpwatt.render.context import Context

BEST = "★"


def comparison(predictions: Sequence[Prediction], context: Context) -> Iterator[RenderableType]:
    """Yield one table per kernel, each with its GPUs and launches in the given order, then all warnings."""
    if not predictions:
        yield Text("nothing to show")
        return
    for number, group in enumerate(by_kernel(predictions)):
        yield Text("" if number == 0 else "\n", end="")
        yield _title(group[0])
        yield comparison_table(group)
    if context.verbosity >= 0:
        yield Text(f"{BEST} best of its kernel. Brackets hold 80 %. Name one GPU for the full account.", style=QUIET)
    for gpu, warning in _warnings(predictions):
        yield Text(f"! {plain(gpu)}: {plain(warning)}", style="yellow")


def by_kernel(predictions: Sequence[Prediction]) -> list[list[Prediction]]:
    """Return the predictions grouped by kernel, first seen first."""
    groups: dict[str, list[Prediction]] = {}
    for prediction in predictions:
        groups.setdefault(prediction.case.kernel.name, []).append(prediction)
    return list(groups.values())


def comparison_table(group: Sequence[Prediction]) -> Table:
    """Return the table of one kernel; best time and best energy carry a star."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("GPU", overflow="fold")
    for head in ("time", "", "power", "energy", ""):
        table.add_column(head, justify="left" if head == "" else "right", no_wrap=True)
    table.add_column("clock", justify="right", no_wrap=True)
    table.add_column("occ.", justify="right", no_wrap=True)
    table.add_column("limited by", overflow="fold")
    fastest = best([p.time for p in group])
    thriftiest = best([p.energy for p in group])
    for i, prediction in enumerate(group):
        table.add_row(*_row(prediction, fast=i == fastest, thrifty=i == thriftiest))
    return table


def best(estimates: Sequence[Estimate]) -> int:
    """Return the index of the least value; the first of equals.

    >>> from warpwatt.core.estimate import Estimate
    >>> best([Estimate.exact(2.0, "s"), Estimate.exact(1.0, "s")])
    1
    """
    return min(range(len(estimates)), key=lambda i: estimates[i].value)


def _row(prediction: Prediction, *, fast: bool, thrifty: bool) -> Iterator[Text]:
    yield Text(prediction.case.gpu.name)
    yield from _cells(prediction.time, marked=fast)
    yield Text(quantity(prediction.power))
    yield from _cells(prediction.energy, marked=thrifty)
    limited = "*" if prediction.limited_by_power else ""
    yield Text(si(prediction.case.clocks.sm, "Hz") + limited)
    yield Text(percent(prediction.case.workload.occupancy.theoretical))
    yield Text(plain(prediction.timing.bottleneck))


def _cells(estimate: Estimate, *, marked: bool) -> Iterator[Text]:
    star = BEST if marked else " "
    yield Text(f"{star} {quantity(estimate)}", style="bold green" if marked else "")
    yield Text(bounds(estimate), style=QUIET)


def _title(prediction: Prediction) -> Text:
    launch = prediction.case.launch
    shape = f"  {dimensions(launch.grid)} blocks of {dimensions(launch.block)} threads"
    name = plain(prediction.case.kernel.demangled or prediction.case.kernel.name)
    return Text.assemble((name, "bold cyan"), (shape, QUIET))


def _warnings(predictions: Sequence[Prediction]) -> list[tuple[str, str]]:
    pairs = ((p.case.gpu.name, warning) for p in predictions for warning in all_warnings(p))
    return list(dict.fromkeys(pairs))
