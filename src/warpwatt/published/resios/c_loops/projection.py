"""Fourier-Motzkin elimination over whole numbers: projections of polyhedra, and proofs that one is empty.

Every constraint is a form that is not negative. Dividing a constraint by what its factors share and rounding
its constant down keeps all whole solutions, so "empty" is a proof; a projection may be larger than the shadow
of the whole solutions where factors are not ±1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.affine_form import Affine

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 300
"""Constraints beyond which a proof is given up."""


def tightened(forms: Iterable[Affine]) -> list[Affine] | None:
    """Return constraints with only the strongest of parallel ones; None if one can never hold.

    >>> tightened([Affine(5, {"i": 2}), Affine(1, {"i": 1})])
    [Affine(constant=1, terms={'i': 1})]
    """
    strongest: dict[tuple[tuple[str, int], ...], Affine] = {}
    for form in forms:
        if not form.terms:
            if form.constant < 0:
                return None
            continue
        divisor = math.gcd(*form.terms.values())
        whole = Affine(form.constant // divisor, {n: f // divisor for n, f in form.terms.items()})
        key = tuple(sorted(whole.terms.items()))
        if key not in strongest or whole.constant < strongest[key].constant:
            strongest[key] = whole
    return list(strongest.values())


def eliminated(forms: Sequence[Affine], name: str) -> list[Affine] | None:
    """Return what the constraints say of all other variables; None if they contradict each other."""
    above = [f for f in forms if f.terms.get(name, 0) > 0]
    below = [f for f in forms if f.terms.get(name, 0) < 0]
    rest = [f for f in forms if name not in f.terms]
    rest += [low.scaled(-h.terms[name]) + h.scaled(low.terms[name]) for low in above for h in below]
    return tightened(rest)


def projected(forms: Iterable[Affine], keep: Iterable[str]) -> list[Affine] | None:
    """Return what the constraints say of the variables to keep; None if they have no solution.

    >>> projected([Affine(0, {"i": 1}), Affine(-1, {"j": 1, "i": -1}), Affine(9, {"j": -1})], ["j"])
    [Affine(constant=9, terms={'j': -1}), Affine(constant=-1, terms={'j': 1})]
    """
    found, kept = tightened(forms), set(keep)
    while found is not None:
        names = {name for form in found for name in form.terms} - kept
        if not names:
            break
        found = eliminated(found, min(names, key=lambda name: (_growth(found or [], name), name)))
    return found


def _growth(forms: Sequence[Affine], name: str) -> int:
    above = sum(f.terms.get(name, 0) > 0 for f in forms)
    below = sum(f.terms.get(name, 0) < 0 for f in forms)
    return above * below - above - below


def empty(forms: Iterable[Affine]) -> bool:
    """Whether the constraints are proved to have no whole solution; False where that is not known.

    >>> empty([Affine(-1, {"i": 1, "j": -1}), Affine(0, {"j": 1, "i": -1})])
    True
    """
    found = tightened(forms)
    while found:
        names = {name for form in found for name in form.terms}
        if not names or len(found) > MOST:
            return False
        found = eliminated(found, min(names, key=lambda name: (_growth(found or [], name), name)))
    return found is None


def bounds_of(forms: Iterable[Affine], name: str) -> tuple[list[Affine], list[Affine]]:
    """Return lower and upper bounds (inclusive) of a variable whose factor in every constraint is ±1.

    Constraints with another factor are left out: they have to be checked where the variable is used.

    >>> bounds_of([Affine(-1, {"j": 1, "i": -1}), Affine(9, {"j": -1})], "j")
    ([Affine(constant=1, terms={'i': 1})], [Affine(constant=9, terms={})])
    """
    low, high = [], []
    for form in forms:
        factor = form.terms.get(name, 0)
        if abs(factor) != 1:
            continue
        rest = Affine(form.constant, {n: f for n, f in form.terms.items() if n != name})
        if factor > 0:
            low.append(rest.scaled(-1))
        else:
            high.append(rest)
    return low, high


def strongest(forms: Sequence[Affine], box: Mapping[str, tuple[int, int]], sign: int) -> list[Affine]:
    """Return bounds without those that another one implies everywhere in a box.

    ``sign`` is 1 for lower bounds, of which the largest decides, and -1 for upper bounds.

    >>> strongest([Affine(0), Affine(1, {"t": 1})], {"t": (0, 5)}, 1)
    [Affine(constant=1, terms={'t': 1})]
    """
    kept: list[Affine] = []
    for form in forms:
        if any(_implies(other, form, box, sign) for other in kept):
            continue
        kept = [other for other in kept if not _implies(form, other, box, sign)] + [form]
    return kept


def _implies(one: Affine, other: Affine, box: Mapping[str, tuple[int, int]], sign: int) -> bool:
    low, _ = (one - other).scaled(sign).range(dict(box))
    return low >= 0
