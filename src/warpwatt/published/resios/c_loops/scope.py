"""Names in scope while a function is read: arrays, scalars, pointers that stand for a part of an array."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from warpwatt.published.resios.c_loops.nest import Array, Element, Number, Scalar
from warpwatt.published.resios.c_loops.parser import c_ast
from warpwatt.published.resios.c_loops.refuse import Place, line_of
from warpwatt.published.resios.c_loops.types import TYPEDEFS, CType, of_words

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression, Object, Statement


@dataclass(frozen=True, slots=True)
class View:
    """A local pointer: element ``k`` of it is element ``offset + k`` of the row ``prefix`` of an array."""

    array: Array
    prefix: tuple[Expression, ...]
    offset: Expression | None
    line: int


@dataclass(frozen=True, slots=True)
class Structure:
    """One structure: what each of its members is."""

    members: Mapping[str, Entry]
    line: int


@dataclass(frozen=True, slots=True)
class Rows:
    """An array of structures: what each member is over all rows."""

    members: Mapping[str, Array | Rows]
    line: int


@dataclass(frozen=True, slots=True)
class Row:
    """One structure of an array of them."""

    rows: Rows
    index: Expression
    line: int


Entry = Array | Scalar | View | Number | Element | Structure | Rows | Row
Inline = Callable[["Scope", Any, Any, int], "Expression | Structure | None"]
"""Writes a function's statements in front of the statement that calls it, and returns its value."""


@dataclass(slots=True)
class Scope:
    """What names mean at one place of a function; :meth:`inner` opens a block."""

    place: Place
    typedefs: dict[str, Any]
    entries: dict[str, Entry] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)
    """Functions of the file by name: they are written in place of their calls."""
    inline: Inline | None = None
    views: list[View] = field(default_factory=list)
    """Every local pointer of the function, whatever its block."""
    outermost: dict[str, Entry] = field(default_factory=dict)
    """What the file declares outside functions: all that a called function sees of its caller."""
    taken: set[str] = field(default_factory=set)
    """Names that the kernel, one flat scope, cannot give to another variable."""
    before: list[Statement] | None = field(default_factory=list)
    """What is to stand in front of the statement that is read; None where it might not be executed."""
    tags: dict[str, Any] = field(default_factory=dict)
    """Structures of the file by their tags."""
    objects: list[Object] = field(default_factory=list)
    """Structures of the caller that the function reads or writes."""
    made: list[Array] = field(default_factory=list)
    """Arrays that stand for their members."""
    subscripted: set[str] = field(default_factory=set)
    """Names that the function subscripts: pointers to more than one structure."""
    assigned: set[str] = field(default_factory=set)
    """Members that it assigns to."""
    returned: str = ""
    """Name of the array that holds what the function returns."""
    called: bool = False
    """Whether this is the body of a function written in place of its call."""

    def inner(self) -> Scope:
        """Return a scope for a block: what it declares does not outlive it."""
        return replace(self, entries=dict(self.entries))

    def guarded(self) -> Scope:
        """Return the scope of an operand that C may leave out: no statements can stand in front of it."""
        return replace(self, before=None)

    def callee(self) -> Scope:
        """Return the scope of a function that is called here."""
        return replace(self, entries=dict(self.outermost), called=True, before=[])

    def fresh(self, name: str) -> str:
        """Return a name like this one that nothing else has."""
        made = next(n for n in map(f"{name}_{{}}".format, itertools.count(1)) if n not in self.taken)
        self.taken.add(made)
        return made

    def unused(self, name: str) -> str:
        """Return this name if nothing else has it, else one like it."""
        if name in self.taken:
            return self.fresh(name)
        self.taken.add(name)
        return name

    def own_name(self, name: str) -> str:
        """Return the name of a variable in the kernel: another one where it hides something."""
        before = self.entries.get(name)
        hides = before is not None and (not isinstance(before, (Array, Scalar)) or before.line != 0)
        return self.fresh(name) if hides or self.called else name

    def scalar_type(self, node: Any) -> CType | None:
        """Return the scalar type a declarator ends in, None for void, structures and what we do not know."""
        kind = node.type if isinstance(node, c_ast.TypeDecl) else node
        if isinstance(kind, c_ast.Enum):
            return of_words(["int"])
        if not isinstance(kind, c_ast.IdentifierType):
            return None
        if len(kind.names) == 1 and kind.names[0] in TYPEDEFS:
            return TYPEDEFS[kind.names[0]]
        if len(kind.names) == 1 and kind.names[0] in self.typedefs:
            return self.scalar_type(self.typedefs[kind.names[0]])
        return of_words(["int" if name == "_Bool" else name for name in kind.names])


def declared(scope: Scope, node: Any, read: Callable[[Any], Expression], *, parameter: bool) -> Entry:
    """Return what a declaration declares: a scalar or an array; ``read`` lowers extents.

    Raises
    ------
    UnportableError
        For structures, pointers to pointers, and other types no loop nest of ours computes with.
    """
    line = line_of(node)
    extents: list[Expression | None] = []
    kind, pointers, restricted = node.type, 0, False
    while isinstance(kind, (c_ast.ArrayDecl, c_ast.PtrDecl)):
        if isinstance(kind, c_ast.PtrDecl):
            pointers += 1
            restricted = "restrict" in kind.quals
            extents.append(None)
        else:
            restricted = restricted or "restrict" in (kind.dim_quals or ())
            extents.append(None if kind.dim is None else read(kind.dim))
        kind = kind.type
    if pointers > 1 or (pointers and len(extents) > 1 and not isinstance(node.type, c_ast.PtrDecl)):
        hint = "use one block of memory: a[i * columns + j], or a pointer to rows: float (*a)[columns]"
        raise scope.place.refused(
            f"{node.name!r} is an array of pointers: where its rows lie is unknown", line, hint
        )
    type_ = scope.scalar_type(kind)
    if type_ is None:
        hint = "use one array of a scalar type per member" if not isinstance(kind, c_ast.FuncDecl) else ""
        raise scope.place.refused(
            f"{node.name!r} is of a type that has no counterpart in a kernel", line, hint
        )
    name = node.name if parameter else scope.own_name(node.name)
    if not extents:
        return Scalar(name, type_, line, parameter)
    const = "const" in (getattr(kind, "quals", None) or ())
    shape = tuple(None if parameter and i == 0 and pointers else e for i, e in enumerate(extents))
    distinct = restricted or not parameter
    return Array(name, type_, shape, not const, distinct, parameter, line)
