"""The part of a routine that decides what it does: branches, masks, addresses, and what they depend on.

Counts and accesses are the same with and without the rest; arithmetic on data that only ends up in results
falls away. This is dead-code elimination over micro-operations and blocks, with every memory access, but
not every stored value, taken as live: values stored where no live load can look are replaced by zero.

Where a load can look is told apart by state space and, for global memory, by the pointer parameters that an
address is made of (Andersen's analysis without fields; different parameters are taken to point to different
buffers). What is stored in shared memory after every live load of it is not looked at: see :func:`_is_over`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import PRODUCTS, Block, Op, Operation, Routine, Type, Value
from warpwatt.emulate.leaf_calls import LeafCalls, leaf_calls
from warpwatt.emulate.propagation import Point, blocks_after, leads, successors
from warpwatt.emulate.provenance import Places, keys, meet, places

if TYPE_CHECKING:
    from warpwatt.emulate.shared_words import SharedWords

_OFF_CHIP = frozenset({"global", "generic"})
_ACCESSES = frozenset({Op.LOAD, Op.STORE, Op.ATOMIC})
_OTHERS = _ACCESSES | {Op.GET, Op.SET, Op.BULK, Op.CALL, Op.COUNT}
"""Operations that are more than a function of their arguments."""
_READ = {
    "wgmma": frozenset({"shared"}),
    "tensor load": frozenset({"tensor"}),
    "tensor copy": frozenset({"shared"}),
    "tensor multiply": frozenset({"shared", "tensor"}),
}
"""Which memory runtime functions look at."""
_TENSOR_WRITERS = frozenset({"tensor store", "tensor copy", "tensor multiply"})


_UNPLACED = (-1, -1)
"""Instead of a place, where what reads shared memory may do so at any time."""


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
    maps: set[str] = field(default_factory=set)
    """Places that hold tensor maps, which point to other memory than where they stand."""
    loaded: set[str] = field(default_factory=set)
    """Places that live loads and copies look at."""
    readers: set[Point] = field(default_factory=set)
    """Where live loads look at shared memory."""
    after: tuple[frozenset[int], ...] = ()
    """Blocks that may run after each: itself only in a loop."""
    watched: frozenset[str] = frozenset()
    """Registers of a warp that waiting lanes read while others go on: see ``Terminator.leavers``."""
    words: SharedWords | None = None
    calls: LeafCalls = field(default_factory=LeafCalls)
    uncounted: frozenset[int] = frozenset()
    """Conditions that nobody computes only to count the lanes where they hold."""

    def behind(self, index: int) -> set[str]:
        """Return the registers that are live at the end of a block."""
        following = successors(self.routine, self.routine.blocks[index])
        return self.calls.live_behind(index, following, self.entry) | self.watched


@lru_cache(maxsize=64)
def control_slice(routine: Routine) -> Routine:
    """Return the routine with only what executions, active lanes and addresses depend on.

    Memory holds different contents afterwards, but every access is made, with the same lanes and addresses.
    Arithmetic under a condition that products of matrices decide counts as done by all lanes.
    """
    if _moves_tiles(routine) or not PRODUCTS.isdisjoint(routine.functions):
        from warpwatt.emulate.guarded_reads import without_unread

        routine = without_unread(routine)
    live = liveness(routine)
    spare = 1 + max((v.index for b in routine.blocks for o in b.operations for v in o.results), default=0)
    blocks = tuple(_kept(index, live, spare) for index in range(len(routine.blocks)))
    used = {str(o.data) for b in blocks for o in b.operations if o.op in (Op.GET, Op.SET)}
    called = {str(_name(o)) for b in blocks for o in b.operations if o.op is Op.CALL}
    return replace(
        routine,
        blocks=blocks,
        registers={name: kind for name, kind in routine.registers.items() if name in used},
        functions=tuple(name for name in routine.functions if name in called),
    )


def reads_contents(kept: Routine) -> bool:
    """Whether a load from off the chip is left in a slice: if not, nothing that it decides hangs on contents.

    What only products of matrices decide is not in the slice.
    """
    return any(reads_off_chip(o) and not o.memory.probe for b in kept.blocks for o in b.operations)


def reads_off_chip(operation: Operation) -> bool:
    """Whether an operation reads contents of global memory."""
    return operation.op in (Op.LOAD, Op.ATOMIC) and operation.memory.space in _OFF_CHIP


def liveness(routine: Routine) -> Liveness:
    """Return the least fixed point from addresses and masks of accesses and what effects need."""
    watched = frozenset(b.end.leavers for b in routine.blocks if b.end.leavers is not None)
    live = Liveness(
        routine,
        places(routine),
        entry=[set() for _ in routine.blocks],
        watched=watched,
        after=blocks_after(routine),
        words=_words(routine),
        calls=leaf_calls(routine),
        uncounted=_uncounted(routine),
    )
    live.values.update(_rooted(live))
    backwards = [tuple(enumerate(block.operations))[::-1] for block in routine.blocks]
    seen: list[tuple[int, ...]] = [()] * len(backwards)
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(backwards))):
            registers = live.behind(index)
            state = len(registers), len(live.contents), len(live.readers), len(live.loaded)
            if state != seen[index]:  # all else that a block depends on is its own
                seen[index], changed = state, True
                _block(live, index, backwards[index], registers)
    return live


def _moves_tiles(routine: Routine) -> bool:
    """Whether a unit moves tiles by itself; else variables of shared memory are not told from the rest."""
    return any(o.op is Op.BULK for b in routine.blocks for o in b.operations)


def _words(routine: Routine) -> SharedWords | None:
    if not _moves_tiles(routine):
        return None
    from warpwatt.emulate.shared_words import shared_words

    return shared_words(routine)


def _uncounted(routine: Routine) -> frozenset[int]:
    if PRODUCTS.isdisjoint(routine.functions):
        return frozenset()
    from warpwatt.emulate.products import conditions_by_products

    return conditions_by_products(routine)


def _rooted(live: Liveness) -> Iterator[int]:
    """Yield the values that matter whatever else does."""
    for block in live.routine.blocks:
        end = block.end
        yield from (v.index for v in (end.condition, end.value, end.value2) if v is not None)
        for operation in block.operations:
            yield from (value.index for value in _roots(operation, live))


def _roots(operation: Operation, live: Liveness) -> Iterable[Value]:
    """Return addresses and masks of accesses, and what operations with effects need."""
    if operation.op is Op.COUNT and operation.args[0].index in live.uncounted:
        return ()
    mask = () if operation.mask is None else (operation.mask,)
    if operation.op is Op.BULK or _on_barrier(operation):
        return (*operation.args, *mask)
    if operation.op in _ACCESSES:
        return (operation.args[0], *mask)
    if operation.op is Op.COUNT or (
        operation.op is Op.CALL and not operation.results and not _writes_tensor(operation)
    ):
        return (*operation.args, *mask)
    return ()


def _writes_tensor(operation: Operation) -> bool:
    """Whether an operation writes tensor memory, which is needed only if somebody looks there."""
    return operation.op is Op.CALL and _name(operation) in _TENSOR_WRITERS


def _block(
    live: Liveness, index: int, backwards: Iterable[tuple[int, Operation]], registers: set[str]
) -> None:
    """Go backwards through a block, with the registers that are live at its end."""
    values = live.values
    for position, operation in backwards:
        if operation.op in _OTHERS:
            _operation(live, operation, registers, (index, position))
            continue
        for result in operation.results:
            if result.index in values:
                values.update(v.index for v in operation.args)
                if operation.mask is not None:
                    values.add(operation.mask.index)
                break
    live.entry[index] |= registers


def _operation(live: Liveness, operation: Operation, registers: set[str], at: Point) -> None:
    """Mark what an operation needs if something needs it."""
    if operation.op is Op.SET:
        name = str(operation.data)
        if name not in registers:
            return
        live.values.update(v.index for v in operation.args)
        if _overwrites(operation, live):
            registers.discard(name)
    elif operation.op is Op.GET:
        if operation.results[0].index in live.values:
            registers.add(str(operation.data))
        return
    elif operation.op is Op.BULK:
        _bulk(live, operation, at)
        return
    elif operation.op in _ACCESSES:
        if not _on_barrier(operation):
            _access(live, operation, at)
        return
    elif not _wanted(operation, live):
        return
    elif operation.op is Op.CALL:
        _call(live, str(_name(operation)))
    live.values.update(v.index for v in operation.args)
    if operation.mask is not None:
        live.values.add(operation.mask.index)


def _call(live: Liveness, name: str) -> None:
    """Ask for the memory that a runtime function looks at."""
    read = _READ.get(name, frozenset())
    live.contents |= read
    if "shared" in read:
        live.readers.add(_UNPLACED)


def _wanted(operation: Operation, live: Liveness) -> bool:
    """Whether somebody needs a result of an operation, or what it writes to tensor memory."""
    if _writes_tensor(operation):
        return "tensor" in live.contents
    return any(r.index in live.values for r in operation.results)


def _on_barrier(operation: Operation) -> bool:
    """Whether an operation works on a barrier object: all that it needs matters, and nothing else does."""
    return operation.op is Op.ATOMIC and operation.memory.barrier


def _bulk(live: Liveness, operation: Operation, at: Point) -> None:
    """Ask for what a copy reads, if somebody looks at what it writes; the tensor map is always read."""
    source, target = _ends(live, operation)
    by_map = bool(operation.memory.rank)
    looked_at = live.contents - (live.maps - live.loaded) if by_map else live.contents
    if meet(target, looked_at) and not (target == {"shared"} and _behind_readers(live, at)):
        live.contents |= source
        live.loaded |= source
        if "shared" in source:
            live.readers.add(_UNPLACED)
    if by_map:
        live.maps |= live.where[operation.args[1].index]
        live.contents |= live.where[operation.args[1].index]


def _ends(live: Liveness, operation: Operation) -> tuple[frozenset[str], frozenset[str]]:
    """Return which memory a copy reads and which it writes. What a tensor map points to may be anywhere."""
    kind, shared = operation.memory.bulk, frozenset({"shared"})
    if kind == "between blocks":
        return shared, shared
    where = frozenset[str]() if operation.memory.rank else live.where[operation.args[1].index]
    other = keys("global", where)
    return (other, shared) if kind == "load" else (shared, other)


def _overwrites(write: Operation, live: Liveness) -> bool:
    """Whether nobody can read what a register held before a SET."""
    return write.mask is None and len(write.args) == 1 and str(write.data) not in live.watched


def _access(live: Liveness, operation: Operation, at: Point) -> None:
    """Ask for the memory that a live load looks at, and for the values stored there."""
    space = operation.memory.space
    if space in ("const", "param"):
        if any(r.index in live.values for r in operation.results):
            live.values.add(operation.args[0].index)
        return
    asked = _places(operation, live)
    if operation.op is not Op.STORE and any(r.index in live.values for r in operation.results):
        live.contents |= asked
        live.loaded |= asked
        if operation.memory.space == "shared" or "shared" in asked:
            live.readers.add(at)
        live.values.add(operation.args[0].index)
        if operation.mask is not None:
            live.values.add(operation.mask.index)
    if operation.op is not Op.LOAD and meet(asked, live.contents) and not _is_over(live, operation, at):
        live.values.update(v.index for v in operation.args)
        if operation.mask is not None:
            live.values.add(operation.mask.index)


def _is_over(live: Liveness, operation: Operation, at: Point) -> bool:
    """Whether a store to shared memory comes after every live load of it."""
    return operation.op is Op.STORE and operation.memory.space == "shared" and _behind_readers(live, at)


def _behind_readers(live: Liveness, at: Point) -> bool:
    """Whether every live load of shared memory comes before a place.

    The loads lead to the store and it never back to them, so that only a race could let one thread load what
    another has stored. Where threads part ways for good (one warp loads what another has stored), the load
    does not lead to the store.
    """
    over = live.after
    return all(r != _UNPLACED and leads(over, r, at) and not leads(over, at, r) for r in live.readers)


def _name(operation: Operation) -> object:
    return operation.data[0] if isinstance(operation.data, tuple) else operation.data


def _kept(index: int, live: Liveness, spare: int) -> Block:
    """Return a block without its dead operations."""
    block, registers = live.routine.blocks[index], live.behind(index)
    kept: list[Operation] = []
    for operation in reversed(block.operations):
        if operation.op is Op.SET:
            name = str(operation.data)
            if name in registers:
                kept.append(operation)
                if _overwrites(operation, live):
                    registers.discard(name)
        elif operation.op is Op.BULK:
            kept.append(_unless_seen(operation, live))
        elif operation.op in _ACCESSES and not _on_barrier(operation) and not _constant(operation, live):
            kept.extend(reversed(_bare(operation, live, spare)))
        elif _wanted(operation, live) or _roots(operation, live):
            kept.append(operation)
            if operation.op is Op.GET:
                registers.add(str(operation.data))
    return replace(block, operations=kept[::-1])


def _unless_seen(operation: Operation, live: Liveness) -> Operation:
    """Return a copy that moves nothing unless somebody looks at what it writes."""
    if meet(_ends(live, operation)[1], live.contents):
        return operation
    return operation._replace(data=replace(operation.memory, probe=True))


def _constant(operation: Operation, live: Liveness) -> bool:
    """Whether an access only delivers an operand, from a constant bank, which nobody needs."""
    dead = not any(r.index in live.values for r in operation.results)
    return operation.memory.space in ("const", "param") and dead and operation.args[0].uniform


def _bare(operation: Operation, live: Liveness, spare: int) -> list[Operation]:
    """Return an access with zeros for the operands that do not matter; a probe if nothing it does matters."""
    if not _matters(operation, live):
        operation = operation._replace(data=replace(operation.memory, probe=True))
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
    return [*zeros, operation._replace(args=args)]


def _matters(operation: Operation, live: Liveness) -> bool:
    """Whether something needs what an access loads or leaves in memory."""
    if any(r.index in live.values for r in operation.results):
        return True
    return operation.op is not Op.LOAD and meet(_places(operation, live), live.contents)


def _places(operation: Operation, live: Liveness) -> frozenset[str]:
    """Return which memory an access may look at; a variable of its own in shared memory is named apart."""
    where = keys(operation.memory.space, live.where[operation.args[0].index])
    if operation.memory.space != "shared" or live.words is None:
        return where
    words = live.words.places(operation)
    alone = operation.op is Op.LOAD and live.words.variables(operation)
    return words if alone else where | words


def _zero(value: Value, spare: int) -> Value:
    return Value(spare + value.index, Type(value.type), uniform=True)
