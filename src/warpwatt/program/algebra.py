"""Making nodes: equal expressions become one object, constants fold, the traits of every node are kept.

Simplifications are few and exact under wrap-around: neutral elements, constants gathered in sums, double
negation, conversions that change no bit.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np

from warpwatt.core.program import Instruction
from warpwatt.program import arithmetic
from warpwatt.program.expression import (
    COMMUTATIVE,
    RING,
    UNKNOWN,
    Node,
    Recurrence,
    is_const,
    is_float,
    loop_trait,
    special_traits,
    width,
)

_NEGATED = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}


class Algebra:
    """Creates nodes for one program and knows their traits (see :mod:`warpwatt.program.expression`)."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.traits: list[int] = []
        self.recurrences: dict[int, Recurrence] = {}
        self.exit_tests: dict[int, list[Node]] = {}
        """Predicates of the edges that leave each loop: how often it runs depends on them."""
        self._made: dict[tuple[object, ...], Node] = {}

    def traits_of(self, node: Node) -> int:
        """Return the bits that say what the value of a node depends on."""
        return self.traits[node.number]

    # Leaves -------------------------------------------------------------------------------------------

    def const(self, value: float, kind: str) -> Node:
        """Return a literal, wrapped to its type."""
        if not is_float(kind):
            bits = width(kind)
            value = (int(value) if math.isfinite(value) else _pattern(value, bits)) & ((1 << bits) - 1)
            if kind[0] == "s" and value >> (bits - 1):
                value -= 1 << bits
        else:
            value = float(value)
        return self._make("const", kind, payload=value)

    def leaf(self, op: str, kind: str, name: str) -> Node:
        """Return a ``param``, ``constant``, ``special`` or ``symbol`` leaf."""
        traits = special_traits(name) if op == "special" else 0
        return self._make(op, kind, payload=name, traits=traits)

    def unknown(self, kind: str, source: Instruction | None, reason: str) -> Node:
        """Return a value that depends on data; each instruction's is its own."""
        index = source.index if source is not None else -1
        return self._make("unknown", kind, payload=reason, of=str(index), traits=UNKNOWN, source=source)

    def phi(self, kind: str, loop: int, register: str, first: Node) -> Node:
        """Return a register at the head of an iteration; its :class:`Recurrence` is completed later."""
        traits = loop_trait(loop) | self.traits_of(first)
        node = self._make("phi", kind, of=register, payload=loop, traits=traits)
        self.recurrences[node.number] = Recurrence(loop, register, first)
        return node

    def exit(self, value: Node, loop: int) -> Node:
        """Return ``value`` as it is when ``loop`` is left."""
        if not self.traits_of(value) & loop_trait(loop):
            return value
        traits = (self.traits_of(value) | self._leaving(loop)) & ~loop_trait(loop)
        return self._make("exit", value.type, (value,), payload=loop, traits=traits)

    def _leaving(self, loop: int) -> int:
        traits = 0
        for test in self.exit_tests.get(loop, ()):
            traits |= self.traits_of(test)
        return traits

    # Operations ---------------------------------------------------------------------------------------

    def apply(self, op: str, kind: str, *args: Node, of: str = "", payload: float | str = 0) -> Node:
        """Return an operation on nodes, simplified."""
        if op in RING and not is_float(kind) and kind != "pred":
            kind = f"s{width(kind)}"
            args = tuple(self._signed(a) for a in args)
        if op in COMMUTATIVE and (is_const(args[0]) or args[0].number > args[1].number):
            args = args[::-1] if not is_const(args[1]) else args
        simple = self._simplify(op, kind, args, of)
        if simple is not None:
            return simple
        if all(a.op == "const" for a in args):
            return self._fold(op, kind, args, of, payload)
        return self._make(op, kind, args, of, payload)

    def _signed(self, node: Node) -> Node:
        """Return a literal as signed, so that sums do not differ by how their constants were spelled."""
        if node.op != "const" or node.type[0] != "u":
            return node
        return self.const(int(node.payload), f"s{width(node.type)}")

    def negate(self, predicate: Node) -> Node:
        """Return the negation of a predicate."""
        if predicate.op in _NEGATED and not is_float(predicate.operand_type):
            return self._make(_NEGATED[predicate.op], "pred", predicate.args, predicate.of)
        if predicate.op == "not":
            return predicate.args[0]
        if predicate.op == "const":
            return self.const(1 - int(predicate.payload), "pred")
        return self._make("not", "pred", (predicate,))

    def convert(self, value: Node, source: str, kind: str, rounding: str = "") -> Node:
        """Return a value converted by value from type ``source`` to ``kind``."""
        same = width(source) == width(kind) and is_float(source) == is_float(kind) and not rounding
        if same and width(value.type) == width(kind):
            return value
        if value.op == "const" and not is_float(source) and not is_float(kind):
            return self.const(int(self.const(int(value.payload), source).payload), kind)
        return self.apply("cvt", kind, value, of=source, payload=rounding)

    def select(self, condition: Node, yes: Node, no: Node) -> Node:
        """Return ``yes`` where the condition holds, else ``no``."""
        if yes is no:
            return yes
        if condition.op == "const":
            return yes if condition.payload else no
        return self._make("select", yes.type, (condition, yes, no), "pred")

    def increment(self, node: Node, phi: Node, varying: int) -> Node | None:
        """Return ``s`` such that ``node = phi + s``, without the trait ``varying``; None if there is none."""
        total = self.const(0, f"s{width(phi.type)}") if not is_float(phi.type) else None
        while total is not None and node is not phi:
            if node.op not in ("add", "sub") or is_float(node.type) or width(node.type) != width(phi.type):
                return None
            a, b = node.args
            if node.op == "add" and not self.traits_of(a) & varying:
                a, b = b, a
            if self.traits_of(b) & varying:
                return None
            total = self.apply(node.op, node.type, total, b)
            node = a
        return total

    def _simplify(self, op: str, kind: str, args: Sequence[Node], of: str) -> Node | None:
        """Return a simpler equal of a whole-number operation, or None."""
        if is_float(kind) or is_float(of or kind) or op in ("cvt", "lop3"):
            return None
        if kind == "pred" and not of:
            return self._simplify_logic(op, args)
        if len(args) != 2:
            return None
        return self._simplify_sum(op, kind, *args) or self._neutral(op, kind, *args)

    def _simplify_sum(self, op: str, kind: str, a: Node, b: Node) -> Node | None:
        if op == "sub" and a is b:
            return self.const(0, kind)
        if op == "sub" and is_const(b):
            return self.apply("add", kind, a, self.const(-int(b.payload), kind))
        if op == "add" and is_const(b) and a.op == "add" and is_const(a.args[1]) and a.type[1:] == kind[1:]:
            total = int(a.args[1].payload) + int(b.payload)
            return self.apply("add", kind, a.args[0], self.const(total, kind))
        return None

    @staticmethod
    def _neutral(op: str, kind: str, a: Node, b: Node) -> Node | None:
        if width(a.type) != width(kind):
            return None
        if is_const(b, 0) and op in ("add", "or", "xor", "shl", "shr"):
            return a
        if is_const(b, 1) and op in ("mul", "div"):
            return a
        return b if is_const(b, 0) and op in ("mul", "and") else None

    def _simplify_logic(self, op: str, args: Sequence[Node]) -> Node | None:
        if op == "not":
            return self.negate(args[0])
        a, b = args[0], args[-1]
        for x, y in ((a, b), (b, a)):
            if x.op == "const" and op in ("and", "or"):
                return y if bool(x.payload) == (op == "and") else x
        return a if a is b and op in ("and", "or") else None

    def _fold(self, op: str, kind: str, args: Sequence[Node], of: str, payload: float | str) -> Node:
        arrays = [np.array([a.payload]).astype(arithmetic.DTYPES[a.type]) for a in args]
        with np.errstate(all="ignore"):
            value = arithmetic.calculate(op, kind, of or kind, arrays, payload)
        return self.const(value[0].item(), kind)

    def _make(
        self,
        op: str,
        kind: str,
        args: tuple[Node, ...] = (),
        of: str = "",
        payload: float | str = 0,
        traits: int | None = None,
        source: Instruction | None = None,
    ) -> Node:
        key = (op, kind, of, repr(payload), *[a.number for a in args])
        found = self._made.get(key)
        if found is not None:
            return found
        node = Node(len(self.nodes), op, kind, args, of, payload, source)
        if traits is None:
            traits = 0
            for a in args:
                traits |= self.traits[a.number]
        self.nodes.append(node)
        self.traits.append(traits)
        self._made[key] = node
        return node

    def settle(self) -> None:
        """Complete the traits of all nodes: until now phis lack those of their ``next``."""
        changed = True
        while changed:
            changed = False
            for number, recurrence in self.recurrences.items():
                assert recurrence.next is not None
                traits = self.traits_of(recurrence.first) | self.traits_of(recurrence.next)
                traits |= self.traits[number]
                if traits != self.traits[number]:
                    self.traits[number] = traits
                    changed = True
            if changed:
                self._propagate()

    def _propagate(self) -> None:
        for node in self.nodes:
            traits = self.traits[node.number]
            for a in node.args:
                traits |= self.traits[a.number]
            if node.op == "exit":
                traits = (traits | self._leaving(int(node.payload))) & ~loop_trait(int(node.payload))
            self.traits[node.number] = traits


def _pattern(value: float, bits: int) -> int:
    """Return the bits of an infinite number or of none, which machine code moves as a float.

    >>> hex(_pattern(math.inf, 32)), hex(_pattern(math.nan, 64))
    ('0x7f800000', '0x7ff8000000000000')
    """
    return int.from_bytes(struct.pack("<d" if bits == 64 else "<f", value), "little")
