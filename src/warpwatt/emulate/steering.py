"""Which contents of memory decide where threads go and what they touch, and how much hangs on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import PRODUCTS, End, Op, Operation, Routine
from warpwatt.emulate.propagation import propagate, successors, union
from warpwatt.emulate.provenance import Places, keys, meet, places
from warpwatt.emulate.slice import control_slice, reads_contents, reads_off_chip
from warpwatt.emulate.slow_paths import SlowPath, without_slow_paths
from warpwatt.program.graph import dominators, postorder

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value

_ACCESSES = frozenset({Op.LOAD, Op.STORE, Op.ATOMIC})
_CONSTANT = frozenset({"const", "param"})
_DECIDING = frozenset({End.BRANCH, End.EXIT, End.INDIRECT})


@dataclass(frozen=True, slots=True)
class Decision:
    """A branch or a predicated access that depends on contents of global memory.

    Attributes
    ----------
    loads
        Instructions that read what it depends on.
    branch
        The instruction that decides.
    region
        Blocks of the routine that are executed or not because of it; empty for an access.
    looped
        Blocks of the region that lie in a loop inside it.
    loop
        Whether it decides how often a loop runs, which is then the region.
    """

    loads: frozenset[int]
    branch: int
    region: frozenset[int] = frozenset()
    looped: frozenset[int] = frozenset()
    loop: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class DataDependence:
    """What depends on global memory, slow paths of arithmetic apart.

    Attributes
    ----------
    routine
        What was looked at: the part that decides what the routine does, without its slow paths.
    control
        Loads that decide where threads go or which accesses are made: instruction -> pointer names.
    addresses
        The same of loads that only decide where other accesses look.
    slow_paths
        Slow paths that depend on loads: the path, the instruction that tests for it, the loads.
    """

    routine: Routine
    control: Mapping[int, frozenset[str]]
    addresses: Mapping[int, frozenset[str]]
    decisions: tuple[Decision, ...]
    slow_paths: tuple[tuple[SlowPath, int, Mapping[int, frozenset[str]]], ...]
    behind: Mapping[int, Mapping[int, frozenset[str]]]
    """Of each access and trap the loads that decide whether it is made and where it looks."""


@lru_cache(maxsize=64)
def data_dependence(routine: Routine) -> DataDependence:
    """Return which loads decide where threads go and what they touch."""
    deciding = routine
    if PRODUCTS.isdisjoint(routine.functions):  # else conditions that products decide are not in the slice
        deciding = control_slice(routine)
        if not reads_contents(deciding):
            return DataDependence(deciding, {}, {}, (), (), {})
    without = without_slow_paths(deciding)
    # with slow paths cut off, what flows through them is told apart
    contents = _Contents(without.routine, places(without.routine if without.tests else routine))
    contents.run()
    decisions = tuple(contents.decisions())
    control = frozenset().union(*(d.loads for d in decisions))
    slow = ((path, at, contents.loads_of(value)) for path, at, value in without.tests)
    return DataDependence(
        without.routine,
        contents.named(control),
        contents.named(contents.loads_in(contents.addresses()) - control),
        decisions,
        tuple((path, at, contents.named(loads)) for path, at, loads in slow if loads),
        {at: contents.named(contents.loads_in(bits)) for at, bits in contents.behind().items()},
    )


class _Contents:
    """Which loads each value depends on, as bits: by arithmetic, through memory, by branches.

    ``where`` says what addresses are made of.
    """

    def __init__(self, routine: Routine, where: Places) -> None:
        self.routine, self.where = routine, where
        self.loads: list[int] = []
        self.bits: dict[int, int] = {}
        self.looks: dict[int, frozenset[str]] = {}
        self.block_of: dict[int, int] = {}
        for index, block in enumerate(routine.blocks):
            for operation in block.operations:
                self.block_of[id(operation)] = index
                if reads_off_chip(operation) and operation.instruction not in self.bits:
                    self.bits[operation.instruction] = 1 << len(self.loads)
                    self.loads.append(operation.instruction)
                    self.looks[operation.instruction] = self._looks(operation)
        self.set_in = [{str(o.data) for o in b.operations if o.op is Op.SET} for b in routine.blocks]
        self.stored: dict[str, int] = {}
        self.around = [0] * len(routine.blocks)
        self.regions = _Regions(routine)
        self.values: dict[int, int] = {}

    def run(self) -> None:
        """Find the least fixed point."""
        starts: dict[int, dict[str, int]] = {}
        entry: list[dict[str, int]] = [{} for _ in self.routine.blocks]  # what is known stays true
        while True:
            before = dict(self.stored), list(self.around)
            self.values = propagate(self.routine, self._evaluate, 0, starts, entry)
            for index in range(len(self.routine.blocks)):
                if bits := self._decided_by(index):
                    self._note(index, bits, starts)
            if before == (self.stored, self.around):
                return

    def _note(self, branch: int, bits: int, starts: dict[int, dict[str, int]]) -> None:
        """Note what a decision decides: stores behind it, and registers that were set where its ways meet."""
        region = self.regions.of(branch)
        meeting = starts.setdefault(self.regions.meeting[branch], {})
        for inside in region:
            self.around[inside] |= bits
            for name in self.set_in[inside]:
                meeting[name] = meeting.get(name, 0) | bits

    def decisions(self) -> Iterator[Decision]:
        """Yield the branches and predicated accesses that depend on loads."""
        for index, block in enumerate(self.routine.blocks):
            bits = self._decided_by(index)
            if bits:
                region = self.regions.of(index)
                looped = frozenset(b for b in region if self.regions.looped(b, index))
                yield Decision(self.loads_in(bits), block.end.instruction, region, looped, index in region)
            for operation in block.operations:
                mask = operation.mask
                if operation.op in _ACCESSES and mask is not None and self.values.get(mask.index):
                    yield Decision(self.loads_of(mask), operation.instruction)

    def addresses(self) -> int:
        """Return the loads that addresses depend on."""
        accesses = (o for b in self.routine.blocks for o in b.operations if o.op in _ACCESSES)
        return union((self.values.get(o.args[0].index, 0) for o in accesses), 0)

    def behind(self) -> dict[int, int]:
        """Return of each access and trap what decides whether it is made and where it looks."""
        found: dict[int, int] = {}
        for index, block in enumerate(self.routine.blocks):
            for operation in block.operations:
                if operation.op in _ACCESSES:
                    values = (v for v in (operation.args[0], operation.mask) if v is not None)
                    bits = union((self.values.get(v.index, 0) for v in values), self.around[index])
                    found[operation.instruction] = found.get(operation.instruction, 0) | bits
            if block.end.end is End.TRAP:
                found[block.end.instruction] = self.around[index]
        return found

    def loads_of(self, value: Value) -> frozenset[int]:
        """Return the loads that a value depends on."""
        return self.loads_in(self.values.get(value.index, 0))

    def loads_in(self, bits: int) -> frozenset[int]:
        """Return loads by their bits."""
        return frozenset(self.loads[k] for k in range(bits.bit_length()) if bits >> k & 1)

    def named(self, loads: frozenset[int]) -> dict[int, frozenset[str]]:
        """Return loads with the names of the pointers they read through."""
        return {load: self.looks[load] for load in sorted(loads)}

    def _decided_by(self, block: int) -> int:
        """Return the loads that the way out of a block depends on."""
        end = self.routine.blocks[block].end
        if end.end not in _DECIDING:
            return 0
        return union((self.values.get(v.index, 0) for v in (end.condition, end.value) if v is not None), 0)

    def _evaluate(self, operation: Operation, values: Mapping[int, int]) -> int:
        known = 0
        for value in operation.args:
            known |= values.get(value.index, 0)
        if operation.mask is not None:
            known |= values.get(operation.mask.index, 0)
        if operation.op in _ACCESSES:
            return 0 if operation.memory.barrier else self._access(operation, known)
        return known

    def _access(self, operation: Operation, known: int) -> int:
        if operation.memory.space in _CONSTANT:
            return known
        where = self._looks(operation)
        if operation.op is not Op.LOAD:
            known |= self.around[self.block_of[id(operation)]]
            for place in where if known else ():
                self.stored[place] = self.stored.get(place, 0) | known
        if operation.op is Op.STORE:
            return 0
        held = union((bits for place, bits in self.stored.items() if meet(where, {place})), 0)
        return known | held | (self.bits[operation.instruction] if reads_off_chip(operation) else 0)

    def _looks(self, operation: Operation) -> frozenset[str]:
        """Return which memory an access may look at."""
        return keys(operation.memory.space, self.where[operation.args[0].index])


class _Regions:
    """The blocks that each branch decides about: those before its ways out meet again."""

    def __init__(self, routine: Routine) -> None:
        self.following = [successors(routine, block) for block in routine.blocks]
        end = len(self.following)
        ahead = [
            (*targets, end) if block.end.end is End.EXIT or not targets else targets
            for block, targets in zip(routine.blocks, self.following, strict=True)
        ]
        behind: list[list[int]] = [[] for _ in range(end + 1)]
        for source, targets in enumerate(ahead):
            for target in targets:
                behind[target].append(source)
        order = postorder(behind, [end])[::-1]
        self.meeting = dominators(order, [*ahead, ()])
        self._known: dict[int, frozenset[int]] = {}

    def of(self, branch: int) -> frozenset[int]:
        """Return the blocks after a branch and before the first that all ways from it pass."""
        if branch not in self._known:
            self._known[branch] = self._reach(branch, self.meeting[branch])
        return self._known[branch]

    def looped(self, block: int, branch: int) -> bool:
        """Whether a block comes again without passing the branch."""
        return block in self._reach(block, branch)

    def _reach(self, start: int, stop: int) -> frozenset[int]:
        found: set[int] = set()
        waiting = [t for t in self.following[start] if t != stop]
        while waiting:
            block = waiting.pop()
            if block not in found:
                found.add(block)
                waiting += [t for t in self.following[block] if t != stop]
        return frozenset(found)
