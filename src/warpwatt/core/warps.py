"""Where the time of resident warps goes, instruction by instruction: :class:`WarpStates`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Stall(StrEnum):
    """Warp-state names of Nsight Compute."""

    SELECTED = "Selected"
    NOT_SELECTED = "Not Selected"
    LONG_SCOREBOARD = "Long Scoreboard"
    SHORT_SCOREBOARD = "Short Scoreboard"
    LG_THROTTLE = "LG Throttle"
    MIO_THROTTLE = "MIO Throttle"
    MATH_PIPE_THROTTLE = "Math Pipe Throttle"
    TEX_THROTTLE = "Tex Throttle"
    BARRIER = "Barrier"
    MEMBAR = "Membar"
    WAIT = "Wait"
    NO_INSTRUCTION = "No Instructions"
    BRANCH_RESOLVING = "Branch Resolving"
    DISPATCH = "Dispatch Stall"
    DRAIN = "Drain"
    IMC_MISS = "IMC Miss"
    SLEEPING = "Sleeping"


@dataclass(frozen=True, slots=True, eq=False)
class WarpStates:
    """Every cycle of every resident warp of one SM, under the instruction that the warp was to issue next.

    Attributes
    ----------
    reasons
        Stall names of the columns of ``cycles``, Selected and Not Selected first.
    cycles
        Warp cycles by instruction of the program and stall name.
    waits
        Rows (instruction, the one whose result it waits for, column of the stall name, warp cycles): what the
        scoreboard stalls among ``cycles`` were spent on, as far as that was remembered.
    duration
        Cycles of the SM in which they pile up.
    schedulers
        Sub-cores of the SM, each with a scheduler.
    """

    reasons: tuple[Stall, ...]
    cycles: NDArray[np.float64]
    waits: NDArray[np.float64]
    duration: float
    schedulers: int

    @property
    def total(self) -> float:
        """Warp cycles in all."""
        return float(self.cycles.sum())

    @property
    def issued(self) -> float:
        """Instructions issued: warp cycles in which one was."""
        return float(self.cycles[:, 0].sum())

    def shares(self) -> dict[Stall, float]:
        """Return stall name to its share of warp time, largest first; they sum to 1."""
        sums = [float(x) for x in self.cycles.sum(axis=0)]
        whole = sum(sums) or 1.0
        order = sorted(range(len(sums)), key=lambda i: -sums[i])
        return {self.reasons[i]: sums[i] / whole for i in order if sums[i] > 0}

    def per_issue(self) -> dict[Stall, float]:
        """Return warp cycles per issued instruction by stall name, as Nsight Compute states them."""
        cycles = self.total / self.issued if self.issued else 0.0
        return {stall: share * cycles for stall, share in self.shares().items()}

    @property
    def active(self) -> float:
        """Resident warps per scheduler, on average."""
        return self.total / self.duration / self.schedulers if self.duration else 0.0

    @property
    def eligible(self) -> float:
        """Warps per scheduler that could issue in a cycle, the one that does included, on average."""
        ready = float(self.cycles[:, :2].sum())
        return ready / self.duration / self.schedulers if self.duration else 0.0
