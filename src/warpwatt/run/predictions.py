"""Predictions of the launches of a run, each for every GPU: identical launches are predicted once."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warpwatt.compose import Choice, analyse, predict
from warpwatt.core.errors import InputError, WarpWattError
from warpwatt.core.program import Level
from warpwatt.emulate.emulation import prepared
from warpwatt.run.launches import arguments, loader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.core.execution import Execution
    from warpwatt.core.gpu import Clocks, Gpu
    from warpwatt.core.launch import Launch
    from warpwatt.core.prediction import Prediction
    from warpwatt.core.program import Kernel
    from warpwatt.emulate.emulation import Load
    from warpwatt.run.launches import Request
    from warpwatt.run.memory import Allocations, Arena
    from warpwatt.run.modules import Module


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """What came of predicting a launch: a prediction for each GPU, or why there is none."""

    request: Request
    predictions: tuple[Prediction | None, ...]
    failures: tuple[str, ...] = ()
    """Of each GPU without a prediction, why."""
    scale: float = 1.0
    """Times and energies are those of the predictions times this."""
    borrowed_from: int = 0
    """Number of the launch that was predicted instead; 0 if it is this one."""


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
    spent: float = 0.0
    _known: dict[tuple[object, ...], Predicted] = field(default_factory=dict)
    _by_function: dict[int, list[Predicted]] = field(default_factory=dict)

    def is_steered(self, module: Module, request: Request) -> bool:
        """Whether what memory holds decides where threads of a launch go or look."""
        for gpu in self.gpus:
            with suppress(WarpWattError):  # said where it is predicted
                if _steered(module.kernel(request.kernel, gpu.target)):
                    return True
        return False

    def known(self, request: Request) -> Predicted | None:
        """Return the prediction of an identical launch, unless contents of memory might make it another."""
        return self._known.get(request.key)

    def predict(self, module: Module, request: Request) -> Predicted:
        """Return the predictions of a launch from what memory holds; past the budget, of one like it."""
        like = self._by_function.get(request.function, [])
        if self.spent >= self.budget and like:
            return _borrowed(request, like)
        begun = time.process_time()
        predicted = self._predict_all(module, request)
        self.spent += time.process_time() - begun
        if any(predicted.predictions):
            self._by_function.setdefault(request.function, []).append(predicted)
        return predicted

    def _predict_all(self, module: Module, request: Request) -> Predicted:
        found: list[Prediction | None] = []
        failures: list[str] = []
        executions: dict[str, Execution] = {}
        steered = False
        for gpu, clocks in zip(self.gpus, self.clocks, strict=True):
            try:
                kernel = module.kernel(request.kernel, gpu.target)
                steered = steered or _steered(kernel)
                found.append(self._predict(kernel, request, gpu, clocks, executions))
            except WarpWattError as error:
                found.append(None)
                failures.append(f"{gpu.name}: {error}")
        predicted = Predicted(request, tuple(found), tuple(failures))
        if not steered:
            self._known[request.key] = predicted
        return predicted

    def _predict(
        self,
        kernel: Kernel,
        request: Request,
        gpu: Gpu,
        clocks: Clocks | None,
        executions: dict[str, Execution],
    ) -> Prediction:
        given = arguments(kernel, request.parameters, self.allocations)
        launch = replace(request.launch, arguments=given)
        execution = executions.get(gpu.target)
        if execution is None:
            load = loader(request.parameters, self.arena.private, self.allocations)
            try:
                execution = executions[gpu.target] = self._analyse(kernel, launch, load)
            finally:
                self.arena.forget()
        return predict(kernel, launch, gpu, clocks=clocks, choice=self.choice, execution=execution)

    def _analyse(self, kernel: Kernel, launch: Launch, load: Load) -> Execution:
        """Return what a launch does, by its PTX where machine code cannot be followed."""
        try:
            return analyse(kernel, launch, self.choice, load)
        except InputError:
            if kernel.ptx is None or self.choice.level is not None:
                raise
            return analyse(kernel, launch, replace(self.choice, level=Level.PTX), load)


def _borrowed(request: Request, like: Sequence[Predicted]) -> Predicted:
    """Return for a launch the prediction of the one whose number of threads is nearest, in proportion."""

    def distance(other: Predicted) -> float:
        return abs(math.log(request.launch.threads / other.request.launch.threads))

    nearest = min(reversed(like), key=distance)
    scale = request.launch.threads / nearest.request.launch.threads
    return replace(nearest, request=request, scale=scale, borrowed_from=nearest.request.number)


def _steered(kernel: Kernel) -> bool:
    """Whether global memory decides what a kernel does."""
    program = kernel.sass or kernel.program()
    _, _, dependence = prepared(program)
    return bool(dependence.control or dependence.addresses)
