"""Jobs: what there is to run, how often, when it arrives, and where it may run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from warpwatt.core.application import Application


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
