"""Predicated writes behind which nobody looks: all lanes that read the register have the same predicate.

Compilers load the operand of a predicated instruction under its predicate and put barriers between the two.
What the register held in the other lanes, a product perhaps, then matters to nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

from warpwatt.emulate.ir import Block, Op, Operation, Routine, Type, Value
from warpwatt.emulate.propagation import successors

K = TypeVar("K", int, str)
Lanes = tuple[bool, int | str] | None
"""Lanes that look: where a value of the block or a register, by its name, is false (first part: whether it is
negated) or true; None: any lane."""
_ACCESSES = frozenset({Op.LOAD, Op.STORE, Op.ATOMIC, Op.BULK})
_ACROSS_LANES = frozenset({Op.CALL, Op.COUNT, Op.BALLOT, Op.SHUFFLE, Op.MATCH, Op.REDUCE, Op.ACTIVE})


def without_unread(routine: Routine) -> Routine:
    """Return the routine with SELECTs that give what is read where the condition does not say so, too.

    Only registers' values in lanes where nobody reads them change.
    """
    entry: list[dict[str, Lanes]] = [{} for _ in routine.blocks]
    watched = {b.end.leavers for b in routine.blocks if b.end.leavers is not None}
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(routine.blocks))):
            found = _Walk(routine, index, entry, watched).found
            changed = changed or found != entry[index]
            entry[index] = found
    blocks = tuple(_rewritten(b, _Walk(routine, i, entry, watched)) for i, b in enumerate(routine.blocks))
    return replace(routine, blocks=blocks)


def _rewritten(block: Block, walk: _Walk) -> Block:
    if not walk.read:
        return block
    operations = [
        o._replace(args=(o.args[0], *(2 * [o.args[walk.read[place]]]))) if place in walk.read else o
        for place, o in enumerate(block.operations)
    ]
    return replace(block, operations=operations)


@dataclass(slots=True)
class _Walk:
    """One way backwards through a block."""

    routine: Routine
    index: int
    entry: list[dict[str, Lanes]]
    watched: set[str]
    found: dict[str, Lanes] = field(default_factory=dict)
    """Which lanes read each register, at the place reached; in the end, at the start of the block."""
    needs: dict[int, Lanes] = field(default_factory=dict)
    """The same of values."""
    same: dict[int, tuple[bool, int]] = field(default_factory=dict)
    """Conditions as others, or as their opposites."""
    within: dict[int, tuple[bool, int]] = field(default_factory=dict)
    """Conditions that hold only where another does: a predicate and the first lane, where one lane starts."""
    first: dict[int, tuple[bool, int]] = field(default_factory=dict)
    """Numbers of the first lane where a condition holds: which condition."""
    read: dict[int, int] = field(default_factory=dict)
    """Places of SELECTs of which one argument alone is read -> that argument."""

    def __post_init__(self) -> None:
        block = self.routine.blocks[self.index]
        held = self._conditions(block)
        for target in successors(self.routine, block):
            for name, lanes in self.entry[target].items():
                _join(self.found, name, _translated(lanes, held))
        self.found.update(dict.fromkeys(self.watched))
        for value in (block.end.condition, block.end.value, block.end.value2):
            if value is not None:
                self._need(value, None)
        for place in reversed(range(len(block.operations))):
            self._step(place, block.operations[place])

    def _conditions(self, block: Block) -> dict[str, tuple[bool, int]]:
        """Note which conditions are others negated; return what predicates hold at the end of the block."""
        held: dict[str, tuple[bool, int]] = {}
        ones: set[int] = set()
        lanes: dict[int, tuple[bool, int]] = {}
        for o in block.operations:
            if o.op is Op.BALLOT and o.mask is None:
                lanes[o.results[0].index] = self._same(o.args[0])
            elif o.op is Op.BREV and o.args[0].index in lanes:
                lanes[o.results[0].index] = lanes[o.args[0].index]
            elif o.op is Op.CLZ and o.args[0].index in lanes:
                self.first[o.results[0].index] = lanes[o.args[0].index]
            if o.op is Op.CONST and o.results[0].type is Type.I1 and o.data:
                ones.add(o.results[0].index)
            elif o.op is Op.AND and o.results[0].type is Type.I1:
                self.within[o.results[0].index] = self._holds_within(o.args[0])
            elif o.op is Op.XOR and o.args[1].index in ones:
                negated, what = self._same(o.args[0])
                self.same[o.results[0].index] = (not negated, what)
            elif o.op is Op.GET and o.results[0].type is Type.I1:
                known = held.setdefault(str(o.data), (False, o.results[0].index))
                if known[1] != o.results[0].index:
                    self.same[o.results[0].index] = known
            elif o.op is Op.SET and o.args[0].type is Type.I1:
                held[str(o.data)] = self._same(o.args[0])
        return held

    def _same(self, value: Value) -> tuple[bool, int]:
        return self.same.get(value.index, (False, value.index))

    def _holds_within(self, value: Value) -> tuple[bool, int]:
        return self.within.get(value.index) or self._same(value)

    def _need(self, value: Value, lanes: Lanes) -> None:
        _join(self.needs, value.index, lanes)

    def _step(self, place: int, o: Operation) -> None:
        if o.op is Op.SET:
            self._set(o)
        elif o.op is Op.GET:
            self._get(o)
        else:
            self._others(place, o)
            for result in o.results:
                if result.type is Type.I1:
                    self._rename(result.index, None)

    def _set(self, o: Operation) -> None:
        name, value = str(o.data), o.args[0]
        if o.mask is not None or len(o.args) > 1:
            for part in (*o.args, *(() if o.mask is None else (o.mask,))):
                self._need(part, None)
            return
        if value.type is Type.I1:
            self._rename(name, self._same(value))
        if name in self.found:
            self._need(value, self.found.pop(name))

    def _get(self, o: Operation) -> None:
        result, name = o.results[0], str(o.data)
        if result.index in self.needs:
            _join(self.found, name, self.needs[result.index])
        if result.type is Type.I1:
            self._rename(result.index, (False, name))

    def _others(self, place: int, o: Operation) -> None:
        if o.op in _ACCESSES:
            lanes = None if o.mask is None else self._holds_within(o.mask)
            for value in o.args:
                self._need(value, lanes)
            if o.mask is not None:
                self._need(o.mask, None)
        elif o.op is Op.SHUFFLE and o.mask is None and o.args[1].index in self.first:
            self._need(o.args[0], self.first[o.args[1].index])
            self._need(o.args[1], None)
        elif o.op in _ACROSS_LANES:
            for value in (*o.args, *(() if o.mask is None else (o.mask,))):
                self._need(value, None)
        elif needed := [self.needs[r.index] for r in o.results if r.index in self.needs]:
            self._pure(place, o, needed[0])

    def _pure(self, place: int, o: Operation, lanes: Lanes) -> None:
        args = o.args
        if o.op is Op.SELECT:
            negated, what = self._same(args[0])
            if lanes is None:  # each argument is read where the condition says so
                self._need(args[0], None)
                self._need(args[1], (negated, what))
                self._need(args[2], (not negated, what))
                return
            if lanes[1] == what:
                self.read[place] = 2 if lanes[0] != negated else 1
                args = (args[0], args[self.read[place]])
        for value in args:
            self._need(value, lanes)

    def _rename(self, old: int | str, new: tuple[bool, int | str] | None) -> None:
        """Call lanes by another name; None: by none."""
        _renamed(self.found, old, new)
        _renamed(self.needs, old, new)


def _translated(lanes: Lanes, held: dict[str, tuple[bool, int]]) -> Lanes:
    """Return lanes by the value that a predicate holds at the end of the block, if that is known."""
    if lanes is None or not isinstance(lanes[1], str) or lanes[1] not in held:
        return lanes
    negated, what = held[lanes[1]]
    return lanes[0] != negated, what


def _renamed(known: dict[K, Lanes], old: int | str, new: tuple[bool, int | str] | None) -> None:
    for key, lanes in known.items():
        if lanes is not None and lanes[1] == old:
            known[key] = None if new is None else (lanes[0] != new[0], new[1])


def _join(known: dict[K, Lanes], key: K, lanes: Lanes) -> None:
    """Add lanes that look."""
    known[key] = lanes if key not in known or known[key] == lanes else None
