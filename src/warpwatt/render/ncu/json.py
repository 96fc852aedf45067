"""The metrics of every launch as JSON: what the raw page says, without a parser of CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warpwatt.core.prediction import Prediction
from warpwatt.render.json import Schema, dump, header
from warpwatt.render.ncu.csv import IDENTITY, identity
from warpwatt.render.ncu.metrics import metrics

if TYPE_CHECKING:
    from warpwatt.render.context import Context

SCHEMA = Schema("ncu", "1.0.0")


def render(predictions: Sequence[Prediction], context: Context) -> str:
    """Return the launches with the columns of the raw page as keys, metrics by name."""
    launches = [launch_document(number, prediction) for number, prediction in enumerate(predictions)]
    return dump({**header(context, SCHEMA), "launches": launches})


def launch_document(number: int, prediction: Prediction) -> dict[str, Any]:
    """Return one launch as JSON-ready values."""
    return {
        **dict(zip(IDENTITY, identity(number, prediction), strict=True)),
        "metrics": {m.name: {"value": m.value, "unit": m.unit} for m in metrics(prediction)},
    }
