"""A :class:`Gpu`: what a device is, every number with its source. SI units (hertz, bytes, watts)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MEASURED_ON = "; measured on "
"""Marks the source of a measurement that was taken over from a related GPU: that GPU's name follows."""


@dataclass(frozen=True, slots=True)
class Capability:
    """Limits and lanes of one compute capability (CUDA C++ Programming Guide, "Compute Capabilities").

    Sizes in bytes, lanes per SM. ``shared_carveouts`` are the possible shared-memory sizes per SM in
    bytes. ``throughput`` is in results (threads) per clock and SM by instruction class; a class that the
    hardware expands into several instructions is absent. ``sources`` cites every field by name.
    """

    version: str
    arch: str
    warp_size: int
    max_threads_per_block: int
    max_warps_per_sm: int
    max_threads_per_sm: int
    max_blocks_per_sm: int
    registers_per_sm: int
    max_registers_per_block: int
    max_registers_per_thread: int
    register_allocation_granularity: int
    warp_allocation_granularity: int
    max_shared_per_sm: int
    max_shared_per_block: int
    """Opt-in maximum; ``static_shared_limit`` holds without opt-in."""
    static_shared_limit: int
    shared_allocation_granularity: int
    reserved_shared_per_block: int
    shared_carveouts: tuple[int, ...]
    l1_shared_pool: int | None
    shared_banks: int
    shared_bank_width: int
    warp_schedulers: int
    dispatch_units: int
    fp32_lanes: int
    fp64_lanes: int
    int32_lanes: int
    sfu_lanes: int
    lsu_lanes: int | None
    tensor_cores: int
    throughput: Mapping[str, float] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    barriers_per_sm: int | None = None
    """Named barriers an SM can hold, None where they never limit occupancy (before 9.0)."""
    shared_bytes_per_clock: int | None = None
    """Bytes per clock that shared memory delivers, None where every bank delivers one word."""
    l1_bytes_per_clock: int | None = None
    """Bytes per clock that L1's banks deliver to loads wider than the load-store lanes, None where nobody
    says that they are wider than what narrow loads show."""

    @property
    def target(self) -> str:
        """Compiler target.

        Written ``sm_90`` for ``9.0``.
        """
        return "sm_" + self.version.replace(".", "")


@dataclass(frozen=True, slots=True)
class Clocks:
    """Clock frequencies in hertz. ``sustained`` is True where the power limit chose them.

    ``spread`` is the standard deviation of the logarithm of the SM clock where nobody set it.
    """

    sm: float
    memory: float
    sustained: bool = False
    spread: float = 0.0


def clock_parameter(gpu: Gpu) -> str:
    """Return the name of the draws of a GPU's SM clock."""
    return f"clock:{gpu.name}"


@dataclass(frozen=True, slots=True)
class MemoryTimings:
    """Latencies (SM cycles) and achievable bandwidths (bytes per second, whole chip) somebody measured.

    None where nobody has. ``sources`` cites every field by name; ``note`` says whose chip it was.
    """

    shared_latency: float | None = None
    l1_latency: float | None = None
    l2_latency: float | None = None
    dram_latency: float | None = None
    l1_bandwidth_per_sm_clock: float | None = None
    l2_bandwidth: float | None = None
    dram_bandwidth: float | None = None
    launch_interval: float | None = None
    graph_launch_interval: float | None = None
    h2d_bandwidth: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    borrowed_from: str = ""
    """Name of the nearest measured relative the values come from, empty if they are this GPU's."""
    dram_copy_bandwidth: float | None = None
    """Bytes per second read and written together by a copy kernel; ``dram_bandwidth`` is reads alone."""
    dram_latency_clock: float | None = None
    """SM clock in hertz at which ``dram_latency`` was counted: its time, not its cycles, is constant."""

    def borrowed(self, field_name: str) -> bool:
        """Whether a value was measured on a relative and scaled, not on this GPU.

        >>> timings = MemoryTimings(l2_latency=200.0, sources={"l2_latency": "a paper; measured on Tesla P4"})
        >>> timings.borrowed("l2_latency"), timings.borrowed("l1_latency")
        (True, False)
        """
        return MEASURED_ON in self.sources.get(field_name, "")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Constants measured on one device by ``warpwatt calibrate``: name to value and standard error.

    ``base`` is the calibration that comes with WarpWatt, where ``constants`` are the user's own: it holds
    for what they lack.
    """

    gpu: str
    date: str
    protocol: str
    constants: Mapping[str, tuple[float, float]]
    base: Calibration | None = None

    @property
    def layers(self) -> tuple[Calibration, ...]:
        """The calibrations that make it up, the base first: of one constant the last counts."""
        return (self,) if self.base is None else (*self.base.layers, self)


@dataclass(frozen=True, slots=True, eq=False)
class Gpu:
    """One board (one GPU of a dual board).

    ``memory_clock`` follows the driver: bandwidth = 2 × memory_clock × bus bits / 8. None means "not
    known"; :mod:`warpwatt.gpus` says what a prediction needs. ``sources`` cites every field by name.
    """

    name: str
    capability: Capability
    sm_count: int
    base_clock: float | None
    boost_clock: float
    memory_clock: float
    memory_bandwidth: float
    """Theoretical peak, bytes per second."""
    memory_type: str
    memory_size: int | None
    l2_size: int
    l1_shared_per_sm: int | None
    l1_shared_unified: bool
    power_limit: float | None
    idle_power: float | None
    pcie_generation: int | None
    memory: MemoryTimings = field(default_factory=MemoryTimings)
    latencies: Mapping[str, float] = field(default_factory=dict)
    """PTX or SASS opcode to latency in SM cycles, nearest measured relative."""
    aliases: tuple[str, ...] = ()
    die: str = ""
    arch: str = ""
    note: str = ""
    calibration: Calibration | None = None
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    observed_clock: float | None = None
    """SM clock somebody saw the board run at where its power limit does not bind; above ``boost_clock``
    on boards that raise their clock by themselves, below it where an application clock binds. None: nobody
    has."""
    compute_memory_clock: float | None = None
    """Memory clock that the driver sets for CUDA programs, None where that is ``memory_clock``."""
    ecc_dram_share: float | None = None
    """Share of the DRAM bandwidth that error correction leaves, where the board ships with it on and keeps
    the check bits in its memory (GDDR6); ``memory`` has it in."""
    listed_power_limit: float | None = None
    """The data sheet's power limit, where somebody set another; None where it holds."""
    inherits: str = ""
    """Name of the built-in board that a user's own board takes values over from, empty for none."""
    inherited: tuple[str, ...] = ()
    """Fields whose values are that board's."""

    @property
    def rated_power(self) -> float | None:
        """The data sheet's power limit in W, whatever limit is set."""
        return self.power_limit if self.listed_power_limit is None else self.listed_power_limit

    @property
    def product(self) -> str:
        """Name of the product as NVIDIA sells it: GeForce boards differ from others in clocks and rates."""
        return self.inherits or self.name

    @property
    def target(self) -> str:
        """Compiler target, such as ``sm_90``."""
        return self.capability.target
