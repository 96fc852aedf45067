"""Lock-step simulation of one SM (Algorithm 5.1): blocks of warps, a ready queue, compute and memory units.

All warps run the same trace. TLP is the number of warps that are not at a memory unit; an instruction's delay
is divided by the TLP it meets when it first waits or runs, and then stays. One compute and one memory unit
make the simulation of a single kind of instruction equal to (4.4).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from warpwatt.published.resios.equations import compute_delay, memory_delay

if TYPE_CHECKING:
    from warpwatt.published.resios.machine import Rate

_DONE = 1e-9
"""Cycles left at which an instruction is over."""


class Unit(Enum):
    """Where an instruction runs; ``BARRIER`` holds warps until all of their block have come (chapter 9)."""

    COMPUTE = "compute"
    MEMORY = "memory"
    BARRIER = "barrier"


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction of a warp's trace, executed ``count`` times: loops are flattened, branches in a row.

    ``penalty`` is of a memory instruction, once per execution; ``label`` names its access for the hot spots.
    """

    unit: Unit
    count: float
    parallelism: float
    rate: Rate
    penalty: float = 0.0
    label: int = -1

    def delay(self, threads: float) -> float:
        """Return its cycles by (4.5) or (4.6) with so many warps."""
        degree = self.parallelism * threads
        if self.unit is Unit.COMPUTE:
            rate = self.rate
            return self.count * compute_delay(rate.latency, rate.throughput, rate.most, degree)
        return self.count * memory_delay(self.rate.latency, self.penalty, self.rate.most, degree)


@dataclass(slots=True)
class Warp:
    """A warp under way: its place in the trace, cycles left of that instruction once it has been adjusted."""

    number: int
    block: int
    place: int = 0
    left: float | None = None
    waited: int = 0


def in_turn(queue: Sequence[Warp]) -> list[Warp]:
    """Take warps in the order they became ready."""
    return list(queue)


def oldest_first(queue: Sequence[Warp]) -> list[Warp]:
    """Take the warp with the lowest number first."""
    return sorted(queue, key=lambda warp: warp.number)


def latest_first(queue: Sequence[Warp]) -> list[Warp]:
    """Take the warp that became ready last."""
    return list(queue)[::-1]


def shortest_first(queue: Sequence[Warp]) -> list[Warp]:
    """Take the instruction with the fewest cycles left first."""
    return sorted(queue, key=lambda warp: warp.left or 0.0)


Policy = "Callable[[Sequence[Warp]], list[Warp]]"
POLICIES: Mapping[str, Callable[[Sequence[Warp]], list[Warp]]] = {
    "in-turn": in_turn,
    "oldest-first": oldest_first,
    "latest-first": latest_first,
    "shortest-first": shortest_first,
}
"""Which ready warp goes first, by name."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """Units and limits of the simulated SM."""

    resident_warps: int
    resident_blocks: int
    compute_units: int = 1
    memory_units: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """Cycles of the simulated warps; per label the cycles it took and those with nothing else at work."""

    cycles: float
    taken: Mapping[int, float]
    idle: Mapping[int, float]
    mean_parallelism: float


def simulate(
    trace: Sequence[Step], blocks: int, warps_per_block: int, hardware: Hardware, policy: str = "in-turn"
) -> Outcome:
    """Return how long ``blocks`` blocks take on one SM.

    >>> from warpwatt.published.resios.machine import Rate
    >>> madd = Step(Unit.COMPUTE, 1000, 1, Rate(22, 16, 11))
    >>> simulate([madd], 1, 11, Hardware(48, 8)).cycles
    22000.0
    """
    return _Simulation(list(trace), warps_per_block, hardware, POLICIES[policy]).run(blocks)


@dataclass(slots=True)
class _Simulation:
    trace: list[Step]
    warps_per_block: int
    hardware: Hardware
    policy: Callable[[Sequence[Warp]], list[Warp]]
    ready: deque[Warp] = field(default_factory=deque)
    running: dict[Unit, list[Warp]] = field(default_factory=lambda: {Unit.COMPUTE: [], Unit.MEMORY: []})
    arrived: dict[int, list[Warp]] = field(default_factory=dict)
    live: dict[int, int] = field(default_factory=dict)
    taken: dict[int, float] = field(default_factory=dict)
    idle: dict[int, float] = field(default_factory=dict)

    def run(self, blocks: int) -> Outcome:
        waiting, started = blocks, 0
        time = weighted = 0.0
        while waiting or self.live:
            while waiting and self._room():
                self._start(started)
                started, waiting = started + 1, waiting - 1
            self._distribute()
            threads = max(1, len(self.ready) + len(self.running[Unit.COMPUTE]))
            self._adjust(threads)
            busy = [*self.running[Unit.COMPUTE], *self.running[Unit.MEMORY]]
            if not busy:
                continue  # every warp came to a barrier or its end
            delay = min(warp.left or 0.0 for warp in busy)
            self._account(delay)
            time, weighted = time + delay, weighted + delay * threads
            self._advance(delay)
        return Outcome(time, self.taken, self.idle, weighted / time if time else 0.0)

    def _room(self) -> bool:
        """Whether another block fits; one always does where there is none, however large."""
        warps = sum(self.live.values())
        fits = warps + self.warps_per_block <= self.hardware.resident_warps
        return not self.live or (fits and len(self.live) < self.hardware.resident_blocks)

    def _start(self, block: int) -> None:
        first = block * self.warps_per_block
        self.live[block] = self.warps_per_block
        for number in range(first, first + self.warps_per_block):
            self._next(Warp(number, block, place=-1))

    def _next(self, warp: Warp) -> None:
        """Move a warp to its next instruction: into the ready queue, to a barrier, or out."""
        warp.place, warp.left = warp.place + 1, None
        if warp.place == len(self.trace):
            self.live[warp.block] -= 1
        elif self.trace[warp.place].unit is Unit.BARRIER:
            self.arrived.setdefault(warp.block, []).append(warp)
        else:
            self.ready.append(warp)
            return
        self._release(warp.block)

    def _release(self, block: int) -> None:
        if not self.live[block]:
            del self.live[block]
        elif len(self.arrived.get(block, ())) == self.live[block]:
            for warp in self.arrived.pop(block):
                self._next(warp)

    def _distribute(self) -> None:
        """Give free units to ready warps in the order of the policy."""
        limits = {Unit.COMPUTE: self.hardware.compute_units, Unit.MEMORY: self.hardware.memory_units}
        free = {unit: limits[unit] - len(self.running[unit]) for unit in limits}
        for warp in self.policy(self.ready):
            unit = self.trace[warp.place].unit
            if free[unit] > 0:
                free[unit] -= 1
                self.running[unit].append(warp)
                self.ready.remove(warp)
            if not any(free.values()):
                break

    def _adjust(self, threads: int) -> None:
        """Fix the delay of every instruction that has not been adjusted yet."""
        for warp in (*self.running[Unit.COMPUTE], *self.running[Unit.MEMORY], *self.ready):
            if warp.left is None:
                warp.left = self.trace[warp.place].delay(threads)

    def _account(self, delay: float) -> None:
        """Add to the hot spots: cycles at memory units, and those when no compute unit had work."""
        nothing_else = not self.running[Unit.COMPUTE]
        for warp in self.running[Unit.MEMORY]:
            label = self.trace[warp.place].label
            self.taken[label] = self.taken.get(label, 0.0) + delay
            if nothing_else:
                self.idle[label] = self.idle.get(label, 0.0) + delay

    def _advance(self, delay: float) -> None:
        for running in self.running.values():
            for warp in tuple(running):
                assert warp.left is not None
                warp.left -= delay
                if warp.left <= _DONE:
                    running.remove(warp)
                    self._next(warp)
