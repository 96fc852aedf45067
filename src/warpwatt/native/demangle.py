"""Human names of kernels: the inverse of the Itanium C++ ABI's name mangling."""

from __future__ import annotations

import ctypes
import re
from functools import lru_cache

from warpwatt.native import function

_STATIC = re.compile(r"__nv_static_\d+__\w*?_(_Z\w+)$", re.ASCII)
"""What nvcc calls a static function of separately compiled code: its file, then its name."""


@lru_cache(maxsize=65536)
def demangle(name: str) -> str:
    """Return the C++ form of a linker's name; a name that is not mangled comes back unchanged.

    >>> demangle("_Z5saxpyIfLi2EEviT_PKS0_PS0_")
    'void saxpy<float, 2>(int, float, float const*, float*)'
    >>> demangle("saxpy"), demangle("__nv_static_25__0e768725_8_clock_cu_main__Z1kPf")
    ('saxpy', 'k(float*)')
    """
    if static := _STATIC.match(name):
        name = static[1]
    if not name.startswith("_Z"):
        return name
    found: bytes | None = function("demangle", ctypes.c_char_p, ctypes.c_char_p)(name.encode())
    return name if found is None else found.decode("utf-8", "replace")
