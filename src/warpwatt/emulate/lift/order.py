"""Scheduling order of blocks: lanes of a warp that are in the lowest block run first.

A topological order in which every loop is contiguous makes lanes meet again where their paths join: a join
stands behind both arms, the exit of a loop behind all of its blocks. Loops are the strongly connected
components, taken apart again without the edges to their first block (Bourdoncle, *Efficient chaotic
iteration strategies with widenings*, 1993: a weak topological order), so irreducible graphs are fine too.
A loop with several edges back to its first block gets an empty last block that they all go through: lanes
that ``continue`` wait there for the others instead of running ahead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from warpwatt.emulate.ir import Block, End, Terminator

Graph = list[tuple[int, ...]]
"""Successors of each block by number."""


def arrange(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the reachable blocks in scheduling order, their targets renumbered. Block 0 is the entry."""
    graph = successors(blocks)
    order, latches = schedule(graph)
    position = {number: at for at, number in enumerate(order)}
    through = {(source, header): latch for latch, (header, sources) in latches.items() for source in sources}
    result: list[Block] = []
    for number in order:
        if number in latches:
            header = position[latches[number][0]]
            result.append(Block(range(0), end=Terminator(End.JUMP, (header,))))
            continue
        block = blocks[number]
        targets = tuple(position[through.get((number, t), t)] for t in block.end.targets)
        block.end = replace(block.end, targets=targets)
        result.append(block)
    return tuple(result)


def successors(blocks: Sequence[Block]) -> Graph:
    """Return where each block may lead; an indirect end may lead to any block with an address."""
    addressed = tuple(number for number, block in enumerate(blocks) if block.address is not None)
    return [b.end.targets + (addressed if b.end.end is End.INDIRECT else ()) for b in blocks]


def schedule(graph: Graph) -> tuple[list[int], dict[int, tuple[int, tuple[int, ...]]]]:
    """Return the order of the blocks reachable from 0, and the blocks to be added.

    Those are numbered from ``len(graph)`` on: each maps to the first block of its loop and the blocks whose
    edges to it are to go through the new one.

    >>> schedule([(1,), (1, 2), ()])
    ([0, 1, 2], {})
    """
    added: dict[int, tuple[int, tuple[int, ...]]] = {}
    order: list[int] = []
    work: list[int | tuple[Sequence[int], set[int]]] = [((0,), set(range(len(graph))))]
    while work:
        item = work.pop()
        if isinstance(item, int):
            order.append(item)
            continue
        parts: list[int | tuple[Sequence[int], set[int]]] = []
        for component in components(*item, graph):
            header = component[0]
            if len(component) == 1:
                parts.append(header)
                continue
            inner = inner_loop(component, graph)
            parts.append(((header,), inner) if inner else header)
            rest = set(component) - inner - {header}
            parts.append(([t for n in inner or (header,) for t in graph[n]], rest))
            sources = tuple(n for n in component if n in rest and header in graph[n])
            if len(sources) > 1:
                latch = len(graph) + len(added)
                added[latch] = (header, sources)
                parts.append(latch)
        work += reversed(parts)
    return order, added


def inner_loop(component: Sequence[int], graph: Graph) -> set[int]:
    """Return the loop inside a loop that begins with the same block; empty if there is none.

    If all ways out of the loop lead through one of its blocks, then what turns back before that block goes
    round an inner loop, whose lanes are to meet there.
    """
    members, header = set(component), component[0]
    if sum(header in graph[n] for n in component) < 2:
        return set()
    way = _way_out(header, members, graph)
    for gate in reversed(way[1:]):
        left = members - {gate}
        if not _way_out(header, left, graph, members):
            inner = set(components((header,), left, graph)[0])
            return inner if len(inner) > 1 or header in graph[header] else set()
    return set()


def _way_out(start: int, within: set[int], graph: Graph, loop: set[int] | None = None) -> list[int]:
    """Return a shortest path within some blocks to one that can leave the loop; empty if there is none."""
    loop = within if loop is None else loop
    before = {start: start}
    queue = [start]
    for node in queue:
        if not graph[node] or any(t not in loop for t in graph[node]):
            path = [node]
            while path[-1] != start:
                path.append(before[path[-1]])
            return path[::-1]
        for target in graph[node]:
            if target in within and target not in before:
                before[target] = node
                queue.append(target)
    return []


def components(roots: Sequence[int], inside: set[int], graph: Graph) -> list[list[int]]:
    """Return the strongly connected components reachable from ``roots`` within ``inside``, topologically.

    The first block of each is where the search came in: the header, of a loop with one entry. Tarjan,
    *Depth-first search and linear graph algorithms* (1972), without recursion.
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_: list[int] = []
    closed: set[int] = set()
    found: list[list[int]] = []
    path: list[tuple[int, Iterator[int]]] = []

    def enter(node: int) -> None:
        number[node] = low[node] = len(number)
        open_.append(node)
        path.append((node, iter(graph[node])))

    for root in roots:
        if root in inside and root not in number:
            enter(root)
        while path:
            node, following = path[-1]
            for target in following:
                if target not in inside or target in closed:
                    continue
                if target not in number:
                    enter(target)
                    break
                low[node] = min(low[node], number[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == number[node]:
                    found.append(_close(node, open_))
                    closed.update(found[-1])
    return found[::-1]


def _close(node: int, open_: list[int]) -> list[int]:
    """Take the blocks from ``node`` on off the stack."""
    at = len(open_) - 1
    while open_[at] != node:
        at -= 1
    component = open_[at:]
    del open_[at:]
    return component
