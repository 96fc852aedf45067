"""Which lanes run next, and what the ends of basic blocks do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulate.reference.spaces import FaultError
from tests.emulate.reference.state import AWAIT, BARRIER, CONVERGE, DONE, RUNS, lanes_of
from warpwatt.emulate.ir import End, Op

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.emulate.reference.interpreter import Interpreter
    from tests.emulate.reference.state import Warps
    from warpwatt.emulate.ir import Routine, Terminator

    Array = NDArray[Any]

BARRIERS = 16
TIME_OUTS = 64
"""Rounds in a row in which waits for barrier objects only run out."""
_FAR = np.iinfo(np.int32).max


class Schedule:
    """Moves lanes between basic blocks; of a warp's runnable lanes, those in the lowest block are next."""

    def __init__(self, routine: Routine, warps: Warps) -> None:
        self.warps = warps
        self.arrived = np.zeros((warps.blocks, BARRIERS), np.int64)
        self.wanted = np.zeros((warps.blocks, BARRIERS), np.int64)
        self.awaited = np.zeros((warps.count, 32), np.uint64)
        """Shared addresses of barrier objects that lanes wait for."""
        self.time_outs = 0
        self.votes = np.zeros((warps.blocks, BARRIERS, 2), np.int64)
        """Of the last release of each barrier: threads that voted for, threads that took part."""
        self.entries = {b.address: i for i, b in enumerate(routine.blocks) if b.address is not None}
        self.leavers = {i: b.end.leavers for i, b in enumerate(routine.blocks) if b.end.leavers is not None}
        self.leave = {
            i
            for i, b in enumerate(routine.blocks)
            if any(o.op is Op.SET and o.data in self.leavers.values() for o in b.operations)
        }
        """Blocks that change which lanes are waited for."""

    def places(self) -> Array:
        """Return the block each warp would execute next; a large number where no lane can."""
        self._look_at_phases()
        warps = self.warps
        return np.asarray(np.where(warps.status == RUNS, warps.place, _FAR).min(axis=1))

    def _look_at_phases(self) -> None:
        """Let lanes go on whose phase is over; all that wait, if nothing else can go on for a while."""
        status = self.warps.status
        waiting = status == AWAIT
        if not waiting.any():
            return
        over = self.parities(self.warps, self.awaited, waiting) != (self.warps.waits & 1)
        if (waiting & over).any() or (status == RUNS).any():
            self.time_outs = 0
            status[waiting & over] = RUNS
        elif self.time_outs < TIME_OUTS:
            self.time_outs += 1
            status[waiting] = RUNS

    def place_of(self, row: int) -> int:
        """Return the block one warp would execute next, -1 if no lane can."""
        ready = self.warps.place[row][self.warps.status[row] == RUNS]
        return int(ready.min()) if ready.size else -1

    def runnable(self, places: Array) -> Array:
        """Return the numbers of the warps that can go on."""
        return np.flatnonzero(places < _FAR)

    def active(self, rows: Array, place: int) -> Array:
        """Return the lanes of some warps that are about to execute a block."""
        return np.asarray((self.warps.status[rows] == RUNS) & (self.warps.place[rows] == place))

    def end(  # noqa: C901 - one case for each end
        self, end: Terminator, rows: Array, active: Array, place: int, values: Interpreter
    ) -> None:
        """Send lanes where the end of a block says.

        Raises
        ------
        FaultError
            At a trap, and for a jump to an address that is no block.
        """
        condition = None if end.condition is None else values.value(end.condition)
        if place in self.leave:
            self._look_again(rows)
        match end.end:
            case End.JUMP:
                self._go(rows, active, end.targets[0])
            case End.BRANCH:
                assert condition is not None
                self._go(rows, active & condition, end.targets[0])
                self._go(rows, active & ~condition, end.targets[1])
            case End.INDIRECT:
                chosen = active if condition is None else active & condition
                self._indirect(end, rows, chosen, values)
                if condition is not None:
                    self._go(rows, active & ~condition, end.targets[0])
            case End.EXIT:
                leaving = active if condition is None else active & condition
                if condition is not None:
                    self._go(rows, active & ~condition, end.targets[0])
                self._exit(rows, leaving)
            case End.TRAP:
                chosen = active if condition is None else active & condition
                if condition is not None:
                    self._go(rows, active & ~condition, end.targets[0])
                self._trap(end, rows, chosen)
            case End.CONVERGE:
                assert end.value is not None
                self._park(rows, active, CONVERGE, values.value(end.value), place)
                self._meet(rows, place, end.targets[0])
            case End.AWAIT:
                self._await(end, rows, active, values)
            case End.BARRIER:
                self._barrier(end, rows, active, values, condition)

    def _await(self, end: Terminator, rows: Array, active: Array, values: Interpreter) -> None:
        assert end.value is not None
        assert end.value2 is not None
        addresses = np.broadcast_to(values.value(end.value), active.shape).astype(np.uint64)
        self.awaited[rows] = np.where(active, addresses, self.awaited[rows])
        self._park(rows, active, AWAIT, values.value(end.value2).astype(np.uint32), end.targets[0])

    def _go(self, rows: Array, lanes: Array, target: int) -> None:
        places = self.warps.place
        places[rows] = np.where(lanes, target, places[rows])

    def _indirect(self, end: Terminator, rows: Array, lanes: Array, values: Interpreter) -> None:
        assert end.value is not None
        addresses = values.value(end.value)
        for address in np.unique(addresses[lanes]).tolist():
            there = lanes & (addresses == address)
            if address not in self.entries:
                row, lane = (int(part[0]) for part in np.nonzero(there))
                reason = "jump to an address that is no instruction"
                raise FaultError(self.warps.fault(int(rows[row]), lane, end.instruction, address, 0, reason))
            self._go(rows, there, self.entries[address])

    def _trap(self, end: Terminator, rows: Array, lanes: Array) -> None:
        if lanes.any():
            row, lane = (int(part[0]) for part in np.nonzero(lanes))
            raise FaultError(self.warps.fault(int(rows[row]), lane, end.instruction, reason="trap"))

    def _exit(self, rows: Array, lanes: Array) -> None:
        """End lanes; those who waited for them may go on."""
        warps = self.warps
        warps.status[rows] = np.where(lanes, DONE, warps.status[rows])
        some = rows[lanes.any(axis=1)]
        self._look_again(some)
        for block in np.unique(warps.block_of[some]).tolist():
            for number in np.flatnonzero(self.arrived[block]).tolist():
                self._release(block, number)

    def _look_again(self, rows: Array) -> None:
        """Let lanes go on whose wait at a convergence has come to its end."""
        warps = self.warps
        for row in rows[(warps.status[rows] == CONVERGE).any(axis=1)]:
            for place in np.unique(warps.place[row][warps.status[row] == CONVERGE]).tolist():
                self._meet(np.array([row]), int(place), None)

    def _park(self, rows: Array, lanes: Array, status: int, what: Array, place: int) -> None:
        warps = self.warps
        warps.status[rows] = np.where(lanes, status, warps.status[rows])
        warps.waits[rows] = np.where(lanes, what, warps.waits[rows])
        self._go(rows, lanes, place)

    def _meet(self, rows: Array, place: int, target: int | None) -> None:
        """Let lanes go on that wait at a convergence for live lanes that all wait there for the same."""
        warps = self.warps
        target = self.targets[place] if target is None else target
        here = (warps.status[rows] == CONVERGE) & (warps.place[rows] == place)
        waits = lanes_of(warps.waits[rows]) & (warps.status[rows] != DONE)[:, None, :]
        if place in self.leavers:
            left = np.broadcast_to(warps.get(self.leavers[place], rows), here.shape)
            waits &= ~lanes_of(left)
        alike = (waits[:, :, None, :] == waits[:, None, :, :]).all(axis=3) & here[:, None, :]
        free = here & ~(waits & ~alike).any(axis=2)
        warps.status[rows] = np.where(free, RUNS, warps.status[rows])
        self._go(rows, free, target)

    parities: Callable[[Warps, Array, Array], Array]
    """Returns the parity of the phase of the barrier object at each lane's address."""
    targets: dict[int, int]
    """Where the lanes of each convergence go."""

    def _barrier(
        self, end: Terminator, rows: Array, active: Array, values: Interpreter, condition: Array | None
    ) -> None:
        assert end.value is not None
        warps, blocks = self.warps, self.warps.block_of[rows]
        number = values.uniform(end.value).astype(np.int64) % BARRIERS
        wanted = np.zeros_like(number) if end.value2 is None else values.uniform(end.value2).astype(np.int64)
        np.add.at(self.arrived, (blocks, number), active.sum(axis=1))
        self.wanted[blocks, number] = wanted
        self._go(rows, active, end.targets[0])
        warps.votes[rows] = np.where(active, False if condition is None else condition, warps.votes[rows])
        if not end.arrive:
            self._park(rows, active, BARRIER, number[:, None].astype(np.uint32), end.targets[0])
        for block, which in {(int(b), int(n)) for b, n in zip(blocks, number, strict=True)}:
            self._release(block, which)

    def _release(self, block: int, number: int) -> None:
        """Open a barrier of a block if all it waits for have come."""
        warps = self.warps
        first = block * warps.per_block
        mine = slice(first, first + warps.per_block)
        live = warps.status[mine] != DONE
        wanted = self.wanted[block, number] or live.sum()
        if not self.arrived[block, number] or self.arrived[block, number] < wanted:
            return
        waiting = (warps.status[mine] == BARRIER) & (warps.waits[mine] == number)
        self.votes[block, number] = (warps.votes[mine] & waiting).sum(), waiting.sum()
        warps.status[mine] = np.where(waiting, RUNS, warps.status[mine])
        self.arrived[block, number] = 0
