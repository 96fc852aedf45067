"""The real device's code, run against stand-ins: what it asks of the driver, and how it fails."""

from __future__ import annotations

import ctypes
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

import warpwatt
from warpwatt.core.errors import DeviceError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.lab.measure.bench import Bench
from warpwatt.lab.measure.device import DeviceInfo, DeviceLostError, State
from warpwatt.lab.measure.driver import FLUSHES_TIMED, CudaDevice, bindings
from warpwatt.lab.measure.points import TimePoint
from warpwatt.lab.measure.prepared import Unprepared
from warpwatt.lab.measure.protocol import Mode, Settings
from warpwatt.lab.measure.supply import make_job
from warpwatt.lab.measure.timing import Stopwatch

from .fake_cuda import READINGS, Result, install


@pytest.fixture
def fakes(monkeypatch):
    return install(monkeypatch)


@pytest.fixture
def device(fakes):
    opened = CudaDevice()
    yield opened
    opened.close()


def test_what_the_device_says_of_itself(device, fakes):
    hashed = device.info.uuid_hash
    assert re.fullmatch(r"[0-9a-f]{12}", hashed)
    want = DeviceInfo("NVIDIA Fake", hashed, "580.1 CUDA 13.1", "sm_90", 132, 2**20, 2**30)
    assert device.info == want
    assert fakes[1].calls[1] == (
        "nvmlDeviceGetHandleByUUID",
        ("GPU-00010203-0405-0607-0809-0a0b0c0d0e0f",),
    )


def test_memory_goes_there_and_back(device):
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    address, other = device.allocate(array.nbytes), device.allocate(array.nbytes)
    device.upload(address, array.T)
    device.copy(other, address, array.nbytes)
    found = np.empty((6, 4), np.float32)
    device.download(other, found)
    assert (found == array.T).all()
    device.free(address)


def test_page_locked_memory_is_copied_from_and_released(device, fakes):
    host = device.pinned(64)
    host[:] = np.arange(64)
    address, back = device.allocate(64), np.zeros(64, np.uint8)
    device.upload(address, host)
    device.download(address, back)
    assert (back == host).all()
    held = fakes[0].host
    assert len(held) == 1
    other = CudaDevice()
    other.pinned(8)
    other.close()
    assert len(held) == 1


def test_opening_the_context_is_timed(device):
    assert device.context_seconds >= 0


def test_launch_passes_shape_and_arguments(device, fakes):
    driver = fakes[0]
    function = device.function(device.load(b"code"), "kernel")
    launch = Launch(Dim3(3, 2), Dim3(64, 1, 2), dynamic_shared=70000, carveout=50)
    run = device.launcher(function, launch, (struct.pack("<I", 77), struct.pack("<Q", 2**40)))
    run()
    name, shape, parameters = driver.launched[-1]
    assert (name, shape) == ("kernel", (3, 2, 1, 64, 1, 2, 70000))
    pointers = ctypes.cast(parameters, ctypes.POINTER(ctypes.c_void_p))
    assert ctypes.cast(pointers[0], ctypes.POINTER(ctypes.c_uint32))[0] == 77
    assert ctypes.cast(pointers[1], ctypes.POINTER(ctypes.c_uint64))[0] == 2**40
    set_ = [(str(a[1]), a[2]) for name, a in driver.calls if name == "cuFuncSetAttribute"]
    assert set_ == [
        ("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", 70000),
        ("CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT", 50),
    ]


def test_clusters_are_launch_attributes(device, fakes):
    device.launcher("kernel", Launch(Dim3(4), Dim3(32), cluster=Dim3(2), cooperative=True), ())()
    _, config, _ = fakes[0].launched[-1]
    assert (config.gridDimX, config.blockDimX, config.numAttrs) == (4, 32, 2)
    cluster, cooperative = config.attrs
    assert (str(cluster.id), cluster.value.clusterDim.x) == ("CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION", 2)
    assert cooperative.value.cooperative == 1


def test_events_in_seconds(device, fakes):
    start, stop = device.event(), device.event()
    device.record(start)
    device.launcher("kernel", Launch(Dim3(1), Dim3(32)), ())()
    device.record(stop)
    assert device.elapsed(start, stop) == pytest.approx(2e-3)
    assert device.reached(stop)
    fakes[0].ready = False
    assert not device.reached(stop)


def test_flush_writes_twice_the_l2_and_hold_lasts(device, fakes):
    driver = fakes[0]
    flushes = [a for name, a in driver.calls if name == "cuMemsetD8Async"]
    assert len(flushes) == FLUSHES_TIMED + 1
    assert {a[2] for a in flushes} == {2 * 2**20}
    before = driver.milliseconds
    device.keep_busy(1e-3)
    assert driver.milliseconds - before >= 1.0 - 1e-9


def test_graphs_record_once_and_replay(device, fakes):
    driver = fakes[0]
    run = device.launcher("kernel", Launch(Dim3(1), Dim3(32)), ())
    replay = device.graph(lambda: [run() for _ in range(3)])
    launched = len(driver.launched)
    replay()
    replay()
    names = [name for name, _ in driver.calls]
    assert (names.count("cuGraphLaunch"), names.count("cuGraphInstantiate")) == (2, 1)
    assert len(driver.launched) == launched == 3
    del replay
    assert [name for name, _ in driver.calls][-1] == "cuGraphExecDestroy"


def test_errors_say_what_and_whether_the_device_is_lost(device, fakes):
    driver = fakes[0]
    driver.errors["cuMemAlloc"] = Result.CUDA_ERROR_OUT_OF_MEMORY
    with pytest.raises(
        DeviceError, match=r"cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY \(as the driver says\)"
    ) as caught:
        device.allocate(16)
    assert not isinstance(caught.value, DeviceLostError)
    run = device.launcher("kernel", Launch(Dim3(1), Dim3(32)), ())
    for name, act in (("cuLaunchKernel", run), ("cuStreamSynchronize", device.synchronise)):
        driver.errors[name] = Result.CUDA_ERROR_ILLEGAL_ADDRESS
        with pytest.raises(DeviceLostError, match=name):
            act()
    driver.errors.update(cuModuleUnload=Result.CUDA_ERROR_ILLEGAL_ADDRESS)
    device.unload("module")


def test_everything_is_released(fakes):
    driver = fakes[0]
    opened = CudaDevice()
    opened.close()
    names = [name for name, _ in driver.calls]
    assert names.count("cuEventCreate") == names.count("cuEventDestroy")
    assert (names.count("cuStreamDestroy"), names.count("cuDevicePrimaryCtxRelease")) == (1, 1)
    assert not driver.memory


def test_a_point_runs_through_the_real_code(device, fakes, corpus, files, monkeypatch):
    monkeypatch.setattr("warpwatt.lab.measure.instance.Instance.mismatches", lambda self: ())
    bench = Bench(device, Unprepared(), Settings(), 0, Stopwatch(device))
    point = TimePoint(corpus.program("two"), "small")
    groups = list(point.measure(bench, files, make_job(point.order)))
    assert [group.protocol for group in groups] == [mode.value for mode in Mode]
    times = [row["time_s"] for group in groups for row in group.rows]
    assert times == pytest.approx([2e-3] * 4)


def test_sensors(device, fakes):
    nvml = fakes[1]
    assert device.sensors.state() == State(1.98e9, 3.201e9, 41.0, ("gpu_idle", "hw_thermal_slowdown"))
    sample = device.sensors.sample()
    assert (sample.instant, sample.energy_mj) == (300.5, 123456)
    nvml.failing_fields = True
    assert device.sensors.sample().instant == 250.0
    nvml.missing = {n for n in READINGS if "Get" in n} | {
        "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetFieldValues",
    }
    assert device.sensors.state() == State()
    sample = device.sensors.sample()
    assert (sample.instant, sample.energy_mj) == (None, None)


def test_what_is_missing_is_named(monkeypatch, fakes):
    driver, nvml = fakes
    with pytest.raises(DeviceError, match="no GPU 3: the driver sees 1"):
        CudaDevice(3)
    nvml.missing = {"nvmlDeviceGetHandleByUUID"}
    with pytest.raises(DeviceError, match="no sensors"):
        CudaDevice()
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(DeviceError, match="nvidia-ml-py is missing") as caught:
        CudaDevice()
    assert (caught.value.exit_code, caught.value.hint) == (3, "pip install nvidia-ml-py")
    driver.errors["cuInit"] = Result.CUDA_ERROR_NO_DEVICE
    with pytest.raises(DeviceError, match=r"no usable NVIDIA GPU: cuInit: CUDA_ERROR_NO_DEVICE"):
        bindings()
    monkeypatch.setattr(driver, "cuInit", lambda flags: 1 / 0, raising=False)
    with pytest.raises(DeviceError, match="no NVIDIA driver: division by zero"):
        bindings()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    with pytest.raises(DeviceError, match="cuda-bindings is missing"):
        bindings()


def test_no_setting_of_the_board_is_ever_changed():
    folder = Path(warpwatt.__file__).parent / "measure"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    assert not re.findall(r"nvml\w*(?:Set|Reset|Clear)\w*|nvidia-smi|cuDevicePrimaryCtxReset", text)
