"""What :func:`.port` returns: both systems' numbers by loop nest, the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from warpwatt.core.estimate import Estimate
from warpwatt.core.gpu import Gpu
from warpwatt.core.prediction import Prediction

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.cuda import Generated
    from warpwatt.published.resios.c_loops.mapping import Mapping
    from warpwatt.published.resios.c_loops.sequential import Sequential
    from warpwatt.published.resios.prognosis import Prognosis
    from warpwatt.published.resios.schedule.transform import Program


class Verdict(StrEnum):
    """Whether porting pays, from the strongest answer to the weakest."""

    ONCE = "port: it pays in a single call, context creation and copies included"
    REPEATED = "port: it pays where a process calls it again and again, copies included"
    RESIDENT = "port only if the data stay on the GPU between calls: the copies cost more than is gained"
    NEVER = "do not port: the kernels alone take longer than the sequential code"
    UNKNOWN = "unknown: nobody measured the sequential time"


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to write a kernel: the predicted seconds of its launch in the middle, and whether it was taken.

    ``reorders``: sums come in another order than in the source, so results agree within rounding.
    """

    name: str
    seconds: float
    taken: bool
    reorders: bool


@dataclass(frozen=True, slots=True, eq=False)
class PortedNest:
    """One kernel: its mapping, Resios' prognosis, its text, and the default model's prediction of that.

    ``prediction`` is None where the default model was not asked, or ``note`` says why it cannot answer.
    Where a host loop launches the kernel ``launches`` times, these are of a launch in the middle;
    ``prognosed`` and ``predicted`` are the seconds of all. ``plain`` names the alternative that the thesis'
    rules give.
    """

    mapping: Mapping
    prognosis: Prognosis
    generated: Generated
    prediction: Prediction | None
    note: str = ""
    launches: int = 1
    prognosed: float = 0.0
    predicted: Estimate | None = None
    alternatives: tuple[Alternative, ...] = ()
    plain: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """What one call costs by one system: seconds of kernels, launches, copies and a context.

    ``context`` is None where nobody said or measured it for this GPU and its driver.
    """

    kernels: Estimate
    launches: Estimate
    copies: Estimate
    context: Estimate | None

    @property
    def warm(self) -> Estimate:
        """One call in a process that has a context: kernels, launches, copies."""
        return _sum(self.kernels, self.launches, self.copies)

    @property
    def cold(self) -> Estimate | None:
        """One call in a process of its own: (4.1) with all of the overhead (4.3); None if unknown."""
        return None if self.context is None else _sum(self.warm, self.context)

    @property
    def resident(self) -> Estimate:
        """One call on data that are on the GPU already."""
        return _sum(self.kernels, self.launches)

    def verdict(self, sequential: float | None) -> Verdict:
        """Return whether porting pays against so many seconds of sequential time."""
        if sequential is None:
            return Verdict.UNKNOWN
        for verdict, cost in (
            (Verdict.ONCE, self.cold), (Verdict.REPEATED, self.warm), (Verdict.RESIDENT, self.resident),
        ):  # fmt: skip
            if cost is not None and cost.value < sequential:
                return verdict
        return Verdict.NEVER

    def calls_to_break_even(self, sequential: float | None) -> int | None:
        """Return how many calls of one process pay for the context, None if they never do or nobody knows."""
        if sequential is None or self.context is None or self.warm.value >= sequential:
            return None
        return max(1, math.ceil(self.context.value / (sequential - self.warm.value)))


def _sum(*parts: Estimate) -> Estimate:
    total = Estimate.exact(0.0, "s")
    for part in parts:
        total = total.combine(part, lambda a, b: a + b, "s")
    return total


@dataclass(frozen=True, slots=True, eq=False)
class Port:
    """A C function on one GPU. ``copied_in`` and ``copied_out`` are arrays and their bytes.

    ``bound`` is the function as it was read, ``program`` its kernels and the host loops around them.
    """

    bound: BoundFunction
    program: Program
    gpu: Gpu
    nests: tuple[PortedNest, ...]
    sequential: Sequential
    copied_in: dict[str, int]
    copied_out: dict[str, int]
    resios: Costs
    model: Costs | None
    """The costs with the default model's kernel times, None where it was not asked or cannot answer."""
    cuda: str
    other: dict[str, int]
    """Other sizes that the emitted program takes; empty where it takes none."""
    warnings: tuple[str, ...] = ()

    @property
    def costs(self) -> Costs:
        """What the verdict goes by: the default model where it answered, else Resios."""
        return self.model or self.resios

    @property
    def verdict(self) -> Verdict:
        """Whether porting pays."""
        return self.costs.verdict(self.sequential.seconds)

    def speedup(self, costs: Costs) -> float | None:
        """Return sequential over parallel time, overhead included (5.3); None where unknown.

        Without the context's time it is that of a process that has one.
        """
        seconds = self.sequential.seconds
        return None if seconds is None else seconds / (costs.cold or costs.warm).value
