"""What a ranking says, in words that all its formats share."""

from __future__ import annotations

from warpwatt.core.ranking import Ranking


def decision(ranking: Ranking) -> str:
    """Return ``"take"``, or ``"defer"`` where only a measurement tells the first from another."""
    return "defer" if ranking.deferred else "take"


def sentence(ranking: Ranking) -> str:
    """Return what to do, in one sentence."""
    names = [one.name for one in ranking.open]
    if ranking.deferred:
        return f"defer: too close to call; measure {', '.join(names)}"
    if len(ranking.order) == 1:
        return f"take {names[0]}: nothing could be predicted of the others"
    return f"take {names[0]}: {probability(ranking.order[0].better_than_next)} sure that it beats the next"


def probability(value: float | None) -> str:
    """Return a probability in per cent, never certain.

    >>> probability(0.834), probability(0.9999), probability(None)
    ('83 %', '>99 %', '')
    """
    if value is None:
        return ""
    if value > 0.99:
        return ">99 %"
    return "<1 %" if value < 0.01 else f"{value:.0%}".replace("%", " %")
