from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings

from warpwatt.isa.ptx import lower, parse
from warpwatt.program.cfg import control_flow
from warpwatt.program.dataflow import Dependence, block_graph

from .build import programs


@given(programs())
@settings(max_examples=200, deadline=None)
def test_edges_are_definitions_and_uses_and_the_chain_is_the_longest_path(program):
    flow = control_flow(program)
    for block in range(len(flow.blocks)):
        graph = block_graph(program, block)
        expected = set()
        instructions = flow.instructions(block)
        for reader in instructions:
            for register in reader.reads:
                writers = [i.index for i in instructions if i.index < reader.index and register in i.writes]
                expected.update((w, reader.index) for w in writers[-1:])
        assert {(e.producer, e.consumer) for e in graph.edges} == expected
        drawn = nx.DiGraph(expected)
        drawn.add_nodes_from(graph.order)
        longest = nx.dag_longest_path_length(drawn, default_weight=1) + 1 if instructions else 0
        assert graph.longest_chain() == longest


def body(text: str):
    head = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
    head += ".reg .b32 %r<9>; .reg .b64 %d<9>;\n"
    return lower(parse(head + text + "ret;\n}"), "k")


def test_memory_order_can_be_switched_off():
    program = body("st.global.u32 [%d1], %r1; ld.global.u32 %r2, [%d2]; ld.shared.u32 %r3, [%r4];\n")
    ordered = block_graph(program, 0)
    assert [(e.producer, e.consumer, e.kind) for e in ordered.edges] == [(0, 1, Dependence.MEMORY)]
    assert not block_graph(program, 0, memory=False).edges


def test_barrier_orders_all_spaces():
    program = body("st.shared.u32 [%r1], %r2; bar.sync 0; ld.shared.u32 %r3, [%r4];\n")
    pairs = {(e.producer, e.consumer) for e in block_graph(program, 0).edges}
    assert {(0, 1), (1, 2)} <= pairs


def test_chain_takes_latencies():
    program = body("add.s32 %r1, %r2, 1; mul.lo.s32 %r3, %r1, 2; add.s32 %r4, %r5, 1;\n")
    latency = {"add.s32": 4.0, "mul.lo.s32": 6.0, "ret": 0.0}
    assert block_graph(program, 0).longest_chain(lambda i: latency[i.opcode]) == 10.0
    assert block_graph(program, 0).ilp == pytest.approx(4 / 2)
