"""Predictions in tests: numbers that compare like numbers, and say why when an assertion fails.

:class:`Figure` is a ``float`` in SI units: ``kernel.time < 20 * us`` judges the prediction itself, and
``kernel.time.high < 20 * us`` the upper end of the interval that holds 80 % of what the models and
assumptions leave open, for the careful.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.api import predict_all
from warpwatt.budget.quantities import BYTES, QUANTITIES, SHARE
from warpwatt.core.errors import UsageError
from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import Prediction
from warpwatt.core.units import si
from warpwatt.render.check.words import amount
from warpwatt.render.figures import bounds, percent
from warpwatt.render.github import repository_path

if TYPE_CHECKING:
    import os

    from warpwatt.frontend.compiled import Source

MOST_ASSUMPTIONS = 3


class Figure(float):
    """A predicted quantity: its value in SI units, which knows its interval and what it is a value of.

    Arithmetic gives plain floats.
    """

    name: str
    estimate: Estimate
    kernel: KernelUnderTest
    of: str
    """``""`` for the value, ``"low"`` or ``"high"`` for an end of the interval."""

    def __new__(cls, name: str, estimate: Estimate, kernel: KernelUnderTest, of: str = "") -> Figure:
        """Make the figure of an estimate, or of one end of its interval."""
        figure = super().__new__(cls, getattr(estimate, of or "value"))
        figure.name, figure.estimate, figure.kernel, figure.of = name, estimate, kernel, of
        return figure

    @property
    def low(self) -> Figure:
        """The end of the 80 % interval below the value."""
        return Figure(self.name, self.estimate, self.kernel, "low")

    @property
    def high(self) -> Figure:
        """The end of the 80 % interval above the value."""
        return Figure(self.name, self.estimate, self.kernel, "high")

    def __repr__(self) -> str:
        """Return the number for people."""
        return amount(self.name, float(self))


@dataclass(frozen=True, slots=True)
class KernelUnderTest:
    """One predicted launch: every quantity of budgets is an attribute, in SI units.

    ``time``, ``power``, ``energy``, ``registers``, ``spills``, ``stack``, ``shared``, ``occupancy``,
    ``coalescing``, ``bank_efficiency`` (both 1 where there is nothing to waste), ``instructions``,
    ``l2_traffic``, ``dram_traffic``. ``prediction`` has the rest.
    """

    prediction: Prediction

    def __getattr__(self, name: str) -> Figure:
        quantity = QUANTITIES.get(name)
        if quantity is None:
            known = ", ".join((*QUANTITIES, "bottleneck", "gpu", "name", "prediction"))
            raise AttributeError(f"a kernel has no {name!r}; it has {known}")
        found = quantity.read(self.prediction)
        if found is None:
            found = Estimate.exact(1.0, quantity.unit)
        return Figure(name, found, self)

    @property
    def name(self) -> str:
        """The kernel's name, with its parameters."""
        return self.prediction.kernel_name

    @property
    def gpu(self) -> str:
        """The GPU's name."""
        return self.prediction.case.gpu.name

    @property
    def bottleneck(self) -> str:
        """What limits the kernel, in words."""
        return self.prediction.timing.bottleneck

    def __repr__(self) -> str:
        """Return what was predicted, for people."""
        numbers = ", ".join(repr(getattr(self, name)) for name in ("time", "power", "energy"))
        return f"<{self.name.partition('(')[0]} on {self.gpu}: {numbers}>"


@dataclass(frozen=True, slots=True)
class Predictor:
    """What the fixture ``warpwatt`` is: call it with a source and what :func:`warpwatt.predict` takes.

    Paths are relative to ``folder``; ``options`` are those of the marker.
    """

    folder: Path
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, source: str | os.PathLike[str] | Source, **options: Any) -> KernelUnderTest:
        """Return the one launch that is described, predicted.

        Raises
        ------
        UsageError
            If there are several: name the kernel, or use :meth:`all`.
        """
        found = self.all(source, **options)
        if len(found) != 1:
            hint = "name the kernel and one GPU, or call warpwatt.all(...)"
            raise UsageError(f"{len(found)} predictions, not one", hint=hint)
        return found[0]

    def all(self, source: str | os.PathLike[str] | Source, **options: Any) -> tuple[KernelUnderTest, ...]:
        """Return every launch that the source or the options describe, predicted."""
        merged = {**self.options, **options}
        for name in ("args", "profile"):
            if isinstance(merged.get(name), (str, Path)):
                merged[name] = self.folder / merged[name]
        if "include" in merged:
            merged["include"] = [str(self.folder / one) for one in merged["include"]]
        return tuple(map(KernelUnderTest, predict_all(self._place(source), **merged)))

    def _place(self, source: str | os.PathLike[str] | Source) -> Any:
        """Return a source with its path made whole; texts and sources that were read stay."""
        if isinstance(source, str) and "\n" not in source:
            return self.folder / source
        return self.folder / source if isinstance(source, Path) else source


def explanation(op: str, left: object, right: object) -> list[str] | None:
    """Return why a comparison with a figure does not hold, line by line; None without one."""
    figures = [side for side in (left, right) if isinstance(side, Figure)]
    if not figures:
        return None
    first = figures[0]
    return [f"{_side(left, first)} {op} {_side(right, first)}", *(text for f in figures for text in _why(f))]


def _side(value: object, like: Figure) -> str:
    if isinstance(value, Figure):
        return f"{value!r}{f' ({value.of} end)' if value.of else ''}"
    return amount(like.name, float(value)) if isinstance(value, (int, float)) else repr(value)


def _why(figure: Figure) -> list[str]:
    """Return what the figure is, what limits the kernel, the costliest line and what was assumed."""
    kernel, prediction = figure.kernel, figure.kernel.prediction
    exact = QUANTITIES[figure.name].unit in (SHARE, BYTES, "")
    around = "" if exact else bounds(figure.estimate)
    value = amount(figure.name, figure.estimate.value)
    name = figure.name.replace("_", " ")
    interval = f" ({around} holds 80 %)" if around else ""
    lines = [f"{name} of {kernel.name} on {kernel.gpu}: {value}{interval}", f"limited by {kernel.bottleneck}"]
    energy = figure.name in ("energy", "power")
    hottest = max(
        prediction.lines, key=lambda line: line.energy_share if energy else line.time_share, default=None
    )
    if hottest is not None:
        share = percent(hottest.energy_share if energy else hottest.time_share)
        what = "energy" if energy else "time"
        where = f"{repository_path(hottest.file)}:{hottest.line}"
        lines.append(f"{share} of the {what} at {where}: {hottest.text.strip()}")
    if energy and prediction.energy_components:
        largest = sorted(prediction.energy_components.items(), key=lambda part: -part[1])[:3]
        lines.append("energy goes to " + ", ".join(f"{part} {si(joules, 'J')}" for part, joules in largest))
    assumed = [assumption.message for assumption in prediction.assumptions][:MOST_ASSUMPTIONS]
    return [*lines, *(f"assumed: {message}" for message in assumed)]
