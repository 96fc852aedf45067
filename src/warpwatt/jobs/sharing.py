"""Kernels of several streams on one GPU: their blocks share the SMs.

Future work of Boughzala et al. (2020), section VIII. A kernel's blocks are dispatched in the order of
submission, each to the SM with most room; the blocks of the next kernel that is ready follow when those of
the one before are all dispatched, and fill what is left. A block takes 1/R of an SM, R being how many of its
kind are resident at once, for the time of one of its rounds. What blocks of different kernels do to each
other's caches and bandwidth beyond that share is not modelled.
"""

from __future__ import annotations

import heapq
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from warpwatt.core.application import Application, CopyKind, CopyNode, Node
from warpwatt.core.estimate import DRAWS, Estimate, Source, weakest
from warpwatt.core.gpu import Gpu
from warpwatt.core.prediction import ApplicationPrediction, Step
from warpwatt.models.component.waiting import waiting_watts

MOST_ROUNDS = 200
"""Kernels of more rounds are simulated with several blocks as one: ends shift by half a percent at most."""
FEW_SMS, FEW_ROUNDS = 12, 8
"""Size of the simulations that say how the end moves with the steps' times: one for each draw."""
SMS = "SMs"
"""The pool that kernels run in; copies have an engine each, pools of one place."""


@dataclass(frozen=True, slots=True)
class Grid:
    """What the block scheduler sees of a kernel; ``after`` are indices of grids that must have ended.

    ``resident`` blocks fill one place of the ``pool``; each stays ``block_seconds``.
    """

    blocks: int
    resident: int
    block_seconds: float
    after: tuple[int, ...] = ()
    pool: str = SMS


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """An application with its kernels side by side: start and end of every node, seconds; whole and joules.

    ``time`` and ``energy`` have the interval of the steps' own times and energies.
    """

    names: tuple[str, ...]
    starts: tuple[float, ...]
    ends: tuple[float, ...]
    time: Estimate
    energy: Estimate


def share(grids: Sequence[Grid], sm_count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the starts and the ends of the grids, in seconds.

    >>> share([Grid(2, 1, 1.0), Grid(2, 1, 1.0)], sm_count=4)
    ((0.0, 0.0), (1.0, 1.0))
    >>> share([Grid(3, 1, 1.0), Grid(2, 1, 1.0)], sm_count=4)
    ((0.0, 0.0), (1.0, 2.0))
    """
    return _Scheduler(grids, sm_count).run()


def share_application(application: Application, predicted: ApplicationPrediction, gpu: Gpu) -> Shared:
    """Return an application with kernels of different streams side by side.

    ``predicted`` is the same with one kernel at a time: it says what every step takes alone.
    """
    steps = {step.name: step for step in predicted.steps}
    order = [steps[node.name] for node in application.nodes]
    starts, ends = share(_grids(application, order, None, gpu.sm_count), gpu.sm_count)
    time = _makespan(application, order, max(ends), gpu.sm_count)
    waiting = waiting_watts(gpu)
    longer = time.combine(predicted.time, operator.sub, "s")
    energy = predicted.energy.combine(longer, lambda joules, seconds: joules + waiting * seconds, "J")
    return Shared(tuple(step.name for step in order), starts, ends, time, energy)


def _makespan(application: Application, steps: Sequence[Step], end: float, sm_count: int) -> Estimate:
    """Return the seconds from first to last, with the spread that the steps' times give them.

    Under each draw a smaller device with as many rounds is simulated, which ends earlier or later by as much.
    """
    places = min(sm_count, FEW_SMS)

    def few(draw: int | None) -> float:
        grids = _grids(application, steps, draw, sm_count)
        small = [_coarse(grid, _places(grid, sm_count), FEW_ROUNDS) for grid in grids]
        return max(share([_fewer(grid, places, sm_count) for grid in small], places)[1])

    nominal = few(None)
    whole = end + application.idle
    draws = [end * few(draw) / nominal + application.idle for draw in range(DRAWS)]
    source = weakest(Source.MODELLED, *(step.time.source for step in steps))
    return Estimate.from_draws(whole, draws, "s", source)


def _fewer(grid: Grid, places: int, sm_count: int) -> Grid:
    """Return a grid for a device of fewer SMs, with about as many rounds there."""
    return grid if grid.pool != SMS else replace(grid, blocks=max(1, -(-grid.blocks * places // sm_count)))


class _Scheduler:
    """Places and what they run. Room is in units that every grid's block takes a whole number of.

    ``free`` is, for each pool, a heap of (minus the units left, place); ``events`` one of (end, place, grid).
    """

    def __init__(self, grids: Sequence[Grid], sm_count: int) -> None:
        self.grids = [_coarse(grid, _places(grid, sm_count)) for grid in grids]
        self.whole = math.lcm(*(grid.resident for grid in grids))
        pools = {grid.pool: _places(grid, sm_count) for grid in grids}
        self.free = {pool: [(-self.whole, i) for i in range(places)] for pool, places in pools.items()}
        self.waiting = [grid.blocks for grid in self.grids]
        self.unfinished = list(self.waiting)
        self.starts = [math.inf] * len(grids)
        self.ends = [math.inf] * len(grids)
        self.events: list[tuple[float, int, int]] = []

    def run(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Dispatch, wait for the next blocks to end, and so on until all grids have ended."""
        self._dispatch(0.0)
        while self.events:
            now = self.events[0][0]
            self._retire(now)
            self._dispatch(now)
        return tuple(self.starts), tuple(self.ends)

    def _retire(self, now: float) -> None:
        """Give back the room of all blocks that end now."""
        room = {pool: {place: -units for units, place in heap} for pool, heap in self.free.items()}
        while self.events and self.events[0][0] <= now:
            _, place, index = heapq.heappop(self.events)
            grid = self.grids[index]
            room[grid.pool][place] += self.whole // grid.resident
            self.unfinished[index] -= 1
            if not self.unfinished[index]:
                self.ends[index] = now
        for pool, places in room.items():
            self.free[pool] = [(-units, place) for place, units in places.items()]
            heapq.heapify(self.free[pool])

    def _dispatch(self, now: float) -> None:
        """Place blocks of ready grids in the order of submission, each pool until the first does not fit."""
        full = set()
        for index, grid in enumerate(self.grids):
            ready = all(self.ends[other] <= now for other in grid.after)
            if not self.waiting[index] or not ready or grid.pool in full:
                continue
            self._place(index, now)
            if self.waiting[index]:
                full.add(grid.pool)

    def _place(self, index: int, now: float) -> None:
        grid, heap = self.grids[index], self.free[self.grids[index].pool]
        units = self.whole // grid.resident
        while self.waiting[index] and -heap[0][0] >= units:
            room, place = heap[0]
            heapq.heapreplace(heap, (room + units, place))
            heapq.heappush(self.events, (now + grid.block_seconds, place, index))
            self.waiting[index] -= 1
            self.starts[index] = min(self.starts[index], now)


def _places(grid: Grid, sm_count: int) -> int:
    """Return how many places the grid's pool has."""
    return sm_count if grid.pool == SMS else 1


def _coarse(grid: Grid, places: int, most: int = MOST_ROUNDS) -> Grid:
    """Return a grid with several blocks merged into one where there are very many rounds of them."""
    rounds = -(-grid.blocks // (places * grid.resident))
    merged = -(-rounds // most)
    if merged == 1:
        return grid
    blocks = -(-grid.blocks // merged)
    rounds_left = -(-blocks // (places * grid.resident))
    return Grid(blocks, grid.resident, grid.block_seconds * rounds / rounds_left, grid.after, grid.pool)


def _grids(application: Application, steps: Sequence[Step], draw: int | None, sm_count: int) -> list[Grid]:
    """Return all steps as the scheduler sees them, under one draw of what is uncertain or none."""
    position = {node.name: i for i, node in enumerate(application.nodes)}
    edges = [tuple(position[name] for name in names) for names in _before(application)]
    triples = zip(application.nodes, steps, edges, strict=True)
    return [_grid(node, step, step.time.drawn(draw), after, sm_count) for node, step, after in triples]


def _grid(node: Node, step: Step, seconds: float, after: tuple[int, ...], sm_count: int) -> Grid:
    """Return a step as the scheduler sees it; a copy on the device takes all SMs, as it takes the memory."""
    if isinstance(node, CopyNode):
        if node.kind == CopyKind.DEVICE_TO_DEVICE:
            return Grid(sm_count, 1, seconds, after)
        return Grid(1, 1, seconds, after, node.kind.value)
    assert step.prediction is not None
    resident = step.prediction.case.workload.occupancy.blocks_per_sm
    blocks = node.launch.grid.count
    return Grid(blocks, resident, seconds / -(-blocks // (sm_count * resident)), after)


def _before(application: Application) -> list[tuple[str, ...]]:
    """Return for each node what must have ended: the one before it in its stream, and its ``after``."""
    last: Mapping[str, str] = {}
    edges = []
    for node in application.nodes:
        edges.append((*((last[node.stream],) if node.stream in last else ()), *node.after))
        last = {**last, node.stream: node.name}
    return edges
