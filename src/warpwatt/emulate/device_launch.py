"""Kernels that launch kernels: what the device's runtime does (Programming Guide, "Dynamic Parallelism").

The compiler makes a launch of two calls, as ``cuda_device_runtime_api.h`` declares them: one for memory that
takes the parameters, which names kernel, grid, block and shared memory, and one that launches it. What was
launched is kept for who executes the grid: it runs when the grid has ended, in order, as any streams allow.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.launch import Dim3
from warpwatt.emulate.ir import Type
from warpwatt.emulate.system_caller import ChildLaunch

if TYPE_CHECKING:
    from warpwatt.emulate.system_caller import Bits, Caller, Constants, Function, Mask

_I32, _I64 = Type.I32, Type.I64
_EXTENT = (_I32, _I32, _I32)
MOST_PARAMETER_BYTES = 4096
"""Programming Guide, "Parameter Buffer Layout"."""
_FUNCTIONS = 0x7E << 56
"""Where addresses of kernels begin: no memory lies there."""
GET_BUFFER, LAUNCH = "__cudaCDP2GetParameterBufferV2", "__cudaCDP2LaunchDeviceV2"
SIGNATURES: dict[str, tuple[tuple[Type | tuple[Type, ...], ...], Type | None]] = {
    GET_BUFFER: ((_I64, _EXTENT, _EXTENT, _I32), _I64),
    LAUNCH: ((_I64, _I64), _I32),
    "__cudaCDP2StreamCreateWithFlags": ((_I64, _I32), _I32),
    "__cudaCDP2StreamDestroy": ((_I64,), _I32),
    "__cudaCDP2GetLastError": ((), _I32),
    "__cudaCDP2PeekAtLastError": ((), _I32),
    "__cudaCDP2GetErrorString": ((_I32,), _I64),
    "__cudaCDP2Malloc": ((_I64, _I64), _I32),
    "__cudaCDP2Free": ((_I64,), _I32),
}
"""Parameters, those of structures in parentheses, and result of each."""


def kernel_address(name: str) -> int:
    """Return the address of a kernel, the same in all modules.

    >>> kernel_address("k") == kernel_address("k") != kernel_address("l")
    True
    """
    return _FUNCTIONS + (zlib.crc32(name.encode()) << 4)


def _get_buffer(caller: Caller, args: Bits, mask: Mask, _: Constants) -> Bits:
    """Return addresses of memory for parameters; 0 where the heap is full."""
    found = np.zeros((1, len(mask)), np.uint64)
    for lane in np.flatnonzero(mask).tolist():
        kernel, *extents, shared = (int(value) for value in args[:, lane])
        address = caller.heap.allocate(MOST_PARAMETER_BYTES)
        caller.buffers[address] = ChildLaunch(kernel, Dim3(*extents[:3]), Dim3(*extents[3:]), shared)
        found[0, lane] = address
    return found


def _launch(caller: Caller, args: Bits, mask: Mask, _: Constants) -> Bits:
    """Launch what buffers were asked for; return ``cudaSuccess``."""
    for lane in np.flatnonzero(mask).tolist():
        address = int(args[0, lane])
        child = caller.buffers.pop(address, None)
        if child is not None:
            parameters = caller.read(lane, address, MOST_PARAMETER_BYTES)
            caller.launch(ChildLaunch(child.kernel, child.grid, child.block, child.shared, parameters))
            caller.heap.free(address)
    return np.zeros((1, len(mask)), np.uint64)


def _succeed(_caller: Caller, _args: Bits, mask: Mask, _: Constants) -> Bits:
    """Return ``cudaSuccess``: launches run in order whatever their streams, and none fails."""
    return np.zeros((1, len(mask)), np.uint64)


LAUNCH_FUNCTIONS: dict[str, Function] = {
    **dict.fromkeys(SIGNATURES, _succeed),
    GET_BUFFER: _get_buffer,
    LAUNCH: _launch,
}
"""By the name that CALL gives them."""
