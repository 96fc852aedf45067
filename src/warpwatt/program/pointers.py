"""Parameters that addresses are built on."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.program import Space
from warpwatt.program.reasons import leaves

if TYPE_CHECKING:
    from warpwatt.program.expression import Node
    from warpwatt.program.symbolic import Symbols


_REACH = 256
"""Nodes of one address that are looked through at most."""


@lru_cache(maxsize=32)
def pointer_parameters(symbols: Symbols) -> frozenset[str]:
    """Return the 8-byte parameters (``NAME+OFFSET``) that addresses add to without scaling them.

    Where one address adds to several, those that branches or trip counts depend on are taken for sizes.
    """
    instructions = symbols.program.instructions
    accesses = {
        node
        for index, node in symbols.addresses.items()
        if (memory := instructions[index].memory) is not None and memory.space is not Space.PARAM
    }
    bases = {bases for node in accesses if (bases := _bases(symbols, node))}
    if all(len(found) == 1 for found in bases):
        return frozenset().union(*bases)
    deciding = _deciding(symbols)
    return frozenset().union(*(found - deciding or found for found in bases))


def _deciding(symbols: Symbols) -> frozenset[str]:
    """Return the parameters guards depend on."""
    guards = symbols.guards.values()
    return frozenset(str(x.payload) for g in guards for x in leaves(symbols.algebra, g) if x.op == "param")


def _bases(symbols: Symbols, address: Node) -> frozenset[str]:
    """Return the 8-byte parameters among the terms of an address."""
    found: set[str] = set()
    waiting, seen = [address], {address.number}
    while waiting and len(seen) < _REACH:
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
