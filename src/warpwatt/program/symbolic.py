"""Symbolic values of guards and addresses: value numbering over the control-flow graph.

Only what control and addresses need is built (a slice by register name). Values meet at joins as
selections by the predicates of the paths, at loop heads as recurrences. Phis stand where Cytron et al.
place them (iterated dominance frontiers), pruned by liveness; blocks are visited so that every operand but
the loop-carried ones is there before its use, without recursion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from warpwatt.core.program import Access, Address, Flow, Instruction, Program, Register, Space
from warpwatt.program.algebra import Algebra
from warpwatt.program.cfg import ControlFlow, control_flow
from warpwatt.program.expression import Node, loop_trait
from warpwatt.program.graph import frontiers
from warpwatt.program.loops import LoopForest, natural_loops
from warpwatt.program.semantics import Semantics, understood

_STRIDE = 8
"""Blocks between those that remember a value which was searched past them."""
_PATH_LIMIT = 48
"""Nesting of joins beyond which the condition of a path is no longer worked out."""


@dataclass(frozen=True, slots=True, eq=False)
class Symbols:
    """Guards and addresses of a program as symbolic values.

    Attributes
    ----------
    guards
        Instruction index to the predicate under which it executes (negation included).
    addresses
        Index of a memory instruction to its address in bytes.
    """

    program: Program
    flow: ControlFlow
    forest: LoopForest
    algebra: Algebra
    guards: Mapping[int, Node]
    addresses: Mapping[int, Node]
    paths: _Paths

    def edge(self, source: int, target: int) -> Node | None:
        """Return the predicate under which control takes an edge; None if it always does."""
        return self.paths.edge(source, target)

    def along(self, above: int, source: int, target: int) -> Node | None:
        """Return the predicate under which lanes at ``above`` take an edge below; None where not known.

        Within the same iteration of all loops around ``above``.
        """
        return self.paths.along(above, source, target)


@lru_cache(maxsize=32)
def expressions(program: Program) -> Symbols:
    """Return the symbolic guards and addresses of a program (cached per program)."""
    flow = control_flow(program)
    return _Builder(flow, natural_loops(flow)).run()


class _Paths:
    """Conditions of edges and of paths below a dominating block."""

    def __init__(
        self, flow: ControlFlow, forest: LoopForest, algebra: Algebra, guards: dict[int, Node]
    ) -> None:
        self.flow, self.forest, self.algebra, self.guards = flow, forest, algebra, guards
        self._reached: dict[tuple[int, int], Node | None] = {}

    def edge(self, source: int, target: int) -> Node | None:
        """Return the predicate of an edge, None if control always takes it; target -1 ends the thread."""
        last = self.flow.terminator(source)
        if last is None:
            return None
        if target < 0:
            return self.guards.get(last.index)
        if last.flow is Flow.JUMP and len(set(last.targets)) != 1:
            return self.algebra.unknown("pred", last, f"indirect branch to block {target}")
        guard = self.flow.edge_guard(source, target)
        if guard is None or last.guard is None:
            return None
        taken = self.guards[last.index]
        return taken if guard.negated == last.guard.negated else self.algebra.negate(taken)

    def reach(self, above: int, block: int, depth: int = 0) -> Node | None:
        """Return the predicate of coming from ``above`` to ``block``; None if unknown."""
        key = (above, block)
        if key not in self._reached:
            self._reached[key] = self._reach(above, block, depth)
        return self._reached[key]

    def along(self, above: int, source: int, target: int, depth: int = 0) -> Node | None:
        """Return the predicate of coming from ``above`` through the edge ``source`` to ``target``."""
        inside = [o for o in self.forest.around(source) if not self.forest.contains(o, above)]
        if inside and target >= 0 and len(self.forest.loops[inside[-1]].exits) == 1:
            return self.reach(above, self.forest.loops[inside[-1]].header, depth + 1)
        taken = self.edge(source, target) or self.algebra.const(1, "pred")
        for loop in inside:  # the exit of an inner loop is taken if it is in the iteration that leaves
            header = self.forest.loops[loop].header
            way = self.reach(header, source, depth + 1)
            if way is None:
                return None
            taken = self.algebra.exit(self.algebra.apply("and", "pred", way, taken), loop)
            source = header
        reached = self.reach(above, source, depth + 1)
        return None if reached is None else self.algebra.apply("and", "pred", reached, taken)

    def _reach(self, above: int, block: int, depth: int) -> Node | None:
        if block == above:
            return self.algebra.const(1, "pred")
        over = self.flow.idom[block]
        if depth > _PATH_LIMIT or over < 0:
            return None
        if self.flow.postdominates(block, over):
            outer = [o for o in self.forest.around(over) if not self.forest.contains(o, block)]
            outer = [o for o in outer if not self.forest.contains(o, above)]
            return self.reach(above, self.forest.loops[outer[-1]].header if outer else over, depth + 1)
        total: Node | None = self.algebra.const(0, "pred")
        position = self.forest.position
        for source in self.flow.blocks[block].predecessors:
            if self.flow.rank[source] < 0 or position[source] > position[block]:
                continue  # a back edge: the same iteration does not come this way
            part = self.along(above, source, block, depth)
            if part is None or total is None:
                return None
            total = self.algebra.apply("or", "pred", total, part)
        return total


class _Builder:
    """The pass that makes :class:`Symbols`."""

    def __init__(self, flow: ControlFlow, forest: LoopForest) -> None:
        self.flow, self.forest, self.program = flow, forest, flow.program
        self.algebra = Algebra()
        self.guards: dict[int, Node] = {}
        self.addresses: dict[int, Node] = {}
        self.paths = _Paths(flow, forest, self.algebra, self.guards)
        self.defined: dict[str, dict[int, Node]] = defaultdict(dict)
        self.heads: dict[tuple[int, str], Node] = {}
        self.local: dict[str, Node] = {}
        self.block = 0
        self.wanted = needed_registers(self.program)
        self.phis = self._place_phis()
        self.semantics = Semantics(
            self.algebra,
            self._read,
            {v.name: v for v in self.program.variables},
            frozenset(p.name for p in self.program.parameters),
        )

    def run(self) -> Symbols:
        """Visit every block once, in an order in which loops are contiguous."""
        open_loops: list[int] = []
        for block in self.forest.order:
            while open_loops and not self.forest.contains(open_loops[-1], block):
                self._close(open_loops.pop())
            inner = self.forest.innermost[block]
            if inner is not None and self.forest.loops[inner].header == block:
                open_loops.append(inner)
            self._visit(block)
        while open_loops:
            self._close(open_loops.pop())
        self.algebra.settle()
        return Symbols(
            self.program, self.flow, self.forest, self.algebra, self.guards, self.addresses, self.paths
        )

    def _visit(self, block: int) -> None:
        self.block, self.local = block, {}
        merged = {register: self._join(block, register) for register in self.phis.get(block, ())}
        self.local.update({r: v for r, v in merged.items() if v is not None})
        for instruction in self.flow.instructions(block):
            self._instruction(instruction)
        for register, value in self.local.items():
            self.defined[register][block] = value

    def _instruction(self, instruction: Instruction) -> None:
        guard = instruction.guard
        if guard is not None:
            value = self._read(guard.register)
            if value is None:
                value = self.algebra.unknown("pred", instruction, f"{guard.register} is never set")
            self.guards[instruction.index] = self.algebra.negate(value) if guard.negated else value
        if instruction.memory is not None:
            found = [o for o in instruction.operands if isinstance(o, Address)]
            if found:  # a copy names its destination first; what it reads lies in global memory
                address = found[-1] if instruction.memory.access is Access.COPY else found[0]
                self.addresses[instruction.index] = self.semantics.address(address, instruction)
        if not any(name in self.wanted for name in instruction.writes):
            return
        for name, value in self.semantics.results(instruction):
            self.local[name] = self._guarded(instruction, name, value)

    def _guarded(self, instruction: Instruction, name: str, value: Node) -> Node:
        old = self._read(name) if instruction.guard is not None else None
        return value if old is None else self.algebra.select(self.guards[instruction.index], value, old)

    # Values across blocks -----------------------------------------------------------------------------

    def _read(self, register: str) -> Node | None:
        """Return the value of a register at the present point of the present block."""
        value = self.local.get(register)
        if value is None:
            value = self._above(self.block, register)
            if value is not None:
                self.local[register] = value
        return value

    def _above(self, block: int, register: str) -> Node | None:
        """Return the value at the start of a block without a phi: that of the nearest block above it."""
        values = self.defined.get(register)
        if values is None:
            return None
        over, passed = self.flow.idom[block], []
        while over >= 0 and over not in values:
            passed.append(over)
            over = self.flow.idom[over]
        if over < 0:
            return None
        for between in passed[::-_STRIDE]:  # so that the next search is short
            if self.forest.innermost[between] == self.forest.innermost[over]:
                values[between] = values[over]
        return self._carried(values[over], over, block)

    def _carried(self, value: Node, source: int, target: int) -> Node:
        """Return a value of block ``source`` as block ``target`` sees it, out of the loops in between."""
        for loop in self.forest.around(source):
            if not self.forest.contains(loop, target):
                value = self.algebra.exit(value, loop)
        return value

    def _at_end(self, block: int, register: str) -> Node | None:
        value = self.defined[register].get(block)
        if value is None:
            value = self._above(block, register)
            if value is not None:
                self.defined[register][block] = value
        return value

    def _join(self, block: int, register: str) -> Node | None:
        """Return what a register holds where paths meet."""
        loop = self.forest.innermost[block]
        heads = loop is not None and self.forest.loops[loop].header == block
        latches = set(self.forest.loops[loop].latches) if heads and loop is not None else set()
        entries = [
            p for p in self.flow.blocks[block].predecessors if self.flow.rank[p] >= 0 and p not in latches
        ]
        value = self._merge(register, entries, block, self.flow.idom[block])
        if not heads or loop is None:
            return value
        if value is None:
            value = self.algebra.unknown("u64", None, f"{register} may be read before it is set")
        phi = self.algebra.phi(value.type, loop, register, value)
        self.heads[loop, register] = phi
        return phi

    def _merge(self, register: str, sources: Sequence[int], block: int, above: int) -> Node | None:
        """Return the value a register brings into ``block``, selected by which of the edges is taken."""
        position = self.forest.position
        values: list[tuple[int, Node]] = []
        for source in sources:
            if position[source] > position[block] and above != block:
                return self.algebra.unknown("u64", None, "irreducible control flow")
            value = self._at_end(source, register)
            if value is not None:
                values.append((source, self._carried(value, source, block)))
        if not values:
            return None
        result = values[-1][1]
        if all(value is result for _, value in values):
            return result
        for source, value in reversed(values[:-1]):
            condition = self.paths.along(above, source, block)
            if condition is None:
                reason = f"{register} depends on the path taken"
                return self.algebra.unknown(result.type, self.flow.instructions(block)[0], reason)
            result = self.algebra.select(condition, value, result)
        return result

    def _close(self, loop: int) -> None:
        """Complete the recurrences of a loop whose blocks have all been visited."""
        this = self.forest.loops[loop]
        tests = [self.paths.edge(source, target) for source, target in this.exits]
        self.algebra.exit_tests[loop] = [t for t in tests if t is not None]
        for register in self.phis.get(this.header, ()):
            phi = self.heads[loop, register]
            recurrence = self.algebra.recurrences[phi.number]
            following = self._merge(register, this.latches, this.header, this.header)
            recurrence.next = phi if following is None else following
            recurrence.step = self.algebra.increment(recurrence.next, phi, loop_trait(loop))

    # Where registers meet -----------------------------------------------------------------------------

    def _place_phis(self) -> dict[int, list[str]]:
        """Return the registers that need a phi in each block: several definitions meet and are used there."""
        writers: dict[str, list[int]] = defaultdict(list)
        readers: dict[str, set[int]] = defaultdict(set)
        for block in self.forest.order:
            set_here: set[str] = set()
            for instruction in self.flow.instructions(block):
                for name in instruction.reads:
                    if name in self.wanted and name not in set_here:
                        readers[name].add(block)
                for name in instruction.writes:
                    if name in self.wanted and name not in set_here:
                        set_here.add(name)
                        writers[name].append(block)
        several = {name: blocks for name, blocks in writers.items() if len(blocks) > 1}
        if not several:
            return {}
        ends = frontiers(self.flow.idom, [b.predecessors for b in self.flow.blocks])
        phis: dict[int, list[str]] = defaultdict(list)
        for name, blocks in several.items():
            live = self._live(readers[name], set(blocks))
            for block in _iterated(ends, blocks):
                if block in live:
                    phis[block].append(name)
        return phis

    def _live(self, readers: Iterable[int], writers: set[int]) -> set[int]:
        """Return the blocks at whose start a register is live."""
        live = set(readers)
        waiting = list(live)
        while waiting:
            for source in self.flow.blocks[waiting.pop()].predecessors:
                if source not in live and source not in writers and self.flow.rank[source] >= 0:
                    live.add(source)
                    waiting.append(source)
        return live


def _iterated(ends: Sequence[set[int]], blocks: Iterable[int]) -> list[int]:
    """Return the iterated dominance frontier of some blocks, sorted."""
    found: set[int] = set()
    waiting = list(blocks)
    while waiting:
        for block in ends[waiting.pop()]:
            if block not in found:
                found.add(block)
                waiting.append(block)
    return sorted(found)


def needed_registers(program: Program) -> set[str]:
    """Return the registers that guards and addresses depend on, directly or not."""
    makers: dict[str, list[Instruction]] = defaultdict(list)
    waiting: list[str] = []
    for instruction in program.instructions:
        for name in instruction.writes:
            makers[name].append(instruction)
        if instruction.guard is not None:
            waiting.append(instruction.guard.register)
        for operand in instruction.operands if instruction.memory is not None else ():
            if isinstance(operand, Address):
                waiting += [r.name for r in (operand.base, operand.index) if isinstance(r, Register)]
    needed = set(waiting)
    waiting = sorted(needed)
    while waiting:
        for instruction in makers[waiting.pop()]:
            memory = instruction.memory
            passes = memory is not None and memory.space is Space.PARAM
            if passes or (memory is None and understood(instruction.opcode)):
                fresh = [name for name in instruction.reads if name not in needed]
                needed.update(fresh)
                waiting += fresh
    return needed
