"""Blocks begun where the bits of their numbers say: bit reversals, Morton orders, numbers divided."""

import numpy as np
import pytest

from tests.emulate.caches.kernels import LANES, TracedKernel, slot
from warpwatt.core.launch import Dim3
from warpwatt.core.program import Access, Resources
from warpwatt.emulate.caches.bits import _overlap, met_by_bits
from warpwatt.emulate.caches.footprint import footprint
from warpwatt.emulate.sampling import sample_blocks
from warpwatt.emulate.workload import workload
from warpwatt.gpus import find

BLOCKS, BITS = 2048, 16
"""Blocks of one warp each; bits of the number of a word."""


def bit_reversal(x):
    """Return where the lanes of a block write: every 256th writes other words of the same sectors."""
    return sum((32 * x + LANES >> bit & 1) << (BITS - 1 - bit) for bit in range(BITS))


def morton(x):
    """Return a line of a matrix of 64 x 32 lines, row by row, by its number in Morton's order."""
    row, column = (sum((x >> 2 * bit + odd & 1) << bit for bit in range(6)) for odd in (1, 0))
    return 32 * (64 * row + column) + LANES


def divided(x):
    """Return the line of a block of which those of 16 in steps of 64 have the same."""
    return 32 * (x % 64 + 64 * (x // 1024)) + LANES


def writer(place):
    return TracedKernel(
        Dim3(BLOCKS),
        Dim3(32),
        ((Access.STORE, 4, "st.global"),),
        lambda x, _y, _z: [[(0, slot(1) + 4 * place(x))]],
        {1: ("y", 4.0 * 2**BITS)},
    )


@pytest.mark.parametrize(
    ("place", "blocks"),
    [(bit_reversal, (1, 100, 256, 700, BLOCKS)), (morton, (1, 100, 700, BLOCKS)), (divided, (1, 64, BLOCKS))],
)
def test_few_blocks_say_which_blocks_of_the_grid_meet(place, blocks):
    kernel = writer(place)
    numbers = sample_blocks(kernel.grid).numbers
    assert len(numbers) < BLOCKS / 50
    (growth,) = kernel.execution(numbers).reuse.growths
    for count in blocks:
        touched = np.concatenate([place(x) // 8 for x in range(count)])
        assert footprint(growth, kernel.grid, count) == pytest.approx(32 * len(np.unique(touched)), rel=1e-6)


@pytest.mark.parametrize("place", [bit_reversal, morton, divided])
def test_a_sample_moves_what_the_whole_grid_does(place):
    kernel, gpu = writer(place), find("rtx3090")
    executions = [kernel.execution(numbers) for numbers in (sample_blocks(kernel.grid).numbers, None)]
    sampled, whole = (workload(e, gpu, Resources(registers=16)) for e in executions)
    assert sampled.dram.written == pytest.approx(whole.dram.written, rel=0.02)


def test_a_few_blocks_may_leave_some_of_it_out():
    """Pairs 64 lines apart: the last blocks have none, one in ten touches half of what the others do."""
    sampled = sample_blocks(Dim3(BLOCKS))

    def touched(number):
        own = 4 * (number + number // 64 * 64) + np.arange(4)
        both = np.concatenate([own, own + 256])
        return both[: 0 if number >= BLOCKS - 2 else 4 if number % 10 == 3 else 8]

    every = sum(len(touched(number)) for number in range(BLOCKS))
    again, sectors = met_by_bits([touched(n) for n in sampled.numbers.tolist()], sampled)
    assert again == ()
    assert sectors == pytest.approx(every, rel=0.05)


def test_places_drawn_at_random_are_not_taken_for_bits():
    sampled = sample_blocks(Dim3(BLOCKS))
    drawn = np.random.default_rng(3).integers(0, 4096, len(sampled.numbers))
    assert met_by_bits([np.array([at, at + 3]) for at in drawn], sampled) is None
    assert met_by_bits([np.array([n, n + 1]) for n in sampled.numbers.tolist()], sampled) is None  # overlap
    assert met_by_bits([np.array([n, n + BLOCKS]) for n in sampled.numbers.tolist()], sampled) == (
        (),
        2 * BLOCKS,
    )


def test_a_reversal_of_many_sectors_is_known_too():
    """2²⁴ words reversed by blocks of 256: 256 sectors each, 64 KB apart; eight blocks write each of them."""
    sampled = sample_blocks(Dim3(2**16))
    words = np.arange(256)

    def touched(number):
        return np.sort(sum((256 * number + words >> bit & 1) << (23 - bit) for bit in range(24)) // 8)

    again, sectors = met_by_bits([touched(n) for n in sampled.numbers.tolist()], sampled)
    assert sectors == 2**24 / 8
    assert [(lag.blocks, lag.share) for lag in again] == [(8192.0, 0.875)]


@pytest.mark.parametrize("seed", range(20))
def test_patterns_that_overlap_are_found_as_one_by_one(seed):
    draw = np.random.default_rng(seed)
    for _ in range(50):
        places = np.cumsum(draw.integers(1, 6, draw.integers(1, 5))) * draw.choice([1, 7])
        pattern = np.cumsum(draw.integers(1, 4, draw.integers(1, 6))) * draw.choice([1, 5])
        every = (places[:, None] + pattern).ravel()
        assert _overlap(places, pattern) == (len(np.unique(every)) < len(every))
