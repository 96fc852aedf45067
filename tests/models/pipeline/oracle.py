"""The simulator's rules once more: objects, and every cycle of every sub-core, nothing skipped.

Every cycle of every resident warp gets its reason in the cycle itself, by asking what holds the warp now.

Covers one SM and its share of L2 and DRAM; every access of an instruction is alike.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.models.pipeline.off_chip import OffChip
from warpwatt.models.pipeline.codes import NO_SCOREBOARD, IssueOrder, Operation, Pipe, Reason, Traffic

if TYPE_CHECKING:
    from warpwatt.models.pipeline.simulator import Inputs


@dataclass(eq=False)
class Warp:
    """A resident warp: the instructions it still has, and what holds it."""

    todo: list[int]
    slot: int
    block: int
    begin: int
    ready: int
    boards: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Per scoreboard (release time, instruction) of all that set it."""
    parked: bool = False
    after: int = Reason.WAIT
    """Reason of the stall count."""
    stalled: int = 0
    since: int = 0
    """Behind its last issue, its start or its barrier."""
    barrier: tuple[int, int] = (0, 0)
    """The last barrier and when it let the warp go."""
    held: dict[int, bool] = field(default_factory=dict)
    """Cycles in which the scheduler knows the unit to be taken; True: by reads of a register bank."""


@dataclass(eq=False)
class Core:
    """A sub-core: its warps, oldest first, and when its units are free."""

    warps: list[Warp] = field(default_factory=list)
    last: Warp | None = None
    pipes: dict[int, int] = field(default_factory=dict)
    banks: list[int] = field(default_factory=lambda: [0, 0])
    dispatch: int = 0
    accepted: list[int] = field(default_factory=list)
    address: int = 0
    begun: int = 0
    """When the special function unit took its last instruction."""
    interval: int = 0


class Oracle:
    """One SM."""

    def __init__(self, given: Inputs) -> None:
        self.x = given
        self.of = _namespace(given.settings)
        self.code = [_namespace(row) for row in given.instructions]
        self.cores = [Core() for _ in range(self.of.sub_cores)]
        of, rows = given.access_instructions.tolist(), given.accesses.tolist()
        self.accesses = dict(zip(of, rows, strict=True))
        self.off_chip = OffChip(self.of)
        self.lsu = 0.0
        self.shared: dict[int, int] = {}
        self.next = 0
        self.live: dict[int, int] = {}
        self.issued = self.end = 0
        self.block_end = [0] * len(given.blocks)
        self.stalls = np.zeros((len(self.code), len(Reason)))
        self.awaited: Counter[tuple[int, int]] = Counter()

    def run(self) -> Oracle:
        """Step until nothing is left."""
        for slot in range(min(self.of.resident_blocks, len(self.x.blocks))):
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
        time = max(time, int(self.next * self.of.dispatch_cycles))
        block, self.next = self.next, self.next + 1
        count = self.of.warps_per_block
        self.live[slot] = count
        for number in range(count):
            stream = int(self.x.blocks[block]) * count + number
            steps = self.x.steps[self.x.warp_starts[stream] : self.x.warp_starts[stream + 1]]
            todo = [i for first, behind, _ in steps for i in range(first, behind)]
            begin = time + self.of.block_cycles
            warp = Warp(todo, slot, block, begin, begin, since=begin)
            self.cores[(slot * count + number) % len(self.cores)].warps.append(warp)

    def step(self, core: Core, time: int) -> None:
        """Issue at most one instruction; note what every warp does in this cycle."""
        chosen = self.choose(core, time)
        for warp in core.warps:
            if time >= warp.begin:
                self.note(warp, time, selected=warp is chosen)
        if chosen is not None:
            core.last = chosen
            self.issue(core, chosen, time)

    def choose(self, core: Core, time: int) -> Warp | None:
        """Go on with the last warp, else take the next one in order."""
        if core.last in core.warps and core.last is not None and self.can_issue(core, core.last, time):
            return core.last
        if self.of.issue_order == IssueOrder.LONGEST_WAITING:
            ready = [warp for warp in core.warps if self.can_issue(core, warp, time)]
            return min(ready, key=lambda warp: warp.since, default=None)
        if self.of.issue_order == IssueOrder.OLDEST_BLOCK:
            # those of later blocks are not asked once one is found
            for _, block in groupby(core.warps, key=lambda warp: warp.block):
                ready = [warp for warp in block if self.can_issue(core, warp, time)]
                if ready:
                    return min(ready, key=lambda warp: warp.since)
            return None
        order = core.warps if self.of.issue_order == IssueOrder.OLDEST else core.warps[::-1]
        return next((warp for warp in order if self.can_issue(core, warp, time)), None)

    def note(self, warp: Warp, time: int, *, selected: bool) -> None:
        """Count this cycle of a warp under its reason."""
        pc, reason = warp.todo[0], int(Reason.NOT_SELECTED)
        board = self.awaits(warp, time)
        if selected:
            reason = Reason.SELECTED
        elif warp.parked or time < warp.barrier[1]:
            pc, reason = warp.barrier[0], Reason.WAIT if time < warp.stalled else Reason.BARRIER
        elif time < warp.ready:
            reason = warp.after
        elif board is not None:
            reason = self.code[board[1]].result_stall
            self.awaited[pc, board[1]] += 1
        elif time in warp.held:
            reason = Reason.DISPATCH if warp.held[time] else self.code[pc].throttle_stall
        self.stalls[pc, reason] += 1

    def awaits(self, warp: Warp, time: int) -> tuple[int, int] | None:
        """Return release and setter of the scoreboard that the next instruction waits for longest."""
        code = self.code[warp.todo[0]]
        sets = [warp.boards.get(board, []) for board in range(6) if code.wait_mask >> board & 1]
        if code.operation == Operation.DEPBAR:
            times = warp.boards.get(code.scoreboard, [])
            sets.append(times[: max(0, len(times) - code.outstanding)])
        latest = [max(times, key=lambda t: t[0]) for times in sets if times]
        last = max(latest, key=lambda t: t[0], default=None)
        return last if last is not None and last[0] > time else None

    def can_issue(self, core: Core, warp: Warp, time: int) -> bool:
        """Stall, scoreboards, then the unit."""
        if warp.parked or warp.ready > time or self.awaits(warp, time) is not None:
            return False
        free, banked = self.unit_free(core, warp.todo[0])
        for cycle in range(time, free):
            warp.held.setdefault(cycle, banked)
        return free <= time

    def unit_free(self, core: Core, pc: int) -> tuple[int, bool]:
        """Return when pipes, queue and banks take an instruction, and whether the banks are last."""
        code, depth = self.code[pc], self.of.queue_depth
        queues = code.operation in (Operation.MEMORY, Operation.MIO_PIPE)
        pipes = [p for p in (code.pipe, code.alternative_pipe) if p != Pipe.NONE and not queues]
        free = min((core.pipes.get(pipe, 0) for pipe in pipes), default=0)
        if queues and len(core.accepted) >= depth:
            free = max(free, core.accepted[-depth])
        reads = (code.even_bank_reads, code.odd_bank_reads)
        banks = max((core.banks[bank] + n - 3 for bank, n in enumerate(reads) if n), default=0)
        banks = max(banks, core.dispatch)
        return max(free, banks), banks > free

    def issue(self, core: Core, warp: Warp, time: int) -> None:
        """Take the units, set scoreboards, move on."""
        pc = warp.todo.pop(0)
        code = self.code[pc]
        self.issued, self.end = self.issued + 1, max(self.end, time)
        for pipe in (code.alternative_pipe, code.pipe):
            takes = code.operation != Operation.MIO_PIPE and pipe != Pipe.NONE
            if takes and core.pipes.get(pipe, 0) <= time:
                core.pipes[pipe] = time + code.pipe_cycles
                break
        for bank, reads in enumerate((code.even_bank_reads, code.odd_bank_reads)):
            if reads:
                core.banks[bank] = max(core.banks[bank], time) + reads
        core.dispatch = time + code.issue_cycles * (code.issue_cycles > 1)
        if code.operation == Operation.MEMORY:
            self.memory(core, warp, pc, time)
        elif code.operation == Operation.MIO_PIPE:
            self.special(core, warp, pc, time)
        warp.ready = time + max(2 if code.yields else 1, code.stall_count)
        warp.stalled, warp.after, warp.held = warp.ready, code.issue_stall, {}
        warp.since = time + 1
        barrier = code.operation == Operation.BARRIER_SYNC
        warp.parked = barrier and bool(warp.todo)
        if warp.parked:
            warp.barrier = (pc, 0)
        if not warp.todo:
            self.leave(core, warp, time)
        if barrier or not warp.todo:
            self.release(warp.slot, warp.block, time)
        if self.of.rotation_instructions and self.issued % self.of.rotation_instructions == 0:
            for core in self.cores:
                oldest = [warp for warp in core.warps if warp.block == core.warps[0].block]
                core.warps = [warp for warp in core.warps if warp not in oldest] + oldest

    def memory(self, core: Core, warp: Warp, pc: int, time: int) -> None:
        """Queue, address unit, load-store unit, and what lies behind L1."""
        code = self.code[pc]
        cost, sectors, lines = self.accesses[pc]
        addressed = max(time, core.address)
        core.address = addressed + self.of.address_cycles
        accepted = max(float(addressed), self.lsu)
        done = 0.0
        if code.traffic != Traffic.NONE:
            accepted = max(accepted, self.off_chip.accepts())
            done = self.off_chip.arrival(code, pc, accepted, sectors, lines)
        self.lsu = accepted + cost
        core.accepted.append(math.ceil(accepted))
        self.done(warp, pc, math.ceil(max(done, accepted + code.latency)), self._read(pc, accepted))

    def special(self, core: Core, warp: Warp, pc: int, time: int) -> None:
        """Queue, then the place before the unit, which the one before leaves when the unit takes it."""
        leaves = max(time, core.address, core.begun)
        core.address = leaves + 1
        core.begun = max(leaves, core.begun + core.interval)
        core.interval = self.code[pc].pipe_cycles
        core.accepted.append(leaves)
        done = core.begun + int(self.code[pc].latency)
        self.done(warp, pc, done, core.begun + int(self.code[pc].operand_read_latency))

    def done(self, warp: Warp, pc: int, done: int, read: int) -> None:
        """Set when an instruction's scoreboards fall."""
        self.end = max(self.end, done)
        for board, when in ((self.code[pc].write_barrier, done), (self.code[pc].read_barrier, read)):
            if board != NO_SCOREBOARD:
                warp.boards.setdefault(board, []).append((when, pc))

    def _read(self, pc: int, accepted: float) -> int:
        return math.ceil(accepted + self.code[pc].operand_read_latency)

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
                warp.barrier = (warp.barrier[0], time + self.of.barrier_cycles)
                warp.ready = max(warp.ready, warp.barrier[1])
                warp.since = max(warp.since, warp.barrier[1])


def _namespace(record: Any) -> SimpleNamespace:
    """Return a record's fields as plain numbers."""
    return SimpleNamespace(**{name: record[name].item() for name in record.dtype.names})
