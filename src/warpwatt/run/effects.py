"""Which allocations a launch reads and writes, and whether computing it again would change anything."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Memory, Op, Type
from warpwatt.emulate.layout import LOCAL_SLOT, SHARED_SLOT, SLOT_BITS, parameter_offsets
from warpwatt.emulate.memory import SLOTS
from warpwatt.emulate.propagation import propagate, union
from warpwatt.emulate.provenance import ANYWHERE, GLOBALS, ON_CHIP, places

if TYPE_CHECKING:
    from warpwatt.core.program import Program
    from warpwatt.emulate.ir import Operation, Routine
    from warpwatt.run.memory import Allocations

_POINTER_BYTES = 8
TENSOR_MAP_BYTES = 128
_OFF_CHIP = ("global", "generic")
_COMPUTING = ("mma", "barrier_result")
"""Functions that only compute: others print or allocate."""
_OF_TEXTURES = {"texture": "read", "texture_rows": "read", "surface_load": "read", "surface_store": "write"}
"""What functions do to texture and surface objects."""
_OBJECTS = "textures and surfaces"
"""A place: any object's memory, as the parameters do not say whose."""
UNSEEN = frozenset({ANYWHERE, GLOBALS})
"""Names of places of which the parameters do not say where they are."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Addresses of the allocations that a launch reads and writes; None where that is not known."""

    reads: frozenset[int] | None
    writes: frozenset[int] | None
    pure: bool = True
    """Whether it does nothing but write: no calls into the system, no atomics."""

    @property
    def repeatable(self) -> bool:
        """Whether the same launch on the same contents writes the same again."""
        known = self.reads is not None and self.writes is not None
        return known and self.pure and not (self.reads or frozenset()) & (self.writes or frozenset())

    @property
    def may_wait(self) -> bool:
        """Whether it can be left half way and computed from its start when somebody reads what it writes."""
        return self.repeatable and bool(self.writes)


def effects(routine: Routine, parameters: bytes, allocations: Allocations) -> Effects:
    """Return what a launch with these parameters reads and writes."""
    reads, writes, pure = _accesses(routine)
    at = dict(allocations_of(routine.program, parameters, allocations))
    if (objects := allocations.of_textures) is not None:
        at[_OBJECTS] = objects

    def found(names: frozenset[str]) -> frozenset[int] | None:
        if names & UNSEEN or not names <= at.keys():
            return None
        return frozenset().union(*(at[name] for name in names))

    return Effects(found(reads), found(writes), pure)


def allocations_of(
    program: Program, parameters: bytes, allocations: Allocations
) -> Iterator[tuple[str, frozenset[int]]]:
    """Yield each parameter and the allocations that its bytes, taken as pointers, lead to."""
    for name, start, end in _parameter_places(program):
        own = parameters[start:end]
        words = set(struct.unpack_from(f"<{len(own) // _POINTER_BYTES}Q", own))
        blocks = [block for word in words if word and (block := allocations.at(word)) is not None]
        yield name, frozenset(block.address for block in blocks)


@lru_cache(maxsize=256)
def _parameter_places(program: Program) -> tuple[tuple[str, int, int], ...]:
    """Return name, first byte and end of each parameter."""
    sizes = {p.name: p.size for p in program.parameters}
    return tuple((name, at, at + sizes[name]) for name, at in parameter_offsets(program).items())


def _called(operation: Operation) -> str:
    """Return the name of the function that an operation calls."""
    return str(operation.data[0] if isinstance(operation.data, tuple) else operation.data)


@lru_cache(maxsize=256)
def _accesses(routine: Routine) -> tuple[frozenset[str], frozenset[str], bool]:
    """Return the parameters that loads and stores are made of, and whether nothing else happens."""
    where, own = places(routine), _own_addresses(routine)
    reads: set[str] = set()
    writes: set[str] = set()
    pure = True
    for operation in (o for block in routine.blocks for o in block.operations):
        if operation.op is Op.CALL:
            if _called(operation) in _OF_TEXTURES:
                (reads if _OF_TEXTURES[_called(operation)] == "read" else writes).add(_OBJECTS)
            elif _called(operation) not in _COMPUTING:
                pure = False
        if operation.op is Op.BULK and isinstance(operation.data, Memory):
            found = _of_bulk(routine, operation.data, where[operation.args[1].index] - ON_CHIP)
            reads |= found if operation.data.bulk in ("load", "reduce") else frozenset()
            writes |= found if operation.data.bulk in ("store", "reduce") else frozenset()
            pure = pure and operation.data.bulk != "reduce"
        if operation.op not in (Op.LOAD, Op.STORE, Op.ATOMIC) or not isinstance(operation.data, Memory):
            continue
        if operation.data.space not in _OFF_CHIP or operation.data.probe:
            continue
        if operation.data.space == "generic" and operation.args[0].index in own:
            continue
        found = where[operation.args[0].index] - ON_CHIP or frozenset({ANYWHERE})
        if operation.op is not Op.STORE:
            reads |= found
        if operation.op is not Op.LOAD:
            writes |= found
        pure = pure and operation.op is not Op.ATOMIC
    return frozenset(reads), frozenset(writes), pure


def _of_bulk(routine: Routine, bulk: Memory, where: frozenset[str]) -> frozenset[str]:
    """Return the places of global memory that a bulk copy moves bytes from or to.

    A tensor's address is in its map: a parameter, unless that is itself in global memory.
    """
    maps = frozenset(p.name for p in routine.program.parameters if p.size >= TENSOR_MAP_BYTES)
    found = where if not bulk.rank else frozenset() if where else maps
    return found or frozenset({ANYWHERE})


def _own_addresses(routine: Routine) -> frozenset[int]:
    """Return the values that are addresses of shared or local memory: made of their slots and no pointer."""

    def evaluate(operation: Operation, found: Mapping[int, frozenset[str]]) -> frozenset[str]:
        if operation.op is Op.CONST:
            slot = operation.data >> SLOT_BITS if isinstance(operation.data, int) else 0
            return frozenset(
                {"own"} if slot in (SHARED_SLOT, LOCAL_SLOT) else {"pointer"} if 0 < slot < SLOTS else ()
            )
        if operation.op in (Op.LOAD, Op.ATOMIC, Op.CALL):
            wide = any(value.type is Type.I64 for value in operation.results)
            return frozenset({"pointer"} if wide else ())
        return union((found.get(value.index, frozenset()) for value in operation.args), frozenset())

    found = propagate(routine, evaluate, frozenset[str]())
    return frozenset(value for value, made_of in found.items() if made_of == {"own"})


State = dict[int, tuple[int, int]]
"""How often allocations, by their addresses, were written, and how often any may have been."""
LOST = -1
"""In a state, instead of an address: some of the allocations may hold something else on a device."""


@dataclass(slots=True)
class Versions:
    """Counts how often each allocation was written, to see whether a launch has been computed already."""

    _written: dict[int, int] = field(default_factory=dict)
    _everything: int = 0
    _known: dict[tuple[object, ...], State] = field(default_factory=dict)

    def write(self, allocations: Iterable[int] | None) -> None:
        """Know that allocations were written, None: any of them."""
        if allocations is None:
            self._everything += 1
            return
        for address in allocations:
            self._written[address] = self._written.get(address, 0) + 1

    def state(self, allocations: Iterable[int]) -> State:
        """Return what says whether allocations hold what they held before."""
        return {address: (self._written.get(address, 0), self._everything) for address in allocations}

    def is_done(self, key: tuple[object, ...], found: Effects) -> bool:
        """Whether memory holds already what a launch would compute."""
        return found.repeatable and self._known.get(key) == self._state(found)

    def computed(self, key: tuple[object, ...], found: Effects) -> None:
        """Know that a launch was computed."""
        self.write(found.writes)
        if found.repeatable:
            self._known[key] = self._state(found)

    def _state(self, found: Effects) -> State:
        return self.state((found.reads or frozenset()) | (found.writes or frozenset()))
