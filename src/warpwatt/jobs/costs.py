"""What a piece of work costs on a kind of GPU: from the predictions, or as it was said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from warpwatt.core.application import KernelNode
from warpwatt.core.estimate import Estimate, Source
from warpwatt.jobs.application import predict_application
from warpwatt.jobs.jobs import Fixed

if TYPE_CHECKING:
    from warpwatt.core.application import Application
    from warpwatt.core.gpu import Gpu
    from warpwatt.jobs.application import Predictor
    from warpwatt.jobs.jobs import Job


class Predictors(Protocol):
    """Gives the predictor for the kernels of a job."""

    def __call__(self, job: Job) -> Predictor:
        """Return a predictor with the job's own clock, models and profile."""
        ...


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds and joules of one piece of work on one GPU; ``threads`` launched, 0 where that says nothing."""

    time: Estimate
    energy: Estimate
    threads: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def watts(self) -> float:
        """Mean power of the board."""
        return self.energy.value / self.time.value


def cost(job: Job, gpu: Gpu, predictors: Predictors) -> Cost:
    """Return what one piece of a job costs on a GPU; raises whatever its predictor raises."""
    work = job.work
    if isinstance(work, Fixed):
        seconds = Estimate.exact(work.seconds, "s", Source.MEASURED)
        return Cost(seconds, Estimate.exact(work.seconds * work.watts, "J", Source.MEASURED))
    found = predict_application(work, gpu, predictors(job))
    notes = [note for step in found.steps if step.prediction is not None for note in step.prediction.warnings]
    warnings = tuple(dict.fromkeys((*found.warnings, *notes)))
    return Cost(found.time, found.energy, _threads(work), warnings)


def _threads(work: Application) -> int:
    """Return the threads of work that is one kernel and nothing else, 0 of other work."""
    node = work.nodes[0]
    alone = len(work.nodes) == 1 and isinstance(node, KernelNode) and not node.children and not work.idle
    return node.launch.threads * node.repeats if alone and isinstance(node, KernelNode) else 0
