"""Which pointer parameters, and windows of shared and local memory, an address may be made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.program import Level
from warpwatt.emulate.ir import Memory, Op, Routine
from warpwatt.emulate.layout import (
    ARENA_SLOT,
    GLOBALS_SLOT,
    LOCAL_SLOT,
    SHARED_SLOT,
    SLOT_BITS,
    parameter_offsets,
)
from warpwatt.emulate.lift.sass.constants import window_words
from warpwatt.emulate.propagation import blocks_after, propagate, union

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Operation

ANYWHERE = "*"
"""Memory that no parameter points to alone: it may be any global memory."""
GLOBALS = "global variables"
HEAP = "what malloc returned"
_POINTER_BYTES = 8
_GLOBALS_SLOTS = (GLOBALS_SLOT, ARENA_SLOT)
"""Slots of constant addresses: variables lie where the module is, or where a loader has placed them."""
ON_CHIP = frozenset({"shared", "local"})
_WINDOWS = {SHARED_SLOT: "shared", LOCAL_SLOT: "local"}
_HIGH_WORD_BITS = SLOT_BITS - 32
"""Of the upper half of an address, those below the slot."""
_FRESH = frozenset({Op.LOAD, Op.ATOMIC, Op.CONST, Op.EQ, Op.NE, Op.SLT, Op.SLE, Op.ULT, Op.ULE, Op.BALLOT})
_APART = _FRESH | {Op.CALL}
"""Operations whose results may be made of something else than their arguments."""
_NOTHING = frozenset[str]()

Places = dict[int, frozenset[str]]
"""Value -> names of the parameters it may be made of, and of what is :data:`ON_CHIP` whose window it is."""


@lru_cache(maxsize=1)
def places(routine: Routine) -> Places:
    """Return for every value the pointer parameters that flow into it by arithmetic, through registers too.

    What is loaded from global memory is taken not to be made of parameters; what is loaded from shared or
    local memory, of those of what the routine may have stored there (pointers are exchanged and spilled).
    A generic address may be of shared memory here and of a buffer there, as the ways to it are.
    """
    pointers = _pointers(routine)
    constants = {o.results[0].index: o.data for b in routine.blocks for o in b.operations if o.op is Op.CONST}
    nothing: frozenset[str] = frozenset()
    kept: Places = {}

    def evaluate(operation: Operation, found: Mapping[int, frozenset[str]]) -> frozenset[str]:
        if operation.op is Op.LOAD and operation.results and operation.results[0].index in kept:
            return kept[operation.results[0].index]
        return _of(operation, found, constants, pointers)

    found = propagate(routine, evaluate, nothing)
    exchanges = _exchanges(routine)
    while (stored := _exchanged(exchanges, found)) != kept:
        kept.update(stored)
        found = propagate(routine, evaluate, nothing)
    for operation in (o for b in routine.blocks for o in b.operations):
        for value in operation.args:
            found.setdefault(value.index, nothing)
    return found


_Exchange = tuple[list[int], list["Operation"]]
"""Loads, by their first result, and the stores that lead to each of them."""


def _exchanges(routine: Routine) -> list[_Exchange]:
    """Return which stores to shared and local memory lead to which loads; equal loads together."""
    after = blocks_after(routine)
    found: list[_Exchange] = []
    for space in sorted(ON_CHIP):
        accesses = [[o for o in b.operations if _of_space(o, space)] for b in routine.blocks]
        stores = [[o for o in some if o.op is Op.STORE] for some in accesses]
        for index, some in enumerate(accesses):
            before = [o for block, others in enumerate(stores) if index in after[block] for o in others]
            again = index in after[index]
            for count, loads in _loads_behind(some).items():
                found.append((loads, before if again else [*before, *stores[index][:count]]))
    return found


def _loads_behind(accesses: Iterable[Operation]) -> dict[int, list[int]]:
    """Return the loads of a block by how many of its stores come before them."""
    count, loads = 0, dict[int, list[int]]()
    for o in accesses:
        if o.op is Op.STORE:
            count += 1
        elif o.op is Op.LOAD:
            loads.setdefault(count, []).append(o.results[0].index)
    return loads


def _exchanged(exchanges: Iterable[_Exchange], found: Places) -> Places:
    """Return what each of these loads may be made of, where that is anything."""
    made: Places = {}
    for loads, stores in exchanges:
        names = union((found.get(v.index, _NOTHING) for o in stores for v in o.args[1:]), _NOTHING)
        if names:
            made.update(dict.fromkeys(loads, names))
    return made


def _of_space(operation: Operation, space: str) -> bool:
    return isinstance(operation.data, Memory) and operation.data.space == space


def meet(some: Iterable[str], others: Iterable[str]) -> bool:
    """Return whether two sets of places may hold the same memory.

    >>> meet({"x"}, {"y"}), meet({"x"}, {"*"}), meet({"shared"}, {"*"})
    (False, True, False)
    """
    a, b = set(some), set(others)
    if a & b:
        return True
    return (ANYWHERE in a and _some_global(b)) or (ANYWHERE in b and _some_global(a))


def _some_global(some: set[str]) -> bool:
    return any(place.partition("@")[0] not in ("shared", "local") for place in some)


def keys(space: str, where: frozenset[str]) -> frozenset[str]:
    """Return which memory an access may look at.

    >>> sorted(keys("shared", frozenset())), sorted(keys("global", frozenset({"x"})))
    (['shared'], ['x'])
    """
    if space in ("shared", "local"):
        return frozenset({space})
    if where:
        return where
    return frozenset({ANYWHERE}) if space == "global" else frozenset({ANYWHERE, "shared", "local"})


def _of(
    operation: Operation,
    found: Mapping[int, frozenset[str]],
    constants: dict[int, object],
    pointers: dict[int, str],
) -> frozenset[str]:
    if operation.op is Op.SET:
        return found.get(operation.args[0].index, _NOTHING)
    if operation.op not in _APART:
        return _of_arguments(operation, found)
    if operation.op is Op.LOAD and isinstance(operation.data, Memory):
        return _parameter(operation, operation.data, constants, pointers)
    if operation.op is Op.CONST:
        return _constant(operation.data) if isinstance(operation.data, int) else frozenset()
    if operation.op is Op.CALL:
        allocates = isinstance(operation.data, tuple) and operation.data[0] == "malloc"
        return frozenset({HEAP}) if allocates else _of_arguments(operation, found)
    return _NOTHING


def _of_arguments(operation: Operation, found: Mapping[int, frozenset[str]]) -> frozenset[str]:
    """Return what the arguments are made of; mostly nothing, and no set is made for that."""
    known = _NOTHING
    for value in operation.args:
        if more := found.get(value.index):
            known = known | more if known else more
    return known


def _constant(number: int) -> frozenset[str]:
    """Return what an address that begins with a number lies in; its upper half alone tells that too."""
    slot = number >> SLOT_BITS or number >> _HIGH_WORD_BITS
    if slot in _WINDOWS:
        return frozenset({_WINDOWS[slot]})
    return frozenset({GLOBALS}) if number >> SLOT_BITS in _GLOBALS_SLOTS else frozenset()


def _parameter(
    load: Operation, memory: Memory, constants: dict[int, object], pointers: dict[int, str]
) -> frozenset[str]:
    """Return the parameter that a load of constant bank 0 (or parameter space) reads."""
    at = constants.get(load.args[0].index)
    if memory.space not in ("const", "param") or memory.bank != 0 or not isinstance(at, int):
        return frozenset()
    touched = (pointers.get((at + k) & ~3) for k in range(0, max(1, memory.bytes), 4))
    return frozenset(name for name in touched if name is not None)


def _pointers(routine: Routine) -> dict[int, str]:
    """Return for each 32-bit word of bank 0 the window, or the parameter that may be a pointer, there."""
    program = routine.program
    words = window_words(program.target) if program.level is Level.SASS else {}
    for parameter, at in zip(program.parameters, parameter_offsets(program).values(), strict=True):
        if parameter.size >= _POINTER_BYTES:
            start = program.parameter_base + at
            words.update(dict.fromkeys(range(start, start + parameter.size, 4), parameter.name))
    return words
