"""Devices as discrete-event simulators know them: hosts with states, and what such a simulator answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

FLOPS_PER_SECOND = 1e9
"""Speed of states whose work is known by its duration only."""


GPU, NODE = "gpu", "node"
"""Properties of hosts: the GPU's name, and the node it is in."""


@dataclass(frozen=True, slots=True)
class State:
    """A state of a host: flop per second, watts with nothing to do and while working."""

    speed: float
    idle_watts: float
    busy_watts: float
    what: str = ""
    """The work it stands for, for the reader of the file."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host of one core; ``states`` are numbered from 0."""

    name: str
    states: tuple[State, ...]
    off_watts: float = 0.0
    properties: Mapping[str, str] = field(default_factory=dict)
    """What else a platform file says of it: :data:`GPU`, :data:`NODE`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What another simulator says: seconds at the end, joules by host, when each task of a host ended."""

    time: float
    energies: Mapping[str, float]
    ends: Mapping[str, Sequence[float]]

    @property
    def energy(self) -> float:
        """Joules of all hosts."""
        return sum(self.energies.values())
