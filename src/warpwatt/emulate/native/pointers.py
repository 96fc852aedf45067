"""Raw memory in native modules: what the functions of :class:`~warpwatt.emulate.native.aot.Library` may use.

Compiled, these are single instructions; called from plain Python they do the same through ctypes, so that a
native function can be tested and debugged as it stands.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _view(address: int, count: int, kind: Any) -> NDArray[Any]:
    return np.frombuffer(
        (ctypes.c_char * (int(count) * np.dtype(kind).itemsize)).from_address(int(address)), kind
    )


def bytes_at(address: int, count: int) -> NDArray[np.uint8]:
    """Return ``count`` bytes at an address as an array."""
    return _view(address, count, np.uint8)


def u16_at(address: int, count: int) -> NDArray[np.uint16]:
    """Return ``count`` unsigned 16-bit integers at an address as an array."""
    return _view(address, count, np.uint16)


def i32_at(address: int, count: int) -> NDArray[np.int32]:
    """Return ``count`` 32-bit integers at an address as an array."""
    return _view(address, count, np.int32)


def u32_at(address: int, count: int) -> NDArray[np.uint32]:
    """Return ``count`` unsigned 32-bit integers at an address as an array."""
    return _view(address, count, np.uint32)


def i64_at(address: int, count: int) -> NDArray[np.int64]:
    """Return ``count`` 64-bit integers at an address as an array."""
    return _view(address, count, np.int64)


def u64_at(address: int, count: int) -> NDArray[np.uint64]:
    """Return ``count`` unsigned 64-bit integers at an address as an array."""
    return _view(address, count, np.uint64)


def f32_at(address: int, count: int) -> NDArray[np.float32]:
    """Return ``count`` 32-bit floats at an address as an array."""
    return _view(address, count, np.float32)


def f64_at(address: int, count: int) -> NDArray[np.float64]:
    """Return ``count`` 64-bit floats at an address as an array."""
    return _view(address, count, np.float64)


def i64_rows(address: int, rows: int, columns: int) -> NDArray[np.int64]:
    """Return a table of 64-bit integers at an address."""
    return _view(address, rows * columns, np.int64).reshape(rows, columns)


def f64_rows(address: int, rows: int, columns: int) -> NDArray[np.float64]:
    """Return a table of 64-bit floats at an address."""
    return _view(address, rows * columns, np.float64).reshape(rows, columns)


def copy(to: int, start: int, count: int) -> None:
    """Copy ``count`` bytes between addresses; they may overlap."""
    ctypes.memmove(int(to), int(start), int(count))


def call(address: int, first: int, second: int) -> int:
    """Call the native function at an address with two 64-bit integers."""
    return int(
        ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(int(address))(
            int(first), int(second)
        )
    )
