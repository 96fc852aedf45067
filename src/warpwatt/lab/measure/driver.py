"""A real device through the CUDA driver API (``cuda.bindings.driver``).

Nothing here changes clocks, power limit, persistence mode or any other setting of the board.
"""

from __future__ import annotations

import ctypes
import math
import time
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import DeviceError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.lab.measure.device import Action, DeviceInfo, DeviceLostError
from warpwatt.lab.measure.nvml import NvmlSensors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.lab.measure.device import Sensors

MODULE = "cuda.bindings.driver"
FLUSHES_TIMED = 20
LOST = frozenset(
    {
        "CUDA_ERROR_DEVICE_UNAVAILABLE",
        "CUDA_ERROR_ECC_UNCORRECTABLE",
        "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
        "CUDA_ERROR_ASSERT",
        "CUDA_ERROR_HARDWARE_STACK_ERROR",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "CUDA_ERROR_INVALID_PC",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_TENSOR_MEMORY_LEAK",
        "CUDA_ERROR_EXTERNAL_DEVICE",
        "CUDA_ERROR_UNKNOWN",
    }
)
"""Errors after which every call of the process fails."""


class HostClock:
    """Real time."""

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def utc(self) -> datetime:
        """Return the date."""
        return datetime.now(UTC)


class _Api:
    """The driver's functions, every return code checked: ``api("cuMemAlloc", 16)`` returns the address."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.success = module.CUresult.CUDA_SUCCESS

    def __call__(self, name: str, *arguments: Any) -> Any:
        error, *values = getattr(self.module, name)(*arguments)
        if error != self.success:
            raise self.failure(name, error)
        return values[0] if len(values) == 1 else tuple(values)

    def failure(self, name: str, error: Any) -> DeviceError:
        """Return the exception for a return code."""
        code = getattr(error, "name", str(error))
        text = ""
        with suppress(Exception):
            text = self.module.cuGetErrorString(error)[1].decode()
        kind = DeviceLostError if code in LOST else DeviceError
        return kind(f"{name}: {code}" + (f" ({text})" if text else ""))


def bindings() -> Any:
    """Return ``cuda.bindings.driver`` with the driver initialised.

    Raises
    ------
    DeviceError
        Saying what is missing: the Python package, the driver, or a device.
    """
    hint = "measuring needs an NVIDIA GPU, its driver, and: pip install cuda-bindings nvidia-ml-py"
    try:
        driver = import_module(MODULE)  # only measuring needs it
    except ImportError as error:
        raise DeviceError(f"the Python package cuda-bindings is missing ({error})", hint=hint) from None
    try:
        (error_code,) = driver.cuInit(0)
    except Exception as error:  # noqa: BLE001 - what is raised without a driver differs between versions of the package
        reason = str(error).splitlines()[0] if str(error) else repr(error)
        raise DeviceError(f"no NVIDIA driver: {reason}", hint=hint) from None
    if error_code != driver.CUresult.CUDA_SUCCESS:
        raise DeviceError(f"no usable NVIDIA GPU: {_Api(driver).failure('cuInit', error_code)}", hint=hint)
    return driver


class CudaDevice:
    """A GPU (see :class:`~warpwatt.lab.measure.device.Device` for the methods)."""

    def __init__(self, index: int = 0) -> None:
        """Open a device by its number.

        Raises
        ------
        DeviceError
            If there is no such device, or driver, bindings or sensors are missing.
        """
        self._cu = bindings()
        self._api = _Api(self._cu)
        count = self._api("cuDeviceGetCount")
        if not 0 <= index < count:
            raise DeviceError(f"no GPU {index}: the driver sees {count}")
        self._number = self._api("cuDeviceGet", index)
        self.clock = HostClock()
        begun = self.clock.now()
        self._api("cuCtxSetCurrent", self._api("cuDevicePrimaryCtxRetain", self._number))
        self.context_seconds = self.clock.now() - begun
        self._pinned: list[int] = []
        self._stream = self._api("cuStreamCreate", self._cu.CUstream_flags.CU_STREAM_NON_BLOCKING.value)
        uuid = _uuid_text(bytes(self._api("cuDeviceGetUuid", self._number).bytes))
        nvml = NvmlSensors(uuid, self.clock)
        self.sensors: Sensors = nvml
        self.info = self._describe(uuid, nvml.driver_version())
        self._flush_bytes = max(2 * self.info.l2_bytes, 2**20)
        self._flush = self.allocate(self._flush_bytes)
        self._flush_seconds = self._time_flush()

    def _describe(self, uuid: str, driver: str) -> DeviceInfo:
        attribute = self._cu.CUdevice_attribute
        cuda = self._api("cuDriverGetVersion")

        def ask(name: str) -> int:
            return int(
                self._api(
                    "cuDeviceGetAttribute", getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), self._number
                )
            )

        name = self._api("cuDeviceGetName", 256, self._number)
        return DeviceInfo(
            name=name.split(b"\0")[0].decode(),
            uuid_hash=sha256(uuid.encode()).hexdigest()[:12],
            driver=f"{driver} CUDA {cuda // 1000}.{cuda % 1000 // 10}",
            target=f"sm_{ask('COMPUTE_CAPABILITY_MAJOR')}{ask('COMPUTE_CAPABILITY_MINOR')}",
            sm_count=ask("MULTIPROCESSOR_COUNT"),
            l2_bytes=ask("L2_CACHE_SIZE"),
            memory_bytes=int(self._api("cuMemGetInfo")[0]),
        )

    def _time_flush(self) -> float:
        """Return the seconds of one flush, so that ``keep_busy`` knows how many it needs."""
        start, stop = self.event(), self.event()
        self.flush_l2()
        self.record(start)
        for _ in range(FLUSHES_TIMED):
            self.flush_l2()
        self.record(stop)
        self.synchronise()
        return max(self.elapsed(start, stop) / FLUSHES_TIMED, 1e-6)

    def load(self, cubin: bytes) -> Any:
        """Load machine code."""
        return self._api("cuModuleLoadData", cubin)

    def unload(self, module: Any) -> None:
        """Drop a module; a device that is lost has dropped it already."""
        with suppress(DeviceError):
            self._api("cuModuleUnload", module)

    def function(self, module: Any, name: str) -> Any:
        """Return a kernel."""
        return self._api("cuModuleGetFunction", module, name.encode())

    def symbol(self, module: Any, name: str) -> tuple[int, int]:
        """Return address and size of a variable."""
        address, size = self._api("cuModuleGetGlobal", module, name.encode())
        return int(address), int(size)

    def allocate(self, nbytes: int) -> int:
        """Return new memory."""
        return int(self._api("cuMemAlloc", nbytes))

    def free(self, address: int) -> None:
        """Give memory back; a device that is lost has taken it already."""
        with suppress(DeviceError):
            self._api("cuMemFree", address)

    def pinned(self, nbytes: int) -> NDArray[Any]:
        """Return page-locked host memory; it is released when the device is closed."""
        address = int(self._api("cuMemHostAlloc", nbytes, 0))
        self._pinned.append(address)
        memory: NDArray[Any] = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))
        return memory

    def upload(self, address: int, array: NDArray[Any]) -> None:
        """Copy an array to the device and wait."""
        if not array.nbytes:
            return
        raw = array if array.flags.c_contiguous else array.copy(order="C")
        self._api("cuMemcpyHtoDAsync", address, raw.ctypes.data, raw.nbytes, self._stream)
        self.synchronise()

    def download(self, address: int, array: NDArray[Any]) -> None:
        """Wait, then fill a contiguous array."""
        if array.nbytes:
            self._api("cuMemcpyDtoHAsync", array.ctypes.data, address, array.nbytes, self._stream)
        self.synchronise()

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Enqueue a copy within the device."""
        if nbytes:
            self._api("cuMemcpyDtoDAsync", target, source, nbytes, self._stream)

    def fill(self, address: int, value: int, nbytes: int) -> None:
        """Enqueue setting bytes."""
        self._api("cuMemsetD8Async", address, value, nbytes, self._stream)

    def launcher(self, function: Any, launch: Launch, arguments: tuple[bytes, ...]) -> Action:
        """Return an action that enqueues one launch."""
        self._allow(function, launch)
        values = [ctypes.create_string_buffer(value, len(value)) for value in arguments]
        pointers = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(value) for value in values))
        address = ctypes.addressof(pointers)
        start, success, failure = self._starter(function, launch), self._api.success, self._api.failure

        def run(keep: Any = (values, pointers)) -> None:  # keeps the arguments' memory alive
            del keep
            (error,) = start(address)
            if error != success:
                raise failure("cuLaunchKernel", error)

        return run

    def _starter(self, function: Any, launch: Launch) -> Any:
        """Return a function from the address of the arguments to the driver's return code."""
        grid, block = _extents(launch.grid), _extents(launch.block)
        if launch.cluster.count == 1 and not launch.cooperative:
            plain, shared, stream = self._cu.cuLaunchKernel, launch.dynamic_shared, self._stream
            return lambda address: plain(function, *grid, *block, shared, stream, address, 0)
        config, extended = self._configuration(launch), self._cu.cuLaunchKernelEx
        return lambda address: extended(config, function, address, 0)

    def _configuration(self, launch: Launch) -> Any:
        config = self._cu.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = _extents(launch.grid)
        config.blockDimX, config.blockDimY, config.blockDimZ = _extents(launch.block)
        config.sharedMemBytes = launch.dynamic_shared
        config.hStream = self._stream
        config.attrs = self._attributes(launch)
        config.numAttrs = len(config.attrs)
        return config

    def _attributes(self, launch: Launch) -> list[Any]:
        ids, attributes = self._cu.CUlaunchAttributeID, []
        if launch.cluster.count > 1:
            attributes.append(self._cu.CUlaunchAttribute())
            attributes[-1].id = ids.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            cluster = attributes[-1].value.clusterDim
            cluster.x, cluster.y, cluster.z = _extents(launch.cluster)
        if launch.cooperative:
            attributes.append(self._cu.CUlaunchAttribute())
            attributes[-1].id = ids.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            attributes[-1].value.cooperative = 1
        return attributes

    def _allow(self, function: Any, launch: Launch) -> None:
        """Ask for what a launch needs beyond the default: much shared memory, a carve-out."""
        attribute = self._cu.CUfunction_attribute
        if launch.dynamic_shared:
            name = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._api("cuFuncSetAttribute", function, name, launch.dynamic_shared)
        if launch.carveout is not None:
            name = attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
            self._api("cuFuncSetAttribute", function, name, launch.carveout)

    def graph(self, enqueue: Action) -> Action:
        """Record a graph; return what replays it."""
        mode = self._cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self._api("cuStreamBeginCapture", self._stream, mode)
        try:
            enqueue()
        finally:
            recorded = self._api("cuStreamEndCapture", self._stream)
        replayed = _Handle(self._api, self._api("cuGraphInstantiate", recorded, 0), "cuGraphExecDestroy")
        self._api("cuGraphDestroy", recorded)
        return lambda: self._api("cuGraphLaunch", replayed.handle, self._stream)

    def event(self) -> Any:
        """Return a new event."""
        return _Handle(self._api, self._api("cuEventCreate", 0), "cuEventDestroy")

    def record(self, event: Any) -> None:
        """Enqueue a time stamp."""
        self._api("cuEventRecord", event.handle, self._stream)

    def reached(self, event: Any) -> bool:
        """Whether an event is behind us."""
        (error,) = self._cu.cuEventQuery(event.handle)
        if error == self._cu.CUresult.CUDA_ERROR_NOT_READY:
            return False
        if error != self._api.success:
            raise self._api.failure("cuEventQuery", error)
        return True

    def elapsed(self, start: Any, stop: Any) -> float:
        """Return seconds; the driver counts milliseconds."""
        return float(self._api("cuEventElapsedTime", start.handle, stop.handle)) * 1e-3

    def synchronise(self) -> None:
        """Wait for the stream."""
        self._api("cuStreamSynchronize", self._stream)

    def flush_l2(self) -> None:
        """Enqueue writing twice the L2 cache."""
        self._api("cuMemsetD8Async", self._flush, 0, self._flush_bytes, self._stream)

    def keep_busy(self, seconds: float) -> None:
        """Enqueue as many flushes as take so long."""
        for _ in range(math.ceil(seconds / self._flush_seconds)):
            self.flush_l2()

    def close(self) -> None:
        """Release buffer, stream and context; a lost device has nothing left to release."""
        self.free(self._flush)
        for address in self._pinned:
            with suppress(DeviceError):
                self._api("cuMemFreeHost", address)
        with suppress(DeviceError):
            self._api("cuStreamDestroy", self._stream)
            self._api("cuDevicePrimaryCtxRelease", self._number)


class _Handle:
    """An object of the driver's that is destroyed with its last reference."""

    def __init__(self, api: _Api, handle: Any, destroy: str) -> None:
        self._api, self.handle, self._destroy = api, handle, destroy

    def __del__(self) -> None:
        with suppress(Exception):  # at exit the driver may be gone before us
            self._api(self._destroy, self.handle)


def _extents(dim: Dim3) -> tuple[int, int, int]:
    return dim.x, dim.y, dim.z


def _uuid_text(raw: bytes) -> str:
    """Write a UUID as NVML does.

    >>> _uuid_text(bytes(range(16)))
    'GPU-00010203-0405-0607-0809-0a0b0c0d0e0f'
    """
    text = raw.hex()
    return "GPU-" + "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
