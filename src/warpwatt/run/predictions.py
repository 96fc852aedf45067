"""Predictions of the launches of a run, each for every GPU: identical launches are predicted once."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from warpwatt.compose import Choice, LaunchModels, analyse, finish
from warpwatt.core.case import Case
from warpwatt.core.errors import InputError, reason
from warpwatt.core.execution import Assumption
from warpwatt.core.program import Level
from warpwatt.emulate.analysis import of_ptx_instead
from warpwatt.emulate.ir import PRODUCTS
from warpwatt.emulate.layout import relaid
from warpwatt.emulate.lift import lift
from warpwatt.emulate.provenance import ON_CHIP
from warpwatt.emulate.slow_paths import slow_share
from warpwatt.emulate.steering import data_dependence
from warpwatt.emulate.workload import footprints, workload
from warpwatt.gpus import check_launch, default_clocks
from warpwatt.models.registry import power_model, time_model
from warpwatt.request.measured import MeasuredLaunches
from warpwatt.run.effects import UNSEEN, allocations_of
from warpwatt.run.l2 import Found, L2Contents
from warpwatt.run.launches import Predicted, Touched, arguments, loader
from warpwatt.run.steady import Steady

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warpwatt.core.execution import Execution
    from warpwatt.core.gpu import Clocks, Gpu
    from warpwatt.core.launch import Launch
    from warpwatt.core.prediction import Prediction
    from warpwatt.core.program import Kernel, Program
    from warpwatt.emulate.emulation import Load
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Context
    from warpwatt.program.binding import BoundLaunch
    from warpwatt.run.effects import State
    from warpwatt.run.launches import Request
    from warpwatt.run.memory import Allocations, Arena, Block
    from warpwatt.run.modules import Module

T = TypeVar("T")
STALE = "contents that were not computed"
NO_DIFFERENCE = 0.01
"""Logarithm of the ratio of two works below which they are the same."""
STALE_SPREAD = 0.5
"""Standard deviation of the logarithm of the time where they steer, as where assumed ones make a run fail."""
SLOW_SHARE = 0.005
"""Part of its instructions from which on the slow paths of arithmetic that a launch takes matter."""


@dataclass(frozen=True, slots=True, eq=False)
class _Known(Generic[T]):
    """What was found when what steers a launch held these contents; None: they are not known."""

    contents: State | None
    found: T
    touched: Touched = ()


@dataclass(slots=True)
class Predictor:
    """Predicts launches on some GPUs from memory as it is."""

    gpus: Sequence[Gpu]
    choice: Choice
    clocks: Sequence[Clocks | None]
    arena: Arena
    allocations: Allocations
    budget: float
    """Seconds of CPU time for all predictions; past it launches are taken to be like earlier ones."""
    flush_l2: bool = False
    """Whether each launch finds L2 empty."""
    measured: MeasuredLaunches = field(default_factory=MeasuredLaunches)
    """Launches that somebody measured: they correct the time and power of those like them."""
    spent: float = 0.0
    memories: Mapping[int, DeviceMemory] = field(default_factory=dict)
    """The device as each module's kernels see it that are computed: what its heap holds."""
    steady: Steady = field(default_factory=Steady)
    """Launches whose time does not change with the data that steer them."""
    l2: tuple[L2Contents, ...] = field(init=False)
    """What L2 of each GPU holds."""
    slow: set[int] = field(default_factory=set)
    """Functions whose last launch took slow paths of arithmetic: what they read steers the next one."""
    _known: dict[tuple[object, ...], _Known[Predicted]] = field(default_factory=dict)
    """By what is launched, and what it finds in L2."""
    _executions: dict[tuple[object, ...], _Known[Execution]] = field(default_factory=dict)
    """By what is launched and the target."""
    _by_function: dict[int, list[Predicted]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.l2 = tuple(L2Contents.of(gpu, flushed=self.flush_l2) for gpu in self.gpus)

    def steering(self, module: Module, request: Request) -> frozenset[int] | None:
        """Return the allocations whose contents decide where threads of a launch go or look.

        None if that may be any memory.
        """
        found = frozenset[int]()
        takes_slow_paths = request.function in self.slow
        for gpu in self.gpus:
            with suppress(Exception):  # said where it is predicted
                kernel = module.kernel(request.kernel, gpu.target)
                read = kernel.sass or kernel.program()
                block = relaid(request.parameters, kernel.program(), read)
                more = _steering(read, block, self.allocations, slow_paths=takes_slow_paths)
                if more is None:
                    return None
                found |= more
        return found

    def known(self, request: Request, contents: State | None) -> Predicted | None:
        """Return the prediction of an identical launch that found the same in L2.

        ``contents``: the state of what steers it; None too where that is another, or not known.
        """
        executions = [self._executions.get((*request.signature, gpu.target)) for gpu in self.gpus]
        known = [one.touched for one in executions if one is not None and one.contents == contents]
        if len(known) < len(self.gpus) or contents is None:
            return None
        found = [l2.find(_footprints(touched, request)) for l2, touched in zip(self.l2, known, strict=True)]
        one = self._known.get((*request.signature, *(_by_number(each, request) for each in found)))
        return replace(one.found, request=request) if one is not None and one.contents == contents else None

    def ran(self, predicted: Predicted) -> None:
        """Know that a launch has run: L2 holds what it touched."""
        for contents, touched in zip(self.l2, predicted.touched, strict=False):
            contents.touch(_footprints(touched, predicted.request))

    def copied(self, address: int, size: int) -> None:
        """Know that bytes were copied to device memory, through L2 as all that reaches it."""
        block = self.allocations.at(address)
        if block is not None:
            for contents in self.l2:
                contents.copy_to(block.address, float(min(size, block.bytes)), float(block.bytes))

    def freed(self, address: int) -> None:
        """Know that an allocation is no more."""
        for contents in self.l2:
            contents.forget(address)

    def predict(
        self, module: Module, request: Request, contents: State | None, unknown_from: str = ""
    ) -> Predicted:
        """Return the predictions of a launch from what memory holds; past the budget, of one like it.

        ``contents`` as of :meth:`known`; ``unknown_from`` is the launch that was not computed, where what
        steers this one might hold something else.
        """
        like = self._by_function.get(request.function, [])
        if self.spent >= self.budget and like:
            return _borrowed(request, like)
        begun = time.process_time()
        predicted = self._predict_all(module, request, contents, unknown_from)
        self.spent += time.process_time() - begun
        (self.slow.add if _takes_slow_paths(predicted) else self.slow.discard)(request.function)
        if any(predicted.predictions):
            self._by_function.setdefault(request.function, []).append(predicted)
        return predicted

    def _predict_all(
        self, module: Module, request: Request, contents: State | None, unknown_from: str
    ) -> Predicted:
        found: list[Prediction | None] = []
        failures: list[str] = []
        l2: list[Found] = []
        touched: list[Touched] = []
        fresh: dict[str, Execution] = {}
        models: dict[tuple[str, Found], LaunchModels] = {}
        for gpu, clocks, cache in zip(self.gpus, self.clocks, self.l2, strict=True):
            try:
                kernel = module.kernel(request.kernel, gpu.target)
                heap = self.memories.get(id(module))
                execution = self._execution(kernel, request, gpu.target, contents, fresh, heap, unknown_from)
                touched.append(self._touched(execution, request))
                l2.append(cache.find(_footprints(touched[-1], request)))
                if (gpu.name, l2[-1]) not in models:
                    work = _finding(execution, l2[-1], self.allocations)
                    models[gpu.name, l2[-1]] = self._models(kernel, work, gpu)
                settled = models[gpu.name, l2[-1]].settle(
                    clocks or default_clocks(gpu), fixed=clocks is not None
                )
                found.append(finish(settled))
            except Exception as error:  # noqa: BLE001 - one launch must not end the run of a whole program
                found.append(None)
                failures.append(f"{gpu.name}: {reason(error)}")
        predicted = Predicted(request, tuple(found), tuple(failures), touched=tuple(touched))
        if len(l2) == len(self.gpus):
            by_number = (_by_number(each, request) for each in l2)
            self._known[*request.signature, *by_number] = _Known(contents, predicted)
        return predicted

    def _models(self, kernel: Kernel, execution: Execution, gpu: Gpu) -> LaunchModels:
        """Return the models of a launch on a GPU, at any clocks."""
        choice, launch = self.choice, execution.launch
        check_launch(gpu, kernel.resources, launch)
        work = workload(execution, gpu, kernel.resources, choice.unknown)
        profile, measured = self.measured.alike(kernel, launch, gpu)
        case = Case(kernel, work, launch, gpu, default_clocks(gpu), profile, measured)
        return LaunchModels((time_model(choice.time), power_model(choice.power)), case, choice)

    def _execution(
        self,
        kernel: Kernel,
        request: Request,
        target: str,
        contents: State | None,
        fresh: dict[str, Execution],
        heap: DeviceMemory | None,
        unknown_from: str,
    ) -> Execution:
        """Return what a launch does: from memory as it is, or as it did when memory was the same."""
        key = (*request.signature, target)
        if target in fresh:
            return fresh[target]
        known = self._executions.get(key)
        if known is not None and contents is not None and known.contents == contents:
            return known.found
        given = arguments(kernel, request.parameters, self.allocations)
        launch = replace(request.launch, arguments=given)
        lost = self.allocations.lost_among(request.blocks)
        written, data = kernel.program(), request.parameters
        load = loader(written, data, self.arena, self.allocations, heap, unknown_factors=bool(lost))
        try:
            found = self._analyse(kernel, launch, load)
            if unknown_from:
                other = self._otherwise(kernel, launch, partial(_with_numbers, load, self.arena, lost))
                found = _with_stale_contents(found, other, unknown_from)
        finally:
            self.arena.forget()
        if contents is not None:
            self._executions[key] = _Known(contents, found, self._touched(found, request))
        fresh[target] = found
        return found

    def _otherwise(self, kernel: Kernel, launch: Launch, load: Load) -> Execution | None:
        """Return what a launch does with other contents; None where it fails with them."""
        with suppress(InputError):
            return self._analyse(kernel, launch, load)
        return None

    def _touched(self, execution: Execution, request: Request) -> Touched:
        """Return what a launch touches of today's allocations."""
        numbers = {address: number for number, address in enumerate(request.blocks)}
        found = ((self.allocations.by_name(name), size) for name, size in footprints(execution).items())
        return tuple((numbers.get(b.address, -1), b.address, size) for b, size in found if b is not None)

    def _analyse(self, kernel: Kernel, launch: Launch, load: Load) -> Execution:
        """Return what a launch does, by its PTX where machine code cannot be followed."""
        try:
            return analyse(kernel, launch, self.choice, load)
        except InputError:
            if kernel.ptx is None or self.choice.level is not None:
                raise
            return of_ptx_instead(analyse(kernel, launch, replace(self.choice, level=Level.PTX), load))


def _footprints(touched: Touched, request: Request) -> dict[int, float]:
    """Return the bytes that a launch touches of allocations, by their addresses."""
    blocks = request.blocks
    return {blocks[n] if 0 <= n < len(blocks) else address: size for n, address, size in touched}


def _by_number(l2: Found, request: Request) -> tuple[object, ...]:
    """Return what a launch finds in L2 by the numbers of its allocations, not by where they lie."""
    numbers = {address: number for number, address in enumerate(request.blocks)}
    return l2.state, tuple(sorted((numbers.get(address, address), share) for address, share in l2.shares))


def _with_numbers(
    load: Load, arena: Arena, lost: Iterable[Block], bound: BoundLaunch
) -> tuple[Context, DeviceMemory]:
    """Put a launch on a device where allocations hold numbers from 0 to 1, not what is there."""
    context, memory = load(bound)
    arena.fill(lost)
    return context, memory


def _with_stale_contents(execution: Execution, other: Execution | None, unknown_from: str) -> Execution:
    """Return what a launch does, and how far contents that were not computed may change that.

    ``other`` is what it does where these are numbers from 0 to 1; None where it fails then.
    """
    spread = STALE_SPREAD if other is None else _difference(execution, other)
    if spread < NO_DIFFERENCE:
        return execution
    how = "makes it fail" if other is None else f"changes its work by {math.expm1(spread):.0%}"
    message = f"contents that were not computed steer threads ({unknown_from}); random numbers there: {how}"
    stale = Assumption(message, STALE, spread, fix="--computed and --budget SECONDS compute more")
    return replace(execution, assumptions=(*execution.assumptions, stale))


def _difference(one: Execution, other: Execution) -> float:
    """Return by how much two executions differ in instructions and bytes, as a logarithm."""
    works = [(float(sum(e.counts)), sum(footprints(e).values())) for e in (one, other)]
    return max(abs(math.log(a / b)) if a and b else float(a != b) for a, b in zip(*works, strict=True))


def _finding(execution: Execution, l2: Found, allocations: Allocations) -> Execution:
    """Return what a launch does that finds something in L2."""
    shares = {name: share for address, share in l2.shares if (name := allocations.name(address))}
    return replace(execution, launch=replace(execution.launch, l2=l2.state, in_l2=shares))


def _borrowed(request: Request, like: Sequence[Predicted]) -> Predicted:
    """Return for a launch the prediction of the one whose number of threads is nearest, in proportion."""

    def distance(other: Predicted) -> float:
        return abs(math.log(request.launch.threads / other.request.launch.threads))

    nearest = min(reversed(like), key=distance)
    scale = request.launch.threads / nearest.request.launch.threads
    return replace(nearest, request=request, scale=scale, borrowed_from=nearest.request.number)


def _takes_slow_paths(predicted: Predicted) -> bool:
    """Whether a launch on any GPU takes slow paths of arithmetic, often enough to be seen."""
    executions = [p.case.workload.execution for p in predicted.predictions if p is not None]
    return any(slow_share(one, lift(one.program)) > SLOW_SHARE for one in executions)


def _steering(
    program: Program, parameters: bytes, allocations: Allocations, *, slow_paths: bool
) -> frozenset[int] | None:
    """Return the allocations that decide what a program does; None if that may be any."""
    routine = lift(program)
    if not PRODUCTS.isdisjoint(routine.functions):  # of libraries, which look behind pointers that are null
        from warpwatt.emulate.decided_branches import without_untaken

        routine = without_untaken(routine, parameters)
    dependence = data_dependence(routine)
    tests = [loads for _, _, loads in dependence.slow_paths] if slow_paths else []
    decisions = [dependence.control, dependence.addresses, *tests]
    names = frozenset[str]().union(*(each for one in decisions for each in one.values())) - ON_CHIP
    steered = any(decisions)
    at = dict(allocations_of(program, parameters, allocations)) if steered else {}
    if names & UNSEEN or not names <= at.keys() or (steered and not names):
        return None
    return frozenset[int]().union(*(at[name] for name in names))
