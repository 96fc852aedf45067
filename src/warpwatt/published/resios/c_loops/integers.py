"""Whole-number solutions of linear equations and inequalities over bounded variables.

Variables that an equation gives by the others are eliminated, bounds are narrowed by every constraint until
nothing changes, the greatest common divisor test prunes equations, and what is left is bisected: exact,
unless a budget of steps is spent first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from warpwatt.published.resios.c_loops.affine_form import Affine, Box
from warpwatt.published.resios.c_loops.projection import empty

__all__ = ["Affine", "Box", "System", "Unknown"]

BUDGET = 3000
"""Boxes looked at before giving up."""
_ROUNDS = 40
"""Narrowing passes per box; bounds that creep further are left to the bisection."""


class Unknown(Enum):
    """The budget was spent before the answer was found."""

    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class System:
    """``equations`` are zero, ``inequalities`` are not negative, variables stay in ``box``."""

    box: Box
    equations: Sequence[Affine] = ()
    inequalities: Sequence[Affine] = ()

    def solve(self, budget: int = BUDGET) -> dict[str, int] | Unknown | None:
        """Return a solution, None if there is none, or that the budget did not suffice.

        >>> box = {"i": (0, 99), "j": (0, 99)}
        >>> System(box, [Affine(-7, {"i": 6, "j": -4})]).solve() is None
        True
        >>> System(box, [Affine(-1, {"i": 3, "j": -5})]).solve()
        {'i': 2, 'j': 1}
        """
        reduced = self.reduced()
        if reduced is None:
            return None
        system, gone = reduced
        if empty(system.constraints()):
            return None
        found = system._bisect(budget)
        if isinstance(found, dict):
            for name, form in reversed(gone):
                found[name] = int(form.at(found))
        return found

    def constraints(self) -> list[Affine]:
        """Return everything as forms that are not negative."""
        ends = [Affine(-low, {name: 1}) for name, (low, _) in self.box.items()]
        ends += [Affine(high, {name: -1}) for name, (_, high) in self.box.items()]
        both = [e.scaled(sign) for e in self.equations for sign in (1, -1)]
        return [*ends, *both, *self.inequalities]

    def reduced(self) -> tuple[System, list[tuple[str, Affine]]] | None:
        """Return the system without variables that an equation gives, and those; None for a contradiction."""
        system, gone = self, list[tuple[str, Affine]]()
        while True:
            equations = [_divided(e) for e in system.equations if e.terms or e.constant]
            found = [
                (name, e) for e in equations if e is not None for name in e.terms if abs(e.terms[name]) == 1
            ]
            if None in equations or any(e is not None and not e.terms for e in equations):
                return None
            if not found:
                return system, gone
            name, equation = found[0]
            rest = Affine(equation.constant, {n: f for n, f in equation.terms.items() if n != name})
            form = rest.scaled(-equation.terms[name])
            low, high = system.box[name]
            others = [e for e in equations if e is not None and e is not equation]
            bounds = [form - Affine(low), Affine(high) - form]
            system = System(
                {n: ends for n, ends in system.box.items() if n != name},
                [e.replaced(name, form) for e in others],
                [*(i.replaced(name, form) for i in system.inequalities), *bounds],
            )
            gone.append((name, form))

    def _bisect(self, budget: int) -> dict[str, int] | Unknown | None:
        waiting = [dict(self.box)]
        while waiting:
            budget -= 1
            if budget < 0:
                return Unknown.BUDGET
            box = self.narrowed(waiting.pop())
            if box is None:
                continue
            name = min(
                (n for n in box if box[n][0] < box[n][1]), key=lambda n: box[n][1] - box[n][0], default=""
            )
            if not name:
                return {n: low for n, (low, _) in box.items()}
            low, high = box[name]
            middle = (low + high) // 2
            waiting += [box | {name: (middle + 1, high)}, box | {name: (low, middle)}]
        return None

    def narrowed(self, box: Box) -> Box | None:
        """Return the box with bounds no solution lies outside of, None if it holds none."""
        if any(low > high for low, high in box.values()) or not all(_divides(e, box) for e in self.equations):
            return None
        both = [*self.inequalities, *self.equations, *(e.scaled(-1) for e in self.equations)]
        for _ in range(_ROUNDS):
            changed = False
            for form in both:
                verdict = _narrow(form, box)
                if verdict is None:
                    return None
                changed = changed or verdict
            if not changed:
                break
        return box if all(_divides(e, box) for e in self.equations) else None


def _divided(equation: Affine) -> Affine | None:
    """Return an equation divided by what all its factors share, None if the constant does not."""
    divisor = math.gcd(*equation.terms.values())
    if divisor <= 1:
        return equation
    if equation.constant % divisor:
        return None
    return Affine(equation.constant // divisor, {n: f // divisor for n, f in equation.terms.items()})


def _narrow(form: Affine, box: Box) -> bool | None:
    """Narrow ``box`` in place so that ``form`` can be >= 0; return whether it changed, None if it cannot."""
    high = form.range(box)[1]
    if high < 0:
        return None
    changed = False
    for name, factor in form.terms.items():
        low, top = box[name]
        slack = high - max(factor * low, factor * top)  # the most the others can contribute
        if factor > 0:
            least = -(slack // factor)
            if least > low:
                low, changed = least, True
        else:
            most = slack // -factor
            if most < top:
                top, changed = most, True
        if low > top:
            return None
        box[name] = low, top
    return changed


def _divides(equation: Affine, box: Box) -> bool:
    """Whether the greatest common divisor of the free variables' factors allows a solution."""
    rest, divisor = equation.constant, 0
    for name, factor in equation.terms.items():
        low, high = box[name]
        if low == high:
            rest += factor * low
        else:
            divisor = math.gcd(divisor, factor)
    return rest == 0 if divisor == 0 else rest % divisor == 0
