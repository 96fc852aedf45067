"""Functions of the system that kernels call: ``printf``, ``assert``, ``malloc`` and ``free`` on the device.

Unlike :mod:`~warpwatt.emulate.functions` they reach memory.
``function(caller, args, mask, constants) -> results``: ``args`` are raw bits of shape (arguments, 32),
``mask`` the active lanes, ``results`` of shape (results, 32).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate import device_launch
from warpwatt.emulate.ir import Type
from warpwatt.emulate.printf import formatted
from warpwatt.emulate.tensor_memory import FUNCTIONS as TENSOR_MEMORY
from warpwatt.emulate.warp_groups import wgmma

if TYPE_CHECKING:
    from warpwatt.emulate.system_caller import Bits, Caller, Constants, Function, Mask

LONGEST_STRING = 65536
_PIECE = 256
SIGNATURES: dict[str, tuple[tuple[Type | tuple[Type, ...], ...], Type | None]] = {
    "vprintf": ((Type.I64, Type.I64), Type.I32),
    "__assertfail": ((Type.I64, Type.I64, Type.I32, Type.I64, Type.I64), None),
    "malloc": ((Type.I64,), Type.I64),
    "free": ((Type.I64,), None),
    "cudaGraphSetConditional": ((Type.I64, Type.I32), None),
    **device_launch.SIGNATURES,
}
"""Parameters and result of each (CUDA's device functions as the compiler declares them)."""


def _malloc(caller: Caller, args: Bits, mask: Mask, _: Constants) -> Bits:
    """Return addresses; 0 where the heap is full."""
    found = [caller.heap.allocate(int(size)) if on else 0 for size, on in zip(args[0], mask, strict=True)]
    return np.array([found], np.uint64)


def _free(caller: Caller, args: Bits, mask: Mask, _: Constants) -> Bits:
    for address in args[0][mask].tolist():
        caller.heap.free(address)
    return np.zeros((1, len(mask)), np.uint64)


def _printf(caller: Caller, args: Bits, mask: Mask, _: Constants) -> Bits:
    """Write each lane's text; return how many arguments the format has, which nobody uses."""
    for lane in np.flatnonzero(mask).tolist():
        template, buffer = (int(value) for value in args[:, lane])
        string = partial(string_at, caller, lane)
        caller.print(formatted(string(template), partial(_read_at, caller, lane, buffer), string))
    return np.zeros((1, len(mask)), np.uint64)


def _assertfail(caller: Caller, args: Bits, mask: Mask, _: Constants) -> Bits:
    """Write what failed, as the CUDA runtime does; the kernel ends behind the call."""
    for lane in np.flatnonzero(mask).tolist():
        message, file, function = (string_at(caller, lane, int(args[k, lane])) for k in (0, 1, 3))
        line = int(args[2, lane])
        caller.print(f"{file}:{line}: {function}: {caller.describe(lane)} Assertion `{message}` failed.\n")
    return np.zeros((1, len(mask)), np.uint64)


def _read_at(caller: Caller, lane: int, start: int, offset: int, size: int) -> bytes:
    return caller.read(lane, start + offset, size)


def string_at(caller: Caller, lane: int, address: int) -> str:
    """Return the string that begins at an address, up to :data:`LONGEST_STRING` bytes."""
    found = b""
    while b"\0" not in found and len(found) < LONGEST_STRING:
        piece = caller.read(lane, address + len(found), _PIECE)
        found += piece
        if len(piece) < _PIECE:
            break
    return found.partition(b"\0")[0].decode("utf-8", "replace")


SYSTEM_FUNCTIONS: dict[str, Function] = {
    "vprintf": _printf,
    "__assertfail": _assertfail,
    "malloc": _malloc,
    "free": _free,
    "wgmma": wgmma,
    **device_launch.LAUNCH_FUNCTIONS,
    **TENSOR_MEMORY,
}
"""By the name that CALL gives them."""
