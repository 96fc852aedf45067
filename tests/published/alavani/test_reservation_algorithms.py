"""Algorithms 6-8: the thesis' worked example, and properties against a literal cycle-by-cycle table."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.errors import LaunchError
from warpwatt.published.alavani.opclass import Resource
from warpwatt.published.alavani.reservation import (
    FlowBlock,
    Vertex,
    forward_order,
    occupancy_cycles,
    schedule_block,
    schedule_cfg,
)
from warpwatt.published.alavani.waves import SmLimits, rounds_of_blocks, waves

UNITS = {Resource.SP: 192, Resource.LSU: 32, Resource.SFU: 32, Resource.WS: 128}
KEPLER = SmLimits(threads=2048, blocks=16, registers=65536, shared=49152)


def test_thesis_worked_example():
    """Section 4.4.4.2, vectorAdd on a K20, 13 x 256 threads, with the order of the text."""
    c8, c9, c10, m1, m2, c11 = range(6)
    load = Vertex(math.ceil(0.02828 * 13 * 256 + 220), Resource.LSU)
    add, cvta = Vertex(9, Resource.SP), Vertex(33, Resource.SP)
    vertices = [add, cvta, add, load, load, add]
    predecessors = [[], [], [c9], [c8], [c10], [m1, m2]]
    schedule = schedule_block(vertices, predecessors, 256, UNITS)
    spans = [(s, s + d) for s, d in zip(schedule.start, schedule.duration, strict=True)]
    assert spans[c8][0] == 0
    assert spans[c9] == (10, 44)
    assert spans[c10] == (44, 54)
    assert spans[m1] == (10, 332)
    assert spans[m2] == (332, 654)
    assert spans[c11][0] == 654  # the thesis prints 655
    assert schedule.critical() == (10, 0, 0, 322, 322, 10)


@st.composite
def blocks(draw):
    n = draw(st.integers(1, 14))
    vertices = [
        Vertex(draw(st.integers(1, 12)), draw(st.sampled_from([Resource.SP, Resource.LSU, Resource.SFU])))
        for _ in range(n)
    ]
    preds = [sorted(draw(st.sets(st.integers(0, i - 1), max_size=3))) if i else [] for i in range(n)]
    return vertices, preds, draw(st.integers(1, 300))


def literal_algorithm_6(vertices, predecessors, threads):
    """The printed pseudocode, one table entry per cycle."""
    reserved = {r: set() for r in Resource}
    start, length = [], []
    for v, vertex in enumerate(vertices):
        t = max((start[u] + length[u] for u in predecessors[v]), default=0)
        d = vertex.latency + math.ceil(threads / UNITS[vertex.resource]) - 1
        while any(t + i in reserved[vertex.resource] for i in range(d)):
            t += 1
        reserved[vertex.resource].update(range(t, t + d))
        start.append(t)
        length.append(d)
    return tuple(start)


@settings(max_examples=150, deadline=None)
@given(blocks())
def test_schedule_equals_the_literal_table(block):
    vertices, preds, threads = block
    schedule = schedule_block(vertices, preds, threads, UNITS)
    assert schedule.start == literal_algorithm_6(vertices, preds, threads)
    assert sum(schedule.critical()) == schedule.delay
    assert all(
        d == occupancy_cycles(v, threads, UNITS) for v, d in zip(vertices, schedule.duration, strict=True)
    )


def chain(latency, executions=1.0, successors=()):
    return FlowBlock((Vertex(latency, Resource.SP),), ((),), tuple(successors), executions)


def test_cfg_takes_the_longer_branch_and_multiplies_loops():
    diamond = [chain(9, 1, [1, 2]), chain(20, 1, [3]), chain(30, 4, [2, 3]), chain(5)]
    schedule = schedule_cfg(diamond, 192, UNITS)
    assert schedule.delay == 9 + 4 * 30 + 5
    assert schedule.path == (0, 2, 3)


def test_cfg_of_nothing_is_zero():
    assert schedule_cfg([], 192, UNITS).delay == 0


def graphs(n):
    return st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n)
    )
)
def test_forward_order_is_topological_and_complete(successors):
    order = forward_order(successors)
    seen = set()
    for block, parents in order:
        assert all(p in seen and block in successors[p] for p in parents)
        seen.add(block)
    reachable, todo = {0}, [0]
    while todo:
        for s in successors[todo.pop()]:
            if s not in reachable:
                reachable.add(s)
                todo.append(s)
    assert seen == reachable


@pytest.mark.parametrize(
    ("block_size", "registers", "shared", "expected"),
    [
        (256, 16, 0, 2048),  # threads
        (256, 64, 0, 1024),  # 65536 / (64 * 256) = 4 blocks
        (256, 100, 0, 512),  # floors to 2 blocks
        (256, 16, 20000, 512),  # 2 blocks of shared memory
        (64, 16, 0, 1024),  # 16 blocks
    ],
)
def test_each_limit_binds(block_size, registers, shared, expected):
    assert waves(100_000, block_size, registers, shared, 13, KEPLER).threads == expected


def test_a_block_that_fits_nowhere_is_an_error():
    with pytest.raises(LaunchError, match="an SM has 65536"):
        waves(10, 1024, 80, 0, 13, KEPLER)
    with pytest.raises(LaunchError):
        waves(10, 32, 8, 50_000, 13, KEPLER)


def literal_algorithm_5(blocks, sms, resident):
    """The printed loop: deal blocks round robin, add the fullest SM's count per round."""
    total = 0
    while blocks > 0:
        counters, dealt, sm = [0] * sms, 0, 0
        while dealt < resident * sms and blocks > 0:
            counters[sm] += 1
            dealt, blocks, sm = dealt + 1, blocks - 1, (sm + 1) % sms
        total += max(counters)
    return total


@given(st.integers(1, 500), st.integers(1, 15), st.integers(1, 16))
def test_rounds_equal_the_literal_loop(blocks, sms, resident):
    assert rounds_of_blocks(blocks, sms, resident) == literal_algorithm_5(blocks, sms, resident)
