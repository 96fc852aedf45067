"""``check``: the generated kernels, emulated, against the compiled C on the same random contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arguments import Buffer
from warpwatt.core.errors import InputError
from warpwatt.core.program import Level
from warpwatt.emulate import native
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.lift import lift
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.run import Limits, Stop
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.program.binding import bind
from warpwatt.published.resios.c_loops.printer import safe
from warpwatt.published.resios.c_loops.sequential import Program as Compiled
from warpwatt.published.resios.c_loops.sequential import own_arrays
from warpwatt.published.resios.port.launches import launch_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.program import Kernel, Parameter, Program
    from warpwatt.emulate.run import Run
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.types import CType
    from warpwatt.published.resios.port.result import Port

    Engine = Callable[..., Run]

SEPARATE = "-fmad=false"
"""Keeps nvcc from contracting a·b + c, as ``-ffp-contract=off`` keeps the C compiler: results are equal."""
LIMITS = Limits(warp_instructions=2_000_000_000, trace_bytes=0)
SEED = 0
_NUMPY = {"f": "float", "i": "int", "u": "uint"}
TARGET = "sm_90"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How one array of the kernels compares with the C: elements that differ, and by how much at most.

    ``relative`` is the largest difference over the largest value of the array.
    """

    array: str
    elements: int
    different: int
    relative: float

    @property
    def exact(self) -> bool:
        """Whether every element is equal to the last bit."""
        return not self.different


def check(
    source: Source, port: Port, options: CompileOptions | None = None, *,
    level: Level = Level.PTX, engine: Engine = native.run, target: str = TARGET, seed: int = SEED,
) -> tuple[Agreement, ...]:  # fmt: skip
    """Return how the arrays that the kernels write compare with those the compiled C writes.

    Every array starts with the same random contents in both; neither compiler may contract multiplications
    and additions, so equal to the last bit is what to expect of arithmetic without library functions.

    Raises
    ------
    InputError
        If a kernel does not end, or touches memory out of bounds.
    ToolchainError, CompileError
        If a compiler is missing or refuses its text.
    """
    bound = port.bound
    before = contents(bound, seed)
    flags = ("-ffp-contract=off",)
    program = Compiled(source, bound, options or CompileOptions(), flags)
    wanted = program.computed({name: array.tobytes() for name, array in before.items()})
    found = _emulated(port, before, target, level, engine)
    written = sorted({a.element.array.name for a in bound.accesses if a.write} & set(before))
    return tuple(
        _compared(name, np.frombuffer(wanted[name], before[name].dtype), found[name]) for name in written
    )


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


def _emulated(
    port: Port, before: Mapping[str, NDArray[Any]], target: str, level: Level, engine: Engine
) -> dict[str, NDArray[Any]]:
    """Return the arrays after all kernels have run one after another on the emulator."""
    memory = DeviceMemory()
    arrays = {**before, **_temporaries(port)}
    addresses = {safe(name): memory.place(name, array.copy()) for name, array in arrays.items()}
    options = replace(CompileOptions(), flags=(SEPARATE,))
    text = Source("generated.cu", port.cuda.encode())
    made = {nest.generated.base: nest.generated.chain for nest in port.nests}
    names = [one.name for chain in made.values() for one in chain]
    kernels = {name: _code(load_kernel(text, target, options, name), level) for name in names}
    every = (
        (kernel, times, one)
        for kernel, times in port.program.launches()
        for one in made[safe(kernel.function.name)]
    )
    for kernel, times, one in every:
        code, parameters = kernels[one.name]
        launch = launch_at(port.program, kernel, one, times)
        buffers = [name for name, argument in launch.arguments.items() if isinstance(argument, Buffer)]
        context, _ = load_launch(
            bind(code, launch, parameters),
            memory=memory,
            addresses={name: addresses[name] for name in buffers},
        )
        run = engine(lift(code), context, memory, range(launch.grid.count), LIMITS)
        if run.stop is not Stop.DONE:
            reason = run.fault.reason if run.fault is not None else "the budget is spent"
            raise InputError(f"kernel {one.name} ends with {run.stop}: {reason}")
    return {name: memory.array(name) for name in before}


def _code(kernel: Kernel, level: Level) -> tuple[Program, tuple[Parameter, ...]]:
    code = kernel.ptx if level is Level.PTX else kernel.sass
    assert code is not None
    assert kernel.ptx is not None
    return code, kernel.ptx.parameters


def _temporaries(port: Port) -> dict[str, NDArray[Any]]:
    """Return arrays that only the device has; their contents do not matter."""
    bound = port.program.bound
    found = {
        array.name: np.zeros(bound.nbytes(array.name) // array.type.size, array_type(array.type))
        for array in bound.function.arrays
        if array.temporary
    }
    for made in (one for nest in port.nests for one in nest.generated.chain):
        found |= {name: np.zeros(count, array_type(kind)) for name, kind, count in made.scratch}
    return found


def array_type(kind: CType) -> np.dtype[Any]:
    """Return NumPy's type of the elements of an array."""
    return np.dtype(_NUMPY[kind.dtype.value[0]] + kind.dtype.value[1:])


def _compared(name: str, wanted: NDArray[Any], found: NDArray[Any]) -> Agreement:
    same = (wanted == found) | ((wanted != wanted) & (found != found))  # noqa: PLR0124 - NaN equals NaN here
    with np.errstate(all="ignore"):
        gap = np.abs(wanted.astype(np.float64) - found.astype(np.float64))
        scale = float(np.nanmax(np.abs(wanted.astype(np.float64)), initial=0.0)) or 1.0
        relative = float(np.nanmax(np.where(same, 0.0, gap), initial=0.0)) / scale
    return Agreement(name, int(wanted.size), int(np.count_nonzero(~same)), relative)
