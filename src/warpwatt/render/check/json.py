"""Verdicts as JSON; ``schema/check-1.0.json`` describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpwatt.core.budget import CheckResult, Failure, Verdict
from warpwatt.core.prediction import LineCost
from warpwatt.render.document.values import launch_document, quantity_document
from warpwatt.render.json import Schema, dump, header

if TYPE_CHECKING:
    from warpwatt.render.context import Context

SCHEMA = Schema("check", "1.0.0")

Json = dict[str, Any]


def render(result: CheckResult, context: Context) -> str:
    """Return the result as one JSON document with a final newline."""
    return dump(
        {
            **header(context, SCHEMA),
            "file": result.file,
            "passed": not result.exceeded and not result.failures,
            "verdicts": [_verdict(verdict) for verdict in result.verdicts],
            "failures": [_failure(failure) for failure in result.failures],
        }
    )


def _verdict(verdict: Verdict) -> Json:
    limit, case = verdict.limit, verdict.prediction.case
    return {
        "budget": verdict.budget,
        "quantity": limit.quantity,
        "bound": str(limit.bound),
        "limit": limit.text,
        "line": limit.line,
        "kernel": verdict.kernel,
        "gpu": case.gpu.name,
        "launch": launch_document(case.launch),
        "found": None if verdict.found is None else quantity_document(verdict.found),
        "judged": verdict.judged,
        "allowed": verdict.allowed,
        "baseline": verdict.baseline,
        "exceeded": verdict.exceeded,
        "bottleneck": verdict.prediction.timing.bottleneck,
        "hottest": _line(verdict.hottest),
    }


def _line(line: LineCost | None) -> Json | None:
    if line is None:
        return None
    return {
        "file": line.file,
        "line": line.line,
        "text": line.text,
        "time_share": line.time_share,
        "energy_share": line.energy_share,
    }


def _failure(failure: Failure) -> Json:
    error = failure.error
    return {
        "budget": failure.budget,
        "line": failure.line,
        "error": error.message,
        "error_file": error.file,
        "error_line": error.line,
        "hint": error.hint,
        "exit_code": error.exit_code,
    }
