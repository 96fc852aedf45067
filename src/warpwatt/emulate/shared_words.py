"""Which words of shared memory are variables of their own: written and read at addresses that are constants.

Kernels whose warps have roles hand each other pointers and counts that way, beside the tiles that the rest of
shared memory holds. An address is known if it is a constant, plus the block's rank in its cluster where that
stands in shared addresses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Memory, Op, Routine
from warpwatt.emulate.layout import CLUSTER_RANK_BITS
from warpwatt.emulate.propagation import propagate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.emulate.ir import Operation

UNKNOWN = "?"
_RANK = "rank"
_NOTHING: frozenset[str] = frozenset()
_ANYTHING = frozenset({UNKNOWN})
_WORD = 4
_COPIED = frozenset({Op.SET, Op.ZEXT, Op.SEXT, Op.TRUNC, Op.BITCAST, Op.SHUFFLE})
_OFFSET = (1 << CLUSTER_RANK_BITS) - 1


@dataclass(frozen=True, slots=True)
class SharedWords:
    """``offsets``: of address values that are known; ``written``: first bytes of words that are stored to."""

    offsets: Mapping[int, int] = field(default_factory=dict)
    written: frozenset[int] = frozenset()

    def places(self, operation: Operation) -> frozenset[str]:
        """Return names of the words that an access touches; none where its address is not known."""
        at = self.offsets.get(operation.args[0].index)
        memory = operation.data
        if at is None or not isinstance(memory, Memory):
            return frozenset()
        return frozenset(f"shared@{word}" for word in _words(at, memory))

    def variables(self, operation: Operation) -> bool:
        """Whether all words that an access touches are stored to at constant addresses as well."""
        at = self.offsets.get(operation.args[0].index)
        memory = operation.data
        return at is not None and isinstance(memory, Memory) and self.written.issuperset(_words(at, memory))


def shared_words(routine: Routine) -> SharedWords:
    """Return the words of a routine; none are told apart where no unit moves tiles by itself."""
    operations = [o for b in routine.blocks for o in b.operations]
    if not any(o.op is Op.BULK for o in operations):
        return SharedWords()
    found = propagate(routine, _of, _NOTHING)
    shared = [o for o in operations if isinstance(o.data, Memory) and o.data.space == "shared"]
    offsets = {o.args[0].index: _known(found.get(o.args[0].index, _NOTHING)) for o in shared}
    known = {index: at for index, at in offsets.items() if at is not None}
    stores = [o for o in shared if o.op is Op.STORE and o.args[0].index in known]
    written = {
        w for o in stores if isinstance(o.data, Memory) for w in _words(known[o.args[0].index], o.data)
    }
    return SharedWords(known, frozenset(written))


def _words(at: int, memory: Memory) -> range:
    return range(at // _WORD * _WORD, at + memory.bytes, _WORD)


def _known(values: frozenset[str]) -> int | None:
    """Return the one number that a value is."""
    only = next(iter(values)) if len(values) == 1 else UNKNOWN
    return None if only in (UNKNOWN, _RANK) else int(only)


def _of(operation: Operation, found: Mapping[int, frozenset[str]]) -> frozenset[str]:
    """Return a number as text, the rank in the cluster, or that it is neither."""
    args = [found.get(v.index, _NOTHING) for v in operation.args]
    if operation.op is Op.CONST:
        return frozenset({str(operation.data)}) if isinstance(operation.data, int) else _ANYTHING
    if operation.op is Op.SPECIAL:
        return frozenset({_RANK}) if operation.data == "cluster_ctarank" else _ANYTHING
    if operation.op in _COPIED:
        return args[0] if len(args[0]) == 1 else _ANYTHING
    if operation.op is Op.SHL and args[0] == {_RANK} and _known(args[1]) == CLUSTER_RANK_BITS:
        return frozenset({"0"})
    left, right = (_known(a) for a in args[:2]) if len(args) > 1 else (None, None)
    if operation.op is Op.ADD and left is not None and right is not None:
        return frozenset({str(left + right & _OFFSET)})
    return _ANYTHING
