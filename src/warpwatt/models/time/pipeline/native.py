"""The compiled functions of the model: numba compiles them once and keeps the result on disk.

They neither allocate nor count references to arrays (``_nrt=False``), which makes them forty times faster.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.models.time.pipeline import loops, simulator

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRIES = ("simulate", "find_runs", "next_visits")
"""What is called from outside; the other functions become part of these."""


@lru_cache(maxsize=8)
def compiled(name: str) -> Callable[..., int]:
    """Return one of the ``ENTRIES``, compiled."""
    return getattr(_module(name), name)  # type: ignore[no-any-return]


def _module(name: str) -> object:
    """Return the module that holds an entry, its functions replaced by compiled ones."""
    import numba  # noqa: PLC0415 - half a second that only this needs

    module = simulator if name in simulator.COMPILED else loops
    for each in module.COMPILED:
        function = getattr(module, each)
        if not hasattr(function, "py_func"):
            options = {"cache": True, "_nrt": False, "forceinline": each not in ENTRIES}
            setattr(module, each, numba.njit(**options)(function))
    return module
