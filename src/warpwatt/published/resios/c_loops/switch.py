"""The cases of a switch, as conditions can take them: each ends before the next begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from warpwatt.published.resios.c_loops.parser import c_ast
from warpwatt.published.resios.c_loops.refuse import line_of

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.refuse import Place


def cases(node: Any, place: Place) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the labels (None for default) and the statements of every case, without its break.

    Raises
    ------
    UnportableError
        If a case goes on in the next one, or something stands before the first.
    """
    labels: list[Any] = []
    default: tuple[list[Any], list[Any]] | None = None
    for item in node.stmt.block_items or ():
        if not isinstance(item, (c_ast.Case, c_ast.Default)):
            raise place.refused("a statement of a switch before its first case", line_of(item))
        labels.append(None if isinstance(item, c_ast.Default) else item.expr)
        items = list(item.stmts or ())
        if not items:
            continue
        last = items[-1].block_items[-1] if isinstance(items[-1], c_ast.Compound) else items[-1]
        if not isinstance(last, (c_ast.Break, c_ast.Return)) and item is not node.stmt.block_items[-1]:
            raise place.refused("a case that goes on in the next one", line_of(item), "end it with break")
        found = labels, _without_break(items)
        labels = []
        if None in found[0]:
            default = found
        else:
            yield found
    if default is not None:
        yield default


def _without_break(items: list[Any]) -> list[Any]:
    last = items[-1]
    if isinstance(last, c_ast.Compound):
        return [*items[:-1], *_without_break(list(last.block_items))]
    return items[:-1] if isinstance(last, c_ast.Break) else items
