"""Running the units of a sample, in order and within a budget."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from warpwatt.emulate.alike_units import KNOWN_WELL, move_alike
from warpwatt.emulate.budget import ENOUGH_TRACE, Budget, trace_bytes
from warpwatt.emulate.run import UNBOUNDED, Each, Limits, Run, Stop
from warpwatt.emulate.scaling import concatenate, relative_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.run import Context
    from warpwatt.emulate.sampling import Sample

MORE = 2_000_000
"""Warp instructions that may be spent until it is reached."""
FEWEST_UNITS = 3
MOST_WHOLE, MOST_WHOLE_COST = 512, 250_000
"""Blocks up to which a grid is run whole, if that costs no more than so many warp instructions."""


class Start(Protocol):
    """Runs blocks of one launch, again and again on the same memory."""

    def __call__(self, blocks: Sequence[int], limits: Limits) -> Run:
        """Run some blocks."""
        ...

    def each(self, blocks: Sequence[int], limits: Limits, total: int = UNBOUNDED) -> Each:
        """Run blocks one by one, each within the limits, until all have taken ``total`` warp instructions."""
        ...


@runtime_checkable
class InTurn(Protocol):
    """What runs some units faster together than one by one, with the same result."""

    def in_turn(self, units: Sequence[Sequence[int]], budget: Budget) -> Sequence[Run]:
        """Run one unit, or more, one after the other until the budget is spent or one does not end."""
        ...


class Engine(Protocol):
    """The signature of the native engine and of the NumPy reference."""

    def __call__(
        self,
        routine: Routine,
        context: Context,
        memory: DeviceMemory,
        blocks: Sequence[int],
        limits: Limits | None = None,
        *,
        record: bool = False,
    ) -> Run:
        """Run blocks of a grid."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """Units that ran to their end, as places in ``sample``, and the run that was cut short, if any."""

    sample: Sample
    units: tuple[int, ...]
    runs: tuple[Run, ...]
    cut: Run | None = None

    def localised(self, memory: DeviceMemory) -> Sampled:
        """Return the same with addresses that tell which buffer of the memory they lie in."""
        runs = tuple(map(memory.localised, self.runs))
        return replace(self, runs=runs, cut=None if self.cut is None else memory.localised(self.cut))

    @property
    def error(self) -> float:
        """The standard error of the grid's warp instructions, relative to them."""
        strata = [self.sample.strata[k] for k in self.units]
        return relative_error(self.runs, self.sample.weights(self.units), strata)

    @property
    def traced(self) -> bool:
        """Whether every unit that was run was traced to its end."""
        return all(run.trace is not None and run.trace.complete for run in self.runs)

    @property
    def cheap(self) -> bool:
        """Whether the first of several units says that the whole grid costs no more than a sample may."""
        if self.cut is not None or len(self.units) != 1 or len(self.sample.units) == 1:
            return False
        return _whole_is_cheap(self.runs[0], self.sample)


@dataclass(frozen=True, slots=True, eq=False)
class _WithEngine:
    """A launch that some engine runs."""

    engine: Engine
    routine: Routine
    context: Context
    memory: DeviceMemory

    def __call__(self, blocks: Sequence[int], limits: Limits) -> Run:
        return self.engine(self.routine, self.context, self.memory, blocks, limits, record=True)

    def each(self, blocks: Sequence[int], limits: Limits, _: int = UNBOUNDED) -> Each:
        runs = [self((block,), limits) for block in blocks]
        trace = concatenate([run.trace for run in runs if run.trace is not None])
        whole = replace(runs[0], blocks=tuple(blocks), trace=trace)
        return Each(whole, tuple(r.stop for r in runs), tuple(int(r.executions.sum()) for r in runs))


def starter(engine: Engine | None, routine: Routine, context: Context, memory: DeviceMemory) -> Start:
    """Return what runs blocks and keeps a trace: the given engine, else the native one."""
    if engine is not None:
        return _WithEngine(engine, routine, context, memory)
    from warpwatt.emulate.native import Session

    return Session(routine, context, memory, record=True)


def run_units(start: Start, taken: Sample, limits: Limits, *, spare: bool = False) -> Sampled:
    """Run units in order until all are done, the budget is spent or one fails.

    ``spare``: leave out those that tell nothing new where the ones before them do the same.
    """
    budget = Budget.of(limits, max(FEWEST_UNITS, taken.needed))
    runs: dict[int, Run] = {}
    left = list(range(len(taken.units)))
    while left and not budget.spent:
        first = not runs  # which is looked at before others are run
        until = 1 if first else _before_spare(left, taken) if spare else len(left)
        for run in _in_turn(start, [taken.units[place] for place in left[:until]], budget):
            if run.stop is not Stop.DONE:
                return Sampled(taken, tuple(runs), tuple(runs.values()), run)
            runs[left.pop(0)] = run
            budget = budget.after(run)
        if first and len(taken.units) > 1 and _whole_is_cheap(runs[0], taken):
            break
        if spare and left and left[0] == taken.spare.start and _alike_inside(runs, taken):
            left = [place for place in left if place not in taken.spare]
    return Sampled(taken, tuple(runs), tuple(runs.values()))


def _before_spare(left: Sequence[int], taken: Sample) -> int:
    """Return how many units that are left come before those that may be spare, or all if none does."""
    return sum(place < taken.spare.start for place in left) or len(left)


def _alike_inside(runs: Mapping[int, Run], taken: Sample) -> bool:
    """Whether units of the place that most of those run lie in do the same, moved."""
    most = Counter(taken.strata[place] for place in runs).most_common(1)[0][0]
    inside = [place for place in runs if taken.strata[place] == most]
    at = taken.blocks(inside).coordinates
    return move_alike([runs[place] for place in inside], at)


def _in_turn(start: Start, units: Sequence[Sequence[int]], budget: Budget) -> Sequence[Run]:
    if isinstance(start, InTurn):
        return start.in_turn(units, budget)
    return [start(units[0], budget.limits)]


def run_further(start: Start, found: Sampled, limits: Limits) -> Sampled:
    """Run more blocks where blocks that nothing tells apart differ, until their mean is known or paid for."""
    told_apart = found.sample.order is not None or any(len(blocks) > 1 for blocks in found.sample.units)
    if found.cut is not None or found.cheap or told_apart or found.error <= KNOWN_WELL:
        return found
    found = replace(found, sample=found.sample.drawn_further())
    units, runs = list(found.units), list(found.runs)
    left, trace_left = min(MORE, limits.warp_instructions), int(limits.trace_bytes * ENOUGH_TRACE)
    for place in (k for k in range(len(found.sample.units)) if k not in found.units):
        run = start(found.sample.units[place], Limits(left, trace_left))
        if run.stop is not Stop.DONE:
            break
        units.append(place)
        runs.append(run)
        left -= run.warp_instructions
        trace_left -= trace_bytes(run)
        found = replace(found, units=tuple(units), runs=tuple(runs))
        if min(left, trace_left) <= 0 or found.error <= KNOWN_WELL:
            break
    return found


def _whole_is_cheap(first: Run, taken: Sample) -> bool:
    blocks = taken.grid.count
    each = taken.first_share * first.warp_instructions / max(1, len(first.blocks))
    return blocks <= MOST_WHOLE and blocks * each <= MOST_WHOLE_COST
