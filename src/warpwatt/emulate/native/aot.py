"""Plain Python functions compiled ahead of time: once per machine by numba, then only loaded.

A *native module* is an ordinary module whose functions use only integers, floats and the arrays of
:mod:`~warpwatt.emulate.native.pointers`. Nothing marks them: :class:`Library` compiles the functions it is
asked for, and what these call. Exported functions have annotations ``int`` (64 bits, addresses too),
``float`` (double) and ``None`` on all parameters and the result; inner ones take what they are given.
Nothing may raise, allocate, or use Python objects; integer division and array indices follow C.

>>> import numpy as np
>>> from warpwatt.emulate.native import sample
>>> code = load([Library((sample,), ("total",)).object()])
>>> values = np.arange(10)
>>> function(code.address("total"), 2)(values.ctypes.data, 10)
45
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any

from warpwatt.emulate.native.llvm import function, identity, load
from warpwatt.storage.cache import default_cache, digest

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__all__ = ["Library", "function", "load"]
_LLVM_TYPES = {"int": "i64", "float": "double", "None": "void"}


@dataclass(frozen=True)
class Library:
    """Functions of native modules, exported under their own names as C functions.

    ``modules`` must name every native module that is used; ``exports`` are functions of any of them.
    """

    modules: tuple[ModuleType, ...]
    exports: tuple[str, ...]

    def object(self) -> bytes:
        """Return the object code, from the disk cache if these sources were compiled before (0.3 ms)."""
        cache = default_cache()
        found = cache.get(self.key)
        if found is None:
            found = self._compile()
            cache.put(self.key, found)
        return found

    @cached_property
    def key(self) -> str:
        """What the code depends on: sources, exports, llvmlite (every numba wants its own), processor."""
        sources = [inspect.getsource(module).encode() for module in self.modules]
        names = ",".join(self.exports).encode()
        return digest(b"aot 3", identity(), names, *sources)

    def _compile(self) -> bytes:
        """Compile with numba (seconds) and return one object of all exports."""
        from warpwatt.emulate.native.numba_compiler import compile_functions  # noqa: PLC0415 - slow to import

        functions = {
            name: value
            for module in self.modules
            for name, value in vars(module).items()
            if isinstance(value, FunctionType)
        }
        return compile_functions([functions[name] for name in self.exports], self.modules)


def signature(exported: Callable[..., Any]) -> tuple[str, tuple[str, ...]]:
    """Return the LLVM types of result and parameters, from the annotations.

    >>> def half(x: int, y: float) -> float: ...
    >>> signature(half)
    ('double', ('i64', 'double'))
    """
    annotations = dict(exported.__annotations__)
    result = annotations.pop("return")
    return _LLVM_TYPES[str(result)], tuple(_LLVM_TYPES[str(kind)] for kind in annotations.values())
