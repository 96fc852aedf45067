"""How far predictions are from measurements: the four figures of the published tables."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.lab.learn.samples import Floats


@dataclass(frozen=True, slots=True)
class Errors:
    """R², root mean square and mean absolute error in the target's unit, mean absolute error in percent."""

    r2: float
    rmse: float
    mae: float
    mape: float


def errors(measured: Floats, predicted: Floats) -> Errors:
    """Return the errors of predictions; R² is NaN where all measurements are equal.

    >>> errors(np.array([4.0, 8.0]), np.array([5.0, 7.0]))
    Errors(r2=0.75, rmse=1.0, mae=1.0, mape=18.75)
    """
    off = predicted - measured
    spread = float(np.sum((measured - measured.mean()) ** 2))
    return Errors(
        r2=1.0 - float(np.sum(off**2)) / spread if spread > 0 else float("nan"),
        rmse=float(np.sqrt(np.mean(off**2))),
        mae=float(np.mean(np.abs(off))),
        mape=float(100.0 * np.mean(np.abs(off / measured))),
    )


def mean(found: Sequence[Errors]) -> Errors:
    """Return the mean of each figure, as the thesis averages over folds."""
    return Errors(*(float(x) for x in np.mean([astuple(e) for e in found], axis=0)))


def deviation(found: Sequence[Errors]) -> Errors:
    """Return each figure's standard deviation (n − 1; zero for one)."""
    if len(found) < 2:
        return Errors(0.0, 0.0, 0.0, 0.0)
    return Errors(*(float(x) for x in np.std([astuple(e) for e in found], axis=0, ddof=1)))
