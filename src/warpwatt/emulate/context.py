"""From a launch to what an engine needs: constant banks with the parameters, and buffers on the device."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arguments import Argument, Buffer
from warpwatt.core.errors import ArgumentError
from warpwatt.core.launch import Launch
from warpwatt.core.program import Level, Parameter, Program, Space, Variable
from warpwatt.emulate import parameters
from warpwatt.emulate.layout import (
    CONSTANT_BANK,
    CONSTANT_BYTES,
    ENVIRONMENT_BANK,
    GLOBALS_SLOT,
    PARAMETER_BANK,
    SLOT_BITS,
    is_placed,
    layout,
    linked,
)
from warpwatt.emulate.lift.sass.constants import environment, launch_constants
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.run import Context

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.program.binding import BoundLaunch

_POINTER_BYTES = 8

SHARED_ALIGNMENT = 16
"""Machine code may read behind the end of shared memory up to this alignment: ptxas widens loads, because
blocks get shared memory in larger pieces than they ask for."""


def load_launch(
    bound: BoundLaunch,
    *,
    memory: DeviceMemory | None = None,
    arrays: Mapping[str, NDArray[Any]] | None = None,
    addresses: Mapping[str, int] | None = None,
    folder: Path | None = None,
    rooms: Mapping[str, tuple[int, int]] | None = None,
) -> tuple[Context, DeviceMemory]:
    """Return what a launch of a PTX or SASS program gives an engine, its buffers on the device.

    Parameters
    ----------
    memory
        A device with what an earlier launch left; a new one otherwise, with the module's variables.
    arrays
        Contents of buffers, by the names the launch uses, in place of their descriptions.
    addresses
        Addresses of buffers that are on the device already, by the names the launch uses.
    folder
        Where the files of buffers lie.
    rooms
        Bytes in front of buffers and behind them that may be read (:mod:`~warpwatt.emulate.neighbours`).

    Raises
    ------
    ArgumentError
        If an argument is missing, of the wrong kind, or does not fit.
    InputError, LaunchError
        As :meth:`DeviceMemory.describe`.

    >>> from warpwatt.core.arguments import Scalar
    >>> from warpwatt.core.launch import Dim3
    >>> from warpwatt.core.launch import Launch as L
    >>> from warpwatt.isa.ptx import lower, parse
    >>> from warpwatt.program.binding import bind
    >>> k = lower(parse(".target sm_90 .entry k(.param .u32 n, .param .u64 p) { ret; }"), "k")
    >>> given = {"0": Scalar(7), "p": Scalar(0)}
    >>> load_launch(bind(k, L(Dim3(), Dim3(), arguments=given)))[0].banks[0].hex()
    '07000000000000000000000000000000'
    """
    memory = DeviceMemory() if memory is None else memory
    loaded = _load_module(bound.program, bound.launch, memory)
    place = _placer(memory, bound.names, arrays or {}, addresses or {}, folder, rooms or {})
    _set_symbols(bound, loaded.banks, memory, place)

    def keep(name: str, data: bytes) -> int:
        return memory.place(name, np.frombuffer(data, np.uint8))

    return loaded.context(parameters.block(bound, place, keep)), memory


def load_parameters(program: Program, launch: Launch, block: bytes, memory: DeviceMemory) -> Context:
    """Return what a launch gives an engine where its parameters are bytes, as the driver gets them.

    Variables that a loader has placed (``Variable.address``) are read in ``memory``: constant ones fill
    their bank. Behind them it is zero as far as a bank reaches: devices map whole ones, and kernels that read
    past a table run there.
    """
    loaded = _load_module(program, launch, memory)
    for variable in program.variables:
        if variable.space is Space.CONST and variable.address is not None:
            start = loaded.offsets[variable.name]
            loaded.banks[CONSTANT_BANK][start : start + variable.size] = memory.read(
                variable.address, variable.size
            )
    if loaded.banks.get(CONSTANT_BANK):
        loaded.banks[CONSTANT_BANK] = loaded.banks[CONSTANT_BANK].ljust(CONSTANT_BYTES, b"\0")
    return loaded.context(block)


@dataclass(frozen=True, slots=True, eq=False)
class _Loaded:
    """A module's memory before the parameters of a launch are known; see :class:`Context`."""

    program: Program
    launch: Launch
    banks: dict[int, bytearray]
    offsets: Mapping[str, int]
    shared: int
    local: int

    def context(self, block: bytes) -> Context:
        """Return the context with the parameters' bytes."""
        banks, program = dict(self.banks), self.program
        if program.level is Level.PTX:
            banks[PARAMETER_BANK] = bytearray(block)
            banks[ENVIRONMENT_BANK] = bytearray(struct.pack("<3I", 0, *environment(self.launch).values()))
        else:
            banks[PARAMETER_BANK] = _machine_bank(program, self.launch, self.local, block)
        frozen = {number: bytes(bank) for number, bank in banks.items()}
        return Context(self.launch, frozen, self.shared, self.local)


def _load_module(program: Program, launch: Launch, memory: DeviceMemory) -> _Loaded:
    """Put a module's global variables on the device."""
    banks, image, shared, local = _memory_of(program, launch)
    memory.set_variables(image, _places(program))
    if launch.cooperative:
        memory.make_grid_workspace()
    found = layout(program) if program.level is Level.PTX else linked(program)
    return _Loaded(program, launch, banks, found.offsets, shared, local)


def _memory_of(program: Program, launch: Launch) -> tuple[dict[int, bytearray], bytes, int, int]:
    """Return constant banks but 0, global variables, bytes of shared memory and of the stack."""
    if program.level is Level.PTX:
        found = layout(program)
        banks = {CONSTANT_BANK: bytearray(found.images[Space.CONST])}
        shared = max(found.dynamic_shared, found.sizes[Space.SHARED]) + launch.dynamic_shared
        return banks, found.images[Space.GLOBAL], shared, found.sizes[Space.LOCAL]
    link = linked(program)
    banks = {number: bytearray(data) for number, data in link.banks.items()}
    shared = program.static_shared + launch.dynamic_shared
    return banks, link.globals, -(-shared // SHARED_ALIGNMENT) * SHARED_ALIGNMENT, program.stack


def _places(program: Program) -> dict[str, tuple[int, int]]:
    """Return offset and size of each global variable in slot 1."""
    found = layout(program) if program.level is Level.PTX else linked(program)
    sizes = {v.name: v.size for v in program.variables}
    placed = {v.name for v in program.variables if is_placed(v)}
    return {
        name: (offset, sizes.get(name, 0))
        for name, offset in found.offsets.items()
        if found.spaces[name] is Space.GLOBAL and name not in placed
    }


def _machine_bank(program: Program, launch: Launch, local: int, block: bytes) -> bytearray:
    """Return bank 0 of machine code: what the driver writes, then the parameters."""
    bank = launch_constants(program.target, launch, local)
    bank = bank[: program.parameter_base].ljust(program.parameter_base, b"\0")
    return bank + block


def _placer(
    memory: DeviceMemory,
    names: Mapping[str, str],
    arrays: Mapping[str, NDArray[Any]],
    addresses: Mapping[str, int],
    folder: Path | None,
    rooms: Mapping[str, tuple[int, int]],
) -> Callable[[str, Buffer], int]:
    """Return a function that puts buffers on the device; one description passed twice is one buffer."""
    known: dict[int, int] = {}

    def place(key: str, buffer: Buffer) -> int:
        name = names[key]
        if name in addresses:
            return addresses[name]
        if id(buffer) not in known:
            if name in arrays:
                known[id(buffer)] = memory.place(name, arrays[name])
            else:
                known[id(buffer)] = memory.describe(name, buffer, folder, rooms.get(name, (0, 0)))
        return known[id(buffer)]

    return place


def _set_symbols(
    bound: BoundLaunch,
    banks: dict[int, bytearray],
    memory: DeviceMemory,
    place: Callable[[str, Buffer], int],
) -> None:
    """Give constant and global variables the values of arguments named after them."""
    program = bound.program
    variables = {v.name: v for v in program.variables}
    found = layout(program) if program.level is Level.PTX else linked(program)
    for key, argument in bound.arguments.items():
        name, _, field = key.rpartition("+")
        variable = variables.get(name)
        if variable is None:
            continue
        data = _symbol_bytes(variable, key, argument, memory, place)
        start = found.offsets[name] + int(field)
        if found.spaces[name] is Space.CONST:
            banks[CONSTANT_BANK][start : start + len(data)] = data
        else:
            memory.write((GLOBALS_SLOT << SLOT_BITS) + start, data)


def _symbol_bytes(
    variable: Variable,
    key: str,
    argument: Argument,
    memory: DeviceMemory,
    place: Callable[[str, Buffer], int],
) -> bytes:
    """Return the bytes of a variable; a buffer fills it, or is pointed at by a single pointer."""
    offset = int(key.rpartition("+")[2])
    if isinstance(argument, Buffer):
        address = place(key, argument)
        if variable.size == _POINTER_BYTES != argument.nbytes:
            return address.to_bytes(_POINTER_BYTES, "little")
        data = memory.read(address, argument.nbytes)
    else:
        known = variable.element not in ("b8", "")
        width = int(variable.element.lstrip("bsuf")) // 8 if known else min(4, variable.size)
        kind = variable.element if known else f"b{8 * width}"
        data = parameters.scalar_bytes(
            Parameter(key, kind, width, width, source_name=variable.name), argument
        )
    if offset + len(data) > variable.size:
        raise ArgumentError(
            f"{variable.name!r} has {variable.size} bytes: {len(data)} at {offset} do not fit"
        )
    return data
