"""Calls of functions that compilers put behind a kernel, such as division: what passes them by untouched.

Control goes from a call into the function and from its end to behind any of its calls. A register that the
function does not write has behind a call what it had before that call, not what it had at others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import End, Op, Routine
from warpwatt.emulate.propagation import successors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WORD = 16


@dataclass(frozen=True, slots=True)
class LeafCalls:
    """``returns``: of blocks that call, the block behind.

    ``written``: registers that the function writes, by the blocks that call it and that return from it.
    """

    returns: Mapping[int, int] = field(default_factory=dict)
    written: Mapping[int, frozenset[str]] = field(default_factory=dict)

    def live_behind(self, block: int, following: Sequence[int], entry: Sequence[set[str]]) -> set[str]:
        """Return the registers that are live at the end of a block, given those at the starts of others."""
        live = set[str]().union(*(entry[target] for target in following))
        if block not in self.written:
            return live
        if block in self.returns:
            return live | entry[self.returns[block]] - self.written[block]
        return live & self.written[block]


def leaf_calls(routine: Routine) -> LeafCalls:
    """Return the calls whose function comes back, by its one end, to behind its calls alone."""
    places = {b.address: i for i, b in enumerate(routine.blocks) if b.address is not None}
    calls = {
        _WORD * (b.end.instruction + 1): (i, b.end.targets[0])
        for i, b in enumerate(routine.blocks)
        if b.end.end is End.JUMP and b.end.targets and _WORD * (b.end.instruction + 1) in places
    }
    returns: dict[int, int] = {}
    written: dict[int, frozenset[str]] = {}
    for block, ending in enumerate(routine.blocks):
        among = ending.end.among
        if not among or not among <= places.keys() or not among <= calls.keys():
            continue
        starts = {calls[address][1] for address in among}
        if len(starts) != 1:
            continue
        names = _written(routine, starts.pop())
        written[block] = names
        for address in among:
            returns[calls[address][0]] = places[address]
            written[calls[address][0]] = names
    return LeafCalls(returns, written)


def _written(routine: Routine, start: int) -> frozenset[str]:
    """Return the registers that blocks write from a function's start to its ends."""
    inside, waiting = {start}, [start]
    while waiting:
        block = routine.blocks[waiting.pop()]
        if block.end.among:
            continue
        new = [target for target in successors(routine, block) if target not in inside]
        inside.update(new)
        waiting += new
    sets = (o for i in inside for o in routine.blocks[i].operations if o.op is Op.SET)
    return frozenset(str(o.data) for o in sets)
