"""What the units of a sample may take, all together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from warpwatt.emulate.run import Limits

if TYPE_CHECKING:
    from warpwatt.emulate.run import Run

ENOUGH = 1_000_000
"""Warp instructions after which no more units are run than have to be."""
ENOUGH_TRACE = 0.25
"""Share of the room for traces after which no further units are run."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What units of a sample may take.

    Attributes
    ----------
    instructions, trace_bytes
        Warp instructions and bytes of trace that are left; a unit may take all of the first and a quarter of
        the second.
    fewest
        Units that are run whatever they take.
    enough, enough_trace
        No more are run once no more than so many instructions are left, or less than so many bytes.
    """

    instructions: int
    trace_bytes: int
    fewest: int
    enough: int
    enough_trace: int

    @classmethod
    def of(cls, limits: Limits, fewest: int) -> Budget:
        """Return what units may take within the limits of a launch."""
        whole, trace = limits.warp_instructions, limits.trace_bytes
        return cls(whole, trace, fewest, whole - min(ENOUGH, whole), ceil(trace * (1 - ENOUGH_TRACE)))

    @property
    def limits(self) -> Limits:
        """The limits of the next unit."""
        return Limits(max(1, self.instructions), self.trace_bytes // 4)

    @property
    def spent(self) -> bool:
        """Whether no more units are to be run."""
        low = self.instructions <= self.enough or self.trace_bytes < self.enough_trace
        return self.fewest <= 0 and low

    def after(self, run: Run) -> Budget:
        """Return what is left after one more unit."""
        left, trace = self.instructions - run.warp_instructions, self.trace_bytes - trace_bytes(run)
        return replace(self, instructions=left, trace_bytes=trace, fewest=self.fewest - 1)


def trace_bytes(run: Run) -> int:
    """Return the bytes that the trace of a run takes, about."""
    return 0 if run.trace is None else run.trace.lines.nbytes + run.trace.step_block.nbytes * 2
