"""Chapter 6 against brute force: MIN, ILP, bank conflicts, greedy; 5.1's simulation against (4.4)."""

from __future__ import annotations

import itertools
from functools import cache
from itertools import pairwise
from math import gcd

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.published.resios.c_loops.helpers import mapping
from warpwatt.gpus import find
from warpwatt.published.resios.accesses import Opportunity, bank_conflicts, greedy, requests
from warpwatt.published.resios.analyses import arithmetic_intensity, spills
from warpwatt.published.resios.equations import compute_delay, memory_delay
from warpwatt.published.resios.graph import Block, Op, blocks
from warpwatt.published.resios.machine import Rate, machine
from warpwatt.published.resios.simulation import POLICIES, Hardware, Step, Unit, simulate

instructions = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=2), min_size=1, max_size=9)


def fewest_reloads(uses, k):
    """Return the fewest loads of values into k registers over all choices of what to evict."""

    @cache
    def best(number, held):
        if number == len(uses):
            return 0
        wanted = frozenset(uses[number])
        missing = wanted - held
        whole = held | wanted
        if len(whole) <= k:
            return len(missing) + best(number + 1, whole)
        spare = whole - wanted
        gone = itertools.combinations(sorted(spare), len(whole) - k)
        return len(missing) + min(best(number + 1, whole - set(out)) for out in gone)

    return best(0, frozenset())


@settings(max_examples=150, deadline=None)
@given(instructions, st.integers(2, 4))
def test_min_reloads_as_little_as_anything_can(uses, k):
    found = spills(uses, [None] * len(uses), k)
    first_reads = len({value for operands in uses for value in operands})
    assert len(found.reloads) + first_reads == fewest_reloads(tuple(map(tuple, uses)), k)
    assert spills(uses, [None] * len(uses), 99).reloads == []


def test_min_stores_a_value_once():
    uses = [[], [], [], [0], [1], [0], [2], [0], [1]]
    defs = [0, 1, 2, None, None, None, None, None, None]
    found = spills(uses, defs, 1)
    assert len(found.spills) == 3
    assert len(found.reloads) == 6


ops = st.lists(st.lists(st.integers(1, 12), max_size=2), min_size=1, max_size=12)


@given(ops)
def test_ilp_is_instructions_over_the_longest_path(operands):
    made = [
        Op("add", tuple(u for u in uses if u <= number), number + 1, 1)
        for number, uses in enumerate(operands)
    ]
    graph = networkx.DiGraph()
    graph.add_nodes_from(op.result for op in made)
    graph.add_edges_from((use, op.result) for op in made for use in op.uses)
    block = Block(tuple(made), 1.0)
    assert block.longest == networkx.dag_longest_path_length(graph) + 1
    assert block.parallelism == len(made) / block.longest


def test_the_example_of_section_6_2():
    _, found = mapping(
        "void f(int n, float *restrict g, const float *restrict p) { for (int i = 0; i < n; i++) {"
        " float a = i, e = a + 2.0f, f = a + 3.0f; g[i] = e * f; } }",
        n=4,
    )
    kinds = [op.kind for op in blocks(found)[0].ops]
    assert kinds == ["convert", "fadd", "fadd", "fmul", "st"]
    assert blocks(found)[0].longest == 4


def passes(offsets, banks, width):
    """Serve lanes pass by pass: in each, one word per bank to every lane that wants it."""
    waiting, count = list(offsets), 0
    while waiting:
        count += 1
        served = {}
        for offset in waiting:
            word = offset // width
            served.setdefault(word % banks, word)
        waiting = [o for o in waiting if served[o // width % banks] != o // width]
    return count


@given(st.lists(st.integers(0, 4095), min_size=32, max_size=32))
def test_bank_conflicts_are_the_passes(offsets):
    needed = passes(offsets, 32, 4)
    assert bank_conflicts(offsets) == (needed if needed > 1 else 0)


@pytest.mark.parametrize("stride", range(1, 65))
def test_strides_conflict_as_section_3_2_says(stride):
    expected = gcd(32, stride)
    assert bank_conflicts([4 * stride * lane for lane in range(32)]) == (expected if expected > 1 else 0)


@pytest.mark.parametrize(
    ("stride", "size"), list(itertools.product((-8, 0, 1, 3, 4, 8, 64, 127, 4096), (1, 4, 8)))
)
def test_requests_are_the_lines_touched(stride, size):
    lines = {(lane * stride + byte) // 128 for lane in range(32) for byte in range(size)}
    assert requests(stride, size) == len(lines)


opportunity = st.builds(
    lambda n, size, frequency: Opportunity(n, size, frequency, 2.0, whole=False),
    st.text("abc", min_size=1, max_size=3), st.integers(1, 40), st.integers(1, 50).map(float),
)  # fmt: skip


@given(st.lists(opportunity, max_size=7), st.integers(1, 90))
def test_greedy_is_the_longest_prefix_that_fits(found, capacity):
    order = sorted(found, key=lambda o: -o.frequency / o.size)
    lengths = [n for n in range(len(order) + 1) if sum(o.size for o in order[:n]) <= capacity]
    assert list(greedy(found, capacity)) == order[: max(lengths)]


def test_arithmetic_intensity_counts_by_hand():
    _, found = mapping(
        "void f(int n, float *restrict d, const float *restrict s) { for (int i = 0; i < n; i++)"
        " { float x = s[i]; float y = x * 2.0f; d[i] = y * y; } }",
        n=4,
    )
    # off-chip: the load, the product of what it brought, the store; on-chip: y * y
    assert arithmetic_intensity(blocks(found)) == 1 / 3
    assert arithmetic_intensity(blocks(found), frozenset({"s", "d"})) == float("inf")


RATE = Rate(22, 16, 11)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("warps", [1, 4, 11, 12, 48])
def test_one_kind_of_instruction_takes_what_4_4_says(policy, warps):
    trace = [Step(Unit.COMPUTE, 1, 1, RATE)] * 20
    outcome = simulate(trace, 1, warps, Hardware(48, 8), policy)
    assert outcome.cycles >= warps * 20 * compute_delay(22, 16, 11, warps) * (1 - 1e-9)
    if policy == "in-turn" and warps <= 11:  # warps keep pace, so the TLP is the same to the last round
        last = outcome.cycles / (20 * 22)
        assert 1 - 1e-9 <= last <= 1 + 1e-9 + (warps - 1) * 0.2


def test_memory_waits_hide_behind_compute():
    memory = Step(Unit.MEMORY, 1, 1, Rate(500, 0, 8), penalty=2.0, label=0)
    compute = Step(Unit.COMPUTE, 40, 1, RATE)
    alone = simulate([memory], 1, 8, Hardware(48, 8))
    both = simulate([memory, compute] * 4, 1, 8, Hardware(48, 8))
    assert alone.idle[0] == pytest.approx(alone.taken[0])
    assert both.idle[0] < both.taken[0]


def test_one_warp_alone_takes_the_sum_of_its_delays():
    trace = [Step(Unit.MEMORY, 3, 1, Rate(500, 0, 8), 2.0, 0), Step(Unit.COMPUTE, 5, 2, RATE)]
    expected = 3 * memory_delay(500, 2, 8, 1) + 5 * compute_delay(22, 16, 11, 2)
    assert simulate(trace, 1, 1, Hardware(48, 8)).cycles == pytest.approx(expected)


def test_a_barrier_holds_warps_until_the_last_of_their_block():
    barrier = Step(Unit.BARRIER, 1, 1, RATE)
    work = Step(Unit.COMPUTE, 10, 1, RATE)
    without = simulate([work, work], 2, 4, Hardware(48, 8))
    held = simulate([work, barrier, work], 2, 4, Hardware(48, 8))
    assert held.cycles >= without.cycles * 0.5
    assert simulate([barrier], 3, 4, Hardware(4, 8)).cycles == 0


def test_blocks_beyond_the_limits_wait():
    work = [Step(Unit.COMPUTE, 10, 1, RATE)] * 3
    one = simulate(work, 1, 4, Hardware(4, 8)).cycles
    assert simulate(work, 5, 4, Hardware(4, 8)).cycles == pytest.approx(5 * one)


@pytest.mark.parametrize("gpu", ["GTX 460", "K20", "v100", "h200", "rtx4090"])
def test_machines_have_all_rates(gpu):
    found = machine(find(gpu))
    assert all(r.latency > 0 and r.throughput > 0 and r.most >= 1 for r in found.rates.values())
    assert found.thesis == (gpu == "GTX 460")
    delays = [memory_delay(found.global_latency, 1, found.peak_parallelism, n) for n in (1, 2, 4)]
    assert all(a >= b for a, b in pairwise(delays))
