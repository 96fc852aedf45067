"""Stack distances against caches simulated access by access."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulate.caches.distances import previous_use, sector_distances, stack_distances
from tests.emulate.caches.oracle import SectoredCache
from warpwatt.emulate.caches import distance

ACCESSES = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 15), st.sampled_from(["read", "full", "partial"])),
    max_size=120,
)


@given(st.lists(st.integers(0, 9), max_size=80), st.lists(st.integers(1, 5), min_size=10, max_size=10))
def test_distances_are_weights_of_distinct_lines_between(lines, weights):
    weighted = stack_distances(np.array(lines, np.int64), np.array([weights[n] for n in lines], float))
    previous = previous_use(np.array(lines, np.int64))
    for i, line in enumerate(lines):
        before = [j for j in range(i) if lines[j] == line]
        assert previous[i] == (before[-1] if before else -1)
        between = set(lines[before[-1] + 1 : i]) if before else None
        assert weighted[i] == (np.inf if between is None else sum(weights[n] for n in between))


@given(ACCESSES, st.integers(1, 14))
def test_sector_hits_are_those_of_an_lru_cache(accesses, capacity):
    cache = SectoredCache(capacity)
    missed = []
    for line, sectors, kind in accesses:
        missed.append(cache.read(line, sectors) if kind == "read" else 0)
        if kind != "read":
            for sector in range(4):
                if sectors >> sector & 1:
                    cache.write(line, sector, 2**32 - 1 if kind == "full" else 0xFF)
    lines = np.array([a[0] for a in accesses], np.int64)
    masks = np.array([a[1] for a in accesses], np.uint8)
    valid = np.array([a[2] != "partial" for a in accesses], bool)
    far = sector_distances(lines, masks, valid)
    for i, (_, sectors, kind) in enumerate(accesses):
        if kind == "read":
            expected = [bool(sectors >> s & 1) and bool(missed[i] >> s & 1) for s in range(4)]
            assert (far[i] >= capacity).tolist() == expected


def test_a_hundred_thousand_accesses_take_no_time():
    lines = np.random.default_rng(0).integers(0, 5000, 1 << 17)
    far = stack_distances(lines)
    assert np.isfinite(far).sum() == len(lines) - 5000
    assert np.nanmedian(far[np.isfinite(far)]) > 1000


@settings(max_examples=40)
@given(ACCESSES, st.lists(st.integers(1, 5), min_size=13, max_size=13))
def test_native_distances_are_the_same(accesses, weights):
    lines = np.array([a[0] for a in accesses], np.int64)
    masks = np.array([a[1] for a in accesses], np.uint8)
    valid = np.array([a[2] != "partial" for a in accesses], bool)
    counted = np.array([weights[a[0]] for a in accesses], float)
    expected = sector_distances(lines, masks, valid, counted)
    np.testing.assert_array_equal(distance.sector_distances(lines, masks, valid, counted), expected)
