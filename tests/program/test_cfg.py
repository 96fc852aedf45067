from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operations import grows_linearly
from warpwatt.core.errors import InputError
from warpwatt.core.program import Flow, Guard, Instruction, Level, Program
from warpwatt.program.cfg import control_flow
from warpwatt.program.graph import frontiers
from warpwatt.program.loops import natural_loops

from .build import graph_program


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 12))
    nodes = st.integers(0, count - 1)
    return {n: draw(st.lists(nodes, max_size=3, unique=True)) for n in range(count)}, count


def as_networkx(flow) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(flow.blocks)))
    graph.add_edges_from((b.index, s) for b in flow.blocks for s in b.successors)
    return graph


def reachable_part(flow) -> nx.DiGraph:
    graph = as_networkx(flow)
    return graph.subgraph({0} | nx.descendants(graph, 0)).copy()


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_dominators_agree_with_networkx(made):
    flow = control_flow(graph_program(*made))
    graph = reachable_part(flow)
    expected = nx.immediate_dominators(graph, 0)
    assert set(flow.order) == set(graph)
    for block in graph:
        assert flow.idom[block] == (-1 if block == 0 else expected[block])
    for a in graph:
        for b in graph:
            on_chain = b
            while on_chain not in (a, 0):
                on_chain = expected[on_chain]
            assert flow.dominates(a, b) == (on_chain == a)
    assert all(flow.idom[b] == -1 and not flow.dominates(0, b) for b in flow.unreachable)


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_postdominators_agree_with_networkx(made):
    flow = control_flow(graph_program(*made))
    graph = reachable_part(flow)
    graph.add_edges_from((b, flow.exit) for b in list(graph) if not flow.blocks[b].successors)
    stuck = set(graph) - (nx.ancestors(graph, flow.exit) if flow.exit in graph else set()) - {flow.exit}
    if stuck:
        assert all(flow.ipdom[b] >= 0 for b in flow.order)
        return
    expected = nx.immediate_dominators(graph.reverse(), flow.exit)
    assert all(flow.ipdom[b] == expected[b] for b in flow.order)


@given(graphs())
@settings(max_examples=200, deadline=None)
def test_frontiers_agree_with_networkx(made):
    flow = control_flow(graph_program(*made))
    graph = reachable_part(flow)
    expected = nx.dominance_frontiers(graph, 0)
    got = frontiers(flow.idom, [b.predecessors for b in flow.blocks])
    assert all(got[b] == set(expected[b]) for b in graph)


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_loops_are_the_natural_loops(made):
    flow = control_flow(graph_program(*made))
    forest = natural_loops(flow)
    graph = reachable_part(flow)
    back = [(u, v) for u, v in graph.edges if flow.dominates(v, u)]
    expected = {}
    for u, v in back:
        without = graph.subgraph(set(graph) - {v})
        body = {v, u} | (nx.ancestors(without, u) if u != v else set())
        expected.setdefault(v, set()).update(body)
    assert {loop.header: set(loop.blocks) for loop in forest.loops} == expected
    for loop in forest.loops:
        assert set(loop.latches) == {u for u, v in back if v == loop.header}
        assert set(loop.exits) == {
            (u, v) for u, v in graph.edges if u in loop.blocks and v not in loop.blocks
        }
        inside = [o for o in forest.loops if set(loop.blocks) < set(o.blocks)]
        assert loop.depth == 1 + len(inside)
        assert loop.parent == (min(inside, key=lambda o: len(o.blocks)).index if inside else None)
    assert sorted(forest.order) == sorted(graph)
    forward = [e for e in graph.edges if e not in back and e not in forest.irreducible]
    assert all(forest.position[u] < forest.position[v] for u, v in forward)
    remaining = nx.DiGraph(forward)
    assert nx.is_directed_acyclic_graph(remaining)


def test_irreducible_cycle_is_reported():
    flow = control_flow(graph_program({0: [1, 2], 1: [2], 2: [1, 3]}, 4))
    forest = natural_loops(flow)
    assert not forest.loops
    assert len(forest.irreducible) == 1


def test_guarded_return_ends_a_block_and_calls_do_not():
    instructions = (
        Instruction(0, "setp.ge.s32"),
        Instruction(1, "ret", guard=Guard("%p1"), flow=Flow.RETURN),
        Instruction(2, "call.uni", flow=Flow.CALL),
        Instruction(3, "bar.sync", flow=Flow.BARRIER),
        Instruction(4, "ret", flow=Flow.RETURN),
        Instruction(5, "add.s32"),
    )
    flow = control_flow(Program("k", Level.PTX, "sm_90", instructions))
    assert [(b.start, b.stop) for b in flow.blocks] == [(0, 2), (2, 5), (5, 6)]
    assert flow.blocks[0].successors == (1,)
    assert flow.edge_guard(0, 1) == Guard("%p1", negated=True)
    assert flow.unreachable == (2,)
    assert flow.ipdom[0] == flow.exit


def test_branch_to_nowhere_names_the_label():
    jump = Instruction(0, "bra", flow=Flow.JUMP, targets=("$L__BB0_9",))
    with pytest.raises(InputError, match=r"\$L__BB0_9"):
        control_flow(Program("k", Level.PTX, "sm_90", (jump,)))


def test_empty_program_has_one_block():
    flow = control_flow(Program("k", Level.PTX, "sm_90", ()))
    assert [(b.start, b.stop) for b in flow.blocks] == [(0, 0)]
    assert flow.ipdom == [1]


@pytest.mark.parametrize("shape", ["early exits", "ifs", "loops in a row"])
def test_work_is_about_linear(shape):
    def edges(count: int) -> dict[int, list[int]]:
        return {
            "early exits": {i: [count - 1, i + 1] for i in range(count - 2)} | {count - 2: [count - 1]},
            "ifs": {
                i: ([i + 1, i + 2] if i % 2 == 0 and i + 2 < count else [i + 1]) for i in range(count - 1)
            },
            "loops in a row": {i: [i, i + 1] for i in range(count - 1)},
        }[shape]

    def analyse(count: int) -> None:
        flow = control_flow(graph_program(edges(count), count))
        forest = natural_loops(flow)
        frontiers(flow.idom, [b.predecessors for b in flow.blocks])
        assert len(forest.loops) == (count - 1 if shape == "loops in a row" else 0)

    assert grows_linearly(analyse, 100, 8)
