"""Stand-ins for ``cuda.bindings.driver`` and ``pynvml`` that note every call."""

from __future__ import annotations

import ctypes
import sys
import types
from enum import IntEnum

import numpy as np


class Result(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


class Names:
    """Any attribute is its own name; the value of an enum member is 1."""

    def __getattr__(self, name):
        return type("Member", (str,), {"value": 1})(name)


class Anything:
    """Takes any attribute; ``value.clusterDim`` exists."""

    def __init__(self):
        self.__dict__["value"] = types.SimpleNamespace(clusterDim=types.SimpleNamespace())


ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "MULTIPROCESSOR_COUNT": 132,
    "L2_CACHE_SIZE": 2**20,
}


class FakeDriver(types.ModuleType):
    """Host memory for device memory; events are a counter of milliseconds that every launch moves on."""

    CUresult = Result
    CUdevice_attribute = CUfunction_attribute = CUstreamCaptureMode = CUlaunchAttributeID = Names()
    CUstream_flags = Names()
    CUlaunchConfig = CUlaunchAttribute = Anything

    def __init__(self):
        super().__init__("cuda.bindings.driver")
        self.calls, self.errors, self.memory = [], {}, {}
        self.milliseconds = 0.0
        self.launched = []
        self.ready = True

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)

        def call(*arguments):
            self.calls.append((name, arguments))
            if name in self.errors:
                return (self.errors[name],)
            result = getattr(self, f"do_{name}", lambda *_: ())(*arguments)
            return (Result.CUDA_SUCCESS, *(result if isinstance(result, tuple) else (result,)))

        return call

    def do_cuDeviceGetCount(self):
        return 1

    def do_cuDeviceGet(self, index):
        return index

    def do_cuDevicePrimaryCtxRetain(self, device):
        return f"context {device}"

    def do_cuStreamCreate(self, flags):
        return "stream"

    def do_cuDeviceGetUuid(self, device):
        return types.SimpleNamespace(bytes=bytes(range(16)))

    def do_cuDriverGetVersion(self):
        return 13010

    def do_cuDeviceGetName(self, length, device):
        return b"NVIDIA Fake" + b"\0" * (length - 11)

    def do_cuDeviceGetAttribute(self, attribute, device):
        return ATTRIBUTES[str(attribute).removeprefix("CU_DEVICE_ATTRIBUTE_")]

    def do_cuMemGetInfo(self):
        return 2**30, 2**31

    def do_cuMemAlloc(self, size):
        array = np.zeros(size, np.uint8)
        self.memory[array.ctypes.data] = array
        return array.ctypes.data

    def do_cuMemHostAlloc(self, size, flags):
        self.host = getattr(self, "host", {})
        block = (ctypes.c_uint8 * size)()
        self.host[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def do_cuMemFreeHost(self, address):
        del self.host[address]
        return ()

    def do_cuMemFree(self, address):
        del self.memory[address]
        return ()

    def do_cuMemcpyHtoDAsync(self, target, source, size, stream):
        ctypes.memmove(target, source, size)
        return ()

    def do_cuMemcpyDtoHAsync(self, *arguments):
        return self.do_cuMemcpyHtoDAsync(*arguments)

    def do_cuMemcpyDtoDAsync(self, *arguments):
        return self.do_cuMemcpyHtoDAsync(*arguments)

    def do_cuMemsetD8Async(self, address, value, size, stream):
        assert self.memory[address].size >= size
        self.milliseconds += 0.01
        return ()

    def do_cuModuleLoadData(self, image):
        return image

    def do_cuModuleGetFunction(self, module, name):
        return name.decode()

    def do_cuModuleGetGlobal(self, module, name):
        return self.do_cuMemAlloc(64), 64

    def do_cuLaunchKernel(self, function, *rest):
        *shape, _stream, parameters, _extra = rest
        self.launched.append((function, tuple(shape), parameters))
        self.milliseconds += 2.0
        return ()

    def do_cuLaunchKernelEx(self, config, function, parameters, extra):
        self.launched.append((function, config, parameters))
        return ()

    def do_cuStreamEndCapture(self, stream):
        return "graph"

    def do_cuGraphInstantiate(self, graph, flags):
        return "executable"

    def do_cuEventCreate(self, flags):
        return types.SimpleNamespace(time=None)

    def do_cuEventRecord(self, event, stream):
        event.time = self.milliseconds
        return ()

    def cuEventQuery(self, event):
        return (Result.CUDA_SUCCESS if self.ready else Result.CUDA_ERROR_NOT_READY,)

    def do_cuEventElapsedTime(self, start, stop):
        return stop.time - start.time

    def do_cuGetErrorString(self, error):
        return b"as the driver says"


READINGS = {
    "nvmlInit": None,
    "nvmlDeviceGetHandleByUUID": "board",
    "nvmlSystemGetDriverVersion": "580.1",
    "nvmlDeviceGetTemperature": 41,
    "nvmlDeviceGetCurrentClocksEventReasons": 0x41,
    "nvmlDeviceGetTotalEnergyConsumption": 123456,
    "nvmlDeviceGetPowerUsage": 250_000,
}


class FakeNvml(types.ModuleType):
    """One board; ``missing`` names functions that it does not support."""

    class NVMLError(Exception):
        pass

    NVML_FI_DEV_POWER_INSTANT, NVML_FI_DEV_POWER_AVERAGE = 186, 185
    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    def __init__(self):
        super().__init__("pynvml")
        self.calls, self.missing, self.failing_fields = [], set(), False

    def __getattr__(self, name):
        if not name.startswith("nvml"):
            raise AttributeError(name)

        def call(*arguments):
            self.calls.append((name, arguments))
            if name in self.missing:
                raise self.NVMLError(name)
            if name == "nvmlDeviceGetClockInfo":
                return {1: 1980, 2: 3201}[arguments[1]]
            if name == "nvmlDeviceGetFieldValues":
                return [self._field(number) for number in arguments[1]]
            return READINGS[name]

        return call

    def _field(self, number):
        value = types.SimpleNamespace(uiVal={186: 300_500, 185: 299_000}[number])
        return types.SimpleNamespace(nvmlReturn=3 if self.failing_fields else 0, value=value)


def install(monkeypatch):
    """Put both in place of the real packages; return them."""
    driver, nvml = FakeDriver(), FakeNvml()
    bindings, cuda = types.ModuleType("cuda.bindings"), types.ModuleType("cuda")
    vars(bindings)["driver"], vars(cuda)["bindings"] = driver, bindings
    modules = {"cuda": cuda, "cuda.bindings": bindings, "cuda.bindings.driver": driver, "pynvml": nvml}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return driver, nvml
