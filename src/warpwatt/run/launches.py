"""A launch as the runtime is asked for it: its parameters are bytes, its buffers lie in the arena."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arguments import Argument, Buffer, DType, Fill, Scalar
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.arena import ARENA
from warpwatt.emulate.context import load_parameters
from warpwatt.emulate.layout import parameter_offsets, relaid
from warpwatt.emulate.textures import AddressMode, ChannelKind, Texture
from warpwatt.run.codes import LaunchFlag, TextureFlag
from warpwatt.run.memory import device_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.prediction import Prediction
    from warpwatt.core.program import Kernel, Parameter, Program
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Context
    from warpwatt.program.binding import BoundLaunch
    from warpwatt.run import protocol
    from warpwatt.run.memory import Allocations, Arena

_POINTER_BYTES = 8
LINE = 512
"""Bytes within which the place of a pointer matters: a multiple of all lines, what allocators align to."""
Touched = tuple[tuple[int, int, float], ...]
"""Number in :attr:`Request.blocks`, or -1, address and bytes of each allocation that a launch touches."""
_FLOATS = {"f32": "<f", "f64": "<d", "f16": "<e"}


@dataclass(frozen=True, slots=True)
class Request:
    """One launch that the program asked for.

    ``parameters`` are the bytes of the kernel's parameter block; ``number`` counts launches from 1.
    """

    number: int
    function: int
    kernel: str
    launch: Launch
    parameters: bytes
    stream: int
    blocks: tuple[int, ...] = ()
    """Addresses of the allocations that its parameters point into, in the order of the parameters."""
    signature: tuple[object, ...] = ()
    """What it has in common with launches that differ by where their allocations lie alone."""

    @property
    def similar(self) -> tuple[object, ...]:
        """What it has in common with launches of its kernel and shape."""
        return (*self.signature[:2], len(self.blocks))

    @classmethod
    def placed(
        cls,
        number: int,
        record: protocol.Launch,
        kernel: str,
        launch: Launch,
        allocations: Allocations,
        deciding: NDArray[np.uint8] | None = None,
    ) -> Request:
        """Return a launch whose pointers lead into today's allocations.

        ``deciding`` is 255 for each byte of its parameters that decides what it does, else 0; None: all do.
        """
        blocks, pointed = _pointed(record.data, allocations, deciding)
        one = launch
        shape = (one.grid, one.block, one.cluster, one.dynamic_shared, one.cooperative, one.carveout)
        signature = (record.function, shape, pointed)
        return cls(number, record.function, kernel, launch, record.data, record.stream, blocks, signature)

    @property
    def key(self) -> tuple[object, ...]:
        """What identical launches have in common."""
        one = self.launch
        shape = (one.grid, one.block, one.cluster, one.dynamic_shared, one.cooperative, one.carveout)
        return (self.function, shape, self.parameters)


def _pointed(
    parameters: bytes, allocations: Allocations, deciding: NDArray[np.uint8] | None
) -> tuple[tuple[int, ...], tuple[object, ...]]:
    """Return the allocations that parameters point into, and what decides of the rest.

    Of a pointer there remain the number of its allocation and its distance from the first one into it; of
    that, its place in a line of memory.
    """
    left = np.frombuffer(parameters, np.uint8).copy()
    words = left[: len(left) // _POINTER_BYTES * _POINTER_BYTES].view("<u8")
    first: dict[int, tuple[int, int]] = {}
    pointers = []
    for place in np.flatnonzero(words >> 40 == ARENA >> 40).tolist():
        value = int(words[place])
        if (block := allocations.at(value)) is not None:
            number, origin = first.setdefault(block.address, (len(first), value - value % LINE))
            pointers.append((place, number, value - origin))
            words[place] = 0
    if deciding is not None and len(deciding) == len(left):
        left &= deciding
    return tuple(first), (left.tobytes(), tuple(pointers))


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """What came of predicting a launch: a prediction for each GPU, or why there is none."""

    request: Request
    predictions: tuple[Prediction | None, ...]
    failures: tuple[str, ...] = ()
    """Of each GPU without a prediction, why."""
    scale: float = 1.0
    """Times and energies are those of the predictions times this."""
    borrowed_from: int = 0
    """Number of the launch that was predicted instead; 0 if it is this one."""
    touched: tuple[Touched, ...] = ()
    """What it touches, on each GPU."""


def launch_of(record: protocol.Launch, carveout: int | None = None) -> Launch:
    """Return the launch of a message, without arguments.

    Raises
    ------
    LaunchError
        If an extent is 0.
    """
    cluster = tuple(max(1, extent) for extent in record.cluster)
    return Launch(
        grid=Dim3(*record.grid),
        block=Dim3(*record.block),
        dynamic_shared=record.dynamic_shared_bytes,
        cluster=Dim3(*cluster),
        carveout=carveout,
        cooperative=bool(record.flags & LaunchFlag.COOPERATIVE),
    )


def arguments(kernel: Kernel, parameters: bytes, allocations: Allocations) -> dict[str, Argument]:
    """Return what the parameters are, by position: numbers, and buffers from where pointers lead on.

    Structures are left out: what their bytes mean is the kernel's to say.
    """
    program = kernel.program()
    at = parameter_offsets(program)
    found: dict[str, Argument] = {}
    for index, parameter in enumerate(program.parameters):
        start = at[parameter.name]
        data = parameters[start : start + parameter.size]
        if len(data) == parameter.size <= _POINTER_BYTES:
            found[str(index)] = _argument(parameter, data, allocations)
    return found


def pointers(program: Program, parameters: bytes, allocations: Allocations) -> Iterator[tuple[str, int]]:
    """Yield the name and value of every parameter that points into an allocation."""
    at = parameter_offsets(program)
    for index, parameter in enumerate(program.parameters):
        start = at[parameter.name]
        value = int.from_bytes(parameters[start : start + _POINTER_BYTES], "little")
        if parameter.size == _POINTER_BYTES and allocations.at(value) is not None:
            yield parameter.source_name or str(index), value


def _argument(parameter: Parameter, data: bytes, allocations: Allocations) -> Argument:
    value = int.from_bytes(data, "little")
    block = allocations.at(value) if parameter.size == _POINTER_BYTES else None
    if block is not None:
        return Buffer(DType.U8, (block.address + block.bytes - value,), Fill.PROGRAM)
    if parameter.type in _FLOATS and len(data) == struct.calcsize(_FLOATS[parameter.type]):
        return Scalar(struct.unpack(_FLOATS[parameter.type], data)[0])
    signed = parameter.type.startswith("s")
    return Scalar(0 if parameter.pointer else int.from_bytes(data, "little", signed=signed))


def texture_of(record: protocol.Texture) -> Texture:
    """Return the texture or surface object of a message."""
    flags = TextureFlag(record.flags)
    return Texture(
        address=record.address,
        width=record.width,
        height=max(1, record.height),
        depth=max(1, record.depth),
        pitch=record.pitch,
        slice_pitch=record.slice_pitch,
        channel_bits=tuple(bits for bits in record.channel_bits if bits),
        channel_kind=ChannelKind(record.channel_kind),
        address_modes=tuple(map(AddressMode, record.address_modes)),
        border=record.border,
        normalized_coordinates=TextureFlag.NORMALIZED_COORDINATES in flags,
        linear_filter=TextureFlag.LINEAR_FILTER in flags,
        normalized_float=TextureFlag.NORMALIZED_FLOAT in flags,
    )


Load = Callable[["BoundLaunch"], "tuple[Context, DeviceMemory]"]


def loader(
    written: Program,
    parameters: bytes,
    arena: Arena,
    allocations: Allocations,
    heap: DeviceMemory | None = None,
    *,
    unknown_factors: bool = False,
) -> Load:
    """Return what puts a launch with these parameters, as a program reads them, on a device of its own.

    Each holds what the arena does, without what was written to others before: those are no more.
    ``heap`` is a device whose heap holds what kernels have allocated. ``unknown_factors`` as
    :class:`~warpwatt.emulate.run.Context` has it.
    """
    return partial(_load, written, parameters, arena, allocations, heap, unknown_factors)


def _load(
    written: Program,
    parameters: bytes,
    arena: Arena,
    allocations: Allocations,
    heap: DeviceMemory | None,
    unknown_factors: bool,
    bound: BoundLaunch,
) -> tuple[Context, DeviceMemory]:
    arena.forget()
    memory = device_memory(arena.private, allocations)
    if heap is not None:
        memory.copy_heap(heap)
    block = relaid(parameters, written, bound.program)
    context = load_parameters(bound.program, bound.launch, block, memory)
    return replace(context, unknown_factors=unknown_factors), memory
