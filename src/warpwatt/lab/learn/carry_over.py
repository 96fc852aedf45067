"""A trained model carried over to another GPU by a few measurements on it.

What draws much power on one GPU draws much on another, but not the same watts. So the model of one GPU keeps
its opinion of the order, and about thirty measurements say which watts belong to its answers: pairs of
quantiles (after PowerQuant, Alavani et al.) or a straight line, whichever is nearer to measurements it was
not given. Outside the measured values it stays at the nearest of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.version import __version__
from warpwatt.lab.learn.card import rounded
from warpwatt.lab.learn.errors import DataError
from warpwatt.lab.learn.evaluate import DEVIATIONS_INSIDE, SHARE_INSIDE, Errors
from warpwatt.lab.learn.transfer import CALIBRATION, FEWEST
from warpwatt.models.trained.file import scaling_section, sections
from warpwatt.models.trained.packed import pack

if TYPE_CHECKING:
    from warpwatt.lab.learn.samples import Floats, Samples
    from warpwatt.models.trained.file import TrainedModel

    Knots = tuple[Floats, Floats]

AS_IT_WAS, CONSTANT = "as it was", "mean"


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """A model for another GPU: ``method`` is what was chosen.

    ``errors`` are by method, each row left out once; the model as it was and the constant mean of the
    measurements are among them.
    """

    method: str
    errors: Mapping[str, Errors]
    card: dict[str, Any]
    model: dict[str, Any]


def quantile_pairs(answers: Floats, measured: Floats) -> Knots:
    """Return answers and measurements in order of both; equal answers get the mean of theirs.

    >>> [knots.tolist() for knots in quantile_pairs(np.array([2.0, 1.0, 2.0]), np.array([9.0, 4.0, 5.0]))]
    [[1.0, 2.0], [4.0, 7.0]]
    """
    known, group = np.unique(np.sort(answers), return_inverse=True)
    return known, np.bincount(group, np.sort(measured)) / np.bincount(group)


def straight_line(answers: Floats, measured: Floats) -> Knots:
    """Return the ends of the line of least squares where it leaves the measured range, rising or level."""
    centred = answers - answers.mean()
    spread = float(centred @ centred)
    slope = max(0.0, float(centred @ measured) / spread) if spread > 0 else 0.0
    low, high = float(measured.min()), float(measured.max())
    if slope == 0:
        return np.array([0.0, 1.0]), np.full(2, measured.mean())
    ends = np.array([low, high])
    return answers.mean() + (ends - measured.mean()) / slope, ends


METHODS: Mapping[str, Callable[[Floats, Floats], Knots]] = {
    "quantiles": quantile_pairs,
    "line": straight_line,
}


def carry_over(model: TrainedModel, measured: Samples) -> CarriedOver:
    """Return the model for the GPU of the measurements.

    Raises
    ------
    DataError
        If there are fewer than ``FEWEST`` rows, rows of several GPUs, or features in another convention.
    """
    check(model, measured)
    score = _score(model, measured)
    target = np.log(measured.y) if model.logarithmic else measured.y
    held_out = {name: _left_out(score, target, make) for name, make in METHODS.items()}
    rows = len(target)
    held_out[CONSTANT] = (target.sum() - target) / (rows - 1)
    held_out[AS_IT_WAS] = score
    answers = {name: np.exp(x) if model.logarithmic else x for name, x in held_out.items()}
    errors = {name: Errors.of(measured.y, x) for name, x in answers.items()}
    method = min(METHODS, key=lambda name: errors[name].mae)
    known, wanted = METHODS[method](score, target)
    spread = _spread(measured.y, answers[method])
    return CarriedOver(
        method, errors, _card(model, measured, method, errors, spread), _json(model, measured, known, wanted)
    )


def check(model: TrainedModel, measured: Samples) -> None:
    """Refuse measurements that cannot calibrate the model; raise as :func:`carry_over`."""
    if model.estimator["kind"] == "carried over":
        raise DataError("the model was carried over already", hint="carry over the one it was made from")
    if len(measured) < FEWEST:
        message = f"{len(measured)} measurements do not carry a model over"
        raise DataError(message, file=measured.name, hint=f"measure {FEWEST} or more, better {CALIBRATION}")
    if len(set(measured.gpus)) > 1:
        raise DataError(f"rows of {len(set(measured.gpus))} GPUs", file=measured.name, hint="one GPU a table")
    convention = model.card.get("data", {}).get("convention", "")
    if measured.convention != convention:
        message = (
            f"features of convention {measured.convention or 'none'}, the model's are {convention or 'none'}"
        )
        raise DataError(message, file=measured.name, hint=f"warpwatt features --convention {convention}")


def _score(model: TrainedModel, measured: Samples) -> Floats:
    """Return the model's answers, as logarithms where it learned these."""
    found = model.predict(measured.x)
    return np.log(found) if model.logarithmic else found


def _left_out(score: Floats, target: Floats, make: Callable[[Floats, Floats], Knots]) -> Floats:
    """Return each row's answer from the knots of all others."""
    found = np.empty(len(target))
    for i in range(len(target)):
        others = np.arange(len(target)) != i
        found[i] = np.interp(score[i], *make(score[others], target[others]))
    return found


def _spread(measured: Floats, predicted: Floats) -> float:
    ratio = np.abs(np.log(measured / np.maximum(predicted, measured.min() / 100)))
    return float(np.quantile(ratio, SHARE_INSIDE)) / DEVIATIONS_INSIDE


def _json(model: TrainedModel, measured: Samples, known: Floats, wanted: Floats) -> dict[str, Any]:
    described = sections(model.features, model.target, model.unit, logarithmic=model.logarithmic)
    low, high = np.minimum(model.low, measured.x.min(axis=0)), np.maximum(model.high, measured.x.max(axis=0))
    return {
        **described,
        "scaling": scaling_section(model.offset, model.width, low, high),
        "estimator": {
            "kind": "carried over",
            "of": dict(model.estimator),
            "from": pack(known),
            "to": pack(wanted),
        },
    }


def _card(
    model: TrainedModel, measured: Samples, method: str, errors: Mapping[str, Errors], spread: float
) -> dict[str, Any]:
    """Return the card: the old one with the new data, figures and limits in place of its own."""
    old = model.card
    data = old["data"]
    gpus = sorted(set(measured.gpus))
    source = f"{data.get('file', '?')} ({', '.join(data.get('gpus') or ['GPU not stated'])})"
    figures = {name: _figures(one) for name, one in errors.items()}
    return {
        **old,
        "model": {**old["model"], "name": method, "carried over from": source},
        "data": {
            **data,
            "file": measured.name,
            "sha256": measured.sha256,
            "rows": len(measured),
            "programs": len(set(measured.programs)),
            "gpus": gpus,
            "lowest": float(measured.y.min()),
            "highest": float(measured.y.max()),
        },
        "split": {"by": "row left out", "folds": len(measured), "seeds": [0]},
        "figures": figures,
        "held out by program": {},
        "spread": rounded(spread),
        "limits": _limits(errors, method, source),
        "versions": {**old["versions"], "warpwatt": __version__},
    }


def _figures(errors: Errors) -> dict[str, Any]:
    parts = {key: rounded(getattr(errors, key)) for key in ("r2", "rmse", "mae", "mape")}
    return {"mean": parts, "deviation": dict.fromkeys(parts, 0.0), "pooled": parts}


def _limits(errors: Mapping[str, Errors], method: str, source: str) -> list[str]:
    found = [
        f"It was learned from {source} and carried over: only its scale is this GPU's, not its reasons.",
        "Its figures come from leaving out one row at a time; other launches of a program remain.",
    ]
    if errors[method].mae >= errors[CONSTANT].mae:
        found.append("It is no better than the constant mean of the measurements: do not use it.")
    return found
