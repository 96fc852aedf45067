"""What a change to a kernel would save: a :class:`Change`, its :class:`WhatIf` and the :class:`Advice`."""

from __future__ import annotations

from dataclasses import dataclass

from warpwatt.core.case import Case, Timing
from warpwatt.core.estimate import Estimate
from warpwatt.core.program import SourceLine

TOGETHER = "together"
"""Kind of the change that makes several others at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """The case as it would be without one of its inefficiencies.

    Attributes
    ----------
    kind
        ``"coalescing"``, ``"bank conflicts"``, ``"tiling"``, ``"reuse"``, ``"divergence"``, ``"occupancy"``,
        ``"spills"``, ``"dram"``, ``"atomics"``, ``"precision"``, ``"special functions"``, ``"chains"``,
        ``"tail"`` or ``"together"``.
    text
        What is changed, so that "would save 38 %" can follow: ``"coalescing the reads of line 14"``.
    case
        What models look at to say what it saves.
    line
        Where, None if everywhere.
    fix
        How to get there.
    part
        Whether another change of the same kind contains this one.
    """

    kind: str
    text: str
    case: Case
    line: SourceLine | None = None
    fix: str = ""
    part: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class WhatIf:
    """A change and the timing of the changed case."""

    change: Change
    timing: Timing


@dataclass(frozen=True, slots=True)
class Advice:
    """One change to a kernel and what it would save, found by predicting again.

    ``time`` is what the launch would take, ``saved`` (seconds) and ``energy_saved`` (joules) what it would
    save; the other fields are those of :class:`Change`.
    """

    kind: str
    text: str
    line: SourceLine | None
    fix: str
    time: Estimate
    saved: Estimate
    energy_saved: Estimate
    energy_share: float
    """Share of the energy that it saves."""

    @property
    def share(self) -> float:
        """Share of the time that it saves."""
        whole = self.time.value + self.saved.value
        return self.saved.value / whole if whole > 0 else 0.0
