"""Candidates in the order of what was predicted of them (:class:`Ranking`), and how sure that order is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warpwatt.core.errors import WarpWattError
from warpwatt.core.estimate import Estimate
from warpwatt.core.objective import Objective
from warpwatt.core.prediction import Prediction

NOT_FOLLOWED = ("not emulated", "no machine code could be traced")
"""How it begins that a kernel was counted and not run, or its time is the roofline's."""


def not_followed(predictions: Iterable[Prediction]) -> str:
    """Return why one of some kernels was not followed instruction by instruction; empty where all were."""
    for p in predictions:
        said = (*(a.message for a in p.case.workload.execution.assumptions), *p.timing.warnings)
        if found := next((text for text in said if text.startswith(NOT_FOLLOWED)), ""):
            return found
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """One candidate in its place.

    Attributes
    ----------
    value
        The objective, over all its launches.
    predictions
        Its launches, in the order in which they were asked for.
    better_than_next
        Probability that its objective is really smaller than that of the candidate behind it; None for the
        last.
    better_than_first
        The same against the first of the ranking; None for the first.
    """

    name: str
    value: Estimate
    time: Estimate
    energy: Estimate
    predictions: tuple[Prediction, ...]
    better_than_next: float | None
    better_than_first: float | None

    @property
    def not_followed(self) -> str:
        """Why one of its kernels was not followed instruction by instruction; empty where all were."""
        return not_followed(self.predictions)

    @property
    def limiter(self) -> str:
        """What limits its longest launch."""
        return max(self.predictions, key=lambda p: p.time.value).timing.bottleneck


@dataclass(frozen=True, slots=True)
class Failed:
    """A candidate of which nothing could be predicted, and why."""

    name: str
    error: WarpWattError


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Candidates on one GPU, the best first.

    A candidate is still in the running if the probability that it beats the first exceeds ``1 - confidence``.
    """

    gpu: str
    objective: Objective
    confidence: float
    order: tuple[Ranked, ...]
    failed: tuple[Failed, ...] = ()

    @property
    def open(self) -> tuple[Ranked, ...]:
        """The first and every candidate that may still be better: those worth measuring."""
        return tuple(
            one
            for one in self.order
            if one.better_than_first is None or one.better_than_first > 1 - self.confidence
        )

    @property
    def deferred(self) -> bool:
        """Whether the first cannot be told from another."""
        return len(self.open) > 1
