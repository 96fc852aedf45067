"""An old and a new prediction compared (:class:`Comparison`): what changed, and why.

Differences are taken draw by draw: what is uncertain about both predictions alike cancels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import LineCost, Prediction

CLEAR_SHARE = 0.005
"""Changes below this share of the old value are none."""


class LineStatus(StrEnum):
    """What became of a source line."""

    SAME = "same"
    MOVED = "moved"
    """The same text elsewhere."""
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


class Topic(StrEnum):
    """What a :class:`Figure` is about, in the order of reports."""

    CONDITIONS = "conditions"
    RESOURCES = "resources"
    OCCUPANCY = "occupancy"
    INSTRUCTIONS = "instructions"
    MEMORY = "memory"
    STALLS = "stalls"
    ENERGY = "energy"


class Measure(StrEnum):
    """How the number of a :class:`Figure` is meant."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"
    """0 to 1."""
    BYTES = "bytes"
    """As traffic is counted: powers of 1000."""
    SIZE = "size"
    """Bytes as memory is sized: powers of 1024."""
    HERTZ = "hertz"
    JOULES = "joules"


@dataclass(frozen=True, slots=True)
class Figure:
    """One fact of the old and the new prediction; a text for ``Measure.TEXT``, None where there is none."""

    topic: Topic
    name: str
    measure: Measure
    old: float | str | None
    new: float | str | None

    @property
    def ratio(self) -> float | None:
        """New over old, None where it has no meaning (texts, shares, an old value of zero)."""
        if self.measure in (Measure.TEXT, Measure.SHARE) or not self.old or self.new is None:
            return None
        return float(self.new) / float(self.old)


@dataclass(frozen=True, slots=True)
class QuantityChange:
    """An old and a new quantity, their difference (new less old, in their unit) and ratio (new over old)."""

    name: str
    old: Estimate
    new: Estimate
    difference: Estimate
    ratio: Estimate

    @property
    def clear(self) -> bool:
        """Whether it changes, and the interval of the ratio holds no "as before"."""
        changes = abs(self.ratio.value - 1.0) >= CLEAR_SHARE
        return changes and not self.ratio.low <= 1.0 <= self.ratio.high


@dataclass(frozen=True, slots=True)
class LineChange:
    """One source line of the old and the new kernel.

    Attributes
    ----------
    old, new
        Its costs; None where that kernel lacks the line, or it costs nothing.
    text
        The new text, the old where there is no new.
    old_line, new_line
        Numbers; None where that kernel lacks the line.
    time, energy
        New less old, in seconds and joules per launch.
    figures
        What else about it changed, most telling first.
    """

    status: LineStatus
    file: str
    text: str
    old_line: int | None
    new_line: int | None
    old: LineCost | None
    new: LineCost | None
    time: Estimate
    energy: Estimate
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """One kernel launch, old and new: what changed, and why; ``lines`` with the greatest effect first."""

    old: Prediction
    new: Prediction
    time: QuantityChange
    power: QuantityChange
    energy: QuantityChange
    figures: tuple[Figure, ...]
    lines: tuple[LineChange, ...]
    old_assumptions: tuple[str, ...] = ()
    """What is assumed of the old prediction alone."""
    new_assumptions: tuple[str, ...] = ()

    @property
    def changes(self) -> tuple[QuantityChange, QuantityChange, QuantityChange]:
        """Time, power and energy."""
        return self.time, self.power, self.energy

    @property
    def kernel(self) -> str:
        """The new kernel's name."""
        return self.new.kernel_name


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonSet:
    """All kernels of an old and a new source; ``removed`` are only in the old, ``added`` only in the new."""

    old: str
    """What the old source is called: a file, a commit, a GPU, a clock."""
    new: str
    comparisons: tuple[Comparison, ...]
    removed: tuple[Prediction, ...] = ()
    added: tuple[Prediction, ...] = ()
    remarks: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """What files are called, where that is not their path: those of a commit lie elsewhere."""

    def name(self, file: str) -> str:
        """Return what a file is called."""
        return self.names.get(file, file)
