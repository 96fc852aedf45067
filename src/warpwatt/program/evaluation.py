"""Values of symbolic nodes for the sampled warps, vectorised and exact.

Arrays have the axes (..., blocks, warps, lanes), each of length 1 where nothing changes along it; loops whose
iterations are looked at one by one add axes in front. An :class:`Iteration` pins a loop to iteration
numbers, an environment maps loops to iterations. A value is cached under the iterations of those loops
only that it depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.program.arithmetic import DTYPES, SCALAR, as_type, calculate
from warpwatt.program.expression import UNKNOWN, is_float, loop_trait

if TYPE_CHECKING:
    from warpwatt.program.arithmetic import Array
    from warpwatt.program.binding import Bindings
    from warpwatt.program.expression import Node
    from warpwatt.program.sampling import WarpSample
    from warpwatt.program.symbolic import Symbols

_names = count()
_PARTIAL = frozenset({"select", "and", "or"})
"""Operations whose result may be known although an operand is not."""
STEP_LIMIT = 4096
"""Iterations of a loop that are followed one by one where there is no closed form."""
WORK_LIMIT = 20_000
"""Values computed for one launch before loops are no longer followed (some 0.2 s): they count as unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """Iteration numbers (from 0) of one loop, ``int64``; or the values of its phis at one point in time."""

    number: Array
    values: Mapping[int, Array] | None = None
    name: int = field(default_factory=lambda: next(_names))


Environment = dict[int, Iteration]


class Evaluator:
    """Evaluates nodes of one program for one launch.

    ``exit_iteration`` is set by :mod:`warpwatt.program.trips`: it returns the iteration in which lanes leave
    a loop, or None.
    """

    def __init__(self, symbols: Symbols, sample: WarpSample, bindings: Bindings) -> None:
        self.symbols, self.sample, self.bindings = symbols, sample, bindings
        self.algebra = symbols.algebra
        self.exit_iteration: Callable[[int, Environment], Array | None] = lambda _loop, _environment: None
        self._cache: dict[tuple[int, ...], Array | None] = {}
        self._computed = 0
        self._histories: dict[tuple[int, ...], list[dict[int, Array]]] = {}
        self._exits: dict[tuple[int, ...], Iteration | None] = {}

    def of_every(self, few: int) -> Evaluator:
        """Return an evaluator of the same program and launch for one of ``few`` blocks."""
        return Evaluator(self.symbols, self.sample.of_every(few), self.bindings)

    def spend(self, other: Evaluator) -> None:
        """Count what another evaluator computed as this one's work."""
        self._computed += other._computed

    def value(self, node: Node, environment: Environment) -> Array | None:
        """Return the value of a node, None where it depends on data or on an argument that was not given."""
        key = self._key(node, environment)
        if key in self._cache:
            return self._cache[key]
        stack = [node]
        while stack:
            top = stack[-1]
            top_key = self._key(top, environment)
            if top_key in self._cache:
                stack.pop()
                continue
            if self._hopeless(top):
                self._cache[top_key] = None
                continue
            if top.op != "exit":
                pending = [a for a in top.args if self._key(a, environment) not in self._cache]
                if pending:
                    stack.extend(pending)
                    continue
            self._cache[top_key] = self._compute(top, environment)
        return self._cache[key]

    def _hopeless(self, node: Node) -> bool:
        return bool(self.algebra.traits_of(node) & UNKNOWN) and node.op not in _PARTIAL

    def _key(self, node: Node, environment: Environment) -> tuple[int, ...]:
        traits = self.algebra.traits[node.number]
        if traits < 8:
            return (node.number,)
        return (node.number, *[i.name for loop, i in environment.items() if traits & loop_trait(loop)])

    def _known(self, node: Node, environment: Environment) -> Array | None:
        return self._cache[self._key(node, environment)]

    @property
    def exhausted(self) -> bool:
        """Whether so much was computed that loops are not followed any further."""
        return self._computed > WORK_LIMIT

    def _compute(self, node: Node, environment: Environment) -> Array | None:
        self._computed += 1
        if node.op == "phi":
            return self._phi(node, environment)
        if node.op == "exit":
            return self._exit(node, environment)
        if not node.args:
            return self._leaf(node)
        args = [self._known(a, environment) for a in node.args]
        if node.op == "select":
            return self._select(node, args)
        known = [a for a in args if a is not None]
        if len(known) < len(args):
            return self._dominated(node, known)
        return calculate(node.op, node.type, node.operand_type, known, node.payload)

    def _leaf(self, node: Node) -> Array | None:
        dtype = DTYPES[node.type]
        if node.op == "const":
            return np.full(SCALAR, node.payload, dtype)
        if node.op == "special":
            return self.sample.registers[str(node.payload)]
        if node.op == "symbol":
            address = self.bindings.addresses.get(str(node.payload))
            return None if address is None else np.full(SCALAR, address, np.uint64).astype(dtype)
        if node.op in ("param", "constant"):
            found = self.bindings.values.get(str(node.payload))
            return None if found is None else _literal(found, node.type)
        return None

    def _select(self, node: Node, args: list[Array | None]) -> Array | None:
        condition, yes, no = args
        if condition is None:
            return None
        if yes is None or no is None:
            only = yes if condition.all() else no if not condition.any() else None
            return None if only is None else as_type(only, node.type)
        return calculate("select", node.type, "pred", [condition, yes, no], 0)

    def _dominated(self, node: Node, known: list[Array]) -> Array | None:
        """Return ``x and y`` or ``x or y`` where the known one decides."""
        if node.type != "pred" or not known or node.op not in ("and", "or"):
            return None
        deciding = known[0] if node.op == "or" else ~known[0]
        return known[0] if deciding.all() else None

    # Loops --------------------------------------------------------------------------------------------

    def _phi(self, node: Node, environment: Environment) -> Array | None:
        recurrence = self.algebra.recurrences[node.number]
        iteration = environment.get(recurrence.loop)
        if iteration is None:
            return None
        if iteration.values is not None and node.number in iteration.values:
            return as_type(iteration.values[node.number], node.type)
        if recurrence.step is None:
            return self._followed(node, environment, iteration)
        first, step = self.value(recurrence.first, environment), self.value(recurrence.step, environment)
        if first is None or step is None:
            return None
        number = iteration.number.astype(DTYPES[node.type])
        return np.asarray(as_type(first, node.type) + as_type(step, node.type) * number)

    def _followed(self, node: Node, environment: Environment, iteration: Iteration) -> Array | None:
        """Return a phi without closed form by following its loop from the start."""
        numbers = np.maximum(iteration.number, 0)
        last = int(numbers.max(initial=0))
        if last >= STEP_LIMIT:
            return None
        states = self.history(int(node.payload), environment, last + 1)
        if len(states) <= last or node.number not in states[last]:
            return None
        values = [state[node.number] for state in states[: last + 1]]
        if numbers.size == 1:
            return values[-1]
        result = values[0]
        for number, value in enumerate(values[1:], start=1):
            result = np.where(numbers == number, value, result)
        return result

    def history(self, loop: int, environment: Environment, length: int) -> list[dict[int, Array]]:
        """Return the values of the phis of a loop that have no closed form, iteration by iteration.

        Starts at iteration 0 and holds at least ``length`` iterations, fewer where they cannot be followed.
        A phi that depends on data is left out.
        """
        outer = {o: i for o, i in environment.items() if o != loop}
        key = (loop, *[i.name for i in outer.values()])
        states = self._histories.get(key)
        if states is None:
            states = self._histories[key] = [self._first_state(loop, outer)]
        while len(states) < min(length, STEP_LIMIT) and states[-1]:
            states.append(self._next_state(loop, outer, states[-1], len(states) - 1))
        return states

    def _first_state(self, loop: int, outer: Environment) -> dict[int, Array]:
        state: dict[int, Array] = {}
        for number, recurrence in self.algebra.recurrences.items():
            if recurrence.loop == loop and recurrence.step is None:
                value = self.value(recurrence.first, outer)
                if value is not None and not self.algebra.traits[number] & UNKNOWN:
                    state[number] = as_type(value, self.algebra.nodes[number].type)
        return state

    def _next_state(
        self, loop: int, outer: Environment, state: dict[int, Array], number: int
    ) -> dict[int, Array]:
        if self.exhausted:
            return {}
        environment = {**outer, loop: Iteration(np.full(SCALAR, number), state)}
        before = len(self._cache)
        following: dict[int, Array] = {}
        for phi in state:
            recurrence = self.algebra.recurrences[phi]
            assert recurrence.next is not None
            value = self.value(recurrence.next, environment)
            if value is not None:
                following[phi] = as_type(value, self.algebra.nodes[phi].type)
        while number > 0 and len(self._cache) > before:
            self._cache.popitem()  # values of one iteration only; those of the first hold what all share
        return following

    def _exit(self, node: Node, environment: Environment) -> Array | None:
        loop = int(node.payload)
        outer = {o: i for o, i in environment.items() if o != loop}
        key = (loop, *[i.name for i in outer.values()])
        if key not in self._exits:
            leaving = self.exit_iteration(loop, outer)
            self._exits[key] = None if leaving is None else Iteration(leaving)
        iteration = self._exits[key]
        return None if iteration is None else self.value(node.args[0], {**outer, loop: iteration})


def _literal(value: int | float, kind: str) -> Array:
    """Return a bound argument as an array of its type; integers wrap, floats of bit types keep their bits."""
    if is_float(kind):
        return np.full(SCALAR, value, DTYPES[kind])
    bits = np.dtype(DTYPES[kind]).itemsize * 8
    if isinstance(value, float):
        return as_type(np.full(SCALAR, value, f"f{bits // 8}"), kind)
    wrapped = np.full(SCALAR, int(value) & ((1 << bits) - 1), f"u{bits // 8}")
    return as_type(wrapped, kind)
