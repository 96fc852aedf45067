"""How often loops run: the iteration in which each lane leaves, by induction analysis.

A loop may have several exits; a lane leaves by the first one whose test holds. For a test that compares an
affine value with an invariant one the iteration is computed in closed form, wrap-around included. Other
tests that only depend on arguments and indices are followed iteration by iteration up to a limit. A test
that depends on data stays unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.program.affine import Affine, affine
from warpwatt.program.arithmetic import DTYPES, SCALAR, as_type
from warpwatt.program.controls import loop_controls
from warpwatt.program.evaluation import STEP_LIMIT, Iteration
from warpwatt.program.expression import UNKNOWN, Node, is_float, loop_trait, width
from warpwatt.program.progression import NEVER, first_comparison

if TYPE_CHECKING:
    from warpwatt.program.arithmetic import Array
    from warpwatt.program.evaluation import Environment, Evaluator

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_SCAN_ELEMENTS = 1 << 24
"""Lane-iterations followed at most for one test."""
_FEW = 128
"""Of so many blocks one is followed before all are."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """Iteration in which lanes leave (``int64``), None if unknown; ``complete`` if no test is unknown."""

    iteration: Array | None
    complete: bool


class TripCounts:
    """Finds the iteration in which lanes leave loops, for one launch."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.symbols = evaluator.symbols
        self.algebra = evaluator.algebra
        self.controls = loop_controls(evaluator.symbols)
        self._found: dict[tuple[int, ...], Leaving] = {}
        self._stands_for = 1.0
        """Blocks for each that is followed."""
        evaluator.exit_iteration = lambda loop, outer: self.leaving(loop, outer).iteration

    def settle(self, loop: int, outer: Environment, leaving: Leaving) -> None:
        """Set the result for a loop, as an override or an assumption does."""
        self._found[self._key(loop, outer)] = leaving

    def leaving(self, loop: int, outer: Environment, active: Array | None = None) -> Leaving:
        """Return when lanes leave a loop; lanes that are not ``active`` may hold anything.

        ``outer`` are the iterations of the loops around it.
        """
        key = self._key(loop, outer)
        if key not in self._found:
            self._found[key] = Leaving(None, complete=False)  # what a loop that asks for itself gets
            self._found[key] = self._leave(loop, outer, active)
        return self._found[key]

    def _key(self, loop: int, outer: Environment) -> tuple[int, ...]:
        return (loop, *[i.name for o, i in outer.items() if o != loop])

    def _leave(self, loop: int, outer: Environment, active: Array | None) -> Leaving:
        earliest: Array | None = None
        complete, hard = True, []
        for test in self.controls[loop].tests:
            if test.predicate is None or self.algebra.traits_of(test.predicate) & UNKNOWN:
                complete = False
                continue
            found = self._closed(test.predicate, loop, outer, active)
            if found is None:
                hard.append(test.predicate)
            else:
                earliest = found if earliest is None else np.minimum(earliest, found)
        if hard:
            scanned = self._scan(hard, loop, outer, active, earliest)
            complete = complete and scanned is not None
            if scanned is not None:
                earliest = scanned if earliest is None else np.minimum(earliest, scanned)
        if earliest is None:
            return Leaving(None, complete=False)
        endless = (earliest >= NEVER) if active is None else (earliest >= NEVER) & active
        if active is not None and endless.any():
            return Leaving(None, complete=False)
        return Leaving(np.where(earliest >= NEVER, 0, earliest), complete)

    # Closed form --------------------------------------------------------------------------------------

    def _closed(self, test: Node, loop: int, outer: Environment, active: Array | None) -> Array | None:
        """Return the first iteration in which a predicate holds, or None if there is no closed form."""
        if not self.algebra.traits_of(test) & loop_trait(loop):
            holds = self.evaluator.value(test, outer)
            return None if holds is None else np.where(holds, 0, NEVER)
        if test.op == "not" and test.args[0].op in ("and", "or"):
            inner = test.args[0]
            parts = [self.algebra.negate(a) for a in inner.args]
            test = self.algebra.apply("or" if inner.op == "and" else "and", "pred", *parts)
        if test.op in ("or", "and"):
            return self._combined(test, loop, outer, active)
        if test.op in COMPARISONS and not is_float(test.operand_type):
            return self._compared(test, loop, outer, active)
        return None

    def _combined(self, test: Node, loop: int, outer: Environment, active: Array | None) -> Array | None:
        first, second = test.args
        varying = loop_trait(loop)
        if test.op == "and":
            if self.algebra.traits_of(second) & varying:
                first, second = second, first
            if self.algebra.traits_of(second) & varying:
                return None
            holds = self.evaluator.value(second, outer)
            found = self._closed(first, loop, outer, active)
            return None if holds is None or found is None else np.where(holds, found, NEVER)
        a, b = (self._closed(x, loop, outer, active) for x in (first, second))
        return None if a is None or b is None else np.minimum(a, b)

    def _compared(self, test: Node, loop: int, outer: Environment, active: Array | None) -> Array | None:
        kind, op = test.operand_type, test.op
        forms = [affine(self.algebra, a, loop) for a in test.args]
        if forms[0] is None or forms[1] is None or width(kind) < 32:
            return None
        left, right = forms[0], forms[1]
        varying = [self._step_varies(f) for f in (left, right)]
        if all(varying):
            return self._both_vary(op, left, right, kind, outer, active)
        if varying[1]:
            left, right, op = right, left, _MIRRORED[op]
        found = self._first(op, left, right.base, kind, outer)
        return found if found is not None and self._stays(left, found, outer, active) else None

    @staticmethod
    def _step_varies(form: Affine) -> bool:
        return not (form.step.op == "const" and form.step.payload == 0)

    def _first(self, op: str, left: Affine, bound: Node, kind: str, outer: Environment) -> Array | None:
        values = [self.evaluator.value(n, outer) for n in (left.base, left.step, bound)]
        known = [as_type(as_type(v, f"u{width(kind)}"), "u64") for v in values if v is not None]
        if len(known) < 3:
            return None
        first, step, limit = known
        return first_comparison(op, first, step, limit, width(kind), signed=kind[0] == "s")

    def _both_vary(
        self, op: str, left: Affine, right: Affine, kind: str, outer: Environment, active: Array | None
    ) -> Array | None:
        """Compare two running values through their difference, if neither leaves its range on the way."""
        bits = width(kind)
        base = self.algebra.apply("sub", kind, left.base, right.base)
        step = self.algebra.apply("sub", kind, left.step, right.step)
        forms = (left, right)
        if op not in ("eq", "ne"):
            if bits > 32:
                return None
            base, step = (
                self.algebra.apply("sub", "s64", self._wide(a, kind), self._wide(b, kind))
                for a, b in ((left.base, right.base), (left.step, right.step))
            )
            checks = tuple((f.base, f.step, kind) for f in forms)
            forms = (Affine(left.base, left.step, (*left.widened, *right.widened, *checks)),) * 2
            kind = "s64"
        zero = self.algebra.const(0, kind)
        found = self._first(op, Affine(base, step), zero, kind, outer)
        if found is None or not all(self._stays(f, found, outer, active) for f in forms):
            return None
        return found

    def _wide(self, node: Node, kind: str) -> Node:
        return self.algebra.convert(node, kind, "s64")

    def _stays(self, form: Affine, last: Array, outer: Environment, active: Array | None) -> bool:
        """Whether the narrow sums inside a form stay in their range up to iteration ``last``."""
        for base, step, kind in form.widened:
            first = self.evaluator.value(base, outer)
            by = self.evaluator.value(step, outer)
            if first is None or by is None or width(kind) > 32:
                return False
            limits = np.iinfo(np.dtype(DTYPES[kind]))
            steps = np.where(last >= NEVER, 0, last)
            end = as_type(first, kind).astype(np.float64) + steps * as_type(by, f"s{width(kind)}").astype(
                float
            )
            leaves = (end < limits.min) | (end > limits.max)
            if active is not None:
                leaves = leaves & active
            if leaves.any():
                return False
        return True

    # Step by step -------------------------------------------------------------------------------------

    def _scan(
        self, tests: list[Node], loop: int, outer: Environment, active: Array | None, limit: Array | None
    ) -> Array | None:
        """Follow a loop until every active lane has left; None if that takes too long or is not known."""
        if not outer and self._too_long_for_few(tests, loop, active, limit):
            return None
        pending = np.ones(SCALAR, bool) if active is None else active
        found = np.full(SCALAR, NEVER)
        seen = 0.0
        for number in range(STEP_LIMIT):
            if limit is not None:
                pending = pending & (limit >= number)
            if not pending.any():
                return found
            states = self.evaluator.history(loop, outer, number + 1)
            state = states[number] if number < len(states) else {}
            environment = {**outer, loop: Iteration(np.full(SCALAR, number), state)}
            leaves = self._any(tests, environment)
            if leaves is None:
                return None
            found = np.where(leaves & pending & (found >= NEVER), np.int64(number), found)
            pending = pending & ~leaves
            seen += pending.size * (self._stands_for if len(pending) > 1 else 1)
            if seen > _SCAN_ELEMENTS or self.evaluator.exhausted:
                return None
        return None

    def stand_for(self, blocks: int) -> None:
        """Let the blocks that are followed count as so many: what is given up is the same."""
        self._stands_for = blocks / len(self.evaluator.sample.block_weights)

    def _too_long_for_few(
        self, tests: list[Node], loop: int, active: Array | None, limit: Array | None
    ) -> bool:
        """Whether one block of :data:`_FEW` cannot be followed until it leaves: then not all can.

        Following thousands of blocks is dear, and most loops that are followed are given up.
        """
        blocks = len(self.evaluator.sample.block_weights)
        if blocks < 2 * _FEW:
            return False
        few = TripCounts(self.evaluator.of_every(_FEW))
        few.stand_for(blocks)
        first, last = (x if x is None or len(x) == 1 else x[::_FEW] for x in (active, limit))
        if few._scan(tests, loop, {}, first, last) is not None:
            return False
        self.evaluator.spend(few.evaluator)
        return True

    def _any(self, tests: list[Node], environment: Environment) -> Array | None:
        result = np.zeros(SCALAR, bool)
        for test in tests:
            value = self.evaluator.value(test, environment)
            if value is None:
                return None
            result = result | value
        return result
