"""The part of a routine that decides what it does: branches, masks, addresses, and what they depend on.

Counts and accesses are the same with and without the rest; arithmetic on data that only ends up in results
falls away. This is dead-code elimination over micro-operations and blocks, with every memory access, but
not every stored value, taken as live: values stored where no live load can look are replaced by zero.

Where a load can look is told apart by state space and, for global memory, by the pointer parameters that an
address is made of (Andersen's analysis without fields; different parameters are taken to point to different
buffers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Block, End, Op, Operation, Routine, Type, Value
from warpwatt.emulate.ir import Memory as MemoryData
from warpwatt.emulate.provenance import ANYWHERE, Places, meet, places

if TYPE_CHECKING:
    Roots = Callable[[Operation], Iterable[Value]]

_ACCESSES = frozenset({Op.LOAD, Op.STORE, Op.ATOMIC})
_OFF_CHIP = frozenset({"global", "generic"})


@dataclass(slots=True)
class Liveness:
    """Which values and registers matter, and which memory: the least set that holds the roots."""

    routine: Routine
    where: Places
    values: set[int] = field(default_factory=set)
    entry: list[set[str]] = field(default_factory=list)
    """Registers live at the start of each block."""
    contents: set[str] = field(default_factory=set)
    """Places of memory whose contents matter (see :mod:`warpwatt.emulate.provenance`)."""
    loads: dict[int, frozenset[str]] = field(default_factory=dict)
    """Off-chip loads whose results matter: instruction -> where they look."""


def control_slice(routine: Routine) -> Routine:
    """Return the routine with only what executions, active lanes and addresses depend on.

    Memory holds different contents afterwards, but every access is made, with the same lanes and addresses.
    """
    live = liveness(routine, _roots_of_everything)
    spare = 1 + max((v.index for b in routine.blocks for o in b.operations for v in o.results), default=0)
    blocks = tuple(_kept(block, live, spare) for block in routine.blocks)
    used = {str(o.data) for b in blocks for o in b.operations if o.op in (Op.GET, Op.SET)}
    called = {str(_name(o)) for b in blocks for o in b.operations if o.op is Op.CALL}
    return replace(
        routine,
        blocks=blocks,
        registers={name: kind for name, kind in routine.registers.items() if name in used},
        functions=tuple(name for name in routine.functions if name in called),
    )


@dataclass(frozen=True, slots=True)
class DataDependence:
    """Global loads that control flow, or only addresses, depend on: instruction -> pointer names."""

    control: dict[int, frozenset[str]]
    addresses: dict[int, frozenset[str]]


def data_dependence(routine: Routine) -> DataDependence:
    """Return which loads decide where threads go and which lanes are on, and which only where they look."""
    control = liveness(routine, _roots_of_control).loads
    everything = liveness(routine, _roots_of_everything).loads
    return DataDependence(control, {k: v for k, v in everything.items() if k not in control})


@lru_cache(maxsize=2)
def liveness(routine: Routine, roots: Roots) -> Liveness:
    """Return the least fixed point from ``roots``, which gives the values that an operation demands.

    Slice and dependence of a routine ask for the same one.
    """
    live = Liveness(routine, places(routine), entry=[set() for _ in routine.blocks])
    changed = True
    while changed:
        before = _size(live)
        for index in reversed(range(len(routine.blocks))):
            _block(live, index, roots)
        changed = _size(live) != before
    return live


def _size(live: Liveness) -> tuple[int, ...]:
    return len(live.values), sum(map(len, live.entry)), len(live.contents)


def _roots_of_everything(operation: Operation) -> Iterable[Value]:
    """Return addresses and masks of accesses, and what operations with effects need."""
    mask = () if operation.mask is None else (operation.mask,)
    if operation.op in _ACCESSES:
        return (operation.args[0], *mask)
    if operation.op is Op.COUNT or (operation.op is Op.CALL and not operation.results):
        return (*operation.args, *mask)
    return ()


def _roots_of_control(operation: Operation) -> Iterable[Value]:
    """Return masks of accesses: which lanes are on."""
    mask = () if operation.mask is None else (operation.mask,)
    if operation.op is Op.COUNT:
        return (*operation.args, *mask)
    return mask if operation.op in _ACCESSES else ()


def _block(live: Liveness, index: int, roots: Roots) -> None:
    """Go backwards through a block."""
    block = live.routine.blocks[index]
    registers: set[str] = set()
    for target in _successors(live.routine, block):
        registers |= live.entry[target]
    end = block.end
    demanded = (end.condition, end.value, end.value2)
    live.values.update(v.index for v in demanded if v is not None)
    for operation in reversed(block.operations):
        live.values.update(v.index for v in roots(operation))
        _operation(live, operation, registers)
    live.entry[index] |= registers


def _successors(routine: Routine, block: Block) -> tuple[int, ...]:
    if block.end.end is End.INDIRECT:
        named = tuple(i for i, b in enumerate(routine.blocks) if b.address is not None)
        return block.end.targets + named
    return block.end.targets


def _operation(live: Liveness, operation: Operation, registers: set[str]) -> None:
    """Mark what an operation needs if something needs it."""
    name = str(operation.data)
    if operation.op is Op.SET:
        if name not in registers:
            return
        live.values.update(v.index for v in operation.args)
        if operation.mask is None and len(operation.args) == 1:
            registers.discard(name)
    elif operation.op is Op.GET:
        if operation.results[0].index in live.values:
            registers.add(name)
        return
    elif operation.op in _ACCESSES:
        _access(live, operation)
        return
    elif not any(r.index in live.values for r in operation.results):
        return
    live.values.update(v.index for v in operation.args)
    if operation.mask is not None:
        live.values.add(operation.mask.index)


def _access(live: Liveness, operation: Operation) -> None:
    """Ask for the memory that a live load looks at, and for the values stored there."""
    where = live.where[operation.args[0].index]
    space = _space(operation)
    if space in ("const", "param"):
        if any(r.index in live.values for r in operation.results):
            live.values.add(operation.args[0].index)
        return
    asked = _keys(space, where)
    if operation.op is not Op.STORE and any(r.index in live.values for r in operation.results):
        live.contents |= asked
        live.values.add(operation.args[0].index)
        if operation.mask is not None:
            live.values.add(operation.mask.index)
        if space in _OFF_CHIP:
            live.loads[operation.instruction] = asked
    if operation.op is not Op.LOAD and meet(asked, live.contents):
        live.values.update(v.index for v in operation.args)
        if operation.mask is not None:
            live.values.add(operation.mask.index)


def _keys(space: str, where: frozenset[str]) -> frozenset[str]:
    """Return which memory an access may look at.

    >>> sorted(_keys("shared", frozenset())), sorted(_keys("global", frozenset({"x"})))
    (['shared'], ['x'])
    """
    if space in ("shared", "local"):
        return frozenset({space})
    if where:
        return where
    return frozenset({ANYWHERE}) if space == "global" else frozenset({ANYWHERE, "shared", "local"})


def _space(operation: Operation) -> str:
    return _memory(operation).space


def _name(operation: Operation) -> object:
    return operation.data[0] if isinstance(operation.data, tuple) else operation.data


def _kept(block: Block, live: Liveness, spare: int) -> Block:
    """Return the block without its dead operations."""
    registers: set[str] = set()
    for target in _successors(live.routine, block):
        registers |= live.entry[target]
    kept: list[Operation] = []
    for operation in reversed(block.operations):
        name = str(operation.data)
        if operation.op is Op.SET:
            if name in registers:
                kept.append(operation)
                if operation.mask is None and len(operation.args) == 1:
                    registers.discard(name)
        elif operation.op in _ACCESSES and not _constant(operation, live):
            kept.extend(reversed(_bare(operation, live, spare)))
        elif _roots_of_everything(operation) or any(r.index in live.values for r in operation.results):
            kept.append(operation)
            if operation.op is Op.GET:
                registers.add(name)
    return replace(block, operations=kept[::-1])


def _constant(operation: Operation, live: Liveness) -> bool:
    """Whether an access only delivers an operand, from a constant bank, which nobody needs."""
    dead = not any(r.index in live.values for r in operation.results)
    return _space(operation) in ("const", "param") and dead and operation.args[0].uniform


def _bare(operation: Operation, live: Liveness, spare: int) -> list[Operation]:
    """Return an access with zeros for the operands that do not matter; a probe if nothing it does matters."""
    if not _matters(operation, live):
        operation = replace(operation, data=replace(_memory(operation), probe=True))
    address, *operands = operation.args
    dead = [v for v in operands if v.index not in live.values]
    if not dead:
        return [operation]
    zeros = [
        Operation(
            Op.CONST, (_zero(v, spare),), (), 0.0 if v.type.is_float else 0, None, operation.instruction
        )
        for v in dict.fromkeys(dead)
    ]
    args = (address, *(_zero(v, spare) if v.index not in live.values else v for v in operands))
    return [*zeros, replace(operation, args=args)]


def _matters(operation: Operation, live: Liveness) -> bool:
    """Whether something needs what an access loads or leaves in memory."""
    if any(r.index in live.values for r in operation.results):
        return True
    where = _keys(_space(operation), live.where[operation.args[0].index])
    return operation.op is not Op.LOAD and meet(where, live.contents)


def _memory(operation: Operation) -> MemoryData:
    assert isinstance(operation.data, MemoryData)
    return operation.data


def _zero(value: Value, spare: int) -> Value:
    return Value(spare + value.index, Type(value.type), uniform=True)
