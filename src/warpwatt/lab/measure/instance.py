"""A program's size on a device: its buffers, its launches, and how to begin again."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arguments import Buffer, Scalar
from warpwatt.core.errors import InputError
from warpwatt.core.program import Parameter
from warpwatt.lab.measure.comparison import Mismatch, find_mismatches
from warpwatt.lab.measure.corpus import buffers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.lab.measure.corpus import CorpusProgram, KernelLaunch
    from warpwatt.lab.measure.device import Action, Device
    from warpwatt.lab.measure.prepared import Code


READ_BACK = 64 * 2**20
"""Inputs larger than this are not read back to see that they are untouched: a second each, for what the
smaller sizes of the same kernels show too."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to run and what must come out.

    ``data`` says what the random floats of the inputs are: ``random``, or ``zeros`` in their place.
    ``wanted`` are the buffers that the launches change, as the reference says.
    """

    program: CorpusProgram
    size: str
    data: str
    inputs: Mapping[str, Any]
    wanted: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Runnable:
    """One launch of a size: ``run`` enqueues one execution, the program makes ``executions`` in a row."""

    index: int
    kernel: str
    executions: int
    run: Action


class Instance:
    """A job on a device, made by :func:`place_on_device`."""

    def __init__(self, device: Device, job: Job, addresses: Mapping[str, int]) -> None:
        self.device = device
        self.job = job
        self.addresses = addresses
        self.launches: tuple[Runnable, ...] = ()
        self.pristine: dict[str, int] = {}
        """Addresses of untouched copies of the buffers that the launches change."""
        self.restores = True
        """Whether a run needs what the one before it changed put back."""

    def restore(self) -> None:
        """Enqueue putting back every buffer that the launches change, where a run needs it."""
        if not self.restores:
            return
        for name, address in self.pristine.items():
            self.device.copy(self.addresses[name], address, self.job.inputs[name].nbytes)

    def actions(self) -> list[Action]:
        """Return what enqueues each execution of all launches, in order."""
        return [launch.run for launch in self.launches for _ in range(launch.executions)]

    def run(self) -> None:
        """Enqueue all launches in order."""
        for action in self.actions():
            action()

    def results(self, names: Iterable[str]) -> dict[str, NDArray[Any]]:
        """Wait, and return the named buffers."""
        found = {}
        for name in names:
            found[name] = np.empty_like(np.ascontiguousarray(self.job.inputs[name]))
            self.device.download(self.addresses[name], found[name])
        return found

    def mismatches(self) -> tuple[Mismatch, ...]:
        """Run once from the start and compare with the reference.

        Every buffer that should change is compared, and the others up to ``READ_BACK`` bytes: they must not
        have changed.

        Afterwards ``restores`` says whether later runs need the start again: they do not where every
        changed buffer began as zeros and a second run on top of the first gives the reference's result too.
        """
        job = self.job
        self.restore()
        self.run()
        read = [n for n in self.addresses if n in job.wanted or job.inputs[n].nbytes <= READ_BACK]
        wrong = find_mismatches(job.program, job.size, job.inputs, job.wanted, self.results(read))
        if not wrong and not any(job.inputs[name].any() for name in job.wanted):
            self.run()
            again = self.results(job.wanted)
            self.restores = bool(find_mismatches(job.program, job.size, job.inputs, job.wanted, again))
        return wrong


def device_bytes(job: Job) -> int:
    """Return the device memory in bytes that a job takes."""
    sizes = {name: buffer.nbytes for name, buffer in buffers(job.program.size(job.size))}
    return sum(sizes.values()) + sum(sizes[name] for name in job.wanted)


@contextmanager
def place_on_device(device: Device, job: Job, code: Code) -> Iterator[Instance]:
    """Put a job on a device; everything is freed again at the end.

    Raises
    ------
    InputError
        If an argument does not fit its parameter.
    DeviceError
        If the device refuses.
    """
    taken: list[int] = []

    def place(array: NDArray[Any]) -> int:
        taken.append(device.allocate(max(array.nbytes, 1)))
        device.upload(taken[-1], array)
        return taken[-1]

    module = device.load(code.cubin)
    try:
        names = [name for name, _ in buffers(job.program.size(job.size))]
        instance = Instance(device, job, {name: place(job.inputs[name]) for name in names})
        instance.pristine = {name: place(job.inputs[name]) for name in job.wanted}
        instance.launches = tuple(
            _runnable(instance, module, code, index, one)
            for index, one in enumerate(job.program.size(job.size).launches)
        )
        yield instance
        device.synchronise()
    finally:
        for address in taken:
            device.free(address)
        device.unload(module)


def _runnable(instance: Instance, module: Any, code: Code, index: int, one: KernelLaunch) -> Runnable:
    device, parameters = instance.device, code.parameters.get(one.kernel)
    if parameters is None:
        source = instance.job.program.source
        raise InputError(f"no kernel {one.kernel!r} in the machine code", file=source)
    names = {parameter.source_name for parameter in parameters}
    for name in set(one.launch.arguments) - names:
        _set_symbol(instance, module, name, one)
    values = tuple(_value(parameter, one, instance.addresses) for parameter in parameters)
    function = device.function(module, one.kernel)
    return Runnable(index, one.kernel, one.launch.repeats, device.launcher(function, one.launch, values))


def _set_symbol(instance: Instance, module: Any, name: str, one: KernelLaunch) -> None:
    """Give a constant of the module its value."""
    device, job, argument = instance.device, instance.job, one.launch.arguments[name]
    address, size = device.symbol(module, name)
    if isinstance(argument, Buffer):
        array = job.inputs[one.buffers[name]]
    else:
        array = np.array(argument.value, np.float32 if isinstance(argument.value, float) else np.int32)
    if array.nbytes > size:
        raise InputError(f"constant {name!r} has {size} bytes, not {array.nbytes}", file=job.program.source)
    device.upload(address, array)


def _value(parameter: Parameter, one: KernelLaunch, addresses: Mapping[str, int]) -> bytes:
    argument = one.launch.arguments.get(parameter.source_name)
    if argument is None:
        raise InputError(f"kernel {one.kernel!r}: nothing is passed for {parameter.source_name!r}")
    if isinstance(argument, Buffer):
        return struct.pack("<Q", addresses[one.buffers[parameter.source_name]])
    return scalar_bytes(parameter, argument)


def scalar_bytes(parameter: Parameter, scalar: Scalar) -> bytes:
    """Return a scalar as the bytes of its parameter.

    Raises
    ------
    InputError
        If the type is none of the plain ones, or the value does not fit.

    >>> from warpwatt.core.program import Parameter
    >>> scalar_bytes(Parameter("n", "u32", 4, 4), Scalar(-1)).hex()
    'ffffffff'
    """
    kind, value, size = parameter.type, scalar.value, parameter.size
    if kind in ("f32", "f64"):
        return struct.pack("<f" if kind == "f32" else "<d", value)
    whole = math.floor(value)
    if (
        kind[0] not in "usb"
        or size > 8
        or whole != value
        or not -(2 ** (8 * size - 1)) <= whole < 2 ** (8 * size)
    ):
        name = parameter.source_name or parameter.name
        raise InputError(f"cannot pass {value!r} for parameter {name!r} of type {kind} ({size} bytes)")
    return (whole & (1 << 8 * size) - 1).to_bytes(size, "little")
