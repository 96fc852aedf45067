"""The two tables of ``ncu --csv``: the raw page, a row per launch; the details page, a row per metric."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from warpwatt.core.launch import Dim3
from warpwatt.core.prediction import Prediction
from warpwatt.render.ncu.metrics import Metric, Value, metrics
from warpwatt.render.ncu.sections import COMMAND_LINE, SECTIONS

if TYPE_CHECKING:
    from warpwatt.render.context import Context

IDENTITY = (
    *("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream"),
    *("Block Size", "Grid Size", "Device", "CC"),
)
"""The columns in front of both tables, as Nsight Compute 2023 and later print them."""
DETAILS = (
    *("Section Name", "Metric Name", "Metric Unit", "Metric Value"),
    *("Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"),
)


def render(predictions: Sequence[Prediction], context: Context) -> str:  # noqa: ARG001 - every renderer's signature
    """Return the raw page: names, a row of units, one row per prediction."""
    found = [{metric.name: metric for metric in metrics(p)} for p in predictions]
    units = {name: metric.unit for launch in found for name, metric in launch.items()}
    names = sorted(units)
    rows = [
        (*identity(number, p), *(cell(launch[name].value) if name in launch else "" for name in names))
        for number, (p, launch) in enumerate(zip(predictions, found, strict=True))
    ]
    blank = ("",) * len(IDENTITY)
    return _table(((*IDENTITY, *names), (*blank, *(units[name] for name in names)), *rows))


def render_details(predictions: Sequence[Prediction], context: Context) -> str:  # noqa: ARG001 - as above
    """Return the details page: the sections' metrics by label, then every metric by its own name."""
    rows = (
        (*identity(number, p), *row) for number, p in enumerate(predictions) for row in _details(metrics(p))
    )
    return _table(((*IDENTITY, *DETAILS), *rows))


def _details(found: Sequence[Metric]) -> Iterator[tuple[str, ...]]:
    named = {metric.name: metric for metric in found}
    rules = ("",) * (len(DETAILS) - 4)
    for section, labels in SECTIONS.items():
        for label, name in labels.items():
            if name in named:
                yield (section, label, named[name].unit, cell(named[name].value), *rules)
    for metric in found:
        if not isinstance(metric.value, str):
            yield (COMMAND_LINE, metric.name, metric.unit, cell(metric.value), *rules)


def identity(number: int, prediction: Prediction) -> tuple[str, ...]:
    """Return the cells of :data:`IDENTITY`; process and host are nobody's."""
    case = prediction.case
    launch, name = case.launch, case.kernel.display_name
    shapes = (_extent(launch.block), _extent(launch.grid))
    return (
        str(number),
        "0",
        "warpwatt",
        "127.0.0.1",
        name,
        "1",
        "7",
        *shapes,
        "0",
        case.gpu.capability.version,
    )


def _extent(extent: Dim3) -> str:
    return f"({extent.x}, {extent.y}, {extent.z})"


def cell(value: Value) -> str:
    """Return a value as ncu prints it, but for the commas between thousands.

    >>> cell(1048576.0), cell(12.3456789), cell("Tesla T4")
    ('1048576', '12.345679', 'Tesla T4')
    """
    if isinstance(value, str):
        return value
    return str(int(value)) if float(value).is_integer() else f"{value:.6f}"


def _table(rows: Iterable[Iterable[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return buffer.getvalue()
