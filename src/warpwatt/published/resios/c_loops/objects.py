"""C text that packs structures into arrays of members and back: for the driver and the host's side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import MemberKind

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.nest import Member, Object

INDENT = "    "


def used_members(bound: BoundFunction, one: Object) -> tuple[Member, ...]:
    """Return the members that the function reads or writes."""
    known = {a.name for a in bound.function.arrays} | {s.name for s in bound.function.scalars}
    return tuple(m for m in one.members if m.name in known)


def packed(bound: BoundFunction, one: Object, place: str, prefix: str) -> Iterator[str]:
    """Yield lines that fill arrays, called ``prefix`` and the member's name, from the object ``place``."""
    for member in used_members(bound, one):
        if member.kind in (MemberKind.INSIDE, MemberKind.ROWS):
            yield _copied(bound, member, place, prefix, pack=True)


def unpacked(
    bound: BoundFunction, one: Object, place: str, prefix: str, *, changed: bool = True
) -> Iterator[str]:
    """Yield lines that fill the object from the arrays, of which only ``changed`` ones went to the device."""
    written = {a.element.array.name for a in bound.accesses if a.write}
    for member in used_members(bound, one):
        if member.kind in (MemberKind.INSIDE, MemberKind.ROWS) and (not changed or member.name in written):
            yield _copied(bound, member, place, prefix, pack=False)


def _copied(bound: BoundFunction, member: Member, place: str, prefix: str, *, pack: bool) -> str:
    size = bound.nbytes(member.name)
    rows = bound.shapes[member.name][0] if member.kind is MemberKind.ROWS else 1
    inside = f"&{place}[row]{member.path}" if member.kind is MemberKind.ROWS else f"&{place}{member.path}"
    own = f"(char *){prefix}{member.name} + row * {size // rows}"
    to, source = (own, inside) if pack else (inside, own)
    return f"{INDENT}for (size_t row = 0; row < {rows}; row++) memcpy({to}, {source}, {size // rows});"


def rows_of(bound: BoundFunction, one: Object) -> int:
    """Return how many structures an array of them needs."""
    arrays = [m.name for m in used_members(bound, one) if m.kind is MemberKind.ROWS]
    return max((bound.shapes[name][0] for name in arrays), default=1)


def driver_objects(bound: BoundFunction) -> str:
    """Return C that makes every object of the caller from arrays called ``warpwatt_`` and their names."""
    return "".join(f"{line}\n" for one in bound.function.objects for line in _made(bound, one))


def driver_argument(one: Object) -> str:
    """Return how an object of the driver is passed."""
    return f"&{place_of(one)}" if one.pointer and not one.rows else place_of(one)


def place_of(one: Object) -> str:
    """Return the object's name in the driver: globals have their own."""
    return f"warpwatt_object_{one.name}" if one.parameter else one.name


def _made(bound: BoundFunction, one: Object) -> Iterator[str]:
    place = place_of(one)
    if one.parameter and one.rows:
        memory = f"calloc({rows_of(bound, one)}, sizeof({one.type}))"
        yield f"{INDENT}{one.type} *{place} = ({one.type} *){memory};"
    elif one.parameter:
        yield f"{INDENT}{one.type} {place};"
        yield f"{INDENT}memset(&{place}, 0, sizeof {place});"
    for member in used_members(bound, one):
        if member.kind is MemberKind.VALUE:
            yield f"{INDENT}{place}{member.path} = {number(bound.values[member.name])};"
        elif member.kind is MemberKind.POINTER:
            at = f"{place}{member.path}"
            yield f"{INDENT}{at} = (__typeof__({at}))warpwatt_{member.name};"
    yield from unpacked(bound, one, place, "warpwatt_", changed=False)


def driver_results(bound: BoundFunction) -> str:
    """Return C that takes what the function wrote out of its objects."""
    every = ((one, place_of(one)) for one in bound.function.objects)
    return "".join(f"{line}\n" for one, at in every for line in packed(bound, one, at, "warpwatt_"))


def number(value: float) -> str:
    """Return a scalar as C writes it, exactly."""
    return value.hex() if isinstance(value, float) else f"{value}{'l' if abs(value) >= 2**31 else ''}"
