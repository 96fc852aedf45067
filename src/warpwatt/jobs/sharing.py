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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpwatt.core.application import Application, CopyKind, CopyNode, Node
from warpwatt.core.gpu import Gpu
from warpwatt.core.prediction import ApplicationPrediction, Step
from warpwatt.models.specification import idle_watts

MOST_ROUNDS = 200
"""Kernels of more rounds are simulated with several blocks as one: ends shift by half a percent at most."""
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


@dataclass(frozen=True, slots=True)
class Shared:
    """An application with its kernels side by side: start and end of every node, seconds; joules in all."""

    names: tuple[str, ...]
    starts: tuple[float, ...]
    ends: tuple[float, ...]
    time: float
    energy: float


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
    position = {node.name: i for i, node in enumerate(application.nodes)}
    grids = [
        _grid(node, steps[node.name], tuple(position[name] for name in names), gpu.sm_count)
        for node, names in zip(application.nodes, _before(application), strict=True)
    ]
    starts, ends = share(grids, gpu.sm_count)
    whole = max(ends) + application.idle
    busy = sum(step.time.value for step in predicted.steps if step.kind == "kernel")
    switching = predicted.energy.value - predicted.idle_energy.value - idle_watts(gpu) * busy
    return Shared(tuple(position), starts, ends, whole, switching + idle_watts(gpu) * whole)


class _Scheduler:
    """Places and what they run. Room is in units that every grid's block takes a whole number of.

    ``free`` is, for each pool, a heap of (minus the units left, place); ``events`` one of (end, place, grid).
    """

    def __init__(self, grids: Sequence[Grid], sm_count: int) -> None:
        self.grids = [_coarse(grid, sm_count if grid.pool == SMS else 1) for grid in grids]
        self.whole = math.lcm(*(grid.resident for grid in grids))
        pools = {grid.pool: sm_count if grid.pool == SMS else 1 for grid in grids}
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


def _coarse(grid: Grid, places: int) -> Grid:
    """Return a grid with several blocks merged into one where there are very many rounds of them."""
    rounds = -(-grid.blocks // (places * grid.resident))
    merged = -(-rounds // MOST_ROUNDS)
    if merged == 1:
        return grid
    blocks = -(-grid.blocks // merged)
    rounds_left = -(-blocks // (places * grid.resident))
    return Grid(blocks, grid.resident, grid.block_seconds * rounds / rounds_left, grid.after, grid.pool)


def _grid(node: Node, step: Step, after: tuple[int, ...], sm_count: int) -> Grid:
    """Return a step as the scheduler sees it; a copy on the device takes all SMs, as it takes the memory."""
    seconds = step.time.value
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
