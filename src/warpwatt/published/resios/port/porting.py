"""``port``: from C to both systems' numbers, the composition of the C front end, Resios and ``predict``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from warpwatt.compose import Choice
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.frontend.compiled import Source as Text
from warpwatt.frontend.options import CompileOptions
from warpwatt.models.overhead import context_time, launch_overhead, transfer_time
from warpwatt.published.resios.c_loops.bound import bound as bind
from warpwatt.published.resios.c_loops.cuda import source as cuda_source
from warpwatt.published.resios.c_loops.decide import decided
from warpwatt.published.resios.c_loops.dependence import check_aliases
from warpwatt.published.resios.c_loops.evaluate import converted
from warpwatt.published.resios.c_loops.mapping import mapped
from warpwatt.published.resios.c_loops.nest import walk
from warpwatt.published.resios.c_loops.printer import Printer, safe
from warpwatt.published.resios.c_loops.read import read_function
from warpwatt.published.resios.c_loops.sequential import Program as Compiled
from warpwatt.published.resios.c_loops.sequential import Sequential
from warpwatt.published.resios.equations import transfer_seconds
from warpwatt.published.resios.machine import tables
from warpwatt.published.resios.port import extents
from warpwatt.published.resios.port.choose import Candidates, Chosen, Target, added, choose
from warpwatt.published.resios.port.host_code import host_function
from warpwatt.published.resios.port.launches import launched, mapping_of
from warpwatt.published.resios.port.liveness import copies
from warpwatt.published.resios.port.proofs import proof
from warpwatt.published.resios.port.reduction import fits, unguarded
from warpwatt.published.resios.port.result import Costs, Port, PortedNest
from warpwatt.published.resios.port.steering import free, steering
from warpwatt.published.resios.port.variants import variants
from warpwatt.published.resios.prognosis import prognose
from warpwatt.published.resios.schedule.transform import transformed

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.schedule.build import BuiltKernel
    from warpwatt.published.resios.schedule.transform import Program


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
    reorder
        Whether sums may be added up in another order than the source's.
    take
        Names of the ways to write the kernels, in order; empty: what is predicted fastest.
    context
        Seconds of creating a CUDA context on this GPU with its driver; None: as published for boards of its
        compute capability, if any were.
    pinned
        Whether the host's arrays are page-locked.
    sequential
        Seconds of one call of the C, where they are known already.
    """

    values: Mapping[str, int | float]
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    function: str = ""
    options: CompileOptions = field(default_factory=CompileOptions)
    assume_no_alias: bool = False
    policy: str = "in-turn"
    run: bool = True
    reorder: bool = True
    take: tuple[str, ...] = ()
    context: float | None = None
    pinned: bool = False
    sequential: float | None = None


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
    whole = read_function(source, request.function, request.options)
    function = decided(whole, request.values)
    bound = bind(function, request.values, request.shapes)
    if not request.assume_no_alias:
        check_aliases(function, set().union(*(bound.written(nest) for nest in bound.nests)))
    any_size = () if request.shapes or any(one.rows for one in function.objects) else free(whole)
    program = transformed(function, request.values, request.shapes, reorder=request.reorder, free=any_size)
    _refuse_sequential(bound, program)
    ready = launched(program)
    found = []
    for one in ready:
        loops, mapping = mapping_of(program, one.kernel, one.middle)
        prognosis = prognose(loops, mapping, gpu, policy=request.policy)
        most = max(prod(one.kernel.extents({**program.integers, **times})) for times in one.launches)
        made = variants(loops, mapping, prognosis.block, reorder=request.reorder, most_results=most)
        found.append(Candidates(one, mapping, prognosis, made))
    chosen, note = choose(program, tuple(found), Target(gpu, clocks, choice), request.take)
    sequential = _sequential(source, bound, request)
    at_run_time = _sizes(program, chosen, steering(whole))
    copied_in, copied_out = copies(bound, program.symbolic if at_run_time.elements else None)
    sizes = [*copied_in.values(), *copied_out.values()]
    texts = {c.generated.base: c.generated for c in chosen}
    comments = {
        c.generated.base: proof(one, program, reorders=c.reorders)
        for one, c in zip(ready, chosen, strict=True)
    }
    text = (
        cuda_source(bound, tuple(texts.values()), comments)
        + "\n"
        + host_function(program, texts, (copied_in, copied_out), (at_run_time.needed, at_run_time.elements))
    )
    launches = sum(len(one.launches) * len(c.generated.chain) for one, c in zip(ready, chosen, strict=True))
    ported = tuple(_ported(one, taken, note) for one, taken in zip(found, chosen, strict=True))
    return Port(
        bound=bound,
        program=program,
        gpu=gpu,
        nests=ported,
        sequential=sequential,
        copied_in=copied_in,
        copied_out=copied_out,
        resios=_by_resios(ported, gpu, sizes, launches, request),
        model=_by_model(ported, gpu, sizes, launches, request),
        cuda=text,
        other=at_run_time.other,
        warnings=tuple(f"{name} is not given: assumed to be 1" for name in bound.assumed),
    )


@dataclass(frozen=True, slots=True)
class _Sizes:
    """What the emitted host function needs: conditions and elements of arrays as C; other sizes to check."""

    needed: list[str]
    elements: dict[str, str] = field(default_factory=dict)
    other: dict[str, int] = field(default_factory=dict)


def _sizes(program: Program, chosen: tuple[Chosen, ...], fixed: tuple[str, ...]) -> _Sizes:
    """Return which sizes the emitted program takes: any where everything in it holds for them."""
    printer, general = Printer({}), program.symbolic
    made = [one for c in chosen for one in c.generated.chain]
    if general is not None and not any(one.fixed or one.scratch for one in made):
        forms = extents.needed(general)
        elements = extents.counts(general, program.bound.shapes, forms, printer) if forms else None
        if elements is not None and forms is not None:
            needed = _equal(program, [name for name in fixed if name not in general.sizes])
            needed += extents.conditions(general, printer, elements, forms)
            counts = {name: text.replace(extents.CAST, "(size_t)") for name, text in elements.items()}
            return _Sizes(needed, counts, extents.other_sizes(general, forms))
    return _Sizes(_equal(program, fixed))


def _equal(program: Program, names: Iterable[str]) -> list[str]:
    """Return as C that scalars have the program's values."""
    types = {s.name: s.type for s in program.bound.function.scalars}
    values = {name: converted(program.bound.values[name], types[name]) for name in names}
    return [f"{safe(name)} == {value!r}" for name, value in values.items()]


def _ported(one: Candidates, taken: Chosen, note: str) -> PortedNest:
    """Return a kernel as it was chosen to be written, with what was found about it."""
    launches = len(one.launched.launches) * len(taken.generated.chain)
    return PortedNest(
        mapping=one.mapping,
        prognosis=one.prognosis,
        generated=taken.generated,
        prediction=taken.samples[len(taken.samples) // 2] if taken.samples else None,
        note=note,
        launches=launches,
        prognosed=one.prognosis.seconds * launches,
        predicted=taken.predicted,
        alternatives=taken.alternatives,
        plain=one.variants[0].name,
    )


def _refuse_sequential(bound: BoundFunction, program: Program) -> None:
    """Refuse a nest of which nothing runs in parallel, with the two lines that depend on each other."""
    for nest in bound.nests:
        inside = {s.line for s in walk((nest.loop,))}
        mine = [
            k
            for k in program.kernels()
            if any(line in inside for p in k.kernel.parts for line in p.unit.lines)
        ]
        if all(not part.threads for k in mine for part in k.kernel.parts) and not any(map(_reduces, mine)):
            mapped(bound, nest, assume_no_alias=True)


def _reduces(kernel: BuiltKernel) -> bool:
    """Whether a kernel of one thread adds something up: many threads can share that."""
    (nest,) = kernel.function.nests
    return fits(unguarded(nest.body)[0])


def _sequential(source: Text, bound: BoundFunction, request: Request) -> Sequential:
    if request.sequential is not None:
        given = request.sequential
        return Sequential(given, "given", given, given)
    if not request.run:
        return Sequential(None, "unknown: not run")
    return Compiled(source, bound, request.options).timed()


def _by_resios(
    nests: tuple[PortedNest, ...], gpu: Gpu, sizes: list[int], launches: int, request: Request
) -> Costs:
    """Return (4.1): kernels by the simulation, overhead with the thesis' constants on its own GPU."""
    kernels = Estimate.exact(sum(nest.prognosed for nest in nests), "s")
    if not nests[0].prognosis.machine.thesis or request.context is not None:
        return Costs(kernels, *_overheads(gpu, sizes, launches, request))
    memory = tables()["memory"]
    exact = (memory["launch"] * launches, sum(map(transfer_seconds, sizes)), memory["context"])
    launching, moved, context = (Estimate.exact(seconds, "s", Source.ASSUMED) for seconds in exact)
    return Costs(kernels, launching, moved, context)


def _by_model(
    nests: tuple[PortedNest, ...], gpu: Gpu, sizes: list[int], launches: int, request: Request
) -> Costs | None:
    predicted = [nest.predicted for nest in nests if nest.predicted is not None]
    if not predicted:
        return None
    return Costs(added(predicted), *_overheads(gpu, sizes, launches, request))


def _overheads(
    gpu: Gpu, sizes: list[int], launches: int, request: Request
) -> tuple[Estimate, Estimate, Estimate | None]:
    moved = added(transfer_time(gpu, size, pinned=request.pinned) for size in sizes)
    context = context_time(gpu) if request.context is None else Estimate.exact(request.context, "s")
    return launch_overhead(gpu).scaled(launches), moved, context
