"""A simulated device: known true times and powers, noise, faults. It computes nothing: its results are set.

Microbenchmarks take what their instructions take on a :class:`~warpwatt.lab.measure.simulated_chip.Chip` with
known constants, and leave the clocks that they would leave.

Time is virtual, so that a campaign of hours runs in seconds; it jumps to a multiple of ``LOAD_SECONDS``
whenever a module is loaded and the noise restarts, so that a point's figures do not depend on what was
measured before it in the same process.
"""

from __future__ import annotations

import math
import time
import weakref
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import DeviceError
from warpwatt.core.launch import Launch
from warpwatt.lab.measure.device import Action, DeviceInfo, DeviceLostError, Sample, State
from warpwatt.lab.measure.microbench import ptx, suite
from warpwatt.lab.measure.simulated_chip import Chip
from warpwatt.lab.measure.simulated_power import PowerSensors, PowerTrace, SensorBehaviour

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.lab.measure.instance import Instance
    from warpwatt.lab.measure.microbench.model import Probe

LOAD_SECONDS = 5.0
START_CLOCK, OVERHEAD_CYCLES = 1000, 500
"""SM clock at a probe's start; what its records tell beyond the loop, whatever it does."""
INFO = DeviceInfo("Simulated GPU", "simulated", "0", "sm_90", 132, 4 * 2**20, 8 * 2**30)
_EPOCH = datetime(2020, 1, 1, tzinfo=UTC)


def default_seconds(kernel: str, launch: Launch) -> float:
    """Return a made-up true time: 3 µs and 20 ps a thread."""
    del kernel
    return 3e-6 + 20e-12 * launch.threads


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the simulated device does.

    Attributes
    ----------
    seconds
        True duration of a launch, warm, from kernel name and launch.
    cold
        Factor on it behind an L2 flush.
    noise
        Relative standard deviation of a duration.
    watts, idle_watts
        True power while busy and idle.
    zero_watts
        True power while busy where all data are zero.
    throttled_reads
        So many reads of the state, counted from the start, report a throttled board.
    unsteady_launches
        So many launches after each load take up to twice as long.
    wrong, refused, lost, hanging
        Kernels whose result is wrong, whose launch is refused, that lose the device, that never end.
    real_seconds
        Real time to spend in each loading of a module (for tests that kill the process).
    chip
        What microbenchmarks find.
    """

    info: DeviceInfo = INFO
    seconds: Callable[[str, Launch], float] = default_seconds
    cold: float = 1.1
    noise: float = 0.002
    watts: float = 431.7
    idle_watts: float = 81.3
    zero_watts: float = 297.1
    sensors: SensorBehaviour = field(default_factory=SensorBehaviour)
    throttled_reads: int = 0
    throttle: tuple[str, ...] = ("hw_slowdown",)
    unsteady_launches: int = 0
    wrong: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    hanging: frozenset[str] = frozenset()
    seed: int = 0
    real_seconds: float = 0.0
    chip: Chip = field(default_factory=Chip)


class VirtualClock:
    """Host time that only passes where someone works or waits."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        """Return virtual seconds."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.time += seconds

    def utc(self) -> datetime:
        """Return a virtual date."""
        return _EPOCH + timedelta(seconds=self.time)


class SimulatedDevice:
    """A device without a GPU (see :class:`~warpwatt.lab.measure.device.Device` for the methods)."""

    ENQUEUE_SECONDS = 4e-6
    GAP_SECONDS = 1e-6
    FLUSH_SECONDS = 30e-6

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self.info = self.behaviour.info
        self.clock = VirtualClock()
        self.trace = PowerTrace(self.behaviour.idle_watts)
        self.sensors = SimulatedSensors(self)
        self.memory: dict[int, NDArray[np.uint8]] = {}
        self.log: list[str] = []
        """Names of the kernels launched, for tests; graphs count once when recorded."""
        self.context_seconds = self.behaviour.chip.context_seconds
        self._results: dict[int, NDArray[np.uint8]] = {}
        self._clocks: dict[int, tuple[int, float]] = {}  # by address: threads, cycles that their records tell
        self._variable, self._chained = 0, 0  # address of a module's variable; bytes that were put there
        self._pinned: set[int] = set()
        self._next = 4096
        self._free = 0.0  # when the device has done what was enqueued
        self._is_cold = True
        self._launches = 0
        self._captured: float | None = None
        self._random = np.random.default_rng(self.behaviour.seed)

    def set_results(self, results: Mapping[int, NDArray[Any]]) -> None:
        """Set what memory holds after any launch, by address."""
        self._results = {a: np.ascontiguousarray(v).reshape(-1).view(np.uint8) for a, v in results.items()}

    def load(self, cubin: bytes) -> bytes:
        """Restart noise and sensors; set the time to a multiple of ``LOAD_SECONDS``."""
        if self.behaviour.real_seconds:
            time.sleep(self.behaviour.real_seconds)
        self.synchronise()
        self.clock.time = (math.floor(self.clock.time / LOAD_SECONDS) + 1) * LOAD_SECONDS
        self._free = self.clock.time
        self.sensors.power.restart(self.clock.time)
        self._random = np.random.default_rng((self.behaviour.seed, zlib.crc32(cubin)))
        self._launches = 0
        return cubin

    def unload(self, module: bytes) -> None:
        """Do nothing."""

    def function(self, module: bytes, name: str) -> str:
        """Return the name."""
        del module
        return name

    def symbol(self, module: bytes, name: str) -> tuple[int, int]:
        """Return memory of its own, large enough for any constant."""
        del module, name
        self._variable = self.allocate(ptx.CONSTANT_BYTES)
        return self._variable, ptx.CONSTANT_BYTES

    def allocate(self, nbytes: int) -> int:
        """Return new memory, filled with a pattern that no result looks like."""
        if nbytes + sum(a.size for a in self.memory.values()) > self.info.memory_bytes:
            raise DeviceError(f"out of device memory: {nbytes} bytes")
        address = self._next
        self._next += -(-max(nbytes, 1) // 256) * 256
        self.memory[address] = np.full(nbytes, 0xA5, np.uint8)
        return address

    def free(self, address: int) -> None:
        """Give memory back."""
        del self.memory[address]
        self._results.pop(address, None)
        self._clocks.pop(address, None)

    def upload(self, address: int, array: NDArray[Any]) -> None:
        """Copy bytes in; take what the link takes."""
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self.memory[address][: raw.size] = raw
        if address == self._variable:
            self._chained = raw.size
        self.clock.sleep(self._transfer_seconds(array))

    def download(self, address: int, array: NDArray[Any]) -> None:
        """Copy bytes out; take what the link takes."""
        self.synchronise()
        if address in self._clocks:
            _leave_clocks(self.memory[address], *self._clocks.pop(address))
        array.reshape(-1).view(np.uint8)[:] = self.memory[address][: array.nbytes]
        self.clock.sleep(self._transfer_seconds(array))

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        """Return an array that counts as page-locked."""
        array = np.ones(nbytes, np.uint8)
        self._pinned.add(array.ctypes.data)
        weakref.finalize(array, self._pinned.discard, array.ctypes.data)
        return array

    def _transfer_seconds(self, array: NDArray[Any]) -> float:
        base, rate = self.behaviour.chip.transfer
        return base + array.nbytes / (rate * (2 if array.ctypes.data in self._pinned else 1))

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Copy at once, take a terabyte a second."""
        self._bytes(target, nbytes)[:] = self._bytes(source, nbytes)
        self._enqueue(2e-6 + nbytes * 1e-12, self.behaviour.watts)

    def _bytes(self, address: int, nbytes: int) -> NDArray[np.uint8]:
        """Return memory at an address, which may lie within an allocation."""
        start = max(own for own in self.memory if own <= address)
        return self.memory[start][address - start : address - start + nbytes]

    def fill(self, address: int, value: int, nbytes: int) -> None:
        """Fill at once."""
        self._bytes(address, nbytes)[:] = value
        self._enqueue(2e-6 + nbytes * 1e-12, self.behaviour.watts)

    def launcher(self, function: str, launch: Launch, arguments: tuple[bytes, ...]) -> Action:
        """Return an action that takes the kernel's true time and leaves the results that were set."""
        probe = _probes().get(function)
        if probe is not None:
            return self._probe_launcher(probe, launch, arguments)
        base = self.behaviour.seconds(function, launch)

        def run() -> None:
            self._fail(function)
            self.log.append(function)
            self._leave_results(function)
            factor = self.behaviour.cold if self._is_cold else 1.0
            self._is_cold = False
            self._enqueue(base * factor * self._jitter() + self.GAP_SECONDS, self._watts())

        return run

    def _probe_launcher(self, probe: Probe, launch: Launch, arguments: tuple[bytes, ...]) -> Action:
        """Return an action that takes what a microbenchmark takes on the chip, and leaves its clocks."""
        values = (int.from_bytes(value, "little") for value in arguments)
        given = dict(zip(probe.parameters, values, strict=True))
        chip, source = self.behaviour.chip, self.memory.get(given.get("in", -1))
        footprint = self._chained if "constant" in probe.name else source.size if source is not None else 0
        work = chip.run(probe, launch, given, footprint, self.info)
        share = chip.zeros if source is not None and not source[:4096].any() else 1.0

        def run() -> None:
            self._fail(probe.name)
            self.log.append(probe.name)
            factor = self._jitter()
            if "out" in given:
                self._clocks[given["out"]] = launch.threads, work.cycles * factor
            seconds = work.seconds * factor + self.GAP_SECONDS
            watts = chip.constant_watts + chip.sm_watts * work.active_sms + share * work.joules / seconds
            self._is_cold = False
            self._enqueue(seconds, watts)

        return run

    def graph(self, enqueue: Action) -> Action:
        """Record the duration of what is enqueued; replay it in one piece."""
        self._captured = 0.0
        enqueue()
        total, self._captured = self._captured, None
        return lambda: self._enqueue(total, self._watts())

    def event(self) -> list[float]:
        """Return a box for a time."""
        return [math.nan]

    def record(self, event: list[float]) -> None:
        """Note when the device will get there."""
        event[0] = max(self._free, self.clock.time)
        self.clock.time += self.ENQUEUE_SECONDS

    def reached(self, event: list[float]) -> bool:
        """Compare with the host's time."""
        self.clock.time += self.ENQUEUE_SECONDS
        return event[0] <= self.clock.time

    def elapsed(self, start: list[float], stop: list[float]) -> float:
        """Return the difference."""
        return stop[0] - start[0]

    def synchronise(self) -> None:
        """Let time pass until the work is done."""
        self.clock.time = max(self.clock.time, self._free)

    def flush_l2(self) -> None:
        """Make the next launch cold."""
        self._is_cold = True
        self._enqueue(self.FLUSH_SECONDS, self.behaviour.watts)

    def keep_busy(self, seconds: float) -> None:
        """Be busy."""
        self._is_cold = True
        self._enqueue(seconds, self.behaviour.watts)

    def close(self) -> None:
        """Forget everything."""
        self.memory.clear()

    def _enqueue(self, seconds: float, watts: float) -> None:
        if self._captured is not None:
            self._captured += seconds
            return
        start = max(self._free, self.clock.time)
        self._free = start + seconds
        self.trace.add(start, self._free, watts)
        self.clock.time += self.ENQUEUE_SECONDS

    def _jitter(self) -> float:
        self._launches += 1
        factor = float(np.exp(self._random.normal(0.0, self.behaviour.noise)))
        if self._launches <= self.behaviour.unsteady_launches:
            factor *= 1.0 + float(self._random.random())
        return factor

    def _watts(self) -> float:
        zero = self._results and not any(a.any() for a in self._results.values())
        return self.behaviour.zero_watts if zero else self.behaviour.watts

    def _leave_results(self, function: str) -> None:
        for address, result in self._results.items():
            self.memory[address][: result.size] = result
            if function in self.behaviour.wrong:
                self.memory[address][0] ^= 0x80
                self.memory[address][result.size // 2 :] ^= 0x41

    def _fail(self, function: str) -> None:
        if function in self.behaviour.refused:
            raise DeviceError(f"launch of {function} refused")
        if function in self.behaviour.lost:
            raise DeviceLostError(f"illegal address in {function}")
        while function in self.behaviour.hanging:
            time.sleep(0.01)


class SimulatedSensors:
    """State and power of a simulated device."""

    def __init__(self, device: SimulatedDevice) -> None:
        self.device = device
        self.power = PowerSensors(device.trace, device.behaviour.sensors)
        self.reads = 0

    def state(self) -> State:
        """Return fixed clocks; throttled in the first ``throttled_reads`` reads."""
        self.reads += 1
        throttled = self.reads <= self.device.behaviour.throttled_reads
        return State(1.98e9, 3.201e9, 45.0, self.device.behaviour.throttle if throttled else ())

    def sample(self) -> Sample:
        """Return what the sensors make of the true power."""
        now = self.device.clock.now()
        self.device.clock.sleep(50e-6)
        return Sample(now, self.power.instant(now), self.power.counter_mj(now))


@cache
def _probes() -> Mapping[str, Probe]:
    return {probe.name: probe for probe in suite.probes()}


def _leave_clocks(memory: NDArray[np.uint8], threads: int, cycles: float) -> None:
    """Write the record that each thread leaves: clock before and after the loop, number of its SM."""
    records = memory.view(np.uint64).reshape(-1, ptx.RECORD // 8)[:threads]
    records[:, 0] = START_CLOCK
    records[:, 1] = START_CLOCK + OVERHEAD_CYCLES + round(cycles)
    records[:, 2] = 3 | 7 << 32  # the upper half is never written


def set_results(instance: Instance) -> None:
    """Set what an instance's launches leave in memory, where its device is simulated."""
    if isinstance(instance.device, SimulatedDevice):
        results = {instance.addresses[name]: array for name, array in instance.job.wanted.items()}
        instance.device.set_results(results)
