"""What models see (:class:`Case`), what they return (:class:`Timing`, :class:`Power`) and what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.execution import Workload
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.launch import Launch
from warpwatt.core.program import Kernel, Level
from warpwatt.core.schedule import ReservationTable
from warpwatt.core.warps import Stall, WarpStates


@dataclass(frozen=True, slots=True)
class Profile:
    """Measured time, power and counters of one launch at given clocks; seconds and watts, None if absent.

    ``launch`` is what was launched; ``arguments`` are the ``NAME=VALUE`` texts in which it differs from the
    launch asked for, where its own are not known. ``spread`` is the standard deviation of the logarithm of
    the time (repeats, or what is usual), ``origin`` the file and line. ``source`` is ``MODELLED`` where the
    file holds predictions in place of measurements.
    """

    gpu: str
    clocks: Clocks
    time: float | None = None
    power: float | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    kernel: str = ""
    launch: Launch | None = None
    arguments: tuple[str, ...] = ()
    spread: float = 0.02
    origin: str = ""
    source: Source = Source.MEASURED


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Everything a model may look at; ``measured`` are all launches of the kernel that somebody measured."""

    kernel: Kernel
    workload: Workload
    launch: Launch
    gpu: Gpu
    clocks: Clocks
    profile: Profile | None = None
    measured: tuple[Profile, ...] = ()


@dataclass(frozen=True, slots=True)
class FeatureEffect:
    """What one feature does to a learned model's prediction of one launch.

    ``low`` and ``high`` are its range in training. ``shap`` is its mean contribution over all orders of
    learning the features, None where the model is no ensemble of trees; ``lime`` what its distance from the
    mean of training adds in a linear model fitted around the launch. Both in the prediction's unit.
    """

    name: str
    value: float
    low: float
    high: float
    shap: float | None
    lime: float


@dataclass(frozen=True, slots=True)
class LearnedReasons:
    """Why a learned model predicts what it predicts, in ``unit``.

    ``usual`` is the mean over training rows, from which the SHAP values lead to the prediction; None without
    them. ``lime_fit`` is R² of the linear model around the launch: below about 0.5 it explains little.
    """

    unit: str
    usual: float | None
    lime_fit: float
    effects: tuple[FeatureEffect, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Timing:
    """Result of a time model.

    Attributes
    ----------
    time
        GPU duration in seconds, launch overhead excluded.
    bottleneck
        The resource that binds, in words a user knows (``"DRAM bandwidth"``, ``"FP32 pipe"``).
    breakdown
        Component to seconds; what the components mean is the model's own (roofs, penalties, waves).
    utilisation
        Unit or memory level (``"fp32"``, ``"dram"``, ``"issue"``) to its busy share of the time without the
        ``startup``, 0 to 1; ``busy`` is that of the whole time, which people read.
    stalls
        Nsight's stall names to their share of warp time, where the model knows.
    shares
        Share of the time attributed to each instruction of ``workload.execution.program``; sums to 1.
    warps
        What resident warps spend their cycles on, by instruction; None where the model does not resolve it.
    """

    model: str
    time: Estimate
    bottleneck: str
    breakdown: Mapping[str, float]
    utilisation: Mapping[str, float]
    stalls: Mapping[Stall, float] = field(default_factory=dict)
    shares: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()
    warps: WarpStates | None = None
    instructions_per_cycle: Mapping[str, float] = field(default_factory=dict)
    """Instruction class to warp instructions per cycle and SM, where the model is one that reports it."""
    remarks: tuple[str, ...] = ()
    """What the model sees that has no field of its own, in sentences for ``explain``."""
    learned: Callable[[], LearnedReasons] | None = None
    """Computes why a learned model predicts this; None for other models."""
    reservations: Callable[[], ReservationTable] | None = None
    """Computes which units are reserved when, where the model is one that reserves them."""
    bound: tuple[str, float] | None = None
    """The resource that needs longest at its peak and its seconds; only of a published model."""
    startup: float = 0.0
    """Seconds before and behind the work, in which no unit is busy."""

    @property
    def busy(self) -> dict[str, float]:
        """Unit or memory level to its busy share of the time."""
        working = 1.0 - min(1.0, self.startup / self.time.value) if self.startup else 1.0
        return {unit: share * working for unit, share in self.utilisation.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Power:
    """Result of a power model: mean board power in watts and its components in watts.

    ``shares`` is the share of the energy attributed to each instruction, as in :class:`Timing`; empty where
    the model does not resolve it. ``reasons`` computes what a learned part adds to (+) or takes from (-) the
    physical model's power, by feature, in watts, largest first; None where the components are the whole
    reason. ``learned`` computes why a model that is learned altogether predicts this; None for others.
    """

    model: str
    power: Estimate
    components: Mapping[str, float]
    shares: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()
    reasons: Callable[[], Mapping[str, float]] | None = None
    learned: Callable[[], LearnedReasons] | None = None


@runtime_checkable
class TimeModel(Protocol):
    """Predicts how long a case takes. Implementations refuse GPUs they do not cover."""

    name: str
    summary: str

    @property
    def levels(self) -> tuple[Level, ...]:
        """Levels of the programs it reads, the preferred one first."""
        ...

    def predict(self, case: Case) -> Timing:
        """Return the timing, or raise :class:`~warpwatt.core.errors.UnsupportedGpuError`."""
        ...


@runtime_checkable
class PublishedModel(Protocol):
    """A time model as its document prints it: no bound of ours changes what it says."""

    document: str
    """Author, year and section."""


@runtime_checkable
class PowerModel(Protocol):
    """Predicts what a case draws while it runs."""

    name: str
    summary: str

    def predict(self, case: Case, timing: Timing) -> Power:
        """Return the power, or raise :class:`~warpwatt.core.errors.UnsupportedGpuError`."""
        ...


@runtime_checkable
class FittedModel(Protocol):
    """A model that is fitted to ``Case.measured`` itself: no profile corrects it from outside.

    It knows no clocks but those of the launches it was fitted to.
    """

    least_launches: int
    """Measured launches of different grids that it needs."""
