"""What a block does behind the end of its trace: the same again, or more."""

from dataclasses import replace

import numpy as np
import pytest

from tests.emulate.caches.kernels import TracedKernel, slot
from tests.emulate.caches.oracle import SectoredCache
from warpwatt.core.launch import Dim3
from warpwatt.core.program import Access, Resources
from warpwatt.emulate.caches.cut_traces import new_memory
from warpwatt.emulate.caches.l1 import MOST_ROWS
from warpwatt.emulate.caches.reuse import reuse_of
from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
from warpwatt.emulate.caches.stream import line_stream
from warpwatt.emulate.workload import workload
from warpwatt.gpus import find

LANES = 4 * np.arange(32)
ROUND, ROUNDS = 2000, 10
"""Lines of a block, and how often it reads them; the trace holds the first one and a quarter."""


def rows(block, places):
    """Return a kernel's accesses: a line of the block's own after the other."""
    own = ROUND if max(places) < ROUND else ROUND * ROUNDS
    return [[(0, slot(1) + 128 * (block * own + place) + LANES) for place in places]]


def kernel(places, blocks=68):
    size = 128.0 * blocks * ROUND * (1 if max(places) < ROUND else ROUNDS)
    return TracedKernel(
        Dim3(blocks),
        Dim3(32),
        ((Access.LOAD, 4, "ld.global"),),
        lambda x, _y, _z: rows(x, places),
        {1: ("a", size)},
    )


AROUND = [place % ROUND for place in range(ROUND * 5 // 4)]
STREAM = list(range(ROUND * 5 // 4))
SCALE = ROUNDS / 1.25


@pytest.mark.parametrize(("places", "memory"), [(AROUND, 1.0), (STREAM, SCALE)])
def test_the_end_of_a_trace_says_whether_more_memory_follows(places, memory):
    cut = kernel(places)
    stream = line_stream(cut.trace([0, 1]), 1, cut.program, None)
    assert new_memory(stream, {0: SCALE}) == {0: pytest.approx(memory, rel=0.05)}


@pytest.mark.parametrize("places", [AROUND, STREAM])
def test_rounds_behind_the_end_of_a_trace_come_from_dram_where_l2_holds_no_round(places):
    cut = kernel(places)
    numbers = np.array([5, 30, 55])
    execution = cut.execution(numbers)
    blocks = SampledBlocks(cut.grid, numbers, np.full(3, 68 / 3))
    reuse = reuse_of(cut.trace(numbers), cut.program, blocks, cut.buffers, scales={0: SCALE})
    counts = tuple(SCALE * count for count in execution.counts)
    work = workload(replace(execution, counts=counts, reuse=reuse), find("rtx3080"), Resources(registers=16))
    assert work.dram.read == pytest.approx(68 * ROUND * ROUNDS * 128, rel=0.06)


@pytest.mark.parametrize("traced", [3, 12])
@pytest.mark.parametrize("lines", [600, 1400])
def test_a_random_chain_hits_an_l1_that_holds_its_lines_and_no_smaller_one(lines, traced):
    """Two links in each line, 64 bytes apart, so that their sectors are half of what L1 must have room for.

    The longer chain's 12 rounds are more rows than those of one profile of L1, so that lines are sampled.
    """
    capacity, rounds, links = 128 * 1024 // 128, 60, 2 * lines  # an RTX 3080's, without shared memory
    order = np.random.default_rng(1).permutation(links)
    assert (links * traced > MOST_ROWS) == (lines == 1400 and traced == 12)
    cache = SectoredCache(capacity)
    for link in np.tile(order, rounds).tolist():
        cache.read(link // 2, 1 << 2 * (link % 2))

    def walk(*_):
        return [[(0, np.full(32, slot(1) + 64 * link)) for link in np.tile(order, traced).tolist()]]

    chain = TracedKernel(Dim3(1), Dim3(32), ((Access.LOAD, 4, "ld.global"),), walk, {1: ("a", 64.0 * links)})
    execution, blocks = chain.execution([0]), SampledBlocks(chain.grid, np.array([0]), np.ones(1))
    reuse = reuse_of(chain.trace([0]), chain.program, blocks, chain.buffers, scales={0: rounds / traced})
    whole = replace(execution, counts=(float(links * rounds),), reuse=reuse)
    hits = workload(whole, find("rtx3080"), Resources(registers=16)).hits[0]
    assert hits.l1_hits == pytest.approx(cache.hits / (links * rounds), abs=0.002)


def test_what_neighbours_share_blocks_of_an_sm_do_not():
    """Blocks of a row read columns of their own, those below them the same; a row has its own parameters."""
    grid, numbers = Dim3(128, 32), np.array([2112, 2113, 2240])

    def accesses(x, y, _z):
        return [[(0, slot(1) + 128 * x + LANES), (1, slot(2) + 128 * y + LANES)]]

    load = (Access.LOAD, 4, "ld.global")
    tiles = TracedKernel(grid, Dim3(32), (load, load), accesses, {1: ("b", None), 2: ("a", None)})
    blocks = SampledBlocks(grid, numbers, np.ones(3))
    stream = reuse_of(tiles.trace(numbers), tiles.program, blocks, tiles.buffers).stream
    columns, parameters = (stream.line[stream.instruction == i].tolist() for i in (0, 1))
    assert len(set(columns)) == 3
    assert parameters[0] == parameters[1]


def test_what_no_traced_access_was_of_is_kept_as_what_was_traced():
    """The trace ends before the second load and the second store: caches keep of them as of the first."""
    blocks, load, store = 400, (Access.LOAD, 4, "ld.global"), (Access.STORE, 4, "st.global")

    def accesses(x, _y, _z):
        table, own = slot(1) + LANES, slot(2) + 128 * (x % 40) + LANES
        return [[(0, table), (2, own)] * 10]

    cut = TracedKernel(
        Dim3(blocks), Dim3(32), (load, load, store, store), accesses, {1: ("a", 128), 2: ("b", 5120)}
    )
    execution = cut.execution([5, 100, 310])
    counts = np.array(execution.counts)
    counts[[1, 3]] = 7 * counts[[0, 2]]
    seen = execution.accesses
    untraced = {1: replace(seen[0], buffer=""), 3: replace(seen[2], buffer="")}
    whole = replace(execution, counts=tuple(counts), accesses={**seen, **untraced})
    hits = workload(whole, find("rtx3080"), Resources(registers=16)).hits
    for traced, behind in ((0, 1), (2, 3)):
        assert hits[behind].l1_hits == pytest.approx(hits[traced].l1_hits)
        assert hits[behind].dram.total == pytest.approx(7 * hits[traced].dram.total, rel=1e-6)
