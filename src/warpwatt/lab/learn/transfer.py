"""Power on a GPU that no training row is from, by a one-time calibration of quantiles.

Operators that draw much power on one GPU draw much on another, but not the same watts. So a regressor
learns the *quantile* of an operator's power among all operators of its GPU, and a new GPU only needs the
watts that belong to the quantiles: the measured powers of a few operators, once (after PowerQuant,
Alavani et al.).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.errors import DataError
from warpwatt.lab.learn.evaluate import Errors
from warpwatt.lab.learn.regressors import Fitted, fit

if TYPE_CHECKING:
    from warpwatt.lab.learn.regressors import Regressor
    from warpwatt.lab.learn.samples import Floats, Samples

CALIBRATION = 30
"""Operators measured once on the new GPU."""
FEWEST = 5
"""Fewer measured operators than this do not describe a distribution."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A model of quantiles; the powers (W, ascending) and quantiles of the operators measured on a GPU."""

    fitted: Fitted
    powers: Floats
    quantiles: Floats

    def predict(self, x: Floats) -> Floats:
        """Return power in W for features of shape (rows, features)."""
        return np.asarray(np.interp(self.fitted.predict(x), self.quantiles, self.powers), dtype=np.float64)


def quantiles(y: Floats, gpus: Sequence[str]) -> Floats:
    """Return each row's quantile among the rows of its GPU, in (0, 1); equal values share one.

    >>> quantiles(np.array([10.0, 30.0, 7.0]), ("a", "a", "b")).tolist()
    [0.25, 0.75, 0.5]
    """
    found = np.empty(len(y))
    labels = np.array(gpus)
    for gpu in set(gpus):
        rows = labels == gpu
        ordered = np.sort(y[rows])
        below = np.searchsorted(ordered, y[rows], side="left") + np.searchsorted(
            ordered, y[rows], side="right"
        )
        found[rows] = below / (2 * len(ordered))
    return found


def learn_quantiles(samples: Samples, regressor: Regressor, seed: int = 0) -> Fitted:
    """Return a regressor that predicts quantiles, from rows of several GPUs.

    Raises
    ------
    DataError
        If the samples do not say which GPU they are from.
    """
    if not samples.gpus:
        raise DataError("transfer needs a column that names the GPU", file=samples.name)
    return fit(regressor, samples.x, quantiles(samples.y, samples.gpus), seed)


def calibrate(fitted: Fitted, measured: Samples) -> Calibrated:
    """Return the model calibrated by a few operators measured on the new GPU.

    The measured operators are paired with the predicted quantiles in order of both: the smallest power
    belongs to the smallest quantile. Between pairs power is linear, beyond them constant.

    Raises
    ------
    DataError
        If fewer than ``FEWEST`` operators were measured.
    """
    if len(measured) < FEWEST:
        message = f"{len(measured)} measured operators do not make a calibration"
        raise DataError(message, file=measured.name, hint=f"measure {FEWEST} or more")
    return Calibrated(fitted, np.sort(measured.y), _separate_equal(np.sort(fitted.predict(measured.x))))


@dataclass(frozen=True, slots=True)
class TransferResult:
    """Errors on an unseen GPU: calibrated, without calibration, and of the calibration's mean power."""

    gpu: str
    rows: int
    calibrated: Errors
    uncalibrated: Errors
    constant: Errors


def leave_out(
    samples: Samples, gpu: str, regressor: Regressor, seed: int = 0, count: int = CALIBRATION
) -> TransferResult:
    """Return the errors on one GPU of a model trained on the others and calibrated on ``count`` operators.

    Neither the calibration's programs nor any program of training are in the test: half of the programs,
    drawn with the seed, are held out on all GPUs.
    """
    generator = np.random.default_rng(seed)
    programs = sorted(set(samples.programs))
    held = {programs[int(i)] for i in generator.permutation(len(programs))[: len(programs) // 2]}
    there = np.array([g == gpu for g in samples.gpus])
    unseen = np.array([p in held for p in samples.programs])
    training = samples.take(np.flatnonzero(~there & ~unseen))
    near = np.flatnonzero(there & ~unseen)
    measured = samples.take(np.sort(generator.permutation(near)[:count]))
    test = samples.take(np.flatnonzero(there & unseen))
    model = calibrate(learn_quantiles(training, regressor, seed), measured)
    direct = fit(regressor, training.x, training.y, seed)
    return TransferResult(
        gpu,
        len(test),
        Errors.of(test.y, model.predict(test.x)),
        Errors.of(test.y, direct.predict(test.x)),
        Errors.of(test.y, np.full(len(test), measured.y.mean())),
    )


def pooled(results: Sequence[TransferResult]) -> TransferResult:
    """Return the mean of one GPU's results over seeds."""
    kinds = ("calibrated", "uncalibrated", "constant")
    means: dict[str, Any] = {k: Errors.mean([getattr(each, k) for each in results]) for k in kinds}
    return replace(results[0], **means)


def _separate_equal(values: Floats) -> Floats:
    """Return ascending values with equal ones moved apart a little, as interpolation needs."""
    return values + 1e-9 * np.arange(len(values))
