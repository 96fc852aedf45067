"""Predictions held against budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from warpwatt.budget import baseline
from warpwatt.budget.quantities import QUANTITIES
from warpwatt.core.budget import Bound, CheckResult, Failure, Limit, Quantile, Verdict
from warpwatt.core.errors import InputError, WarpWattError
from warpwatt.core.prediction import Prediction
from warpwatt.request.session import Session

if TYPE_CHECKING:
    from warpwatt.budget.baseline import Recorded
    from warpwatt.budget.budgets import Budget, Budgets

TOLERANCE = 1e-6
"""A limit may be passed by this share: rounding, of the baseline above all."""


def judge(budgets: Budgets, notify: Callable[[str], None]) -> CheckResult:
    """Predict everything that the budgets speak of and hold it against their limits.

    A budget whose prediction fails becomes a :class:`~warpwatt.core.budget.Failure`; the others go on.

    Raises
    ------
    InputError
        If a limit is relative and the baseline is missing.
    """
    needs = any(limit.relative for budget in budgets.budgets for limit in budget.limits)
    known = baseline.read(budgets.baseline) if needs and budgets.baseline is not None else {}
    verdicts: list[Verdict] = []
    failures: list[Failure] = []
    for budget in budgets.budgets:
        try:
            verdicts += _verdicts(budgets, budget, known, notify)
        except WarpWattError as error:
            failures.append(Failure(budget.name, budget.line, error))
    return CheckResult(str(budgets.file), tuple(verdicts), tuple(failures))


def record(budgets: Budgets, notify: Callable[[str], None]) -> int:
    """Write the baseline of a file of budgets and return how many predictions it holds.

    Raises
    ------
    InputError
        If the file names no baseline.
    WarpWattError
        If a prediction fails: a baseline is whole or not at all.
    """
    if budgets.baseline is None:
        hint = 'add baseline = "baseline.json" at the top'
        raise InputError("no baseline is named", file=budgets.file, hint=hint)
    entries = [
        (baseline.identity(budget, prediction), prediction)
        for budget in budgets.budgets
        for prediction in _predictions(budget, notify)
    ]
    baseline.write(budgets.baseline, entries)
    return len(dict(entries))


def _predictions(budget: Budget, notify: Callable[[str], None]) -> tuple[Prediction, ...]:
    session = Session(str(budget.source), budget.gpu, budget.compilation, budget.modelling, notify=notify)
    return session.run(budget.launch)


def _verdicts(
    budgets: Budgets, budget: Budget, known: Mapping[str, Recorded], notify: Callable[[str], None]
) -> Iterator[Verdict]:
    for prediction in _predictions(budget, notify):
        name = baseline.identity(budget, prediction)
        for limit in budget.limits:
            before = _before(budgets, limit, name, known) if limit.relative else None
            yield verdict(budget.name, limit, prediction, budget.quantile, before)


def _before(
    budgets: Budgets, limit: Limit, name: str, known: Mapping[str, Recorded]
) -> tuple[float, float, float]:
    values = known.get(name, {}).get(limit.quantity)
    if values is None:
        raise InputError(
            f"the baseline does not know {name}",
            file=budgets.file,
            line=limit.line,
            hint=f"record it anew: `warpwatt check --record {budgets.file}`",
        )
    return values


def verdict(
    budget: str,
    limit: Limit,
    prediction: Prediction,
    quantile: Quantile = Quantile.VALUE,
    before: tuple[float, float, float] | None = None,
) -> Verdict:
    """Hold one prediction against one limit; ``before`` is the baseline's value, low and high."""
    found = QUANTITIES[limit.quantity].read(prediction)
    most = limit.bound is Bound.MAX
    pick = 0 if quantile is Quantile.VALUE else (2 if most else 1)
    if found is None:  # what is not there wastes nothing
        return Verdict(budget, limit, prediction, None, 0.0, limit.amount, exceeded=False)
    judged = (found.value, found.low, found.high)[pick]
    reference = before[pick] if before is not None else None
    allowed = limit.amount if reference is None else reference * (1.0 + limit.amount)
    slack = TOLERANCE * abs(allowed)
    exceeded = judged > allowed + slack if most else judged < allowed - slack
    return Verdict(budget, limit, prediction, found, judged, allowed, exceeded, reference)
