"""Structures: each member is a scalar or an array of its own, so that loops see nothing but these.

A member of an array of structures becomes an array over the rows: the device has a structure of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warpwatt.published.resios.c_loops.nest import (
    Array,
    Declare,
    DeclareArray,
    Element,
    Member,
    MemberKind,
    Name,
    Object,
    Scalar,
    integer,
)  # fmt: skip
from warpwatt.published.resios.c_loops.parser import c_ast, c_generator
from warpwatt.published.resios.c_loops.refuse import line_of
from warpwatt.published.resios.c_loops.scope import Row, Rows, Structure

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Expression, Statement
    from warpwatt.published.resios.c_loops.scope import Entry, Scope
    from warpwatt.published.resios.c_loops.types import CType

    Read = Callable[[Any], Expression]


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A structure, or a pointer to or an array of some; ``text`` is the structure's type in C.

    ``extents`` are the parser's, None for a pointer; ``const`` says that members are not written through it.
    """

    text: str
    fields: tuple[Any, ...]
    extents: tuple[Any, ...]
    const: bool
    names: tuple[str, ...]
    """Type names on the way to the structure."""

    def local(
        self, scope: Scope, read: Read, name: str, line: int, found: list[Statement]
    ) -> Structure:  # fmt: skip
        """Return a local structure, its members declared among ``found``."""
        members: dict[str, Entry] = {}
        for one in self.fields:
            own = f"{name}_{one.name}"
            nested = object_type(scope, one.type)
            kind, dims = _scalar(scope, one.type)
            if nested is not None and not nested.extents:
                members[one.name] = nested.local(scope, read, own, line, found)
            elif kind is not None and not dims:
                own = scope.unused(own)
                members[one.name] = Scalar(own, kind, line)
                found.append(Declare(own, kind, None, line))
            elif kind is not None and None not in dims:
                extents = tuple(read(d) for d in dims)
                array = Array(scope.unused(own), kind, extents, True, True, False, line, local=True)
                members[one.name] = array
                found.append(DeclareArray(array, line))
        return Structure(members, line)


def object_type(scope: Scope, node: Any) -> ObjectType | None:
    """Return the structure that a type is, points to or is an array of; None for any other type."""
    extents = []
    while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        extents.append(None if isinstance(node, c_ast.PtrDecl) else node.dim)
        node = node.type
    const = "const" in (getattr(node, "quals", None) or ())
    text, names = "", []
    kind = node.type if isinstance(node, c_ast.TypeDecl) else node
    while isinstance(kind, c_ast.IdentifierType) and len(kind.names) == 1 and kind.names[0] in scope.typedefs:
        text = text or kind.names[0]
        names.append(kind.names[0])
        definition = scope.typedefs[kind.names[0]]
        if not isinstance(definition, c_ast.TypeDecl):
            return None
        kind = definition.type
    if not isinstance(kind, c_ast.Struct):
        return None
    whole = kind if kind.decls is not None else scope.tags.get(kind.name)
    if whole is None or whole.decls is None:
        return None
    text = text or f"struct {kind.name}"
    return ObjectType(text, tuple(whole.decls), tuple(extents), const, tuple(names))


def definition(scope: Scope, kind: ObjectType) -> tuple[str, ...]:
    """Return the declarations in C that the type needs, those of its members first."""
    made = _Declarations(scope)
    for name in kind.names:
        made.typedef(name)
    if not kind.names:
        made.tag(kind.text.removeprefix("struct "))
    return tuple(made.texts)


@dataclass(slots=True)
class _Declarations:
    """Writes the types of the user's files that a type is made of, each once, before what needs it."""

    scope: Scope
    texts: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def typedef(self, name: str) -> None:
        """Write the type of that name; a structure with a tag is declared before its members are."""
        target = self.scope.typedefs[name]
        if name in self.seen or str(getattr(target.coord, "file", "")).startswith("/usr/"):
            return
        self.seen.add(name)
        kind = target.type if isinstance(target, c_ast.TypeDecl) else None
        if isinstance(kind, c_ast.Struct) and kind.name:
            self.texts.append(f"typedef struct {kind.name} {name};")
            self.tag(kind.name)
        else:
            self._members(target)
            self.texts.append(
                f"{c_generator.CGenerator().visit(c_ast.Typedef(name, [], ['typedef'], target))};"
            )

    def tag(self, name: str) -> None:
        """Write the structure, union or enumeration of that tag."""
        whole = self.scope.tags.get(name)
        if f"struct {name}" not in self.seen and whole is not None:
            self.seen.add(f"struct {name}")
            self._members(whole)
            self.texts.append(f"{c_generator.CGenerator().visit(whole)};")

    def _members(self, node: Any) -> None:
        for child in node:
            if isinstance(child, c_ast.IdentifierType) and child.names[-1] in self.scope.typedefs:
                self.typedef(child.names[-1])
            elif isinstance(child, c_ast.Struct) and child.decls is None:
                self.tag(child.name)
            self._members(child)


def parameter(scope: Scope, node: Any, kind: ObjectType, read: Read, *, given: bool) -> Structure | Rows:
    """Return the structure, or the rows, that a parameter or (not ``given``) a global stands for.

    Raises
    ------
    UnportableError
        For pointers to pointers to structures.
    """
    line = line_of(node)
    if len(kind.extents) > 1:
        hint = "use one block of memory"
        raise scope.place.refused(f"{node.name!r} is an array of arrays of structures", line, hint)
    pointer = kind.extents == (None,)
    rows = kind.extents and not (pointer and node.name not in scope.subscripted)
    made = _Maker(scope, node.name, read, kind.const, pointer, line)
    entry: Structure | Rows
    if rows:
        outer = None if pointer or given else read(kind.extents[0])
        entry = made.rows(node.name, "", kind.fields, outer)
    else:
        entry = made.structure(node.name, "", kind.fields)
    text, members = definition(scope, kind), tuple(made.members)
    scope.objects.append(Object(node.name, kind.text, text, pointer, bool(rows), given, members))
    return entry


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the members of one object of the caller; ``members`` collects what each became."""

    scope: Scope
    name: str
    read: Read
    const: bool
    pointer: bool
    line: int
    members: list[Member] = field(default_factory=list)

    def structure(self, name: str, path: str, fields: tuple[Any, ...]) -> Structure:
        """Return one structure; a member that is assigned to lies in device memory."""
        members: dict[str, Entry] = {}
        for one in fields:
            own, way = f"{name}_{one.name}", f"{path}.{one.name}"
            nested = object_type(self.scope, one.type)
            kind, dims = _scalar(self.scope, one.type)
            if nested is not None and not nested.extents:
                members[one.name] = self.structure(own, way, nested.fields)
            elif kind is None:
                continue
            elif not dims and one.name in self.scope.assigned:
                array = self._array(own, way, MemberKind.INSIDE, kind, (integer(1),))
                members[one.name] = Element(array, (integer(0, self.line),), self.line)
            elif not dims:
                own = self.scope.unused(own)
                members[one.name] = Scalar(own, kind, self.line)
                self.members.append(Member(own, way, MemberKind.VALUE))
            elif dims[0] is None and len(dims) == 1:
                members[one.name] = self._pointer(own, way, one.type, kind)
            elif None not in dims:
                extents = tuple(self.read(d) for d in dims)
                members[one.name] = self._array(own, way, MemberKind.INSIDE, kind, extents)
        return Structure(members, self.line)

    def rows(self, name: str, path: str, fields: tuple[Any, ...], outer: Expression | None) -> Rows:
        """Return an array of structures of ``outer`` rows."""
        members: dict[str, Array | Rows] = {}
        for one in fields:
            own, way = f"{name}_{one.name}", f"{path}.{one.name}"
            nested = object_type(self.scope, one.type)
            kind, dims = _scalar(self.scope, one.type)
            if nested is not None and not nested.extents:
                members[one.name] = self.rows(own, way, nested.fields, outer)
            elif kind is not None and None not in dims:
                extents = (outer, *(self.read(d) for d in dims))
                members[one.name] = self._array(own, way, MemberKind.ROWS, kind, extents)
        return Rows(members, self.line)

    def _array(
        self, name: str, path: str, kind: MemberKind, type_: CType, extents: tuple[Expression | None, ...]
    ) -> Array:
        """Return the array of what lies in the object itself, or in its rows."""
        own, single = self.scope.unused(name), not self.pointer
        array = Array(own, type_, extents, not self.const, single, False, self.line, owner=self.name)
        return self._made(array, path, kind)

    def _pointer(self, name: str, path: str, node: Any, type_: CType) -> Array:
        """Return the array that a member points to."""
        own, restricted = self.scope.unused(name), "restrict" in node.quals
        writable = "const" not in node.type.quals
        array = Array(own, type_, (None,), writable, restricted, True, self.line)
        return self._made(array, path, MemberKind.POINTER)

    def _made(self, array: Array, path: str, kind: MemberKind) -> Array:
        self.members.append(Member(array.name, path, kind))
        self.scope.made.append(array)
        return array


def _scalar(scope: Scope, node: Any) -> tuple[CType | None, tuple[Any, ...]]:
    """Return the scalar type a member ends in, None if it is none, and the extents before it."""
    dims = []
    while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        dims.append(None if isinstance(node, c_ast.PtrDecl) else node.dim)
        node = node.type
    return scope.scalar_type(node), tuple(dims)


def leaves(entry: Structure | Row, line: int) -> Iterator[Name | Element]:
    """Yield every scalar member of a structure, in the order of its declaration."""
    if isinstance(entry, Row):
        for member in entry.rows.members.values():
            if isinstance(member, Rows):
                yield from leaves(Row(member, entry.index, entry.line), line)
            elif len(member.extents) == 1:
                yield Element(member, (entry.index,), line)
        return
    for found in entry.members.values():
        if isinstance(found, Structure):
            yield from leaves(found, line)
        elif isinstance(found, Scalar):
            yield Name(found.name, found.type, line)
        elif isinstance(found, Element):
            yield found
