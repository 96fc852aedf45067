"""Where blocks begin and by which steps that moves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.launch import Dim3
from warpwatt.core.reuse import LineStream
from warpwatt.emulate.caches import movement
from warpwatt.emulate.caches.movement import bases_of, steps_of
from warpwatt.emulate.caches.sampled_blocks import SampledBlocks

ROW = st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2**34), st.integers(1, 15))


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, max_size=40))
def test_ends_are_those_of_plain_sets(rows):
    instruction, block, line, mask = np.array(rows, np.int64).reshape(-1, 4).T
    none = np.zeros(len(rows), np.int64)
    small, kind = none.astype(np.int32), none.astype(np.uint8)
    stream = LineStream(
        instruction.astype(np.int32), block.astype(np.int32), small, none, line, mask.astype(np.uint8), kind
    )
    touched = {}
    for index, number, where, sectors in rows:
        touched.setdefault(index, {}).setdefault(number, set()).update(
            4 * where + bit for bit in range(4) if sectors >> bit & 1
        )
    for found, end in zip(bases_of(stream), (min, max), strict=True):
        assert list(found) == sorted(touched)
        for index, (ordinals, sectors) in found.items():
            pairs = dict(zip(ordinals.tolist(), sectors.tolist(), strict=True))
            assert pairs == {number: end(of) for number, of in sorted(touched[index].items())}


def test_addresses_that_differ_by_a_constant_are_fitted_once(monkeypatch):
    fits = []
    fit = movement._fitted

    def counted(*given):
        fits.append(given)
        return fit(*given)

    monkeypatch.setattr(movement, "_fitted", counted)
    numbers = np.array([0, 1, 50, 51, 93, 94])
    blocks, everyone = SampledBlocks(Dim3(100), numbers, np.ones(6)), np.arange(6, dtype=np.int32)
    found = [steps_of(everyone, 4 * numbers + base, blocks) for base in (0, 1 << 30)]
    assert found[0] == found[1] == pytest.approx((4, 0, 0))
    assert len(fits) == 1
    assert steps_of(everyone, 8 * numbers, blocks) == pytest.approx((8, 0, 0))
    assert steps_of(everyone[:5], 4 * numbers[:5], blocks) == pytest.approx((4, 0, 0))
    assert len(fits) == 3
