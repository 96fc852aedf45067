"""A simulated clock controller: an application changes phase, and the clocks follow it.

Wang and Chu (2018) name it as future work. Every launch has a time and an energy at each pair of clocks;
changing clocks costs a latency, during which the board draws what it draws at idle clocks. Three ways to
choose: one pair for all (:func:`fixed`), the best sequence for who knows what comes (:func:`oracle`), and a
controller that only knows what is launched now (:func:`controlled`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from warpwatt.core.application import Application, KernelNode
from warpwatt.core.errors import InputError
from warpwatt.core.gpu import Clocks

Pair = tuple[float, float]
"""SM and memory clock in hertz."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one launch takes at a pair of clocks: seconds and joules."""

    seconds: float
    joules: float


@dataclass(frozen=True, slots=True)
class Phase:
    """``launches`` of one kernel in a row, each at the cost of its pair of clocks."""

    name: str
    costs: Mapping[Pair, Cost]
    launches: int = 1


@dataclass(frozen=True, slots=True)
class Switching:
    """What a change of clocks costs: seconds in which nothing runs, at so many watts."""

    seconds: float = 0.02
    watts: float = 50.0

    @property
    def joules(self) -> float:
        """Energy of one change."""
        return self.seconds * self.watts


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run of the application: totals, the pair of clocks of every launch, and how often they changed."""

    seconds: float
    joules: float
    clocks: tuple[Pair, ...]
    switches: int


def phases(
    application: Application, clocks: Sequence[Clocks], cost: Callable[[KernelNode, Clocks], Cost]
) -> tuple[Phase, ...]:
    """Return the kernel launches of an application as phases, in submission order.

    ``cost`` says what one launch of a node takes at given clocks, from a prediction or a measurement; each
    node is asked once per pair. Copies are left out: their time hardly depends on these clocks.
    """
    nodes = (node for node in application.nodes if isinstance(node, KernelNode))
    return tuple(
        Phase(node.name, {(at.sm, at.memory): cost(node, at) for at in clocks}, node.repeats)
        for node in nodes
    )


def fixed(sequence: Sequence[Phase], pair: Pair) -> Outcome:
    """Return the run at one pair of clocks, set before it begins."""
    return _run(sequence, (pair,) * _launches(sequence), Switching(0.0, 0.0))


def best_fixed(sequence: Sequence[Phase]) -> Outcome:
    """Return the run at the one pair of clocks with the least energy."""
    return min((fixed(sequence, pair) for pair in _pairs(sequence)), key=lambda run: run.joules)


def oracle(sequence: Sequence[Phase], switching: Switching) -> Outcome:
    """Return the run with the least energy of all: dynamic programming over phases and clocks.

    Inside a phase nothing changes, so its clocks do not: only where phases meet may a change pay.
    """
    pairs = _pairs(sequence)
    spent = dict.fromkeys(pairs, 0.0)
    came: list[dict[Pair, Pair]] = []
    for phase in sequence:
        cheapest = min(spent, key=spent.__getitem__)  # before the first phase nothing is spent: no change
        change = spent[cheapest] + switching.joules
        before = {pair: cheapest if change < spent[pair] else pair for pair in pairs}
        spent = {
            pair: spent[old] + (switching.joules if old != pair else 0.0) + _energy(phase, pair)
            for pair, old in before.items()
        }
        came.append(before)
    at = min(spent, key=spent.__getitem__)
    chosen: list[Pair] = []
    for phase, before in zip(reversed(sequence), reversed(came), strict=True):
        chosen = [at] * phase.launches + chosen
        at = before[at]
    return _run(sequence, chosen, switching)


def controlled(
    sequence: Sequence[Phase],
    switching: Switching,
    start: Pair,
    believed: Sequence[Phase] | None = None,
    max_slowdown: float = math.inf,
) -> Outcome:
    """Return the run of a controller that sees each launch as it comes, and no further.

    It stays until what it lost by staying, against the best clocks for these launches, equals the cost of a
    change, then changes (the rule of who rents skis until they could have been bought): however phases come
    and go, a change wastes no more than staying did.

    Parameters
    ----------
    start
        The clocks before the first launch.
    believed
        The phases as the controller predicts them; those of ``sequence`` if it knows them exactly.
    max_slowdown
        How much longer than at its fastest clocks a launch may take, by what is believed.
    """
    now, lost, chosen = start, 0.0, []
    for phase in believed or sequence:
        wanted = _best(phase, max_slowdown)
        for _ in range(phase.launches):
            lost = max(0.0, lost + phase.costs[now].joules - phase.costs[wanted].joules)
            late = phase.costs[now].seconds > (1.0 + max_slowdown) * _fastest(phase)
            if now != wanted and (lost >= switching.joules or late):
                now, lost = wanted, 0.0
            chosen.append(now)
    return _run(sequence, chosen, switching, start)


def _best(phase: Phase, max_slowdown: float) -> Pair:
    limit = (1.0 + max_slowdown) * _fastest(phase) * (1.0 + 1e-9)
    allowed = [pair for pair, cost in phase.costs.items() if cost.seconds <= limit]
    return min(allowed, key=lambda pair: phase.costs[pair].joules)


def _fastest(phase: Phase) -> float:
    return min(cost.seconds for cost in phase.costs.values())


def _run(
    sequence: Sequence[Phase], chosen: Sequence[Pair], switching: Switching, start: Pair | None = None
) -> Outcome:
    """Add up launches at their clocks and the changes between them."""
    costs = [phase.costs for phase in sequence for _ in range(phase.launches)]
    before = [chosen[0] if start is None else start, *chosen[:-1]]
    switches = sum(old != new for old, new in zip(before, chosen, strict=True))
    spent = [own[pair] for own, pair in zip(costs, chosen, strict=True)]
    return Outcome(
        seconds=math.fsum(cost.seconds for cost in spent) + switches * switching.seconds,
        joules=math.fsum(cost.joules for cost in spent) + switches * switching.joules,
        clocks=tuple(chosen),
        switches=switches,
    )


def _energy(phase: Phase, pair: Pair) -> float:
    return phase.launches * phase.costs[pair].joules


def _launches(sequence: Sequence[Phase]) -> int:
    return sum(phase.launches for phase in sequence)


def _pairs(sequence: Sequence[Phase]) -> list[Pair]:
    """Return the clocks that every phase knows.

    Raises
    ------
    InputError
        If there are no phases, or no clocks that all of them know.
    """
    if not sequence:
        raise InputError("no kernel launches to control clocks for")
    common = [pair for pair in sequence[0].costs if all(pair in phase.costs for phase in sequence)]
    if not common:
        raise InputError("no pair of clocks is known for every phase")
    return common
