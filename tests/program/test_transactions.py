from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.program.linear import footprint
from warpwatt.program.transactions import blocks_touched, lane_stride, wavefronts

lanes = st.lists(st.integers(0, 300), min_size=32, max_size=32)
masks = st.lists(st.booleans(), min_size=32, max_size=32).filter(any)


@given(lanes, masks, st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([32, 128]))
def test_sectors_and_lines_are_the_distinct_ones(words, mask, size, block):
    addresses = np.array([words]) * size
    touched = {(w * size + b) // block for w, on in zip(words, mask, strict=True) if on for b in range(size)}
    assert blocks_touched(addresses, size, np.array([mask]), block).tolist() == [len(touched)]


def test_accesses_across_a_boundary_touch_both_sides():
    assert blocks_touched(np.array([[30]]), 4, np.array([[True]]), 32).tolist() == [2]
    assert blocks_touched(np.array([[0]]), 256, np.array([[True]]), 32).tolist() == [8]


def passes(addresses, size, mask) -> int:
    """Serve groups of lanes one after the other; a bank delivers one word per pass."""
    words = max(1, size // 4)
    groups = min(words, 4)

    def fullest(of) -> int:
        banks = defaultdict(set)
        for lane in of:
            if mask[lane]:
                for i in range(words):
                    word = addresses[lane] // 4 + i
                    banks[word % 32].add(word)
        return max((len(b) for b in banks.values()), default=0)

    def paired(distance):
        both = [t for t in range(32) if mask[t] and mask[t ^ distance]]
        return all(addresses[t] == addresses[t ^ distance] for t in both)

    if groups > 1 and (paired(1) or paired(2)):
        groups //= 2
    per = 32 // groups
    return sum(fullest(range(g * per, (g + 1) * per)) for g in range(groups))


@given(lanes, masks, st.sampled_from([4, 8, 16]))
def test_wavefronts_equal_serving_bank_by_bank(words, mask, size):
    addresses = [w * size for w in words]
    assert wavefronts(np.array([addresses]), size, np.array([mask])).tolist() == [
        passes(addresses, size, mask)
    ]


def test_wide_rows_need_no_more_than_their_bytes():
    full = np.ones((1, 32), bool)
    row = np.arange(32)[None]
    assert [int(wavefronts(row * size, size, full)[0]) for size in (4, 8, 16)] == [1, 2, 4]


def test_neighbours_with_one_address_are_served_two_groups_at_once():
    """NVIDIA developer forum, threads 77228 (pairs) and 154784 (two passes for lanes t modulo 4)."""
    full = np.ones((1, 32), bool)
    row = np.arange(32)[None]
    patterns = (row * 0, row // 2, row // 4 * 2 + row % 2, row % 4)
    assert [int(wavefronts(p * 8, 8, full)[0]) for p in patterns] == [1, 1, 1, 2]
    assert [int(wavefronts(p * 16, 16, full)[0]) for p in patterns] == [2, 2, 2, 4]


@given(lanes, masks, st.sampled_from([8, 16]), st.sampled_from([1, 2]))
def test_paired_wavefronts_equal_serving_bank_by_bank(words, mask, size, distance):
    addresses = [words[t & ~distance] * size for t in range(32)]
    assert wavefronts(np.array([addresses]), size, np.array([mask])).tolist() == [
        passes(addresses, size, mask)
    ]


def test_stride_needs_neighbours():
    mask = np.array([[True, False, True]])
    assert lane_stride(np.array([[0, 4, 8]]), mask) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), max_size=3), st.sampled_from([1, 2, 4]))
def test_footprint_is_never_below_the_truth_nor_above_all_accesses(terms, size):
    offsets = {0}
    for factor, extent in terms:
        offsets = {o + factor * size * i for o in offsets for i in range(extent)}
    touched = {o + b for o in offsets for b in range(size)}
    scaled = [(factor * size, extent) for factor, extent in terms]
    assert footprint(size, scaled) >= len(touched)
    nested = sorted(scaled)
    reach = size
    apart = True
    for factor, extent in nested:
        apart &= factor >= reach or factor == 0 or extent == 1
        reach += factor * (extent - 1)
    if apart:
        assert footprint(size, scaled) == len(touched)
