"""NVML: what the board says of itself at the predicted time."""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from warpwatt.gpus import default_clocks
from warpwatt.models.sensor import sensor
from warpwatt.run.libraries.calls import function
from warpwatt.run.properties import memory_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.core.gpu import Clocks, Gpu
    from warpwatt.run.libraries.calls import State

DRIVER, CUDA = "580.65.06", 13000
"""Versions that we stand in for."""
UUID = "GPU-00000000-0000-0000-0000-000000000000"
NOT_SUPPORTED, NOT_FOUND = 3, 6
"""``nvmlReturn_t``."""
DEVICE = 1
"""The handle of the one device."""
MEMORY_CLOCK = 2
"""``NVML_CLOCK_MEM``; other clocks are those of the SMs."""
UTILIZATION_SECONDS = 1 / 6
"""NVML's shortest sample period (``nvmlDeviceGetUtilizationRates``)."""
_POWER_FIELDS = (185, 186)
"""``NVML_FI_DEV_POWER_AVERAGE`` and ``_INSTANT``."""
_MEMORY_VERSION = 0x2000028


class Line(Protocol):
    """What a timeline tells."""

    spans: list[Any]
    now: float
    """The latest time the host has reached, in s."""

    def drawn(self, until: float) -> float:
        """Return the joules from the program's start to a moment."""

    def computed(self, until: float) -> float:
        """Return the seconds up to a moment in which kernels run."""


@dataclass(frozen=True, slots=True)
class Board:
    """The predicted board: its timeline, and how to learn what is on it by now."""

    gpu: Gpu
    clocks: Clocks | None
    line: Line
    place: Callable[[], None]
    used: Callable[[], int]
    begun: Callable[[], int] = lambda: 0
    """The program's clock at its first message, in ns."""

    def nanoseconds(self, time: float) -> int:
        """Return a moment on the program's clock."""
        return self.begun() + round(time * 1e9)

    def joules(self, seconds_ago: float = 0.0) -> float:
        """Return what the board has drawn from the program's start to a moment."""
        self.place()
        return self.line.drawn(max(0.0, self.line.now - seconds_ago))

    def watts(self) -> float:
        """Return what the board's sensor reads now: the mean over its window."""
        window = sensor(self.gpu).window
        return (self.joules() - self.joules(window)) / min(window, max(self.line.now, 1e-9))

    def utilization(self) -> float:
        """Return the share of the last sample period in which the GPU computed."""
        self.place()
        now = self.line.now
        return (self.line.computed(now) - self.line.computed(now - UTILIZATION_SECONDS)) / UTILIZATION_SECONDS

    def megahertz(self, which: int) -> int:
        """Return a clock."""
        at = self.clocks or default_clocks(self.gpu)
        return round((at.memory if which == MEMORY_CLOCK else at.sm) / 1e6)


_SPAN = np.dtype([
    ("asked", "<u8"), ("start", "<u8"), ("end", "<u8"), ("bytes", "<u8"), ("kind", "<u4"), ("stream", "<u4"),
    ("name", "S472"),
])  # fmt: skip
"""``Span`` in ``native/runtime/closed/cupti.cpp``."""
_ACTIVITIES = {
    "copy to device": (1, b"\1"), "copy to host": (1, b"\2"), "copy within device": (1, b"\10"),
    "fill": (2, b""),
}  # fmt: skip
"""``CUpti_ActivityKind`` and ``CUpti_ActivityMemcpyKind``; all else are kernels."""


@function("warpwatt_spans", "pppp")
def spans(state: State, first: int, skipped: int, most: int, at: int) -> int:
    """Return what the GPU does that the program asked for from a time of its clock on, in ns."""
    one = board(state)
    one.place()
    wanted = (span for span in one.line.spans if one.nanoseconds(span.asked) >= first)
    found = []
    for span in itertools.islice(wanted, skipped, skipped + most):
        times = (one.nanoseconds(time) for time in (span.asked, span.start, span.end))
        kind, name_ = _ACTIVITIES.get(span.kind, (10, span.name.encode()))
        found.append((*times, span.bytes, kind, span.stream, name_))
    state.memory.put(at, np.frombuffer(np.array(found, _SPAN).tobytes(), np.uint8))
    return len(found)


def board(state: State) -> Board:
    """Return the board that a program asks."""
    found: Board = state.board
    return found


def _put(state: State, at: int, *values: int, kind: str = "<u4") -> int:
    state.memory.put(at, np.array(values, kind))
    return 0


def _text(state: State, at: int, length: int, text: str) -> int:
    state.memory.put(at, np.frombuffer(text.encode()[: length - 1] + b"\0", np.uint8))
    return 0


@function(["nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlShutdown"], "p")
@function(["nvmlDeviceSetPersistenceMode"], "pi")
def accept(*_: Any) -> int:
    """Begin or end, or keep what is so anyway."""
    return 0


@function(["nvmlSystemGet?Version"], "pi", Driver=DRIVER, NVML=f"13.{DRIVER}")
def version(state: State, text: str, at: int, length: int) -> int:
    """Return the version of the driver, or of the library."""
    return _text(state, at, length, text)


@function(["nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2"], "p")
def cuda_version(state: State, at: int) -> int:
    """Return the version of CUDA."""
    return _put(state, at, CUDA)


@function(["nvmlDeviceGetCount", "nvmlDeviceGetCount_v2"], "p")
def count(state: State, at: int) -> int:
    """Return the number of devices."""
    return _put(state, at, 1)


@function(["nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2"], "ip")
def by_index(state: State, index: int, at: int) -> int:
    """Return the device of a number."""
    return NOT_FOUND if index else _put(state, at, DEVICE, kind="<u8")


@function(["nvmlDeviceGetHandleByUUID"], "pp")
@function(["nvmlDeviceGetHandleByPciBusId", "nvmlDeviceGetHandleByPciBusId_v2"], "pp")
def by_name(state: State, _: int, at: int) -> int:
    """Return the one device."""
    return _put(state, at, DEVICE, kind="<u8")


@function("nvmlDeviceGetName", "ppi")
def name(state: State, _: int, at: int, length: int) -> int:
    """Return the device's name."""
    return _text(state, at, length, board(state).gpu.name)


@function("nvmlDeviceGetUUID", "ppi")
def uuid(state: State, _: int, at: int, length: int) -> int:
    """Return the device's identity."""
    return _text(state, at, length, UUID)


@function(["nvmlDeviceGetIndex", "nvmlDeviceGetMinorNumber"], "pp")
def index(state: State, _: int, at: int) -> int:
    """Return the device's number."""
    return _put(state, at, 0)


@function("nvmlDeviceGetPersistenceMode", "pp")
def persistence(state: State, _: int, at: int) -> int:
    """Say that the driver stays loaded."""
    return _put(state, at, 1)


def _memory(state: State) -> tuple[int, int]:
    one = board(state)
    return memory_bytes(one.gpu), one.used()


@function("nvmlDeviceGetMemoryInfo", "pp")
def memory(state: State, _: int, at: int) -> int:
    """Return bytes of memory: all, free and used."""
    total, used = _memory(state)
    return _put(state, at, total, max(0, total - used), used, kind="<u8")


@function("nvmlDeviceGetMemoryInfo_v2", "pp")
def memory_v2(state: State, _: int, at: int) -> int:
    """Return bytes of memory: all, reserved, free and used."""
    total, used = _memory(state)
    return _put(state, at, _MEMORY_VERSION, total, 0, max(0, total - used), used, kind="<u8")


@function("nvmlDeviceGetUtilizationRates", "pp")
def utilization(state: State, _: int, at: int) -> int:
    """Return the share of time in % in which the GPU computed; also for that in which it used memory."""
    share = round(100 * board(state).utilization())
    return _put(state, at, share, share)


@function("nvmlDeviceGetPowerUsage", "pp")
def power(state: State, _: int, at: int) -> int:
    """Return the power in mW."""
    return _put(state, at, round(1e3 * board(state).watts()))


@function("nvmlDeviceGetTotalEnergyConsumption", "pp")
def energy(state: State, _: int, at: int) -> int:
    """Return the energy in mJ."""
    return _put(state, at, round(1e3 * board(state).joules()), kind="<u8")


@function(["nvmlDeviceGetPowerManagementLimit", "nvmlDeviceGetPowerManagementDefaultLimit"], "pp")
@function("nvmlDeviceGetEnforcedPowerLimit", "pp")
@function("nvmlDeviceGetPowerManagementLimitConstraints", "ppp")
def power_limit(state: State, _: int, *places: int) -> int:
    """Return the power limit in mW, which is also the least and the most."""
    limit = board(state).gpu.power_limit
    if limit is None:
        return NOT_SUPPORTED
    for at in places:
        _put(state, at, round(1e3 * limit))
    return 0


@function(["nvmlDeviceGetClockInfo", "nvmlDeviceGetApplicationsClock"], "pip")
@function("nvmlDeviceGetClock", "piip")
def clock(state: State, _: int, which: int, *rest: int) -> int:
    """Return a clock in MHz."""
    return _put(state, rest[-1], board(state).megahertz(which))


@function("nvmlDeviceGetMaxClockInfo", "pip")
def largest_clock(state: State, _: int, which: int, at: int) -> int:
    """Return the largest clock in MHz."""
    gpu = board(state).gpu
    return _put(state, at, round((gpu.memory_clock if which == MEMORY_CLOCK else gpu.boost_clock) / 1e6))


@function("nvmlDeviceGetCudaComputeCapability", "ppp")
def capability(state: State, _: int, *places: int) -> int:
    """Return the compute capability."""
    for at, part in zip(places, board(state).gpu.capability.version.split("."), strict=True):
        _put(state, at, int(part))
    return 0


@function("nvmlDeviceGetNumGpuCores", "pp")
def cores(state: State, _: int, at: int) -> int:
    """Return the number of FP32 units."""
    gpu = board(state).gpu
    return _put(state, at, gpu.sm_count * gpu.capability.fp32_lanes)


@function("nvmlDeviceGetComputeRunningProcesses_v3", "ppp")
def processes(state: State, _: int, counted: int, _at: int) -> int:
    """Return no process: the program's own number is not the driver's to know here."""
    return _put(state, counted, 0)


@function("nvmlDeviceGetFieldValues", "pip")
def fields(state: State, _: int, number: int, at: int) -> int:
    """Return values by number: power in mW; others are not known."""
    for place in range(number):
        start = at + 40 * place
        wanted = int(state.memory.value(start, "<u4")) if start in state.memory.contents else 0
        known = wanted in _POWER_FIELDS
        value = round(1e3 * board(state).watts()) if known else 0
        record = struct.pack("<IIqqiiQ", wanted, 0, 0, 0, 1, 0 if known else NOT_SUPPORTED, value)
        state.memory.put(start, np.frombuffer(record, np.uint8))
    return 0


@function(["nvmlDeviceGetTemperature"], "pip")
@function(["nvmlDeviceGetMigMode", "nvmlDeviceGetSerial"], "ppp")
@function(["nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetArchitecture", "nvmlDeviceGetBrand"], "pp")
@function("nvmlDeviceSetPowerManagementLimit", "pi")
def unknown(*_: Any) -> int:
    """Say that the board does not know it."""
    return NOT_SUPPORTED
