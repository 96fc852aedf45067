"""What PyTorch and Triton find below ``warpwatt run``; loaded by ``startup/sitecustomize.py``.

PyTorch with CUDA runs as it is: our libraries are loaded before it looks for NVIDIA's. Where PyTorch was
built for the CPU alone, Triton finds a driver (``triton.backends.driver``) that takes tensors of the CPU:
what they hold is in managed memory, at the same addresses on both sides, while a kernel runs.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

RUNTIME = Path(__file__).parents[1] / "native" / "runtime"
"""Folder of our libraries under the names of NVIDIA's."""
CUDA_WHEEL = "install a wheel from https://download.pytorch.org/whl/cu130; no GPU or driver is needed"
LEFT = 64 << 20
"""Bytes that are written to push what L2 holds out of it: more than any L2 has."""
_ATTACH_GLOBAL = 1


class Device:
    """The CUDA driver that ``warpwatt run`` puts in front of NVIDIA's."""

    def __init__(self) -> None:
        # what Triton compiles needs libcuda.so.1 only where the linker keeps libraries that it sees no use of
        self._cuda = ctypes.CDLL("libwarpwatt_cuda.so", ctypes.RTLD_GLOBAL)
        self._call("cuInit", 0)
        context = ctypes.c_void_p()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self._call("cuCtxSetCurrent", context)
        self._scratch = 0

    def enter(self) -> None:
        """Stop the program's clock."""
        self._cuda.warpwatt_enter()

    def leave(self) -> None:
        """Let it go on."""
        self._cuda.warpwatt_leave()

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._cuda, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} returned {status}")

    def allocate(self, size: int) -> int:
        """Return the address of memory that both sides see."""
        address = ctypes.c_uint64()
        self._call("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(max(1, size)), _ATTACH_GLOBAL)
        return address.value

    def free(self, address: int) -> None:
        """Give memory back."""
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def synchronize(self) -> None:
        """Wait for what was launched."""
        self._call("cuCtxSynchronize")

    def flush(self) -> None:
        """Push what L2 holds out of it."""
        if not self._scratch:
            address = ctypes.c_uint64()
            self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(LEFT))
            self._scratch = address.value
        self._call("cuMemsetD8_v2", ctypes.c_uint64(self._scratch), 0, ctypes.c_size_t(LEFT))

    def event(self) -> ctypes.c_void_p:
        """Return an event that is recorded now."""
        made = ctypes.c_void_p()
        self._call("cuEventCreate", ctypes.byref(made), 0)
        self._call("cuEventRecord", made, None)
        return made

    def milliseconds(self, start: ctypes.c_void_p, end: ctypes.c_void_p) -> float:
        """Return the predicted time between two events."""
        found = ctypes.c_float()
        self._call("cuEventElapsedTime", ctypes.byref(found), start, end)
        return found.value


@contextmanager
def unseen(device: Device) -> Iterator[None]:
    """Do what is ours and not the program's: its clock stands still."""
    device.enter()
    try:
        yield
    finally:
        device.leave()


class Mirrors:
    """The storages of a launch's tensors, copied to memory that the device sees and back."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._free: dict[int, list[int]] = {}
        self._used: dict[int, tuple[int, int]] = {}

    def address(self, tensor: Any) -> int:
        """Return where the device finds what a tensor's data pointer points to."""
        storage = tensor.untyped_storage()
        host, size = storage.data_ptr(), storage.nbytes()
        if host not in self._used:
            kept = self._free.get(size)
            here = kept.pop() if kept else self._device.allocate(size)
            ctypes.memmove(here, host, size)
            self._used[host] = here, size
        return self._used[host][0] + int(tensor.data_ptr()) - int(host)

    def back(self) -> None:
        """Copy everything back, when the device is done."""
        for host, (here, size) in self._used.items():
            ctypes.memmove(host, here, size)
            self._free.setdefault(size, []).append(here)
        self._used.clear()


def driver_class(device: Device) -> Any:
    """Return the class of a driver of Triton that launches on our device."""
    nvidia = importlib.import_module("triton.backends.nvidia.driver")
    torch = importlib.import_module("torch")
    mirrors = Mirrors(device)

    class Launcher(nvidia.CudaLauncher):  # type: ignore[name-defined,misc]
        """Gives kernels the addresses that the device knows of."""

        def __call__(self, *arguments: Any) -> None:
            with unseen(device):
                given = [mirrors.address(one) if torch.is_tensor(one) else one for one in arguments]
                super().__call__(*given)
                device.synchronize()
                mirrors.back()

    class Driver(nvidia.CudaDriver):  # type: ignore[name-defined,misc]
        """Triton's driver for CUDA, on tensors of the CPU."""

        def __init__(self) -> None:
            self.utils = nvidia.CudaUtils()
            known = self.utils.get_device_properties
            self.utils.get_device_properties = lambda number: known(number or 0)
            self.launcher_cls = Launcher
            self.get_device_capability = lambda number=0: self.utils.get_device_capability(number or 0)
            self.get_current_stream = lambda _=0: 0
            self.get_current_device = lambda: 0
            self.set_current_device = lambda _: None

        @staticmethod
        def is_active() -> bool:
            return True

        def get_active_torch_device(self) -> Any:
            return torch.device("cpu")

        def get_device_interface(self) -> Any:
            return torch.cpu

        def get_benchmarker(self) -> Callable[..., Any]:
            return benchmark

        def get_empty_cache_for_benchmark(self) -> None:
            return None

        def clear_cache(self, _: Any) -> None:
            device.flush()

    def benchmark(
        fn: Callable[[], Any], *_: Any, quantiles: Sequence[float] | None = None, **others: Any
    ) -> Any:
        """Return the predicted milliseconds of a call, as what it needs is not in L2: the same every time."""
        with unseen(device):
            device.flush()
            start = device.event()
            fn()
            taken = device.milliseconds(start, device.event())
        if not taken:  # PyTorch's own work is done by the CPU
            begun = time.perf_counter()
            fn()
            taken = (time.perf_counter() - begun) * 1e3
        if quantiles is not None:
            return [taken] * len(quantiles)
        return [taken] if others.get("return_mode") == "all" else taken

    Driver.benchmark = staticmethod(benchmark)
    return Driver


def install() -> None:
    """Make our driver Triton's, where PyTorch was built without CUDA."""
    driver = driver_class(Device())
    importlib.import_module("triton.runtime.driver").driver.set_active(driver())
    testing: Any = importlib.import_module("triton.testing")
    testing.do_bench = driver.benchmark
    torch = importlib.import_module("torch")
    if not hasattr(torch.cpu, "set_stream"):
        torch.cpu.set_stream = lambda _: None


def has_cuda(torch: ModuleSpec) -> bool:
    """Return whether a PyTorch was built with CUDA."""
    places = torch.submodule_search_locations or []
    return any(Path(place, "lib", "libtorch_cuda.so").exists() for place in places)


def before_torch(spec: ModuleSpec) -> None:
    """Prepare for PyTorch, which is imported next."""
    if has_cuda(spec):
        load_libraries()
    else:
        sys.excepthook = partial(_explain, sys.excepthook)


def load_libraries() -> None:
    """Load our libraries: the loader looks for no file of a name that it has loaded already.

    PyTorch's libraries name the folders of NVIDIA's, which come before ``LD_LIBRARY_PATH``.
    """
    for file in sorted(RUNTIME.glob("lib*.so.[0-9]*")):
        ctypes.CDLL(str(file), ctypes.RTLD_GLOBAL)
    offset = ctypes.CDLL("libwarpwatt_cuda.so").warpwatt_clock_offset_ns
    offset.restype = ctypes.c_int64
    for name in ("time", "perf_counter", "monotonic"):
        setattr(time, name, _moved(getattr(time, name), offset, 1e-9))
        setattr(time, f"{name}_ns", _moved(getattr(time, f"{name}_ns"), offset, 1))


def after_torch() -> None:
    """Tell the device which blocks PyTorch's allocator gives away, and in the end what its statistics say."""
    torch = importlib.import_module("torch")
    without_cudnn(torch)
    traced = importlib.import_module("torch.cuda._gpu_trace")
    block = ctypes.CDLL("libwarpwatt_cuda.so").warpwatt_block
    traced.register_callback_for_memory_allocation(lambda at: block(ctypes.c_uint64(at), 1))
    traced.register_callback_for_memory_deallocation(lambda at: block(ctypes.c_uint64(at), 0))
    torch._C._activate_gpu_trace()
    atexit.register(_tell_statistics, torch)


def without_cudnn(torch: Any) -> None:
    """Let PyTorch use its own kernels in place of cuDNN's, which are closed.

    Convolutions unfold images and multiply (``im2col``, cuBLAS; ``conv_depthwise2d``), normalizations are
    ``batch_norm_*``, LSTM and GRU cells are products and ``_thnn_fused_*_cell``, attention is flash or
    memory-efficient, CTC loss and grid samples have kernels of ATen.
    """
    torch.backends.cudnn.enabled = False
    torch.backends.cuda.enable_cudnn_sdp(False)


def _tell_statistics(torch: Any) -> None:
    if torch.cuda.is_initialized():
        for name in ("max_memory_allocated", "max_memory_reserved"):
            report(f"torch.cuda.{name}", getattr(torch.cuda, name)())


def report(name: str, value: float) -> None:
    """Report a figure to the device."""
    ctypes.CDLL("libwarpwatt_cuda.so").warpwatt_report(f"{name}={value}".encode())


def _moved(clock: Callable[[], Any], offset: Callable[[], int], unit: float) -> Callable[[], Any]:
    """Return a clock that stands still while our device works, and goes on by the predicted times."""
    return lambda: clock() + offset() * unit


def _explain(known: Callable[..., None], kind: type, error: BaseException, trace: Any) -> None:
    """Say what an error of PyTorch means here."""
    if said := refusal(error):
        sys.stderr.write(f"{said}\n")
    else:
        known(kind, error, trace)


def refusal(error: BaseException) -> str:
    """Return what to tell where a script asked PyTorch for a GPU, empty where it failed by something else.

    ``torch.cuda`` looks for one, whatever asks: ``.cuda()``, ``.to("cuda")``, ``device="cuda"``.
    """
    places = [
        (f.f_globals.get("__name__", ""), f.f_code.co_filename, line)
        for f, line in walk_tb(error.__traceback__)
    ]
    if not any(name.split(".")[:2] == ["torch", "cuda"] for name, *_ in places):
        return ""
    file, line = [where for name, *where in places if name.partition(".")[0] != "torch"][-1]
    return (
        f"error: {file}:{line}: this PyTorch was built without CUDA ({' '.join(str(error).split())})\n"
        f"  fix: {CUDA_WHEEL}"
    )
