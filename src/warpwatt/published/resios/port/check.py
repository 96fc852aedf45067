"""``check``: the emitted program, host function included, against the compiled C on the same contents.

A driver around the emitted file makes arrays, calls the host function and writes the arrays; it runs on the
stand-in for the CUDA runtime that ``warpwatt run`` has.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find
from warpwatt.published.resios.c_loops.bound import bound as bind
from warpwatt.published.resios.c_loops.objects import driver_argument, number
from warpwatt.published.resios.c_loops.sequential import Program as Compiled
from warpwatt.published.resios.c_loops.sequential import driver_text, exchanged, own_arrays
from warpwatt.published.resios.port.host_code import entry, given
from warpwatt.run.build import compile_program
from warpwatt.run.client import Bounds, run_program
from warpwatt.run.session import Wanted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.frontend.compiled import Source
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.types import CType
    from warpwatt.published.resios.port.result import Port

SEPARATE = "-fmad=false"
"""Keeps nvcc from contracting a·b + c, as the next keeps the C compiler: results are equal."""
SAME_C = ("-ffp-contract=off",)
ROUNDED = 4096
"""Steps of an element's type by which library functions and shared sums may differ, of the largest value."""
DEVICE = "h100"
BUDGET_SECONDS = 600.0
"""CPU time for computing the kernels of one run."""
SEED = 0
_NUMPY = {"f": "float", "i": "int", "u": "uint"}
_INCLUDE = """\
#include <cstdlib>
#include <cstdio>
#include <cuda_runtime.h>
static size_t warpwatt_shift;
static int warpwatt_fill;
static void *warpwatt_memory(size_t bytes, size_t element) {{
    return (char *)malloc(bytes + warpwatt_shift * element) + warpwatt_shift * element;
}}
template <class T> static cudaError_t warpwatt_malloc(T **place, size_t bytes) {{
    char *base = 0;
    const size_t before = warpwatt_shift * sizeof(T);
    cudaError_t status = cudaMalloc(&base, before + bytes);
    if (!status) status = cudaMemset(base, warpwatt_fill, before + bytes);
    *place = (T *)(base + before);
    return status;
}}
template <class T> static cudaError_t warpwatt_free(T *place) {{
    return cudaFree((char *)place - warpwatt_shift * sizeof(T));
}}
#undef stderr
#define stderr stdout
#define cudaMalloc warpwatt_malloc
#define cudaFree warpwatt_free
{emitted}
"""
_BEFORE = """\
    warpwatt_shift = atoi(argv[3]);
    warpwatt_fill = atoi(argv[4]);
"""


@dataclass(frozen=True, slots=True)
class Conditions:
    """How one run begins: random contents, the byte that device memory holds, the pointers' place.

    Every pointer of host and device lies ``shift`` elements behind an aligned address.
    """

    seed: int
    fill: int
    shift: int


CONDITIONS = (Conditions(SEED, 0x00, 0), Conditions(SEED + 1, 0xFF, 1))


@dataclass(frozen=True, slots=True)
class Agreement:
    """How one array compares with the C: elements that differ, and by how much at most.

    ``relative`` is the largest difference over the largest value of the array, ``tolerance`` what rounding
    makes of it at most; it is 0 for integers.
    """

    array: str
    elements: int
    different: int
    relative: float
    tolerance: float

    @property
    def exact(self) -> bool:
        """Whether every element is equal to the last bit."""
        return not self.different

    @property
    def rounded(self) -> bool:
        """Whether nothing differs by more than the rounding of library functions and of shared sums."""
        return self.exact or self.relative <= self.tolerance


def check(source: Source, port: Port, options: CompileOptions | None = None) -> tuple[Agreement, ...]:
    """Return how every array of the caller compares with what the compiled C leaves in it.

    The emitted program runs under both :data:`CONDITIONS`, at two sizes where it takes several, and the
    worst counts. Neither compiler may contract multiplications and additions, so equal to the last bit is
    what to expect of arithmetic without library functions.

    Raises
    ------
    InputError
        If the emitted program fails: it touches memory out of bounds, or does not end.
    ToolchainError, CompileError
        If a compiler is missing or refuses its text.
    """
    found: dict[str, Agreement] = {}
    with tempfile.TemporaryDirectory() as folder:
        for bound, how in zip(_sizes(port), CONDITIONS, strict=True):
            if how is CONDITIONS[0] or bound is not port.bound:
                program = _program(port, bound, Path(folder))
            before = contents(bound, how.seed)
            held = {name: array.tobytes() for name, array in before.items()}
            wanted = Compiled(source, bound, options or CompileOptions(), SAME_C).computed(held)
            got = exchanged(bound, held, Path(folder), partial(_run, program, how))
            for name, array in before.items():
                one = compared(name, *(np.frombuffer(data[name], array.dtype) for data in (wanted, got)))
                found[name] = max(found.get(name, one), one, key=lambda a: (a.different > 0, a.relative))
    return tuple(found.values())


def _sizes(port: Port) -> tuple[BoundFunction, BoundFunction]:
    """Return the function at the port's sizes, and at others where the emitted program takes them."""
    first = port.bound
    return first, bind(first.function, {**first.values, **port.other}) if port.other else first


def contents(bound: BoundFunction, seed: int = SEED) -> dict[str, NDArray[Any]]:
    """Return random arrays: reals in [0, 1), integers in [0, 8), so that they can be subscripts too."""
    random = np.random.default_rng(seed)
    made = {}
    for array in own_arrays(bound):
        kind = array_type(array.type)
        count = bound.nbytes(array.name) // kind.itemsize
        made[array.name] = (
            random.random(count) if array.type.floating else random.integers(0, 8, count)
        ).astype(kind)
    return made


def _program(port: Port, bound: BoundFunction, folder: Path) -> Path:
    """Compile the emitted file with a driver that calls its host function."""
    source = folder / "port.cu"
    source.write_text(_driver(port.cuda, bound), encoding="utf-8")
    return compile_program(source, (SEPARATE,), [find(DEVICE).target], folder)


def _driver(cuda: str, bound: BoundFunction) -> str:
    function = bound.function
    objects = {one.name: replace(one, parameter=True) for one in function.objects}
    bound = replace(bound, function=replace(function, objects=tuple(objects.values())))
    arrays = {a.name: a.type for a in own_arrays(bound)}

    def argument(name: str) -> str:
        if name in objects:
            return driver_argument(objects[name])
        return f"warpwatt_{name}" if name in arrays else number(bound.values[name])

    names = [*given(function), *([function.returned] if function.returned else [])]
    memory = {
        name: f"warpwatt_memory({bound.nbytes(name)}, sizeof({kind.spelling}))"
        for name, kind in arrays.items()
    }
    call = f"status = {entry(function)}({', '.join(map(argument, names))})"
    return driver_text(bound, _INCLUDE.format(emitted=cuda), call, memory, _BEFORE)


def _run(program: Path, how: Conditions, files: Sequence[Path]) -> None:
    """Run the driver on the stand-in for the CUDA runtime; nothing is predicted."""
    said: list[str] = []
    device = Wanted([find(DEVICE)], budget=BUDGET_SECONDS, notify=said.append).device()
    device.work.predicts = False
    words = [str(program), *map(str, files), str(how.shift), str(how.fill)]
    try:
        with tempfile.TemporaryFile("w+") as output:
            ending = run_program(words, device, Bounds(), output)
            output.seek(0)
            said.append(output.readline())
    finally:
        device.arena.close()
    failure = device.work.error.message if device.work.error else device.executor.first_not_computed
    if ending.status or failure:
        reason = failure or ending.reason or f"status {ending.status}"
        raise InputError(f"the emitted program fails: {' '.join([reason, *said]).strip()}")


def array_type(kind: CType) -> np.dtype[Any]:
    """Return NumPy's type of the elements of an array."""
    return np.dtype(_NUMPY[kind.dtype.value[0]] + kind.dtype.value[1:])


def compared(name: str, wanted: NDArray[Any], found: NDArray[Any]) -> Agreement:
    """Return how an array compares with the one wanted; NaN equals NaN."""
    same = (wanted == found) | ((wanted != wanted) & (found != found))  # noqa: PLR0124 - NaN is meant
    with np.errstate(all="ignore"):
        gap = np.abs(wanted.astype(np.float64) - found.astype(np.float64))
        scale = float(np.nanmax(np.abs(wanted.astype(np.float64)), initial=0.0)) or 1.0
        gap[np.isnan(gap)] = scale  # a number where NaN is wanted, or the reverse, is wholly wrong
        relative = float(np.max(np.where(same, 0.0, gap), initial=0.0)) / scale
    step = float(np.finfo(wanted.dtype).eps) if wanted.dtype.kind == "f" else 0.0
    return Agreement(name, int(wanted.size), int(np.count_nonzero(~same)), relative, ROUNDED * step)
