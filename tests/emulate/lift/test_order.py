"""Scheduling order: loops contiguous, and lanes of structured code meet at immediate post-dominators."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.emulate.ir import Block, End, Terminator, Type, Value
from warpwatt.emulate.lift.order import arrange, components, schedule

EXIT = -1


class Structured:
    """Random structured code: sequences, if-else, loops with break and continue, early return."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.graph: list[list[int]] = []
        end = self.new()
        start = self.new()
        last = self.region(start, 3, None, None, end)
        if last is not None:
            self.graph[last].append(end)
        self.start, self.end = start, end

    def new(self) -> int:
        """Add a block."""
        self.graph.append([])
        return len(self.graph) - 1

    def region(
        self, at: int | None, depth: int, exit_: int | None, again: int | None, end: int
    ) -> int | None:
        """Write some code behind block ``at``; return its last block, None where control has left."""
        for _ in range(self.source.randint(1, 3)):
            if at is None:
                return None
            kind = self.source.random()
            if depth and kind < 0.4:
                at = self.choice(at, depth - 1, exit_, again, end)
            elif depth and kind < 0.7:
                at = self.loop(at, depth - 1, end)
            elif kind < 0.8 and exit_ is not None and again is not None:
                behind = self.new()
                self.graph[at] += [self.source.choice([exit_, again]), behind]
                at = behind
            elif kind < 0.85:
                behind = self.new()
                self.graph[at] += [end, behind]
                at = behind
        return at

    def choice(self, at: int, depth: int, exit_: int | None, again: int | None, end: int) -> int | None:
        """Write if and else."""
        join, ends = self.new(), []
        for _ in range(2):
            arm = self.new()
            self.graph[at].append(arm)
            last = self.region(arm, depth, exit_, again, end)
            if last is not None:
                self.graph[last].append(join)
                ends.append(last)
        return join if ends else None

    def loop(self, at: int, depth: int, end: int) -> int:
        """Write a loop tested at its top or at its bottom."""
        header, body, behind = self.new(), self.new(), self.new()
        self.graph[at].append(header)
        top = self.source.random() < 0.5
        self.graph[header] += [behind, body] if top else [body]
        last = self.region(body, depth, behind, header, end)
        if last is not None:
            self.graph[last] += [header] if top else [header, behind]
        elif not top:  # the exit must be reachable
            self.graph[body].append(behind)
        return behind

    def renumbered(self) -> list[tuple[int, ...]]:
        """Return the successors with the entry first and unreachable blocks gone, in random order."""
        reach = [self.start, *sorted(nx.descendants(self.digraph(), self.start) - {self.start})]
        tail = reach[1:]
        self.source.shuffle(tail)
        place = {block: at for at, block in enumerate([self.start, *tail])}
        return [tuple(dict.fromkeys(place[t] for t in self.graph[b])) for b in place]

    def digraph(self) -> nx.DiGraph:
        """Return the graph."""
        graph = nx.DiGraph()
        graph.add_nodes_from(range(len(self.graph)))
        graph.add_edges_from((a, b) for a, targets in enumerate(self.graph) for b in targets)
        return graph


def digraph(graph: list[tuple[int, ...]]) -> nx.DiGraph:
    """Return successors as a graph of networkx."""
    result = nx.DiGraph()
    result.add_nodes_from(range(len(graph)))
    result.add_edges_from((a, b) for a, targets in enumerate(graph) for b in targets)
    return result


def ordered(graph: list[tuple[int, ...]]) -> list[Block]:
    """Return the graph as arranged blocks; a block's ``address`` is its number before."""
    blocks = []
    for number, targets in enumerate(graph):
        if not targets:
            end = Terminator(End.EXIT)
        elif len(targets) == 1:
            end = Terminator(End.JUMP, targets)
        else:
            end = Terminator(End.BRANCH, targets, Value(0, Type.I1))
        blocks.append(Block(range(number, number + 1), end=end, address=number))
    return list(arrange(blocks))


@settings(max_examples=150)
@given(st.integers(0, 2**32))
def test_lanes_meet_at_immediate_post_dominators(seed: int) -> None:
    source = random.Random(seed)
    graph = Structured(source).renumbered()
    blocks = ordered(graph)
    whole = digraph(graph)
    exits = [n for n in whole if not graph[n]]
    whole.add_edges_from((n, EXIT) for n in exits)
    reversed_ = whole.reverse()
    parent = nx.immediate_dominators(reversed_, EXIT)
    run(blocks, parent, source)


def run(blocks: list[Block], parent: dict[int, int], source: random.Random, lanes: int = 8) -> None:
    """Run lanes by the engine's rule; whoever parts at a branch must pass its post-dominator together."""
    at = dict.fromkeys(range(lanes), 0)
    waiting: list[tuple[int, frozenset[int]]] = []
    """Post-dominators with the lanes that must come there together."""
    for _ in range(3000):
        if not at:
            return
        place = min(at.values())
        active = frozenset(lane for lane, where in at.items() if where == place)
        number = blocks[place].address
        for meeting, group in [w for w in waiting if w[0] == number and w[1] & active]:
            assert group <= active, (number, group, active)
            waiting.remove((meeting, group))
        targets = blocks[place].end.targets
        if not targets:
            for lane in active:
                del at[lane]
            waiting = [(m, g - active) for m, g in waiting if g - active]
            continue
        for lane in active:
            at[lane] = source.choice(targets)
        if number is not None and len({at[lane] for lane in active}) > 1:
            waiting.append((parent.get(number, EXIT), active))


@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_every_loop_stands_together(seed: int) -> None:
    graph = Structured(random.Random(seed)).renumbered()
    order, _ = schedule(graph)
    position = {n: at for at, n in enumerate(order)}
    for component in nx.strongly_connected_components(digraph(graph)):
        places = sorted(position[n] for n in component)
        added = [n for n in order[places[0] : places[-1] + 1] if n >= len(graph)]
        assert places[-1] - places[0] + 1 == len(places) + len(added)


@settings(max_examples=100)
@given(st.lists(st.lists(st.integers(0, 11), max_size=3), min_size=12, max_size=12))
def test_any_graph_ends(edges: list[list[int]]) -> None:
    graph = [tuple(dict.fromkeys(e)) for e in edges]
    order, added = schedule(graph)
    reachable = {0} | nx.descendants(digraph(graph), 0)
    assert {n for n in order if n < len(graph)} == reachable
    assert len(order) == len(set(order)) == len(reachable) + len(added)
    assert order[0] == 0


@settings(max_examples=100)
@given(st.lists(st.lists(st.integers(0, 11), max_size=3), min_size=12, max_size=12))
def test_components_are_those_of_networkx(edges: list[list[int]]) -> None:
    graph = [tuple(e) for e in edges]
    whole = digraph(graph)
    reachable = {0} | nx.descendants(whole, 0)
    found = components([0], set(range(12)), graph)
    wanted = {frozenset(c) for c in nx.strongly_connected_components(whole.subgraph(reachable))}
    assert {frozenset(c) for c in found} == wanted
    place = {n: at for at, c in enumerate(found) for n in c}
    assert all(place[a] <= place[b] for a, b in whole.subgraph(reachable).edges)


def test_a_long_chain_is_no_trouble() -> None:
    graph: list[tuple[int, ...]] = [*((n + 1,) for n in range(20_000)), ()]
    assert schedule(graph)[0] == list(range(20_001))


def test_a_branch_to_the_same_block_twice() -> None:
    blocks = [
        Block(range(1), end=Terminator(End.BRANCH, (1, 1), Value(0, Type.I1))),
        Block(range(1, 2), end=Terminator(End.EXIT)),
    ]
    assert arrange(blocks)[0].end.targets == (1, 1)


@pytest.mark.parametrize("back", [1, 2])
def test_only_several_edges_back_need_a_meeting_place(back: int) -> None:
    graph = [(1,), (2, 3), (1, 3) if back == 1 else (4, 1), (), (1, 3)]
    _, added = schedule(graph)
    assert len(added) == back - 1
