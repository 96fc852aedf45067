"""Parameters that addresses are built on."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.program import Space

if TYPE_CHECKING:
    from warpwatt.program.expression import Node
    from warpwatt.program.symbolic import Symbols


@lru_cache(maxsize=32)
def pointer_parameters(symbols: Symbols) -> frozenset[str]:
    """Return the 8-byte parameters (``NAME+OFFSET``) that some address adds to without scaling them."""
    found: set[str] = set()
    instructions = symbols.program.instructions
    waiting: list[Node] = [
        node
        for index, node in symbols.addresses.items()
        if (memory := instructions[index].memory) is not None and memory.space is not Space.PARAM
    ]
    seen = {node.number for node in waiting}
    while waiting:
        node = waiting.pop()
        if node.op == "param" and node.type[1:] == "64":
            found.add(str(node.payload))
        for term in _terms(symbols, node):
            if term.number not in seen:
                seen.add(term.number)
                waiting.append(term)
    return frozenset(found)


def _terms(symbols: Symbols, node: Node) -> tuple[Node, ...]:
    """Return the terms of a sum, the alternatives of a selection, the start of a recurrence."""
    if node.op == "phi":
        recurrence = symbols.algebra.recurrences[node.number]
        return (recurrence.first,) if recurrence.next is None else (recurrence.first, recurrence.next)
    if node.op in ("add", "exit"):
        return node.args
    if node.op == "sub":
        return node.args[:1]
    return node.args[1:] if node.op == "select" else ()
