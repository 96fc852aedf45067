"""The chip of the simulated device: true constants, and what a microbenchmark does on a chip that has them.

What a calibration should find is known here, so a rehearsal shows that generator, launches, readings and fits
fit together. The laws are those that the fits assume; nothing here is a model of a real GPU.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.lab.measure.microbench.streams import ACCESSES

if TYPE_CHECKING:
    from warpwatt.core.launch import Launch
    from warpwatt.lab.measure.device import DeviceInfo
    from warpwatt.lab.measure.microbench.model import Probe

LANES = 32
BANK_BYTES = 4


@dataclass(frozen=True, slots=True)
class Work:
    """One launch: cycles of its loop on an SM, seconds, joules beyond the constant powers, SMs in use."""

    cycles: float
    seconds: float
    joules: float
    active_sms: int


@dataclass(frozen=True, slots=True)
class Memory:
    """True constants of memory.

    Attributes
    ----------
    latencies, constant_latencies
        Cycles of a load from L1, L2, DRAM; of a constant from the cache nearest to the SM and the next.
    l1_reach, constant_reach
        Bytes up to which the first of these answers; L2 ends where the device says.
    shared, atomics
        Latencies in cycles of a load without conflict, and of atomics by where they happen.
    l1_bytes, copy_bytes, l2_rate, dram_rate
        Bytes per cycle and SM from L1 and by asynchronous copies; bytes per second of the chip.
    conflict, coalescing
        Cycles of an access: at none, and for each further word between lanes.
    warps, chip_warps
        Warps at which a bandwidth is 63 % of what many reach: on one SM, on the chip.
    reductions
        Atomics without result per cycle and SM.
    joules_per_byte
        By level: ``sm``, ``l2``, ``dram``.
    """

    latencies: tuple[float, float, float] = (33.0, 260.0, 640.0)
    constant_latencies: tuple[float, float] = (28.0, 95.0)
    l1_reach: int = 192 * 2**10
    constant_reach: int = 2 * 2**10
    shared: float = 23.0
    atomics: Mapping[str, float] = field(default_factory=lambda: {"global": 310.0, "shared": 54.0})
    l1_bytes: float = 118.0
    copy_bytes: float = 61.0
    l2_rate: float = 5.1e12
    dram_rate: float = 2.9e12
    conflict: tuple[float, float] = (0.07, 1.0)
    coalescing: tuple[float, float] = (0.77, 0.25)
    warps: float = 2.0
    chip_warps: float = 400.0
    reductions: float = 21.0
    joules_per_byte: Mapping[str, float] = field(
        default_factory=lambda: {"sm": 2e-12, "l2": 1.1e-11, "dram": 3.1e-11}
    )


@dataclass(frozen=True, slots=True)
class Chip:
    """True constants of a simulated chip.

    Attributes
    ----------
    latencies, peaks, joules
        Of an instruction class: cycles, results per cycle and SM, joules per warp instruction; ``others`` of
        those not named.
    barrier
        Cycles of a barrier or fence: at no warp, and for each.
    launch
        Seconds of a launch: at no block, and for each.
    transfer
        Seconds of a transfer from pageable memory, and bytes per second; page-locked is twice as fast.
    constant_watts, sm_watts
        Power of a board that works, and of each SM in use.
    zeros
        Share of the joules where all data are zero.
    """

    sm_clock: float = 1.98e9
    latencies: Mapping[str, float] = field(
        default_factory=lambda: {"fp32_fma": 4.0, "int_mad": 5.0, "special_sin": 22.0, "fp64_fma": 8.0}
    )
    peaks: Mapping[str, float] = field(
        default_factory=lambda: {"fp32_fma": 128.0, "int_mad": 64.0, "special_sin": 16.0, "fp64_fma": 64.0}
    )
    joules: Mapping[str, float] = field(
        default_factory=lambda: {"fp32_fma": 6e-10, "special_sin": 2e-9, "fp64_fma": 1.4e-9}
    )
    others: tuple[float, float, float] = (6.0, 32.0, 1e-9)
    memory: Memory = field(default_factory=Memory)
    barrier: tuple[float, float] = (20.0, 2.5)
    launch: tuple[float, float] = (2.4e-6, 3e-10)
    transfer: tuple[float, float] = (9e-6, 1.25e10)
    context_seconds: float = 0.31
    constant_watts: float = 60.0
    sm_watts: float = 0.7
    zeros: float = 0.5

    def latency(self, name: str) -> float:
        """Return the latency of an instruction class."""
        return self.latencies.get(name, self.others[0])

    def peak(self, name: str) -> float:
        """Return the most results per cycle and SM of an instruction class."""
        return self.peaks.get(name, self.others[1])

    def energy(self, name: str) -> float:
        """Return the joules of a warp instruction of a class."""
        return self.joules.get(name, self.others[2])

    def run(
        self, probe: Probe, launch: Launch, given: Mapping[str, int], footprint: float, info: DeviceInfo
    ) -> Work:
        """Return what a launch of a probe does.

        Parameters
        ----------
        given
            Values of the probe's parameters by name.
        footprint
            Bytes that its chain of pointers covers, or that it reads.
        """
        blocks, warps = launch.grid.count, launch.warps_per_block
        active = min(blocks, info.sm_count)
        per_sm = warps * -(-blocks // info.sm_count)
        if not probe.steps:
            base, each = self.launch
            return Work(0.0, base + each * blocks, 0.0, active)
        steps = probe.steps * given["iterations"]
        if probe.name.startswith("stream_cg"):
            return self._stream(probe, given, blocks * warps, active, info.l2_bytes)
        cycles = steps * self._step_cycles(probe, given, per_sm, self._level(probe.name, footprint, info))
        joules = steps * blocks * warps * self._joules(probe)
        return Work(cycles, self.launch[0] + cycles / self.sm_clock, joules, active)

    def _level(self, name: str, footprint: float, info: DeviceInfo) -> float:
        """Return the latency of the level that answers a load over so many bytes."""
        memory = self.memory
        if "constant" in name:
            return memory.constant_latencies[footprint > memory.constant_reach]
        if footprint > info.l2_bytes:
            return memory.latencies[2]
        return memory.latencies[footprint > memory.l1_reach or name.endswith("_cg")]

    def _step_cycles(self, probe: Probe, given: Mapping[str, int], warps: int, level: float) -> float:
        """Return the cycles that ``warps`` warps on an SM take for one step each; ``level`` answers loads."""
        name, memory = probe.name, self.memory
        match probe.group:
            case "instruction":
                kind, _, ilp = name.rpartition("_ilp")
                return max(self.latency(kind) / int(ilp), LANES * warps / self.peak(kind))
            case "latency":
                return self._chain_cycles(name, given, level)
            case "barrier":
                return self.barrier[0] + self.barrier[1] * warps
            case "atomics":
                contended = LANES if given["spacing"] == 0 else 1
                return LANES * warps * contended / memory.reductions
            case "coalescing":
                return warps * _line(memory.coalescing, given["spacing"])
        growth = 1 - math.exp(-warps / memory.warps)
        return warps * self._access_cycles(name, given) / growth

    def _chain_cycles(self, name: str, given: Mapping[str, int], level: float) -> float:
        memory = self.memory
        if name.startswith("atomic"):
            return memory.atomics["shared" if "shared" in name else "global"]
        if "shared" in name:
            return memory.shared + 2.0 * (max(given["spacing"] // BANK_BYTES, 1) - 1)
        return level

    def _access_cycles(self, name: str, given: Mapping[str, int]) -> float:
        """Return the cycles that an access of a warp keeps L1, shared memory or the copy engine."""
        width, memory = _width(name), self.memory
        if name.startswith("shared"):
            wavefronts = max(given["spacing"] // BANK_BYTES, width // BANK_BYTES)
            return memory.conflict[0] + memory.conflict[1] * wavefronts
        rate = memory.copy_bytes if name.startswith("async") else memory.l1_bytes
        waits = memory.latencies[1] if name.endswith("latency") else 0.0
        return LANES * width / rate + waits

    def _stream(self, probe: Probe, given: Mapping[str, int], warps: int, active: int, l2_bytes: int) -> Work:
        """Return a stream through L2, from there or from DRAM, as its window says."""
        memory = self.memory
        is_l2 = given["footprint"] <= l2_bytes
        moved = float(warps * ACCESSES * LANES * _width(probe.name) * given["iterations"])
        growth = 1 - math.exp(-warps / memory.chip_warps)
        seconds = moved / ((memory.l2_rate if is_l2 else memory.dram_rate) * growth)
        joules = moved * memory.joules_per_byte["l2" if is_l2 else "dram"]
        return Work(seconds * self.sm_clock, self.launch[0] + seconds, joules, active)

    def _joules(self, probe: Probe) -> float:
        """Return the joules of one step of a warp."""
        if probe.group == "instruction":
            return self.energy(probe.name.rpartition("_ilp")[0])
        if probe.group in ("bandwidth", "asynchronous copy"):
            return LANES * _width(probe.name) * self.memory.joules_per_byte["sm"]
        return 0.0


def _width(name: str) -> int:
    """Return the bytes of a lane's access: ``stream_ca_16B_16r0w`` has 16."""
    return int(name.partition("B_")[0].rpartition("_")[2])


def _line(base_and_slope: tuple[float, float], spacing: int) -> float:
    base, slope = base_and_slope
    return base + slope * max(spacing / BANK_BYTES, 1.0)
