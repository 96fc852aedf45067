"""The compiled functions of the model: compiled once per machine, kept on disk, loaded without numba."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.native.aot import Library, function, load
from warpwatt.models.time.pipeline import front_end, loops, memory_pipe, simulator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.native.llvm import Code
    from warpwatt.models.time.pipeline.state import Inputs, State

    Ints = NDArray[np.int64]


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


def next_visits(starts: Ints, codes: Ints) -> Ints:
    """Return each step's next step of the same warp and code, -1 if none."""
    most = int(codes.max(initial=0))
    seen, following = np.full(most + 1, -1, np.int64), np.empty(len(codes), np.int64)
    arrays = starts.ctypes.data, codes.ctypes.data
    call = function(_code().address("next_visits_at"), 6)
    call(len(starts) - 1, *arrays, most, seen.ctypes.data, following.ctypes.data)
    return following


def find_runs(starts: Ints, codes: Ints, *, longest: bool) -> Ints:
    """Return rows (first step, steps per repetition, repetitions); see :func:`.loops.find_runs`."""
    following = next_visits(starts, codes)
    rows = np.zeros((len(codes) // 4 + 1, 3), np.int64)
    arrays = starts.ctypes.data, codes.ctypes.data, following.ctypes.data
    call = function(_code().address("find_runs_at"), 6)
    count = call(len(starts) - 1, *arrays, int(longest), rows.ctypes.data)
    return rows[:count]


@lru_cache(maxsize=1)
def _code() -> Code:
    exports = ("simulate_at", "find_runs_at", "next_visits_at")
    return load([Library((simulator, front_end, memory_pipe, loops), exports).object()])
