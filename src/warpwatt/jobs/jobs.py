"""Jobs: what there is to run, how often, when it arrives, where it may run, and what it costs there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from warpwatt.core.application import Application, KernelNode
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.gpu import Gpu
from warpwatt.jobs.application import predict_application

if TYPE_CHECKING:
    from warpwatt.jobs.application import Predictor


@dataclass(frozen=True, slots=True)
class Fixed:
    """Work whose duration and mean board power are known, the same on every GPU it may run on."""

    seconds: float
    watts: float


@dataclass(frozen=True, slots=True)
class Job:
    """``count`` equal pieces of work, each for one whole GPU.

    Attributes
    ----------
    arrival, every
        Seconds: when the first arrives, and between the arrivals of one and the next.
    gpus
        Names of the GPUs that may run it, as :func:`warpwatt.gpus.find` gives them; empty: any.
    clock, model, profile
        As the options of these names, over what the command line says.
    """

    name: str
    work: Application | Fixed
    count: int = 1
    arrival: float = 0.0
    every: float = 0.0
    gpus: tuple[str, ...] = ()
    clock: str | None = None
    model: tuple[str, ...] = ()
    profile: Path | None = None

    @property
    def arrivals(self) -> tuple[float, ...]:
        """Return when each of the pieces arrives.

        >>> Job("j", Fixed(1.0, 100.0), count=3, arrival=2.0, every=0.5).arrivals
        (2.0, 2.5, 3.0)
        """
        return tuple(self.arrival + i * self.every for i in range(self.count))


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
