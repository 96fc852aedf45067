"""Why a learned model predicts what it predicts: its features by SHAP or LIME, as a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpwatt.core.units import si

if TYPE_CHECKING:
    from warpwatt.core.case import FeatureEffect, LearnedReasons
    from warpwatt.core.estimate import Estimate
    from warpwatt.core.prediction import Prediction

MOST_NAMED = 3
"""Features in the sentence."""


def learned_parts(prediction: Prediction) -> Iterator[tuple[str, Estimate, LearnedReasons]]:
    """Yield what a learned model says of a prediction, ``Time`` or ``Power``, and why."""
    timing, power = prediction.timing, prediction.power_result
    if timing.learned is not None:
        yield "Time", timing.time, timing.learned()
    if power.learned is not None:
        yield "Power", power.power, power.learned()


def effect_sentence(what: str, reasons: LearnedReasons) -> str:
    """Return what raises (+) and lowers (-) a prediction most."""
    by = "LIME" if reasons.usual is None else "SHAP"
    largest = sorted(reasons.effects, key=lambda one: -abs(_effect(one)))[:MOST_NAMED]
    listed = ", ".join(f"{_signed(_effect(e), reasons.unit)} by {e.name} ({e.value:g})" for e in largest)
    start = f"{what} was learned from measurements"
    usual = f", {si(reasons.usual, reasons.unit)} in their mean" if reasons.usual is not None else ""
    return f"{start}{usual}: {listed} ({by})."


def _effect(effect: FeatureEffect) -> float:
    return effect.lime if effect.shap is None else effect.shap


def _signed(value: float, unit: str) -> str:
    """Return a difference with its sign.

    >>> _signed(-0.0021, "s")
    '-2.10 ms'
    """
    return f"{'-' if value < 0 else '+'}{si(abs(value), unit)}"
