"""The compiled functions of the model: compiled once per machine, kept on disk, loaded without numba."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.native.aot import Library, function, load
from warpwatt.models.pipeline import front_end, memory_pipe, simulator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.native.llvm import Code
    from warpwatt.models.pipeline.state import Inputs, State


def simulate(inputs: Inputs, state: State) -> None:
    """Run :func:`.simulator.simulate`, compiled. Arrays must be C-contiguous."""
    rows = [_place(array) for array in (*inputs, *state)]
    table = np.array(rows, np.int64)
    function(_code().address("simulate_at"), 2)(table.ctypes.data, len(rows))


def _place(array: NDArray[np.int64] | NDArray[np.float64]) -> tuple[int, int, int]:
    """Return address, rows and columns."""
    assert array.flags.c_contiguous
    return array.ctypes.data, array.shape[0], array.shape[1] if array.ndim > 1 else 1


def prepare() -> None:
    """Compile or load the code: before threads use it, since two compilers at once bring the process down."""
    _code()


@lru_cache(maxsize=1)
def _code() -> Code:
    return load([Library((simulator, front_end, memory_pipe), ("simulate_at",)).object()])
