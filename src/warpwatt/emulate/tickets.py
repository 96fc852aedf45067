"""Blocks that draw numbers from a counter in memory: the last that comes reduces, or all share a queue.

A block finds such a counter as the blocks before it have left it, and a sample has few of those. Two blocks
run one after the other tell what kind of counter it is: where each adds as much and does as much, the counter
is set for each sampled block to what the whole grid's blocks before it would have added. Where the first
leaves nothing for the second, blocks share a queue: only the whole grid, in turns, tells what each gets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.ir import Memory, Op
from warpwatt.emulate.run import UNBOUNDED, Each, Limits, Run, Stop

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.units import Start
    from warpwatt.program.block_work import BlockWork

COUNTING = frozenset({"add", "inc"})
MOST_COUNTERS = 4
"""Sectors of memory that the counters of a launch lie in; more is data, such as a histogram."""
FIRST_TURN = 32
"""Warp instructions of a warp's first turn at a queue, twice as many of each after."""
LOOK = Limits(1_000_000, 1 << 20)
"""What one block may take that is looked at."""
SECTOR, WORD = 32, 4
_LINE_BITS = np.uint64(127)


@dataclass(frozen=True, slots=True, eq=False)
class Counters:
    """Words of memory, and by how much each block moves them on: modulo 2**32. None: by all that is there.

    ``before`` is what they hold when the launch begins.
    """

    words: Mapping[int, tuple[int, int]]
    shared: bool = False
    """Whether blocks share a queue."""

    def numbered(self, start: Start, memory: DeviceMemory) -> Start:
        """Return what runs blocks that find the counters as all blocks of the grid before them leave them."""
        return _Numbered(start, memory, self.words)


@dataclass(frozen=True, slots=True, eq=False)
class _Numbered:
    start: Start
    memory: DeviceMemory
    words: Mapping[int, tuple[int, int]]

    def __call__(self, blocks: Sequence[int], limits: Limits) -> Run:
        for address, (before, each) in self.words.items() if len(blocks) == 1 else ():
            value = (before + each * blocks[0]) % 2**32
            self.memory.write(address, value.to_bytes(WORD, "little"))
        return self.start(blocks, limits)

    def each(self, blocks: Sequence[int], limits: Limits, total: int = UNBOUNDED) -> Each:
        return self.start.each(blocks, limits, total)


def counters(
    routine: Routine, control: Routine, fresh: Callable[[], tuple[Start, DeviceMemory]], block: int
) -> Counters | None:
    """Return the counters that steer the blocks of a launch, None where there are none that one can follow.

    ``control`` is what is run of ``routine``; ``block`` is looked at.
    """
    drawing = _drawing(control)
    if not drawing:
        return None
    from warpwatt.emulate.steering import data_dependence

    drawing &= data_dependence(routine).control.keys()
    return _looked_at(drawing, fresh, block) if drawing else None


def last_apart(work: BlockWork) -> BlockWork:
    """Return the same with the last block of the grid as one of its own kind."""
    paths = work.paths.copy()
    paths[-1] = paths.max() + 1
    return replace(work, paths=paths)


def _drawing(control: Routine) -> set[int]:
    """Return the instructions that add to global memory and need what was there."""
    adding = [
        operation
        for block in control.blocks
        for operation in block.operations
        if operation.op is Op.ATOMIC
        and isinstance(operation.data, Memory)
        and operation.data.space in ("global", "generic")
        and operation.data.operation in COUNTING
    ]
    if not adding:
        return set()
    used = {v.index for b in control.blocks for o in b.operations for v in o.args}
    used |= {v.index for b in control.blocks for v in (b.end.condition, b.end.value) if v is not None}
    used |= {o.mask.index for b in control.blocks for o in b.operations if o.mask is not None}
    return {o.instruction for o in adding if any(v.index in used for v in o.results)}


def _looked_at(
    drawing: set[int], fresh: Callable[[], tuple[Start, DeviceMemory]], block: int
) -> Counters | None:
    """Run a block to see where its counters are, and twice more to see how it moves them on."""
    start, _ = fresh()
    sectors = _sectors(start((block,), LOOK), drawing)
    if not 0 < len(sectors) <= MOST_COUNTERS:
        return None
    start, memory = fresh()
    seen, runs = [_words(memory, sectors)], []
    for _ in range(2):
        runs.append(start((block,), LOOK))
        seen.append(_words(memory, sectors))
    if runs[0].stop is not Stop.DONE or runs[1].stop is not Stop.DONE:
        return None
    at = sorted(drawing)
    if (runs[0].executions[at] != runs[1].executions[at]).any():
        return Counters({}, shared=True)
    first, second = seen[1] - seen[0], seen[2] - seen[1]
    moved = np.flatnonzero((first == second) & (first != 0))
    places = [address + WORD * k for address in sectors for k in range(SECTOR // WORD)]
    return Counters({places[k]: (int(seen[0][k]), int(first[k])) for k in moved}) if len(moved) else None


def _sectors(run: Run, drawing: set[int]) -> list[int]:
    """Return the addresses of the sectors that some instructions of a run reach."""
    trace = run.trace
    if trace is None:
        return []
    of_line = np.repeat(trace.access_instruction, np.diff(trace.line_start))
    lines = trace.lines[np.isin(of_line, sorted(drawing))]
    return sorted(
        {
            int(line & ~_LINE_BITS) + SECTOR * k
            for line in np.unique(lines)
            for k in range(4)
            if int(line) >> k & 1
        }
    )


def _words(memory: DeviceMemory, sectors: Sequence[int]) -> np.ndarray:
    """Return the words of some sectors."""
    data = b"".join(memory.read(address, SECTOR).ljust(SECTOR, b"\0") for address in sectors)
    return np.frombuffer(data, np.uint32).copy()
