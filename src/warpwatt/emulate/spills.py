"""Spilled registers as registers: what is stored and loaded at fixed distances from the start of the stack.

A slot holds a pointer and an accumulator in turn. Through memory, the accumulator, and with it the products
of matrices that it sums up, would decide where threads look. Accesses stay, for their traffic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from warpwatt.core.program import Level
from warpwatt.emulate.ir import Block, Memory, Op, Operation, RegisterKind, Routine, Type, Value
from warpwatt.emulate.lift.sass.constants import stack_word
from warpwatt.emulate.propagation import propagate

_WORD = 4
_UNKNOWN = frozenset({"?"})
_NOTHING = frozenset[str]()
_WRAP = 1 << 32
_FEW = 4
"""A value that may be at more distances from the start of the stack is taken for anything: a loop adds up."""

Words = Mapping[int, tuple[str, ...]]
"""Names of the words that an access touches, by the identity of its operation."""


def without_spills(routine: Routine) -> Routine:
    """Return a routine of machine code whose spilled registers live in registers, too."""
    words = _spilled(routine)
    if not words:
        return routine
    spare = _Spare(routine)
    blocks = tuple(_through(block, words, spare) for block in routine.blocks)
    slots = {name: RegisterKind(Type.I32) for names in words.values() for name in names}
    return replace(routine, blocks=blocks, registers={**routine.registers, **slots})


class _Spare:
    """Values that nobody has."""

    def __init__(self, routine: Routine) -> None:
        self.next = 1 + max(v.index for b in routine.blocks for o in b.operations for v in o.results)

    def like(self, value: Value) -> Value:
        """Return another of a value's type."""
        self.next += 1
        return Value(self.next, value.type, value.uniform)

    def word(self) -> Value:
        """Return one that a register holds."""
        self.next += 1
        return Value(self.next, Type.I32)


def _through(block: Block, words: Words, spare: _Spare) -> Block:
    return replace(block, operations=[*_both(block.operations, words, spare)])


def _both(operations: Iterable[Operation], words: Words, spare: _Spare) -> Iterator[Operation]:
    """Yield operations; beside a store what sets registers, beside a load what gets them instead."""
    for o in operations:
        names = words.get(id(o), ())
        if not names:
            yield o
        elif o.op is Op.STORE:
            yield o
            for name, value in zip(names, o.args[1:], strict=True):
                yield from _set(name, value, o, spare)
        else:
            yield o._replace(results=tuple(map(spare.like, o.results)))
            for name, value in zip(names, o.results, strict=True):
                yield from _get(name, value, o, spare)


def _set(name: str, value: Value, store: Operation, spare: _Spare) -> Iterator[Operation]:
    if value.type is Type.I16:
        value, part = spare.word(), value
        yield Operation(Op.ZEXT, (value,), (part,), None, None, store.instruction)
    yield Operation(Op.SET, (), (value,), name, store.mask, store.instruction)


def _get(name: str, value: Value, load: Operation, spare: _Spare) -> Iterator[Operation]:
    if value.type is not Type.I16:
        yield Operation(Op.GET, (value,), (), name, None, load.instruction)
        return
    word = spare.word()
    yield Operation(Op.GET, (word,), (), name, None, load.instruction)
    yield Operation(Op.TRUNC, (value,), (word,), None, None, load.instruction)


def _spilled(routine: Routine) -> Words:
    """Return the words of spilled registers: nobody touches them but by whole words, at known addresses."""
    accesses = [o for b in routine.blocks for o in b.operations if isinstance(o.data, Memory)]
    local = [o for o in accesses if _is_local(o)]
    first = stack_word(routine.program.target) if routine.program.level is Level.SASS else None
    if first is None or not any(o.op is Op.LOAD for o in local) or any(map(_is_generic, accesses)):
        return {}
    found = propagate(routine, _evaluation(routine, first), _NOTHING)
    distances = {o.args[0].index: found.get(o.args[0].index, _UNKNOWN) for o in local}
    if any(len(at) != 1 or at == _UNKNOWN for at in distances.values()):
        return {}
    at = {address: int(*distance) for address, distance in distances.items()}
    touched = [(o, _touched(o, at[o.args[0].index])) for o in local]
    parts = {n for o, names in touched if at[o.args[0].index] % _WORD or not _whole(o, names) for n in names}
    return {id(o): names for o, names in touched if parts.isdisjoint(names)}


def _is_local(operation: Operation) -> bool:
    return isinstance(operation.data, Memory) and operation.data.space == "local"


def _is_generic(operation: Operation) -> bool:
    return isinstance(operation.data, Memory) and operation.data.space == "generic"


def _touched(operation: Operation, distance: int) -> tuple[str, ...]:
    assert isinstance(operation.data, Memory)
    first = distance // _WORD * _WORD
    return tuple(f"stack@{word}" for word in range(first, distance + operation.data.bytes, _WORD))


def _whole(operation: Operation, names: tuple[str, ...]) -> bool:
    """Whether an access moves its words each as an integer of 32 bits, or the lower half of one."""
    moved = operation.results if operation.op is Op.LOAD else operation.args[1:]
    types = {value.type for value in moved}
    return operation.op is not Op.ATOMIC and len(moved) == len(names) and types <= {Type.I32, Type.I16}


def _evaluation(
    routine: Routine, first: int
) -> Callable[[Operation, Mapping[int, frozenset[str]]], frozenset[str]]:
    """Return what says how far results lie from the start of the stack, which constant bank 0 has there."""
    operations = (o for b in routine.blocks for o in b.operations if o.op is Op.CONST)
    constants = {o.results[0].index: o.data for o in operations if isinstance(o.data, int)}

    def evaluate(operation: Operation, found: Mapping[int, frozenset[str]]) -> frozenset[str]:
        args = operation.args
        if operation.op is Op.SET:
            return found.get(args[0].index, _UNKNOWN)
        if operation.op is Op.LOAD and isinstance(operation.data, Memory) and operation.data.space == "const":
            return frozenset({"0"}) if constants.get(args[0].index) == first else _UNKNOWN
        if operation.op is not Op.ADD:
            return _UNKNOWN
        for base, beside in (args, args[::-1]):
            at, by = found.get(base.index, _UNKNOWN), constants.get(beside.index)
            if by is not None and at and at != _UNKNOWN and len(at) <= _FEW:
                return frozenset(str((int(one) + by) % _WRAP) for one in at)
        return _UNKNOWN

    return evaluate
