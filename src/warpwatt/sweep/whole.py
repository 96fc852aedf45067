"""``Whole``: an application on one GPU, at one pair of clocks after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.compose import analyse, finish, settle
from warpwatt.core.application import KernelNode
from warpwatt.core.case import Case, TimeModel
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.prediction import ApplicationPrediction, Prediction
from warpwatt.core.program import Kernel
from warpwatt.emulate.workload import workload
from warpwatt.gpus import check_launch, default_clocks
from warpwatt.jobs.application import predict_application
from warpwatt.models.registry import power_model

if TYPE_CHECKING:
    from warpwatt.compose import Choice
    from warpwatt.frontend.compiled import Source
    from warpwatt.frontend.options import CompileOptions
    from warpwatt.sweep.tasks import Task

    Compiler = Callable[[Source, str, CompileOptions, str], Kernel]


class Whole:
    """What of an application is the same at every clock is found once.

    Parameters
    ----------
    model
        Makes a time model for one step.
    compiled
        Compiles a kernel: (source, target, options, name).
    """

    def __init__(
        self,
        task: Task,
        gpu: Gpu,
        choice: Choice,
        options: CompileOptions,
        model: Callable[[], TimeModel],
        compiled: Compiler,
    ) -> None:
        self._task, self._gpu, self._choice, self._options = task, gpu, choice, options
        self._model, self._compiled = model, compiled
        self._files = dict(task.files)
        self._cases: dict[KernelNode, tuple[Case, TimeModel]] = {}

    def predict(self, clocks: Clocks | None) -> ApplicationPrediction:
        """Return time and energy at these clocks, None for the board's own choice in every step.

        Raises
        ------
        WarpWattError
            As :func:`warpwatt.compose.predict`, for any of the steps.
        """
        assert self._task.application is not None

        def step(node: KernelNode, gpu: Gpu) -> Prediction:
            assert gpu is self._gpu
            case, model = self._case(node)
            own = case if clocks is None else replace(case, clocks=clocks)
            return finish(settle(own, model, power_model(self._choice.power), fixed=clocks is not None))

        return predict_application(self._task.application, self._gpu, step)

    def _case(self, node: KernelNode) -> tuple[Case, TimeModel]:
        """Return a step before its clocks are known, and the model that is asked about it."""
        if node not in self._cases:
            source, gpu = self._files[str(node.source)], self._gpu
            kernel = self._compiled(source, gpu.target, self._options, node.kernel or "")
            choice = replace(self._choice, loop_counts=node.loop_counts)
            check_launch(gpu, kernel.resources, node.launch)
            work = workload(analyse(kernel, node.launch, choice), gpu, kernel.resources, choice.unknown)
            self._cases[node] = Case(kernel, work, node.launch, gpu, default_clocks(gpu)), self._model()
        return self._cases[node]
