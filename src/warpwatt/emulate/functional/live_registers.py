"""Which registers of a routine may still be read at the start of each basic block.

Only these need to be kept while lanes wait in front of a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import End, Op

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Block, Routine


def live_registers(routine: Routine) -> tuple[frozenset[str], ...]:
    """Return, by block, the per-lane registers that may be read before they are written again.

    >>> from warpwatt.isa.ptx import lower, parse
    >>> from warpwatt.emulate.lift import lift
    >>> k = ".target sm_90 .entry k() { .reg .b32 %r<3>; mov.b32 %r1, 5; L: add.u32 %r1, %r1, %r2; bra L; }"
    >>> [sorted(names) for names in live_registers(lift(lower(parse(k), "k")))][:2]
    [['%r2'], ['%r1', '%r2']]
    """
    kept = {name for name, kind in routine.registers.items() if not kind.uniform}
    reads, writes = zip(*(_reads_and_writes(block, kept) for block in routine.blocks), strict=True)
    after = [tuple(successors(routine, block)) for block in routine.blocks]
    live = list(reads)
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(live))):
            found = live[place].union(*(live[target] - writes[place] for target in after[place]))
            changed |= found != live[place]
            live[place] = found
    return tuple(live)


def successors(routine: Routine, block: Block) -> Iterator[int]:
    """Yield the blocks that lanes may go to at the end of a block.

    >>> from warpwatt.emulate.ir import Routine, Terminator
    >>> from warpwatt.emulate.ir import Block as B
    >>> list(successors(Routine(None, (), {}), B(range(1), end=Terminator(End.BRANCH, (2, 1)))))
    [2, 1]
    """
    yield from block.end.targets
    if block.end.end is End.INDIRECT:
        yield from (number for number, other in enumerate(routine.blocks) if other.address is not None)


def _reads_and_writes(block: Block, kept: set[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return registers read before they are written, and registers written in all lanes."""
    reads: set[str] = set()
    writes: set[str] = set()
    for operation in block.operations:
        name = str(operation.data)
        if operation.op not in (Op.GET, Op.SET) or name not in kept:
            continue
        whole = operation.op is Op.SET and operation.mask is None and len(operation.args) == 1
        if whole:
            writes.add(name)
        elif name not in writes:
            reads.add(name)
    return frozenset(reads), frozenset(writes)
