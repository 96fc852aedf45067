"""What measuring needs of a GPU: one small protocol, met by the CUDA driver and by a simulation.

Everything a device enqueues goes to one stream, in order. Addresses are plain integers; functions and
events are the device's own and opaque. Times are in seconds, clocks in Hz, power in W.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from warpwatt.core.errors import DeviceError
from warpwatt.core.launch import Launch

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray


Action = Callable[[], None]
"""Something that enqueues work when called."""


class DeviceLostError(DeviceError):
    """The device answers no more: only a new process can use it again (exit code 3)."""


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """Which device this is; ``uuid_hash`` tells boards apart without naming them."""

    name: str
    uuid_hash: str
    driver: str
    target: str
    sm_count: int
    l2_bytes: int
    memory_bytes: int

    @property
    def slug(self) -> str:
        """The name as a folder's name.

        >>> DeviceInfo("NVIDIA A100-SXM4-80GB", "", "", "sm_80", 108, 0, 0).slug
        'a100-sxm4-80gb'
        """
        words = "".join(c if c.isalnum() else " " for c in self.name.lower()).split()
        return "-".join(word for word in words if word not in ("nvidia", "geforce")) or "unnamed"


@dataclass(frozen=True, slots=True)
class State:
    """Clocks (Hz), temperature (°C) and throttle reasons at one moment; None: no answer."""

    sm_clock: float | None = None
    memory_clock: float | None = None
    temperature: float | None = None
    throttle: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """Power at one moment; None: no answer.

    Attributes
    ----------
    time
        When the sensors were asked, on the device's clock.
    instant
        The board's instant power in W.
    energy_mj
        The total-energy counter as it stands, in mJ; it may wrap.
    """

    time: float
    instant: float | None = None
    energy_mj: int | None = None


class Clock(Protocol):
    """Host time."""

    def now(self) -> float:
        """Return seconds since an arbitrary start; never goes back."""

    def sleep(self, seconds: float) -> None:
        """Wait."""

    def utc(self) -> datetime:
        """Return the date and time in UTC."""


class Sensors(Protocol):
    """What the board says about itself. Reading never changes a setting."""

    def state(self) -> State:
        """Read clocks, temperature and throttle reasons."""

    def sample(self) -> Sample:
        """Read the power sensors."""


class Device(Protocol):
    """A GPU. Every method raises DeviceError if the driver refuses, DeviceLostError if it is gone."""

    @property
    def info(self) -> DeviceInfo:
        """Which device it is."""

    @property
    def clock(self) -> Clock:
        """The time it lives in."""

    @property
    def sensors(self) -> Sensors:
        """What the board says about itself."""

    def load(self, cubin: bytes) -> Any:
        """Load machine code; return the module."""

    def unload(self, module: Any) -> None:
        """Drop a module."""

    def function(self, module: Any, name: str) -> Any:
        """Return a kernel of a module by its name in the machine code."""

    def symbol(self, module: Any, name: str) -> tuple[int, int]:
        """Return address and size in bytes of a module's variable."""

    def allocate(self, nbytes: int) -> int:
        """Return the address of new device memory."""

    def free(self, address: int) -> None:
        """Give memory back."""

    def upload(self, address: int, array: NDArray[Any]) -> None:
        """Copy an array to the device and wait."""

    def download(self, address: int, array: NDArray[Any]) -> None:
        """Wait for all work, then fill a contiguous array from the device."""

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Enqueue a copy within the device."""

    def fill(self, address: int, value: int, nbytes: int) -> None:
        """Enqueue setting bytes to a value."""

    def launcher(self, function: Any, launch: Launch, arguments: tuple[bytes, ...]) -> Action:
        """Return an action that enqueues one launch (``launch.repeats`` is the caller's business).

        ``arguments`` are the parameters' bytes in order.
        """

    def graph(self, enqueue: Action) -> Action:
        """Record what ``enqueue`` enqueues; return an action that enqueues all of it at once."""

    def event(self) -> Any:
        """Return a new event."""

    def record(self, event: Any) -> None:
        """Enqueue a time stamp."""

    def reached(self, event: Any) -> bool:
        """Whether the work before the event's last record is done."""

    def elapsed(self, start: Any, stop: Any) -> float:
        """Return the seconds between two events that were reached."""

    def synchronise(self) -> None:
        """Wait for all work."""

    def flush_l2(self) -> None:
        """Enqueue writing a buffer of twice the L2 cache."""

    def keep_busy(self, seconds: float) -> None:
        """Enqueue work that keeps the device busy at least so long, while the host enqueues what follows.

        It evicts the L2 cache.
        """

    def close(self) -> None:
        """Release everything."""
