"""How much time hangs on what buffers hold: what decisions by their contents could add or leave out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.program import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Block
    from warpwatt.emulate.steering import DataDependence, Decision

CONTROL_SPREAD = 0.3
"""Standard deviation of the logarithm of the time where a buffer's contents decide all that a kernel does."""
_BOTH_TAILS = 2 * 1.2816
"""Standard deviations between the 10 % and the 90 % quantile of a normal distribution."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What came of random contents: executions of each instruction, and those with an access by a lane."""

    executions: NDArray[Any]
    requests: NDArray[Any]


def control_spread(dependence: DataDependence, loads: frozenset[int], seen: Seen) -> float:
    """Return the standard deviation of the logarithm of the time that contents behind some loads may cost.

    Instructions and accesses off chip are weighed alike; the larger effect counts. Contents may send all
    threads or none past a branch. How often a loop runs that they decide is as unknown as
    :data:`CONTROL_SPREAD` says, and so is what lies behind a branch that nobody took.
    """
    decisions = [d for d in dependence.decisions if d.loads & loads and seen.executions[d.branch]]
    if not decisions:
        return 0.0
    branches = [d for d in decisions if d.region]
    return max(
        _spread(dependence, branches, np.ones(len(seen.executions)), seen.executions, seen),
        _spread(dependence, decisions, _off_chip(dependence), seen.requests, seen),
    )


def _off_chip(dependence: DataDependence) -> NDArray[Any]:
    """Return 1 for instructions that access memory off chip."""
    memory = [i.memory for i in dependence.routine.program.instructions]
    return np.array([m is not None and m.space in (Space.GLOBAL, Space.GENERIC) for m in memory], float)


def _spread(
    dependence: DataDependence, decisions: list[Decision], cost: NDArray[Any], done: NDArray[Any], seen: Seen
) -> float:
    """Return the spread by one cost of each instruction, which was paid ``done`` times."""
    blocks = dependence.routine.blocks
    total = float(cost @ done)
    if not total:
        return 0.0
    in_loops: set[int] = set()
    could: dict[int, float] = {}
    for decision in decisions:
        if decision.loop:
            in_loops |= decision.region
            continue
        if _hides_a_loop(decision, blocks, cost * (seen.executions == 0)):
            return CONTROL_SPREAD
        for instruction, most in _possible(decision, blocks, seen.executions):
            could[instruction] = max(most, could.get(instruction, 0.0))
    more = sum(cost[i] * max(0.0, most - done[i]) for i, most in could.items())
    less = sum(cost[i] * done[i] for i in could)
    by_branches = math.log((total + more) / max(total - less, 0.1 * total)) / _BOTH_TAILS
    looped = {i for b in in_loops for i in blocks[b].instructions}
    by_loops = CONTROL_SPREAD * sum(cost[i] * done[i] for i in looped) / total
    return min(CONTROL_SPREAD, math.hypot(by_branches, by_loops))


def _hides_a_loop(decision: Decision, blocks: tuple[Block, ...], unseen: NDArray[Any]) -> bool:
    """Whether a loop that costs something lies behind a branch that nobody took."""
    return any(unseen[i] for b in decision.looped for i in blocks[b].instructions)


def _possible(
    decision: Decision, blocks: tuple[Block, ...], executions: NDArray[Any]
) -> Iterator[tuple[int, float]]:
    """Yield the instructions that a decision is about, with how often they may be executed."""
    decided = float(executions[decision.branch])
    if not decision.region:
        yield decision.branch, decided
    straight = (i for b in decision.region - decision.looped for i in blocks[b].instructions)
    entered = float(max((executions[i] for i in straight), default=0.0))
    for block in decision.region:
        for i in blocks[block].instructions:
            if block in decision.looped:
                yield i, float(executions[i]) * max(1.0, decided / entered if entered else 1.0)
            else:
                yield i, max(decided, float(executions[i]))
