"""Text for people: a panel and Nsight Compute's sections for one GPU, a comparison table for several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import Prediction
from warpwatt.core.units import si
from warpwatt.render.console import QUIET, panel, plain, to_text
from warpwatt.render.figures import bounds, copies, dimensions, percent, quantity
from warpwatt.render.method import method_text
from warpwatt.render.sections import sections

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.panel import Panel

    from warpwatt.render.context import Context

INTERVALS = "Brackets hold 80 % of what the assumptions and models leave open."


def render(predictions: Sequence[Prediction], context: Context) -> str:
    """Return one prediction in full, several kernels one after another, several GPUs as a table."""
    if len(predictions) == 1:
        return to_text(_full(predictions[0], context), context)
    from warpwatt.render.comparison import comparison  # which one prediction has no use for

    return to_text(comparison(predictions, context), context)


def _full(prediction: Prediction, context: Context) -> Iterator[RenderableType]:
    yield headline(prediction)
    if context.verbosity >= 0:
        yield from sections(prediction, context)
        yield Text("")
        yield Text(provenance(prediction, context), style=QUIET)


def headline(prediction: Prediction) -> Panel:
    """Return the panel with the numbers everybody wants."""
    case = prediction.case
    facts = Table.grid(padding=(0, 1), expand=True)
    facts.add_column(style=QUIET, no_wrap=True)
    facts.add_column(no_wrap=True, ratio=5)
    facts.add_column(style=QUIET, no_wrap=True)
    facts.add_column(ratio=6, overflow="fold")
    rows = zip(_numbers(prediction), _conditions(prediction), strict=True)
    for (label, number), (name, condition) in rows:
        facts.add_row(label, number, name, Text(plain(condition)))
    name = case.kernel.display_name
    return panel(facts, plain(name), f"{case.gpu.name} · {case.kernel.target}")


def _numbers(prediction: Prediction) -> list[tuple[str, Text]]:
    launch = prediction.case.launch
    shape = f"{dimensions(launch.grid)} blocks × {dimensions(launch.block)}"
    return [
        ("Time", _big(prediction.time)),
        ("Power", _big(prediction.power)),
        ("Energy", _big(prediction.energy)),
        ("Launch", Text(shape)),
    ]


def _big(estimate: Estimate) -> Text:
    around = bounds(estimate)
    return Text.assemble((quantity(estimate), "bold green"), (f" ({around})" if around else "", ""))


def _conditions(prediction: Prediction) -> list[tuple[str, str]]:
    case = prediction.case
    held = case.workload.occupancy
    clocks = f"{si(case.clocks.sm, 'Hz')}, memory {si(case.clocks.memory, 'Hz')}"
    why = " (power limit)" if prediction.limited_by_power else ""
    return [
        ("Limited by", prediction.timing.bottleneck),
        ("Clocks", f"{clocks}{why}"),
        ("Occupancy", f"{percent(held.resident)}, limited by {held.limiter}"),
        ("Beside", f"launch {quantity(prediction.launch_overhead)}, copies {copies(prediction.transfer)}"),
    ]


def provenance(prediction: Prediction, context: Context) -> str:
    """Return which models and tools made the numbers, and what the brackets mean."""
    kernel = prediction.case.kernel
    compiler = f", compiler {kernel.toolkit}" if kernel.toolkit else ""
    return (
        f"Time model {prediction.timing.model}, power model {prediction.power_result.model}{compiler}, "
        f"WarpWatt {context.version}. Counts: {method_text(prediction.case.workload.execution)}. {INTERVALS}"
    )
