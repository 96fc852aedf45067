"""A :class:`Prediction`: the one result every renderer reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwatt.core.advice import Advice
from warpwatt.core.case import Case, Power, Timing
from warpwatt.core.estimate import Estimate
from warpwatt.core.execution import AccessPattern, Assumption
from warpwatt.core.program import SourceLine
from warpwatt.core.warps import Stall


@dataclass(frozen=True, slots=True)
class LineWait:
    """Warp time that one source line spends waiting for a result that another (or itself) makes."""

    producer: SourceLine
    opcode: str
    """The instruction there that makes it."""
    stall: Stall
    share: float
    """Of all warp time."""


@dataclass(frozen=True, slots=True)
class LineCost:
    """One source line: its shares of time and energy, and what it executes in the whole grid."""

    file: str
    line: int
    text: str
    time_share: float
    energy_share: float
    warp_instructions: float
    flops: float
    bytes: float
    """Bytes its memory instructions ask for, all lanes."""
    accesses: tuple[tuple[int, AccessPattern], ...] = ()
    """Instruction index and pattern of each memory instruction on the line."""
    stalls: Mapping[Stall, float] = field(default_factory=dict)
    """Stall name to its share of all warp time, largest first; empty where the model has none."""
    waits: tuple[LineWait, ...] = ()
    """What its stalls for results wait for, longest first."""


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Time, power and energy of one kernel launch on one GPU, with reasons.

    ``case`` holds kernel, launch, GPU, clocks and workload. ``time`` is per launch, ``energy`` per launch;
    ``launch_overhead`` and ``transfer`` (seconds) stand beside the time, not in it.
    """

    case: Case
    timing: Timing
    power_result: Power
    time: Estimate
    power: Estimate
    energy: Estimate
    launch_overhead: Estimate
    transfer: Estimate
    lines: tuple[LineCost, ...]
    assumptions: tuple[Assumption, ...]
    warnings: tuple[str, ...] = ()
    limited_by_power: bool = False
    energy_components: Mapping[str, float] = field(default_factory=dict)
    """Component to joules per launch."""
    advice: tuple[Advice, ...] | None = None
    """What changes to the kernel would save, most helpful first; None where nobody asked."""

    @property
    def kernel_name(self) -> str:
        """The kernel's name as people know it, parameters included."""
        return self.case.kernel.display_name


@dataclass(frozen=True, slots=True)
class Step:
    """One node of an application: a kernel launch or a copy; ``time`` in s, ``energy`` in J."""

    name: str
    kind: str
    """``"kernel"`` or ``"copy"``."""
    stream: str
    repeats: int
    start: float
    time: Estimate
    energy: Estimate
    prediction: Prediction | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ApplicationPrediction:
    """An application on one GPU: steps in start order, totals (s, J), and what of them is idle."""

    name: str
    gpu: str
    steps: tuple[Step, ...]
    time: Estimate
    energy: Estimate
    idle: Estimate
    idle_energy: Estimate
    warnings: tuple[str, ...] = ()
