"""The board's sensors through NVML (``pynvml`` of the package nvidia-ml-py). Only reads, never sets."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import DeviceError
from warpwatt.lab.measure.device import Sample, State

if TYPE_CHECKING:
    from warpwatt.lab.measure.device import Clock

REASONS = {
    0x1: "gpu_idle",
    0x2: "applications_clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}
"""Bits of NVML's clocks event reasons (nvml.h, nvmlClocksEventReasons)."""


def reason_names(bits: int) -> tuple[str, ...]:
    """Return the names of the set bits; unknown ones by their value.

    >>> reason_names(0x204)
    ('sw_power_cap', 'reason_0x200')
    """
    values = [1 << position for position in range(bits.bit_length()) if bits >> position & 1]
    return tuple(REASONS.get(value, f"reason_{value:#x}") for value in values)


class NvmlSensors:
    """Sensors of one board. A reading that the board does not offer is None."""

    def __init__(self, uuid: str, clock: Clock) -> None:
        """Find the board by its UUID.

        Raises
        ------
        DeviceError
            If the package or the library is missing, or the board is not found.
        """
        try:
            pynvml = import_module("pynvml")  # only measuring needs it
        except ImportError:
            hint = "pip install nvidia-ml-py"
            raise DeviceError("the Python package nvidia-ml-py is missing", hint=hint) from None
        self._nvml: Any = pynvml
        self._clock = clock
        try:
            pynvml.nvmlInit()
            self._board = pynvml.nvmlDeviceGetHandleByUUID(uuid)
        except pynvml.NVMLError as error:
            raise DeviceError(f"no sensors: NVML says {error}") from None
        self._fields = (
            [pynvml.NVML_FI_DEV_POWER_INSTANT] if hasattr(pynvml, "NVML_FI_DEV_POWER_INSTANT") else []
        )

    def driver_version(self) -> str:
        """Return the driver's version."""
        version = self._nvml.nvmlSystemGetDriverVersion()
        return version.decode() if isinstance(version, bytes) else str(version)

    def state(self) -> State:
        """Read clocks, temperature and throttle reasons."""
        nvml, board = self._nvml, self._board
        reasons = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
        reasons = reasons or nvml.nvmlDeviceGetCurrentClocksThrottleReasons
        celsius = self._ask(nvml.nvmlDeviceGetTemperature, board, nvml.NVML_TEMPERATURE_GPU)
        return State(
            sm_clock=_scaled(self._ask(nvml.nvmlDeviceGetClockInfo, board, nvml.NVML_CLOCK_SM), 1e6),
            memory_clock=_scaled(self._ask(nvml.nvmlDeviceGetClockInfo, board, nvml.NVML_CLOCK_MEM), 1e6),
            temperature=_scaled(celsius, 1.0),
            throttle=reason_names(self._ask(reasons, board) or 0),
        )

    def sample(self) -> Sample:
        """Read the power sensors."""
        nvml, board = self._nvml, self._board
        time = self._clock.now()
        fields = self._ask(nvml.nvmlDeviceGetFieldValues, board, self._fields)
        instant = next((int(field.value.uiVal) for field in fields or () if field.nvmlReturn == 0), None)
        energy = self._ask(nvml.nvmlDeviceGetTotalEnergyConsumption, board)
        if instant is None:
            instant = self._ask(nvml.nvmlDeviceGetPowerUsage, board)
        return Sample(time, _scaled(instant, 1e-3), energy)

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except self._nvml.NVMLError:
            return None


def _scaled(value: int | None, factor: float) -> float | None:
    return None if value is None else value * factor
