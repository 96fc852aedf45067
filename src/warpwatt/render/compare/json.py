"""A comparison as JSON; ``schema/comparison-1.0.json`` describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpwatt.core.comparison import Comparison, ComparisonSet, Figure, LineChange, QuantityChange
from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.render.compare.words import verdict
from warpwatt.render.document.values import launch_document, quantity_document
from warpwatt.render.json import Schema, dump, header

if TYPE_CHECKING:
    from warpwatt.render.context import Context

SCHEMA = Schema("comparison", "1.0.0")

Json = dict[str, Any]


def render(comparisons: ComparisonSet, context: Context) -> str:
    """Return the comparisons as one JSON document with a final newline."""
    return dump(
        {
            **header(context, SCHEMA),
            "old": comparisons.old,
            "new": comparisons.new,
            "comparisons": [_comparison(comparisons, one) for one in comparisons.comparisons],
            "removed": [_side(p) for p in comparisons.removed],
            "added": [_side(p) for p in comparisons.added],
            "remarks": list(comparisons.remarks),
        }
    )


def _comparison(comparisons: ComparisonSet, one: Comparison) -> Json:
    return {
        "old": _side(one.old),
        "new": _side(one.new),
        "time": _quantity_change(one.time),
        "power": _quantity_change(one.power),
        "energy": _quantity_change(one.energy),
        "figures": [_figure(figure) for figure in one.figures],
        "lines": [_line(comparisons, line) for line in one.lines],
        "old_assumptions": list(one.old_assumptions),
        "new_assumptions": list(one.new_assumptions),
    }


def _side(prediction: Prediction) -> Json:
    case = prediction.case
    return {
        "kernel": prediction.kernel_name,
        "symbol": case.kernel.name,
        "gpu": case.gpu.name,
        "target": case.kernel.target,
        "toolkit": case.kernel.toolkit,
        "launch": launch_document(case.launch),
        "clocks": {"sm": case.clocks.sm, "memory": case.clocks.memory},
        "bottleneck": prediction.timing.bottleneck,
        "time": quantity_document(prediction.time),
        "power": quantity_document(prediction.power),
        "energy": quantity_document(prediction.energy),
    }


def _quantity_change(change: QuantityChange) -> Json:
    return {
        "old": quantity_document(change.old),
        "new": quantity_document(change.new),
        "difference": quantity_document(change.difference),
        "ratio": quantity_document(change.ratio),
        "verdict": verdict(change),
    }


def _figure(figure: Figure) -> Json:
    return {
        "topic": str(figure.topic),
        "name": figure.name,
        "measure": str(figure.measure),
        "old": figure.old,
        "new": figure.new,
    }


def _line(comparisons: ComparisonSet, line: LineChange) -> Json:
    return {
        "fate": str(line.status),
        "file": comparisons.name(line.file),
        "text": line.text,
        "old_line": line.old_line,
        "new_line": line.new_line,
        "time": quantity_document(line.time),
        "energy": quantity_document(line.energy),
        "old": _cost(line.old),
        "new": _cost(line.new),
        "figures": [_figure(figure) for figure in line.figures],
    }


def _cost(cost: LineCost | None) -> Json | None:
    if cost is None:
        return None
    return {
        "time_share": cost.time_share,
        "energy_share": cost.energy_share,
        "warp_instructions": cost.warp_instructions,
        "stalls": {str(stall): share for stall, share in cost.stalls.items()},
    }
