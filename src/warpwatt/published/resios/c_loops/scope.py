"""Names in scope while a function is read: arrays, scalars, pointers that stand for a part of an array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from warpwatt.published.resios.c_loops.nest import Array, Scalar
from warpwatt.published.resios.c_loops.parser import c_ast
from warpwatt.published.resios.c_loops.refuse import Place, line_of
from warpwatt.published.resios.c_loops.types import TYPEDEFS, CType, of_words

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression


@dataclass(frozen=True, slots=True)
class View:
    """A local pointer: element ``k`` of it is element ``offset + k`` of a one-dimensional array."""

    array: Array
    offset: Expression
    line: int


Entry = Array | Scalar | View


@dataclass(slots=True)
class Scope:
    """What names mean at one place of a function; :meth:`inner` opens a block."""

    place: Place
    typedefs: dict[str, Any]
    entries: dict[str, Entry] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)
    """Functions of the file by name: what they return is written in place of a call."""
    views: list[View] = field(default_factory=list)
    """Every local pointer of the function, whatever its block."""

    def inner(self) -> Scope:
        """Return a scope for a block: what it declares does not outlive it."""
        return replace(self, entries=dict(self.entries))

    def add(self, name: str, entry: Entry, line: int) -> None:
        """Declare a name; one that hides another is refused, because the kernel is one flat scope."""
        before = self.entries.get(name)
        if before is not None and (not isinstance(before, (Array, Scalar)) or before.line != 0):
            raise self.place.refused(
                f"{name!r} hides another variable (line {before.line})", line, "rename one of them"
            )
        self.entries[name] = entry

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
    if not extents:
        return Scalar(node.name, type_, line, parameter)
    const = "const" in (getattr(kind, "quals", None) or ())
    shape = tuple(None if parameter and i == 0 and pointers else e for i, e in enumerate(extents))
    distinct = restricted or not parameter
    return Array(node.name, type_, shape, not const, distinct, parameter, line)
