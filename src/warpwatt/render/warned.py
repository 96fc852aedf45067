"""What is said of a prediction by everybody who had a part in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.core.prediction import Prediction


def all_warnings(prediction: Prediction) -> list[str]:
    """Return the warnings of kernel, models and prediction, each once, in that order."""
    parts = (
        prediction.case.kernel.warnings,
        prediction.timing.warnings,
        prediction.power_result.warnings,
        prediction.time.warnings,
        prediction.power.warnings,
        prediction.energy.warnings,
        prediction.warnings,
    )
    return list(dict.fromkeys(warning for part in parts for warning in part))
