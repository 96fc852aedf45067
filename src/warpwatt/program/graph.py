"""Graph algorithms on plain lists: postorder, dominators, dominance frontiers. No recursion, near-linear."""

from __future__ import annotations

from collections.abc import Sequence


def postorder(successors: Sequence[Sequence[int]], roots: Sequence[int]) -> list[int]:
    """Return the nodes reachable from ``roots`` in depth-first postorder.

    >>> postorder([[1, 2], [3], [3], []], [0])
    [3, 1, 2, 0]
    """
    seen = bytearray(len(successors))
    result: list[int] = []
    for root in roots:
        if seen[root]:
            continue
        seen[root] = 1
        stack = [(root, iter(successors[root]))]
        while stack:
            node, targets = stack[-1]
            for target in targets:
                if not seen[target]:
                    seen[target] = 1
                    stack.append((target, iter(successors[target])))
                    break
            else:
                stack.pop()
                result.append(node)
    return result


def dominators(order: Sequence[int], predecessors: Sequence[Sequence[int]]) -> list[int]:
    """Return immediate dominators; -1 for the root ``order[0]`` and for nodes outside ``order``.

    Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm" (2001), on a reverse postorder. Predecessors
    are taken latest first: neighbours meet after a step or two, so that a label with many early exits
    leading to it stays linear.

    >>> dominators([0, 2, 1, 3], [[], [0], [0], [1, 2]])
    [-1, 0, 0, 0]
    """
    rank = [-1] * len(predecessors)
    for position, node in enumerate(order):
        rank[node] = position
    # In ranks from here on: parents come before their children.
    above = [sorted((rank[p] for p in predecessors[n] if rank[p] >= 0), reverse=True) for n in order]
    idom = [-1] * len(order)
    if order:
        idom[0] = 0
    changed = True
    while changed:
        changed = False
        for node in range(1, len(order)):
            found = -1
            for p in above[node]:
                if idom[p] >= 0:
                    found = p if found < 0 else _meet(idom, found, p)
            if idom[node] != found:
                idom[node] = found
                changed = True
    result = [-1] * len(predecessors)
    for position, node in enumerate(order[1:], start=1):
        result[node] = order[idom[position]]
    return result


def _meet(idom: Sequence[int], a: int, b: int) -> int:
    while a != b:
        while a > b:
            a = idom[a]
        while b > a:
            b = idom[b]
    return a


def children_of(parents: Sequence[int]) -> list[list[int]]:
    """Return the children of every node of a forest given by parents (-1 for a root).

    >>> children_of([-1, 0, 0])
    [[1, 2], [], []]
    """
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    return children


def frontiers(idom: Sequence[int], predecessors: Sequence[Sequence[int]]) -> list[set[int]]:
    """Return dominance frontiers: where the dominance of each node ends (same paper, figure 5).

    >>> frontiers([-1, 0, 0, 0], [[], [0], [0], [1, 2]])
    [set(), {3}, {3}, set()]
    """
    result: list[set[int]] = [set() for _ in idom]
    for node, sources in enumerate(predecessors):
        reachable = [s for s in sources if idom[s] >= 0 or s == 0]
        if len(reachable) < 2 and node != 0:
            continue
        for source in reachable:
            runner = source
            while runner not in (idom[node], -1) and node not in result[runner]:
                result[runner].add(node)
                runner = idom[runner]
    return result
