"""Physical features of a case as the inputs of a trained model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warpwatt.models.component.features import physical_features

if TYPE_CHECKING:
    from warpwatt.core.case import Case, Timing


def inputs(
    names: Sequence[str],
    case: Case,
    timing: Timing | None,
    card: Mapping[str, Any],  # noqa: ARG001 - as all sources
) -> dict[str, float | None]:
    """Return those of ``names`` that are physical features; none of them before the time is known."""
    if timing is None or not any("." in name or name in {"lanes", "active_sms", "toggle"} for name in names):
        return {}
    found = physical_features(case, timing)
    return {n: None if math.isnan(found[n]) else found[n] for n in names if n in found}
