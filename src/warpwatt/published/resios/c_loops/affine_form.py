"""Linear forms over named whole-number variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Box = dict[str, tuple[int, int]]
"""Least and largest value by variable."""


@dataclass(frozen=True, slots=True)
class Affine:
    """``constant + Σ coefficient · variable``.

    >>> a = Affine(1, {"i": 2}) + Affine(3, {"i": -2, "j": 1})
    >>> a, a.at({"j": 5})
    (Affine(constant=4, terms={'j': 1}), 9)
    """

    constant: int
    terms: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Affine) -> Affine:
        terms = dict(self.terms)
        for name, factor in other.terms.items():
            terms[name] = terms.get(name, 0) + factor
        return Affine(self.constant + other.constant, {n: f for n, f in terms.items() if f})

    def __sub__(self, other: Affine) -> Affine:
        return self + other.scaled(-1)

    def scaled(self, factor: int) -> Affine:
        """Return the product with a number."""
        terms = {name: f * factor for name, f in self.terms.items()} if factor else {}
        return Affine(self.constant * factor, terms)

    def replaced(self, name: str, by: Affine) -> Affine:
        """Return the form with a variable replaced by a form.

        >>> Affine(1, {"i": 2}).replaced("i", Affine(3, {"j": 1}))
        Affine(constant=7, terms={'j': 2})
        """
        if name not in self.terms:
            return self
        rest = Affine(self.constant, {n: f for n, f in self.terms.items() if n != name})
        return rest + by.scaled(self.terms[name])

    def renamed(self, suffix: str) -> Affine:
        """Return the same form over variables of other names."""
        return Affine(self.constant, {name + suffix: f for name, f in self.terms.items()})

    def at(self, values: Mapping[str, float]) -> float:
        """Return the value at a point."""
        return self.constant + sum(f * values[name] for name, f in self.terms.items())

    def range(self, box: Box) -> tuple[int, int]:
        """Return the least and largest value over a box."""
        low = high = self.constant
        for name, factor in self.terms.items():
            ends = factor * box[name][0], factor * box[name][1]
            low, high = low + min(ends), high + max(ends)
        return low, high
