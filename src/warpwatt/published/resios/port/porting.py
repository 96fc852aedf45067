"""``port``: from C to both systems' numbers, the composition of the C front end, Resios and ``predict``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from warpwatt.compose import Choice, predict
from warpwatt.core.errors import LaunchError, ToolchainError, UnsupportedGpuError
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.prediction import Prediction
from warpwatt.frontend.compiled import Source as Text
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.models.overhead import context_initialisation, launch_overhead, transfer_time
from warpwatt.published.resios.c_loops.bound import bound as bind
from warpwatt.published.resios.c_loops.cuda import generate
from warpwatt.published.resios.c_loops.cuda import source as cuda_source
from warpwatt.published.resios.c_loops.mapping import mapped
from warpwatt.published.resios.c_loops.read import read_function
from warpwatt.published.resios.c_loops.sequential import Program, Sequential
from warpwatt.published.resios.equations import transfer_seconds
from warpwatt.published.resios.machine import tables
from warpwatt.published.resios.port.result import Costs, Port, PortedNest
from warpwatt.published.resios.prognosis import prognose

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.cuda import Generated

RESIOS = "resios"
"""Name of the model; asked for alone, the default model is left out."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a C file.

    Attributes
    ----------
    values, shapes
        Scalars and, where the source does not tell, extents of arrays (see
        :func:`~warpwatt.published.resios.c_loops.bound.bound`).
    function
        Which function; empty: the only one with loops.
    policy
        Which ready warp goes first in Resios' simulation.
    run
        Whether the C may be compiled and run here for its sequential time.
    """

    values: Mapping[str, int | float]
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    function: str = ""
    options: CompileOptions = field(default_factory=CompileOptions)
    assume_no_alias: bool = False
    policy: str = "in-turn"
    run: bool = True


def port(
    source: Text, gpu: Gpu, request: Request, *, choice: Choice | None = None, clocks: Clocks | None = None
) -> Port:
    """Return what becomes of a C function on a GPU.

    Parameters
    ----------
    choice
        Models for the generated kernels; time model ``resios`` asks for Resios' own numbers alone.

    Raises
    ------
    UnportableError
        If a loop is not data parallel, pointers may alias, or the C is none we read.
    ArgumentError, ParseError, CompileError, KernelSelectionError
        If sizes are missing, or the source is no C.
    """
    choice = choice or Choice()
    bound = bind(read_function(source, request.function, request.options), request.values, request.shapes)
    mappings = [mapped(bound, nest, assume_no_alias=request.assume_no_alias) for nest in bound.nests]
    prognoses = [prognose(bound, mapping, gpu, policy=request.policy) for mapping in mappings]
    pairs = zip(mappings, prognoses, strict=True)
    generated = tuple(generate(bound, mapping, prognosis.block) for mapping, prognosis in pairs)
    text = cuda_source(bound, generated)
    predictions, note = _predictions(text, generated, gpu, clocks, choice)
    sequential = _sequential(source, bound, request)
    copied_in, copied_out = copies(bound)
    sizes = [*copied_in.values(), *copied_out.values()]
    parts = zip(mappings, prognoses, generated, predictions, strict=True)
    nests = tuple(PortedNest(*each, note) for each in parts)
    return Port(
        bound=bound,
        gpu=gpu,
        nests=nests,
        sequential=sequential,
        copied_in=copied_in,
        copied_out=copied_out,
        resios=_by_resios(nests, gpu, sizes),
        model=_by_model([p for p in predictions if p is not None], gpu, sizes),
        cuda=text,
        warnings=tuple(f"{name} is not given: assumed to be 1" for name in bound.assumed),
    )


def _sequential(source: Text, bound: BoundFunction, request: Request) -> Sequential:
    if not request.run:
        return Sequential(None, "unknown: not run")
    return Program(source, bound, request.options).timed()


def _predictions(
    text: str, generated: tuple[Generated, ...], gpu: Gpu, clocks: Clocks | None, choice: Choice
) -> tuple[list[Prediction | None], str]:
    """Return the default model's predictions of the kernels, or why there are none."""
    if choice.time == RESIOS:
        return [None] * len(generated), ""
    source = Text("generated.cu", text.encode())
    try:
        kernels = [load_kernel(source, gpu.target, name=one.name) for one in generated]
        return [
            predict(kernel, one.launch, gpu, clocks=clocks, choice=choice)
            for kernel, one in zip(kernels, generated, strict=True)
        ], ""
    except (UnsupportedGpuError, ToolchainError, LaunchError) as error:
        return [None] * len(generated), error.message


def copies(bound: BoundFunction) -> tuple[dict[str, int], dict[str, int]]:
    """Return the arrays to copy to the device and back, with their bytes.

    What an earlier nest made need not be copied; an array that is written is copied back whole, and to the
    device first unless it is read nowhere.
    """
    need: dict[str, int] = {}
    made: set[str] = set()
    for nest in bound.nests:
        need |= {name: bound.nbytes(name) for name in sorted(bound.read(nest) - made)}
        made |= bound.written(nest)
    return need, {name: bound.nbytes(name) for name in sorted(made)}


def _by_resios(nests: tuple[PortedNest, ...], gpu: Gpu, sizes: list[int]) -> Costs:
    """Return (4.1): kernels by the simulation, overhead with the thesis' constants on its own GPU."""
    kernels = Estimate.exact(sum(nest.prognosis.seconds for nest in nests), "s")
    if not nests[0].prognosis.machine.thesis:
        return Costs(kernels, *_overheads(gpu, sizes, len(nests)))
    memory = tables()["memory"]
    exact = (memory["launch"] * len(nests), sum(map(transfer_seconds, sizes)), memory["context"])
    launches, moved, context = (Estimate.exact(seconds, "s", Source.ASSUMED) for seconds in exact)
    return Costs(kernels, launches, moved, context)


def _by_model(predictions: list[Prediction], gpu: Gpu, sizes: list[int]) -> Costs | None:
    if not predictions:
        return None
    kernels = _added(prediction.time for prediction in predictions)
    return Costs(kernels, *_overheads(gpu, sizes, len(predictions)))


def _overheads(gpu: Gpu, sizes: list[int], launches: int) -> tuple[Estimate, Estimate, Estimate]:
    moved = _added(transfer_time(gpu, size) for size in sizes)
    return launch_overhead(gpu).scaled(launches), moved, context_initialisation()


def _added(parts: Iterable[Estimate]) -> Estimate:
    return reduce(lambda a, b: a.combine(b, lambda x, y: x + y, "s"), parts, Estimate.exact(0.0, "s"))
