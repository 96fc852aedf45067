"""The native core: the shared library that ``native/`` is compiled into, called through ctypes.

>>> import numpy as np
>>> distances = function("sector_distances", None, INT, *[ADDRESS] * 5)
>>> line, sectors, readable = np.array([0, 0]), np.array([1, 1], np.uint8), np.array([True, True])
>>> weight, result = np.ones(2), np.empty((2, 4))
>>> distances(2, *addresses(line, sectors, readable, weight, result))
>>> result[1].tolist()
[0.0, -1.0, -1.0, -1.0]
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import ToolchainError

if TYPE_CHECKING:
    from numpy.typing import NDArray

INT, DOUBLE, ADDRESS = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
"""C types of parameters and results: 64-bit integers, doubles, and what :func:`addresses` returns."""
VARIABLE = "WARPWATT_NATIVE_LIBRARY"
"""Environment variable that names another build of the library, such as one with sanitizers."""


@cache
def load() -> ctypes.CDLL:
    """Return the library.

    Raises
    ------
    ToolchainError
        If it was not built, or is not one for this machine.
    """
    path = Path(os.environ.get(VARIABLE) or Path(__file__).with_name("libwarpwatt.so"))
    if not path.exists():
        raise ToolchainError(
            f"the native core is missing: {path}", hint="in a clone: make native; else install warpwatt again"
        )
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise ToolchainError(f"the native core cannot be loaded: {error}", hint="make native") from error


def function(name: str, result: Any, *parameters: Any) -> Callable[..., Any]:
    """Return an exported function with its C types; it releases the interpreter's lock while it runs.

    Raises
    ------
    ToolchainError
        If the library has no such function: it is older than the Python code.
    """
    try:
        found = load()[name]  # an object of its own at every call, so that types set here stay here
    except AttributeError as error:
        raise ToolchainError(f"the native core is out of date: no {name!r}", hint="make native") from error
    found.restype, found.argtypes = result, parameters
    return found


def address(name: str) -> int:
    """Return the address of an exported function, for generated code to call."""
    found: Any = function(name, None)
    return ctypes.cast(found, ctypes.c_void_p).value or 0


def addresses(*arrays: NDArray[Any]) -> tuple[int, ...]:
    """Return where the elements of arrays are.

    Raises
    ------
    ValueError
        If one of them does not lie in one piece in C order.
    """
    if not all(array.flags.c_contiguous for array in arrays):
        raise ValueError("an array is not contiguous")
    return tuple(array.ctypes.data for array in arrays)
