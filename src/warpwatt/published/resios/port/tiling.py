"""Tiles in shared memory: a block loads once what its threads would each load again and again.

A loop inside the thread that accumulates products of elements that do not depend on one of the thread's two
coordinates (``a[i][k] * b[k][j]``) runs in tiles: the block copies a square of each such array, then every
thread works on the copies. Every element is accumulated in the order of the source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.launch import Dim3
from warpwatt.published.resios.c_loops.cuda import KernelWriter
from warpwatt.published.resios.c_loops.nest import (
    Array,
    Assign,
    Binary,
    Declare,
    Element,
    Loop,
    Name,
    integer,
    walk_expression,
)  # fmt: skip
from warpwatt.published.resios.c_loops.printer import INDENT, safe
from warpwatt.published.resios.c_loops.rewrite import replaced
from warpwatt.published.resios.c_loops.types import INT
from warpwatt.published.resios.port.reduction import unguarded

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import Access, BoundFunction, BoundLoop
    from warpwatt.published.resios.c_loops.cuda import Generated
    from warpwatt.published.resios.c_loops.mapping import Mapping
    from warpwatt.published.resios.c_loops.nest import Expression, Statement

MOST_SHARED = 48 << 10
"""Shared bytes that a block may take without asking for more."""


@dataclass(frozen=True, slots=True)
class Tile:
    """An array read at (k, v) in some order, v the thread's coordinate along ``axis``.

    ``contiguous``: neighbouring k are neighbours in memory.
    """

    element: Element
    name: str
    axis: str
    coordinate: str
    contiguous: bool


def tiled(bound: BoundFunction, mapping: Mapping, side: int) -> Generated | None:
    """Return a kernel with square tiles in shared memory, None where its body is no such accumulation."""
    body, condition = unguarded(mapping.body)
    place = next((n for n, s in enumerate(body) if isinstance(s, Loop)), None)
    if len(mapping.loops) != 2 or place is None or not _plain(body, place):
        return None
    loop = body[place]
    assert isinstance(loop, Loop)
    writer = KernelWriter(bound, mapping)
    tiles = _tiles(bound, mapping, loop, writer)
    if not tiles or not _uniform(mapping, body, loop):
        return None
    size = loop.body[0].target.type.size  # type: ignore[union-attr]
    if len(tiles) * side * (side + 1) * size > MOST_SHARED:
        return None
    block = Dim3(side, side)
    return writer.kernel(
        list(_Tiling(writer, tuple(tiles), loop, side, body, condition).lines(place)), block, block
    )


def _plain(body: tuple[Statement, ...], place: int) -> bool:
    """Whether a body is one accumulating loop with single statements around it."""
    loop = body[place]
    assert isinstance(loop, Loop)
    only = loop.body[0] if len(loop.body) == 1 else None
    simple = all(isinstance(s, (Assign, Declare)) for n, s in enumerate(body) if n != place)
    if loop.step != 1 or not simple or not isinstance(only, Assign):
        return False
    target = only.target
    names = {p.name for p in walk_expression(target) if isinstance(p, Name)}
    inside = {p.array.name for p in walk_expression(only.value) if isinstance(p, Element) and p != target}
    return loop.variable.name not in names and not (
        isinstance(target, Element) and target.array.name in inside
    )


def _uniform(mapping: Mapping, body: tuple[Statement, ...], loop: Loop) -> bool:
    """Whether all threads run the loop over the same range."""
    own = {bound.loop.variable.name for bound in mapping.loops}
    own |= {s.name for s in body if isinstance(s, Declare)}
    used = {p.name for e in (loop.start, loop.stop) for p in walk_expression(e) if isinstance(p, Name)}
    return not used & own


def _tiles(bound: BoundFunction, mapping: Mapping, loop: Loop, writer: KernelWriter) -> list[Tile]:
    outer, lane = mapping.loops
    k = mapping.nest.of(loop)
    found: list[Tile] = []
    for access in mapping.nest.accesses:
        inside = any(one.loop is loop for one in access.loops)
        if access.write or not inside or any(t.element == access.element for t in found):
            continue
        one = _tile(access, k, outer, lane, bound)
        if one is not None:
            found.append(one)
    names = [writer.fresh(f"{one.element.array.name}_tile{n or ''}") for n, one in enumerate(found)]
    return [replace(one, name=name) for one, name in zip(found, names, strict=True)]


def _tile(
    access: Access, k: BoundLoop, outer: BoundLoop, lane: BoundLoop, bound: BoundFunction
) -> Tile | None:
    """Return the tile of a read whose subscripts are the loop's variable and one coordinate."""
    if len(access.subscripts) != 2:
        return None
    forms = [set(form.terms) if form is not None else set() for form in access.subscripts]
    factors = [set(form.terms.values()) if form is not None else set() for form in access.subscripts]
    if any(len(names) != 1 for names in forms) or any(f != {1} for f in factors):
        return None
    (first,), (second,) = forms
    for axis, loop in (("y", outer), ("x", lane)):
        if {first, second} == {k.counter, loop.counter}:
            box = {one.counter: (0, one.most - 1) for one in (k, loop)}
            shape = bound.shapes[access.element.array.name]
            for form, extent in zip(access.subscripts, shape, strict=True):
                assert form is not None
                if form.range(box)[0] < 0 or form.range(box)[1] >= extent:
                    return None
            return Tile(access.element, "", axis, loop.loop.variable.name, second == k.counter)
    return None


@dataclass(frozen=True, slots=True)
class _Tiling:
    writer: KernelWriter
    tiles: tuple[Tile, ...]
    loop: Loop
    side: int
    body: tuple[Statement, ...]
    condition: Expression | None

    def lines(self, place: int) -> Iterator[str]:
        """Yield the body: every thread takes part in loading, only those inside compute."""
        printer, mapping = self.writer.printer, self.writer.mapping
        inside = self.writer.fresh("inside")
        for tile in self.tiles:
            kind = tile.element.type.spelling
            yield f"{INDENT}__shared__ {kind} {tile.name}[{self.side * (self.side + 1)}];"
        for loop, axis in zip(mapping.loops, "yx", strict=True):
            yield self.writer.position(loop, f"blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}")
        outside = " || ".join(self.writer.outside(loop) for loop in mapping.loops)
        more = "" if self.condition is None else f" && {printer.expression(self.condition, 5)}"
        yield f"{INDENT}const bool {inside} = !({outside}){more};"
        declared = [s for s in self.body[:place] if isinstance(s, Declare)]
        for one in declared:
            yield f"{INDENT}{one.type.spelling} {safe(one.name)};"
        before = tuple(_set(s) for s in self.body[:place])
        if before:
            yield f"{INDENT}if ({inside}) {{"
            yield from printer.statements(before, 2)
            yield f"{INDENT}}}"
        yield from self._loop(inside)
        after = self.body[place + 1 :]
        if after:
            yield f"{INDENT}if ({inside}) {{"
            yield from printer.statements(after, 2)
            yield f"{INDENT}}}"

    def _loop(self, inside: str) -> Iterator[str]:
        printer, margin, fresh = self.writer.printer, INDENT * 2, self.writer.fresh
        it = self.loop
        base, step, last, total = fresh("base"), fresh("step"), fresh("last"), fresh("total")
        kind = it.variable.type.spelling
        stop = printer.expression(it.stop, 11)
        only = it.body[0]
        assert isinstance(only, Assign)
        target = printer.expression(only.target)
        yield f"{INDENT}const {kind} {last} = {stop if '=' in it.relation else f'{stop} - 1'};"
        yield f"{INDENT}{only.target.type.spelling} {total} = {inside} ? {target} : 0;"
        start = printer.expression(it.start)
        yield f"{INDENT}for ({kind} {base} = {start}; {base} <= {last}; {base} += {self.side}) {{"
        for tile in self.tiles:
            yield from self._load(tile, base, last)
        yield f"{margin}__syncthreads();"
        yield f"{margin}if ({inside}) {{"
        name = safe(it.variable.name)
        bound = f"{step} < {self.side} && {base} + {step} <= {last}"
        yield f"{margin}{INDENT}for (int {step} = 0; {bound}; {step}++) {{"
        value = replaced(only.value, lambda part: self._from_tile(part, only.target, step, total))
        if name in {p.name for p in walk_expression(value) if isinstance(p, Name)}:
            yield f"{margin}{INDENT * 2}const {kind} {name} = {base} + {step};"
        yield f"{margin}{INDENT * 2}{total} {only.operator}= {printer.expression(value)};"
        yield f"{margin}{INDENT}}}"
        yield f"{margin}}}"
        yield f"{margin}__syncthreads();"
        yield f"{INDENT}}}"
        yield f"{INDENT}if ({inside}) {target} = {total};"

    def _load(self, tile: Tile, base: str, last: str) -> Iterator[str]:
        """Yield the lines that fill a tile: neighbouring threads read neighbouring elements."""
        printer, margin = self.writer.printer, INDENT * 2
        k_lane, v_lane = ("x", "y") if tile.contiguous else ("y", "x")
        loop = self.writer.mapping.loops["yx".index(tile.axis)]
        first = printer.expression(loop.loop.start, 11)
        origin = f"blockIdx.{tile.axis} * {self.side} + threadIdx.{v_lane}"
        at_k, at_v = self.writer.fresh("row"), self.writer.fresh("column")
        swap = {self.loop.variable.name: at_k, tile.coordinate: at_v}
        source = replaced(tile.element, lambda part: _swapped(part, swap))
        stop = printer.expression(loop.loop.stop, 10)
        index = f"threadIdx.{k_lane} * {self.side + 1} + threadIdx.{v_lane}"
        yield f"{margin}{{"
        yield f"{margin}{INDENT}const int {at_k} = {base} + (int)threadIdx.{k_lane};"
        start = "" if first == "0" else f"{first} + "
        yield f"{margin}{INDENT}const int {at_v} = {start}(int)({origin});"
        condition = f"{at_k} <= {last} && {at_v} {loop.loop.relation} {stop}"
        yield f"{margin}{INDENT}if ({condition}) {tile.name}[{index}] = {printer.expression(source)};"
        yield f"{margin}}}"

    def _from_tile(self, part: Expression, target: Name | Element, step: str, total: str) -> Expression:
        if part == target:
            return Name(total, part.type, part.line)
        tile = next((t for t in self.tiles if t.element == part), None)
        if tile is None:
            return part
        row = Binary("*", Name(step, INT, 0), integer(self.side + 1), INT, 0)
        index = Binary("+", row, Name(f"threadIdx.{tile.axis}", INT, 0), INT, 0)
        array = Array(tile.name, part.type, (None,), True, True, parameter=False, line=0, temporary=True)
        return Element(array, (index,), part.line)


def _swapped(part: Expression, names: dict[str, str]) -> Expression:
    if isinstance(part, Name) and part.name in names:
        return Name(names[part.name], part.type, part.line)
    return part


def _set(statement: Statement) -> Statement:
    """Return a declaration with a value as an assignment: it is declared outside the condition."""
    if isinstance(statement, Declare) and statement.value is not None:
        return Assign(
            Name(statement.name, statement.type, statement.line), "", statement.value, statement.line
        )
    return statement
