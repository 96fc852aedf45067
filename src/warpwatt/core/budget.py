"""What a kernel may cost (:class:`Limit`) and what was found (:class:`Verdict`, :class:`CheckResult`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from warpwatt.core.errors import WarpWattError
from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import LineCost, Prediction


class Bound(StrEnum):
    """Whether a limit is an upper or a lower bound."""

    MAX = "max"
    MIN = "min"


class Quantile(StrEnum):
    """Which number of an estimate is judged."""

    VALUE = "value"
    """The estimate itself."""
    WORST = "worst"
    """The end of its 80 % interval that is nearer to the limit."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a budget.

    ``amount`` is in the quantity's SI unit; where ``relative``, the share that may be added to (or is taken
    from) the baseline's value: 0.05 for "+5 %". ``text`` is what the user wrote at ``line``.
    """

    quantity: str
    bound: Bound
    amount: float
    relative: bool
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """One limit held against one prediction.

    Attributes
    ----------
    budget
        The budget's name.
    found
        What was predicted; None where the kernel has no such thing (coalescing without accesses).
    judged, allowed
        The number that was judged and the one it must not pass, in the quantity's unit.
    baseline
        What a relative limit refers to.
    """

    budget: str
    limit: Limit
    prediction: Prediction
    found: Estimate | None
    judged: float
    allowed: float
    exceeded: bool
    baseline: float | None = None

    @property
    def hottest(self) -> LineCost | None:
        """The source line that costs most: of the energy where that is the matter, else of the time."""
        energy = self.limit.quantity in ("energy", "power")
        lines = self.prediction.lines
        return max(lines, key=lambda x: x.energy_share if energy else x.time_share, default=None)

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.prediction.kernel_name


@dataclass(frozen=True, slots=True)
class Failure:
    """A budget whose prediction failed."""

    budget: str
    line: int
    error: WarpWattError


@dataclass(frozen=True, slots=True)
class CheckResult:
    """All verdicts of a budget file, in its order, and the budgets that could not be judged."""

    file: str
    verdicts: tuple[Verdict, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def exceeded(self) -> tuple[Verdict, ...]:
        """The verdicts whose limit is passed."""
        return tuple(verdict for verdict in self.verdicts if verdict.exceeded)
