"""What a full report shows beside a prediction: :class:`Report`, built by commands, read by renderers.

Occupancy curves are cheap and always there. A clock sweep asks the time model up to 13 times more, so only
the first :data:`MOST_SWEPT` predictions get one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError, UnsupportedGpuError
from warpwatt.core.prediction import Prediction
from warpwatt.core.progress import step
from warpwatt.gpus.occupancy_curves import OccupancyCurve, occupancy_curves
from warpwatt.sweep.clock_sweep import ClockSweep, clock_sweep

if TYPE_CHECKING:
    from warpwatt.compose import Choice

MOST_SWEPT = 12
NOT_ASKED = "No clock sweep was asked for."
TOO_MANY = (
    f"Only the first {MOST_SWEPT} predictions of a report get a clock sweep; predict this one alone, "
    "or use warpwatt sweep with --clock LOW:HIGH:STEP."
)


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A prediction and what was predicted around it; ``no_clocks`` says why there is no clock sweep."""

    prediction: Prediction
    occupancy: tuple[OccupancyCurve, ...]
    clocks: ClockSweep | None = None
    no_clocks: str = NOT_ASKED


def report(prediction: Prediction) -> Report:
    """Return a report without a clock sweep."""
    return Report(prediction, occupancy_curves(prediction.case))


def reports(
    predictions: Iterable[Prediction], choice: Choice | None = None, most: int = MOST_SWEPT
) -> tuple[Report, ...]:
    """Return a report of each prediction, the first ``most`` with a clock sweep.

    ``choice`` names the models that predicted.
    """
    with step("sweeping clocks"):
        return tuple(
            _swept(prediction, choice) if number < most else _unswept(prediction, TOO_MANY)
            for number, prediction in enumerate(predictions)
        )


def _swept(prediction: Prediction, choice: Choice | None) -> Report:
    try:
        clocks = clock_sweep(prediction, choice)
    except (InputError, UnsupportedGpuError) as error:
        return _unswept(prediction, f"No clock sweep: {error}")
    return Report(prediction, occupancy_curves(prediction.case), clocks, "")


def _unswept(prediction: Prediction, why: str) -> Report:
    return Report(prediction, occupancy_curves(prediction.case), None, why)
