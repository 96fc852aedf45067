"""The whole page: comparisons of GPUs, rooflines that kernels share, and one account per prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.choose.odds import told_apart
from warpwatt.core.prediction import Prediction
from warpwatt.core.units import si
from warpwatt.frontend.select import without_parameters
from warpwatt.render.comparison import by_launch, shared_warnings
from warpwatt.render.console import plain
from warpwatt.render.figures import l2_before, percent
from warpwatt.render.plots.roofline import roofline_plot
from warpwatt.render.report.account import account
from warpwatt.render.report.columns import Library
from warpwatt.render.report.tables import roofline_data
from warpwatt.render.report.values import figures, kernel_name, shape
from warpwatt.render.roofline import roofline

if TYPE_CHECKING:
    from warpwatt.render.context import Context
    from warpwatt.render.plots.roofline import RooflinePlot
    from warpwatt.render.report.account import Account
    from warpwatt.render.report.report import Report
    from warpwatt.render.report.values import Dataset, Figure


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the comparison."""

    anchor: str
    gpu: str
    time: Figure
    power: Figure
    energy: Figure
    clock: str
    occupancy: str
    bottleneck: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One kernel and launch on several GPUs."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class SharedRoofline:
    """Several kernels under the roofs of one GPU."""

    anchor: str
    gpu: str
    plot: RooflinePlot
    data: Dataset


@dataclass(frozen=True, slots=True)
class Page:
    """The whole page."""

    title: str
    comparisons: tuple[Comparison, ...]
    rooflines: tuple[SharedRoofline, ...]
    accounts: tuple[Account, ...]
    warnings: tuple[str, ...]
    library: Library
    context: Context


def page(reports: Sequence[Report], context: Context) -> Page:
    """Return the page of some reports; a comparison only where there is more than one."""
    predictions = [report.prediction for report in reports]
    anchors = {id(p): f"prediction-{number}" for number, p in enumerate(predictions, start=1)}
    groups = by_launch(predictions) if len(predictions) > 1 else []
    kernels = dict.fromkeys(kernel_name(p) for p in predictions)
    library = Library()
    return Page(
        title=", ".join(kernels) or "no predictions",
        comparisons=tuple(_comparison(group, anchors) for group in groups),
        rooflines=_shared_rooflines(predictions),
        accounts=tuple(account(r, anchors[id(r.prediction)], context, library) for r in reports),
        warnings=tuple(plain(warning) for warning in shared_warnings(predictions)),
        library=library,
        context=context,
    )


def _comparison(group: Sequence[Prediction], anchors: Mapping[int, str]) -> Comparison:
    times, powers, energies = [p.time for p in group], [p.power for p in group], [p.energy for p in group]
    gpus = [p.case.gpu.name for p in group]
    is_choice = len(set(gpus)) == len(gpus)  # else rows of one GPU differ by what they find in L2
    marked = is_choice and len(group) > 1
    columns = zip(
        group,
        figures("time", times, told_apart(times) if marked else None),
        figures("power", powers, None),
        figures("energy", energies, told_apart(energies) if marked else None),
        strict=True,
    )
    names = [
        name if is_choice else f"{name}, L2 {l2_before(p.case.launch)}"
        for name, p in zip(gpus, group, strict=True)
    ]
    rows = tuple(_row(p, anchors[id(p)], name, *own) for name, (p, *own) in zip(names, columns, strict=True))
    return Comparison(f"{kernel_name(group[0])}, {shape(group[0])}", rows)


def _row(prediction: Prediction, anchor: str, name: str, time: Figure, power: Figure, energy: Figure) -> Row:
    case = prediction.case
    held = " (power limit)" if prediction.limited_by_power else ""
    return Row(
        anchor, plain(name), time, power, energy, si(case.clocks.sm, "Hz") + held,
        percent(case.workload.occupancy.resident), plain(prediction.timing.bottleneck),
    )  # fmt: skip


def _shared_rooflines(predictions: Sequence[Prediction]) -> tuple[SharedRoofline, ...]:
    """Return a roofline for every GPU with more than one kernel or launch under it."""
    gpus: dict[str, list[Prediction]] = {}
    for prediction in predictions:
        gpus.setdefault(prediction.case.gpu.name, []).append(prediction)
    found = []
    for number, (gpu, group) in enumerate(gpus.items(), start=1):
        named = [(_short_name(p, group), roof) for p in group if (roof := roofline(p)) is not None]
        if len(named) > 1:
            shared = SharedRoofline(
                f"kernels-{number}", plain(gpu), roofline_plot(named), roofline_data(named)
            )  # fmt: skip
            found.append(shared)
    return tuple(found)


def _short_name(prediction: Prediction, group: Sequence[Prediction]) -> str:
    """Return the kernel's name without its parameters, with the launch where the name is not enough."""
    name = without_parameters(kernel_name(prediction))
    alike = [p for p in group if without_parameters(kernel_name(p)) == name]
    return name if len(alike) == 1 else f"{name}, {shape(prediction)}"
