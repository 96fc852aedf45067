"""The compiled simulator: numba compiles :mod:`.simulator` once and keeps the result on disk."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.models.time.pipeline import simulator

if TYPE_CHECKING:
    from collections.abc import Callable


@lru_cache(maxsize=1)
def compiled() -> Callable[..., None]:
    """Return :func:`.simulator.simulate`, compiled."""
    import numba  # noqa: PLC0415 - half a second that only this needs

    for name in simulator.COMPILED:
        function = getattr(simulator, name)
        if not hasattr(function, "py_func"):
            inline = name != "simulate"
            setattr(simulator, name, numba.njit(cache=True, _nrt=False, forceinline=inline)(function))
    return simulator.simulate
