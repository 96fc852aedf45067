"""Symbolic values: immutable nodes, numbered so that equal expressions are the same object.

A node is exact: it has a type (``pred``, ``s32``, ``u64``, ``f32``, ...) and arithmetic wraps at its width.
Leaves are constants, kernel parameters, special registers, addresses of variables and *unknowns*, which say
which instruction the data came from. Two nodes tie values to loops: ``phi`` is a register at the head of an
iteration, ``exit`` is a value as the loop leaves it.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpwatt.core.program import Instruction

THREAD, BLOCK, UNKNOWN = 1, 2, 4
"""Traits of a value: differs within a block, between blocks, depends on data. Higher bits: loop_trait."""

_THREAD_REGISTERS = {"%tid.x", "%tid.y", "%tid.z", "%laneid", "%warpid"}
_BLOCK_REGISTERS = {"%ctaid.x", "%ctaid.y", "%ctaid.z"}
_UNIFORM_REGISTERS = {"%ntid.x", "%ntid.y", "%ntid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z"}
SPECIAL_REGISTERS = frozenset(_THREAD_REGISTERS | _BLOCK_REGISTERS | _UNIFORM_REGISTERS | {"WARP_SZ"})
"""Special registers whose value follows from the launch."""

COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "min", "max", "eq", "ne"})
RING = frozenset({"add", "sub", "mul", "and", "or", "xor", "shl", "not", "neg"})
"""Operations whose bits do not depend on signedness."""
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def loop_trait(loop: int) -> int:
    """Return the bit that says a value changes from one iteration of a loop to the next."""
    return 8 << loop


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One symbolic value.

    Attributes
    ----------
    number
        Position in creation order: arguments have smaller numbers.
    op
        ``const``, ``param``, ``constant``, ``special``, ``symbol``, ``unknown``, ``phi``, ``exit`` or an
        operation of :mod:`warpwatt.program.arithmetic`.
    type
        Type of the value.
    args
        Operands.
    of
        Type the operands are read as, where it differs from ``type`` (comparisons, conversions).
    payload
        Literal; name of a parameter, register or symbol; loop of a ``phi`` or ``exit``; table of ``lop3``.
    source
        Instruction an ``unknown`` comes from.
    """

    number: int
    op: str
    type: str
    args: tuple[Node, ...] = ()
    of: str = ""
    payload: int | float | str = 0
    source: Instruction | None = None

    @property
    def operand_type(self) -> str:
        """Type the operands are read as."""
        return self.of or self.type


@dataclass(slots=True, eq=False)
class Recurrence:
    """What a ``phi`` does: ``first`` on entry, ``next`` from one iteration to the following.

    ``step`` is set where ``next = phi + step`` with a step that does not change inside the loop.
    """

    loop: int
    register: str
    first: Node
    next: Node | None = None
    step: Node | None = None


def is_const(node: Node, value: int | None = None) -> bool:
    """Whether a node is a literal (of this value)."""
    return node.op == "const" and (value is None or node.payload == value)


def width(kind: str) -> int:
    """Return the bits of a type; 1 for predicates.

    >>> width("s32"), width("pred"), width("u64")
    (32, 1, 64)
    """
    return 1 if kind == "pred" else int(kind[1:])


def is_float(kind: str) -> bool:
    """Whether a type is floating-point."""
    return kind[0] == "f"


def special_traits(register: str) -> int:
    """Return how a special register varies."""
    return THREAD * (register in _THREAD_REGISTERS) | BLOCK * (register in _BLOCK_REGISTERS)
