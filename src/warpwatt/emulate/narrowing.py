"""What would narrow a wide interval."""

from __future__ import annotations

from collections.abc import Sequence

from warpwatt.core.execution import Assumption

WIDE = 10.0
"""Ends of an interval further apart than this factor name what would narrow it."""


def narrowing(low: float, high: float, assumptions: Sequence[Assumption]) -> tuple[str, ...]:
    """Return a warning that names the one thing that would narrow a wide interval most, if it is wide.

    >>> narrowing(1.0, 20.0, [Assumption("the loop is long", "loop", 1.0, fix="--loop 3=COUNT")])
    ('the ends of the interval are a factor of 20 apart: --loop 3=COUNT would narrow it most',)
    >>> narrowing(1.0, 2.0, [])
    ()
    """
    told = [a for a in assumptions if a.fix and a.spread > 0]
    if high <= WIDE * low or not told:
        return ()
    fix = max(told, key=lambda a: a.spread).fix
    return (f"the ends of the interval are a factor of {high / low:.0f} apart: {fix} would narrow it most",)
