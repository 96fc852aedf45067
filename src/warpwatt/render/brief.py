"""What an agent needs of a prediction: JSON with one fact on a line and four digits in a number."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warpwatt.core.advice import Advice
from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.core.warps import Stall
from warpwatt.render.json import Schema, finite
from warpwatt.render.warned import all_warnings
from warpwatt.render.words import SCHEDULER_UNITS, unit_name

if TYPE_CHECKING:
    from warpwatt.render.context import Context

SCHEMA = Schema("brief", "1.0.0")
MOST = 3
"""Units, stalls, lines, pieces of advice, assumptions and warnings of each kind."""
SMALL = 0.02
"""Shares below this are left out."""


def render(predictions: Sequence[Prediction], context: Context) -> str:
    """Return the predictions as one JSON document, every field of a prediction on one line."""
    head = {"$schema": SCHEMA.url, "tool": f"warpwatt {context.version}"}
    documents = ",\n".join(_fields(brief_document(prediction)) for prediction in predictions)
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    return "\n".join(("{", *lines, ' "predictions": [', documents, " ]", "}", ""))


def _fields(document: Mapping[str, Any]) -> str:
    """Return an object with one field a line; of a list of objects, one object a line."""
    lines = []
    for key, value in finite(document).items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = ",\n".join(f"    {_text(item)}" for item in value)
            lines.append(f"   {_text(key)}: [\n{items}\n   ]")
        else:
            lines.append(f"   {_text(key)}: {_text(value)}")
    return "  {\n" + ",\n".join(lines) + "\n  }"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def brief_document(prediction: Prediction) -> dict[str, Any]:
    """Return one prediction as JSON-ready values, the most telling of everything."""
    case, timing = prediction.case, prediction.timing
    held, resources = case.workload.occupancy, case.kernel.resources
    return {
        "kernel": case.kernel.display_name,
        "gpu": case.gpu.name,
        "launch": {"grid": str(case.launch.grid), "block": str(case.launch.block)},
        "time_s": _estimate(prediction.time),
        "power_w": _estimate(prediction.power),
        "energy_j": _estimate(prediction.energy),
        "limited_by": timing.bottleneck,
        "power_limited": prediction.limited_by_power,
        "busy": _largest(_busy(timing.busy)),
        "stalls": _largest({str(s): x for s, x in timing.stalls.items() if s is not Stall.SELECTED}),
        "occupancy": {
            "theoretical": _number(held.theoretical),
            "limiter": held.limiter,
            "registers": resources.registers,
            "shared_bytes": held.shared_per_block,
            "spill_bytes": resources.spill_stores + resources.spill_loads,
        },
        "dram_bytes": _number(case.workload.dram.total),
        "flop": _number(case.workload.execution.flops),
        "hot_lines": [_line(line) for line in _hottest(prediction.lines)],
        "advice": [_advice(advice) for advice in (prediction.advice or ())[:MOST]],
        "assumed": list(_first(a.message + (f" ({a.fix})" if a.fix else "") for a in prediction.assumptions)),
        "warnings": list(_first(iter(all_warnings(prediction)))),
    }


def _busy(busy: Mapping[str, float]) -> dict[str, float]:
    return {unit_name(key): share for key, share in busy.items() if key not in SCHEDULER_UNITS}


def _first(texts: Iterator[str]) -> Iterator[str]:
    """Yield the first texts, and how many more there are."""
    every = list(texts)
    yield from every[:MOST]
    if len(every) > MOST:
        yield f"{len(every) - MOST} more: --format json"


def _estimate(estimate: Estimate) -> dict[str, float]:
    return {key: _number(getattr(estimate, key)) for key in ("value", "low", "high")}


def _number(value: float) -> float:
    """Return a number with four significant digits.

    >>> _number(0.000445292), _number(1048576.0)
    (0.0004453, 1049000.0)
    """
    return float(f"{value:.4g}")


def _largest(shares: Mapping[str, float]) -> dict[str, float]:
    ordered = sorted(shares.items(), key=lambda pair: -pair[1])[:MOST]
    return {name: round(share, 3) for name, share in ordered if share > SMALL}


def _hottest(lines: Sequence[LineCost]) -> list[LineCost]:
    hottest = sorted(lines, key=lambda line: -line.time_share)[:MOST]
    return [line for line in hottest if line.time_share > SMALL]


def _line(line: LineCost) -> dict[str, Any]:
    return {
        "line": line.line,
        "file": line.file,
        "time_share": round(line.time_share, 3),
        "waits_for": next((str(s) for s in line.stalls if s is not Stall.SELECTED), None),
        "text": line.text.strip(),
    }


def _advice(advice: Advice) -> dict[str, Any]:
    return {
        "line": None if advice.line is None else advice.line.line,
        "saves": round(advice.share, 3),
        "by": advice.text,
        "how": advice.fix,
    }
