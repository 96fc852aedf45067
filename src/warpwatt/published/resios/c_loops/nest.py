"""A sequential C function of loop nests as a typed value: arrays with shapes, normalised loops, statements.

Expressions and statements keep the source line they stand on. Every loop counts from zero in steps of one:
its variable is ``start + step · t`` for ``t`` in ``[0, trips)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops import types

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.types import CType


@dataclass(frozen=True, slots=True)
class Array:
    """An array or pointer the function reads or writes.

    ``extents`` has one expression per dimension, the first None where the source does not say; ``writable``
    is False for pointers to const. ``distinct``: no other name can mean the same memory (an object of its
    own, or ``restrict``). ``temporary``: on the device alone; ``local``: of one thread alone. ``owner``
    is the object of the caller that it is a part of.
    """

    name: str
    type: CType
    extents: tuple[Expression | None, ...]
    writable: bool
    distinct: bool
    parameter: bool
    line: int
    temporary: bool = False
    local: bool = False
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar parameter, or a global that holds a scalar."""

    name: str
    type: CType
    line: int
    parameter: bool = True


class MemberKind(StrEnum):
    """Where a member of a structure lies: a value given, memory it points to, in the object, in every row."""

    VALUE = "value"
    POINTER = "pointer"
    INSIDE = "inside"
    ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Member:
    """What a member became: the scalar or array ``name``; ``path`` leads to it (``.pos.x``)."""

    name: str
    path: str
    kind: MemberKind


@dataclass(frozen=True, slots=True)
class Object:
    """A structure of the caller, or (``rows``) an array of structures, taken apart into members.

    ``type`` is the structure's in C, ``definition`` the declarations it needs; ``parameter`` is False for a
    global.
    """

    name: str
    type: str
    definition: tuple[str, ...]
    pointer: bool
    rows: bool
    parameter: bool
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A constant as the source writes it."""

    text: str
    value: float
    type: CType
    line: int


@dataclass(frozen=True, slots=True)
class Name:
    """A scalar variable: loop variable, local or parameter."""

    name: str
    type: CType
    line: int


@dataclass(frozen=True, slots=True)
class Element:
    """One element of an array, one subscript per dimension."""

    array: Array
    subscripts: tuple[Expression, ...]
    line: int

    @property
    def type(self) -> CType:
        """Type of the element."""
        return self.array.type


@dataclass(frozen=True, slots=True)
class Unary:
    """``-``, ``+``, ``!`` or ``~`` of a value."""

    operator: str
    operand: Expression
    type: CType
    line: int


@dataclass(frozen=True, slots=True)
class Binary:
    """An arithmetic, logical or comparing operation."""

    operator: str
    left: Expression
    right: Expression
    type: CType
    line: int


@dataclass(frozen=True, slots=True)
class Select:
    """``condition ? then : other``."""

    condition: Expression
    then: Expression
    other: Expression
    type: CType
    line: int


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion that the source writes."""

    operand: Expression
    type: CType
    line: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the C mathematics library."""

    function: str
    arguments: tuple[Expression, ...]
    type: CType
    line: int


Expression = Number | Name | Element | Unary | Binary | Select | Cast | Call


@dataclass(frozen=True, slots=True)
class Declare:
    """A local scalar, with its first value or without."""

    name: str
    type: CType
    value: Expression | None
    line: int


@dataclass(frozen=True, slots=True)
class DeclareArray:
    """A local array: every iteration around it has its own."""

    array: Array
    line: int


@dataclass(frozen=True, slots=True)
class While:
    """A loop whose trips nobody knows before it runs."""

    condition: Expression
    body: tuple[Statement, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Leave:
    """``break``: the innermost loop ends."""

    line: int


@dataclass(frozen=True, slots=True)
class Skip:
    """``continue``, until the body around it is written without."""

    line: int


@dataclass(frozen=True, slots=True)
class Return:
    """``return``, until the function around it is written in place of its call."""

    line: int


@dataclass(frozen=True, slots=True)
class Assign:
    """``target = value`` or, with an ``operator``, ``target operator= value``."""

    target: Name | Element
    operator: str
    value: Expression
    line: int


@dataclass(frozen=True, slots=True)
class If:
    """Two alternatives."""

    condition: Expression
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Loop:
    """A counted loop: ``variable`` runs from ``start`` by ``step`` while ``variable relation stop`` holds.

    ``declared`` is the type where the loop declares its variable itself.
    """

    variable: Name
    start: Expression
    stop: Expression
    relation: str
    step: int
    body: tuple[Statement, ...]
    line: int
    declared: bool = True


Statement = Declare | DeclareArray | Assign | If | Loop | While | Leave | Skip | Return


@dataclass(frozen=True, slots=True)
class Function:
    """A C function made of loop nests.

    ``body`` is all of it in order; ``nests`` are its outermost loops, ``prologue`` the scalars it declares
    outside them.
    """

    name: str
    file: str
    line: int
    arrays: tuple[Array, ...]
    scalars: tuple[Scalar, ...]
    order: tuple[str, ...]
    """Names of all parameters in order."""
    prologue: tuple[Declare, ...]
    nests: tuple[Loop, ...]
    body: tuple[Statement, ...] = ()
    objects: tuple[Object, ...] = ()
    """Structures of the caller; their members are among ``arrays`` and ``scalars``."""
    returned: str = ""
    """Name of the array of one element that holds what the function returns; empty if it returns nothing."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the scalars and arrays that stand for the parameters, in order."""
        known = {a.name for a in self.arrays} | {s.name for s in self.scalars}
        members = {o.name: [m.name for m in o.members if m.name in known] for o in self.objects}
        return tuple(name for each in self.order for name in members.get(each, [each]))

    def array(self, name: str) -> Array:
        """Return the array of that name."""
        return next(array for array in self.arrays if array.name == name)


def expressions(statement: Statement) -> Iterator[Expression]:
    """Yield the expressions a statement itself holds, those of nested statements not included."""
    match statement:
        case Declare(value=value):
            if value is not None:
                yield value
        case Assign(target=target, value=value):
            yield value
            yield target
        case If(condition=condition) | While(condition=condition):
            yield condition
        case Loop(start=start, stop=stop):
            yield from (start, stop)


def parts(expression: Expression) -> tuple[Expression, ...]:
    """Return the operands of an expression, subscripts included."""
    match expression:
        case Element(subscripts=subscripts):
            return subscripts
        case Unary(operand=operand) | Cast(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return left, right
        case Select(condition=condition, then=then, other=other):
            return condition, then, other
        case Call(arguments=arguments):
            return arguments
    return ()


def walk_expression(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and everything in it, operands first."""
    for part in parts(expression):
        yield from walk_expression(part)
    yield expression


def walk(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield statements and those nested in them, in the order of the source."""
    for statement in statements:
        yield statement
        if isinstance(statement, (Loop, While)):
            yield from walk(statement.body)
        elif isinstance(statement, If):
            yield from walk(statement.then)
            yield from walk(statement.other)


def left_early(loop: Loop | While) -> bool:
    """Whether a break of its own may end a loop."""
    waiting = list(loop.body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, Leave):
            return True
        if isinstance(statement, If):
            waiting += [*statement.then, *statement.other]
    return False


def integer(value: int, line: int = 0) -> Number:
    """Return a constant of type int.

    >>> integer(3).text
    '3'
    """
    return Number(str(value), value, types.INT, line)


def constant(expression: Expression) -> int | None:
    """Return the value of a constant integer expression, None for any other."""
    match expression:
        case Number(value=value, type=kind) if not kind.floating:
            return int(value)
        case Unary(operator="-", operand=operand):
            value_ = constant(operand)
            return None if value_ is None else -value_
        case Binary(operator="+" | "-" | "*" as sign, left=left, right=right):
            one, two = constant(left), constant(right)
            if one is None or two is None:
                return None
            return {"+": one + two, "-": one - two, "*": one * two}[sign]
    return None


def names_in(expression: Expression) -> set[str]:
    """Return the scalars an expression reads.

    >>> from warpwatt.published.resios.c_loops.types import INT
    >>> sorted(names_in(Binary("+", Name("i", INT, 1), Name("n", INT, 1), INT, 1)))
    ['i', 'n']
    """
    return {part.name for part in walk_expression(expression) if isinstance(part, Name)}
