"""The simulator's rules once more: objects, and every cycle of every sub-core, nothing skipped.

Covers one SM with memory that always hits; oldest warp first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.models.time.pipeline import layout as c

if TYPE_CHECKING:
    from warpwatt.models.time.pipeline.state import Inputs


@dataclass(eq=False)
class Warp:
    """A resident warp: the instructions it still has, and what holds it."""

    todo: list[int]
    slot: int
    block: int
    ready: int
    boards: dict[int, list[int]] = field(default_factory=dict)
    parked: bool = False


@dataclass(eq=False)
class Core:
    """A sub-core: its warps, oldest first, and when its units are free."""

    warps: list[Warp] = field(default_factory=list)
    last: Warp | None = None
    pipes: dict[int, int] = field(default_factory=dict)
    banks: list[int] = field(default_factory=lambda: [0, 0])
    accepted: list[int] = field(default_factory=list)
    address: int = 0


class Oracle:
    """One SM."""

    def __init__(self, given: Inputs) -> None:
        self.x = given
        self.n = {name: int(given.numbers[getattr(c, name)]) for name in _SETTINGS}
        self.cores = [Core() for _ in range(self.n["SUB_CORES"])]
        self.lsu = 0.0
        self.shared: dict[int, int] = {}
        self.next = 0
        self.live: dict[int, int] = {}
        self.issued = self.end = 0
        self.block_end = [0] * len(given.blocks)

    def run(self) -> Oracle:
        """Step until nothing is left."""
        for slot in range(min(self.n["RESIDENT"], len(self.x.blocks))):
            self.start(slot, 0)
        time = 0
        while any(core.warps for core in self.cores):
            for core in self.cores:
                self.step(core, time)
            time += 1
            assert time < 100_000, "deadlock"
        return self

    def start(self, slot: int, time: int) -> None:
        """Put the next block into a slot."""
        if self.next == len(self.x.blocks):
            return
        block, self.next = self.next, self.next + 1
        count = self.n["WARPS_PER_BLOCK"]
        self.live[slot] = count
        for number in range(count):
            stream = int(self.x.blocks[block]) * count + number
            steps = self.x.steps[self.x.starts[stream] : self.x.starts[stream + 1]]
            todo = [i for first, behind, _ in steps for i in range(first, behind)]
            warp = Warp(todo, slot, block, time + self.n["BLOCK_CYCLES"])
            self.cores[(slot * count + number) % len(self.cores)].warps.append(warp)

    def step(self, core: Core, time: int) -> None:
        """Issue at most one instruction."""
        first = [core.last] if core.last in core.warps else []
        for warp in [*first, *core.warps]:
            assert warp is not None
            if self.can_issue(core, warp, time):
                core.last = warp
                self.issue(core, warp, time)
                return

    def can_issue(self, core: Core, warp: Warp, time: int) -> bool:
        """Stall, scoreboards, pipes, queue, banks."""
        pc, ints = warp.todo[0], self.x.ints
        if warp.parked or warp.ready > time:
            return False
        mask = int(ints[pc, c.WAIT_MASK])
        if any(max(times) > time for board, times in warp.boards.items() if mask >> board & 1):
            return False
        if ints[pc, c.KIND] == c.DEPBAR:
            times = warp.boards.get(int(ints[pc, c.SCOREBOARD]), [])
            needed = times[: len(times) - int(ints[pc, c.REMAINING])]
            if needed and max(needed) > time:
                return False
        pipes = [int(p) for p in (ints[pc, c.PIPE], ints[pc, c.OTHER_PIPE]) if p >= 0]
        if pipes and all(core.pipes.get(pipe, 0) > time for pipe in pipes):
            return False
        depth = self.n["QUEUE_DEPTH"]
        waiting = len(core.accepted) >= depth and core.accepted[-depth] > time
        if ints[pc, c.KIND] == c.MEMORY and waiting:
            return False
        return not any(
            ints[pc, c.BANK0 + bank] and core.banks[bank] + ints[pc, c.BANK0 + bank] - 3 > time
            for bank in range(2)
        )

    def issue(self, core: Core, warp: Warp, time: int) -> None:
        """Take the units, set scoreboards, move on."""
        pc, row = warp.todo.pop(0), self.x.ints
        self.issued, self.end = self.issued + 1, max(self.end, time)
        for pipe in (int(row[pc, c.OTHER_PIPE]), int(row[pc, c.PIPE])):
            if pipe >= 0 and core.pipes.get(pipe, 0) <= time:
                core.pipes[pipe] = time + int(row[pc, c.INTERVAL])
                break
        for bank in range(2):
            if row[pc, c.BANK0 + bank]:
                core.banks[bank] = max(core.banks[bank], time) + int(row[pc, c.BANK0 + bank])
        if row[pc, c.KIND] == c.MEMORY:
            self.memory(core, warp, pc, time)
        warp.ready = time + max(2 if row[pc, c.YIELD] else 1, int(row[pc, c.STALL]))
        warp.parked = row[pc, c.KIND] == c.BARRIER and bool(warp.todo)
        if not warp.todo:
            self.leave(core, warp, time)
        if row[pc, c.KIND] == c.BARRIER or not warp.todo:
            self.release(warp.slot, warp.block, time)

    def memory(self, core: Core, warp: Warp, pc: int, time: int) -> None:
        """Queue, address unit, load-store unit."""
        cost, latency = abs(self.x.floats[pc, c.COST]), self.x.floats[pc, c.LATENCY]
        addressed = max(time, core.address)
        core.address = addressed + self.n["ADDRESS_CYCLES"]
        accepted = max(float(addressed), self.lsu)
        self.lsu = accepted + cost
        core.accepted.append(math.ceil(accepted))
        done = math.ceil(accepted + latency)
        self.end = max(self.end, done)
        for column, when in ((c.WRITE_BARRIER, done), (c.READ_BARRIER, self._read(pc, accepted))):
            if self.x.ints[pc, column] >= 0:
                warp.boards.setdefault(int(self.x.ints[pc, column]), []).append(when)

    def _read(self, pc: int, accepted: float) -> int:
        return math.ceil(accepted + self.x.floats[pc, c.READ_LATENCY])

    def leave(self, core: Core, warp: Warp, time: int) -> None:
        """End a warp; the last of its block makes room."""
        core.warps.remove(warp)
        self.live[warp.slot] -= 1
        if not self.live[warp.slot]:
            self.block_end[warp.block] = time
            self.start(warp.slot, time)

    def release(self, slot: int, block: int, time: int) -> None:
        """Let the warps at the barrier go if all that live have come."""
        mine = [w for core in self.cores for w in core.warps if w.slot == slot and w.block == block]
        if mine and all(warp.parked for warp in mine):
            for warp in mine:
                warp.parked = False
                warp.ready = max(warp.ready, time + self.n["BARRIER_CYCLES"])


_SETTINGS = (
    "SUB_CORES", "RESIDENT", "WARPS_PER_BLOCK", "QUEUE_DEPTH", "ADDRESS_CYCLES", "BARRIER_CYCLES",
    "BLOCK_CYCLES",
)  # fmt: skip
