"""A ranking as JSON, short enough to be read by an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warpwatt.core.estimate import Estimate
from warpwatt.core.ranking import Failed, Ranked, Ranking
from warpwatt.render.json import Schema, dump, header
from warpwatt.render.rank.words import decision, sentence

if TYPE_CHECKING:
    from warpwatt.render.context import Context

SCHEMA = Schema("rank", "1.0.0")


def render(rankings: Sequence[Ranking], context: Context) -> str:
    """Return the rankings as one JSON document with a final newline."""
    return dump({**header(context, SCHEMA), "rankings": [ranking_document(ranking) for ranking in rankings]})


def ranking_document(ranking: Ranking) -> dict[str, Any]:
    """Return one ranking as JSON-ready values."""
    return {
        "gpu": ranking.gpu,
        "by": str(ranking.objective),
        "confidence": ranking.confidence,
        "decision": decision(ranking),
        "sentence": sentence(ranking),
        "take": None if ranking.deferred else ranking.order[0].name,
        "measure": [one.name for one in ranking.open] if ranking.deferred else [],
        "order": [_ranked(one, ranking.order[0]) for one in ranking.order],
        "failed": [_failed(one) for one in ranking.failed],
    }


def _ranked(one: Ranked, first: Ranked) -> dict[str, Any]:
    return {
        "name": one.name,
        "better_than_next": one.better_than_next,
        "better_than_first": one.better_than_first,
        "ratio_to_first": one.value.value / first.value.value,
        "time": _estimate(one.time),
        "energy": _estimate(one.energy),
        "limited_by": one.limiter,
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "unit": estimate.unit}


def _failed(failed: Failed) -> dict[str, Any]:
    return {"name": failed.name, "error": str(failed.error), "fix": failed.error.hint}
