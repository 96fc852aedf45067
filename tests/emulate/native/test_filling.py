"""Pages filled natively hold what Python would put there."""

import numpy as np
import pytest

from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.emulate import fills
from warpwatt.emulate.formats import decode
from warpwatt.emulate.memory import DTYPES, FILL_KINDS
from warpwatt.native import ADDRESS, DOUBLE, INT, addresses, function

SHORT = (DType.F16, DType.BF16, DType.E4M3, DType.E5M2)
"""Floats whose ranges and indices are made in Python."""


@pytest.mark.parametrize("fill", FILL_KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_native_elements_are_those_of_python(dtype, fill):
    limit = 1_000_003 if fill in (Fill.INDICES, Fill.OFFSETS) else 0
    buffer = Buffer(dtype, (900,), fill, seed=5, limit=limit)
    found, key = np.zeros(777, fills.NUMPY[dtype]), fills.key(buffer, 3)
    make = function("fill_elements", INT, ADDRESS, INT, INT, INT, DOUBLE, INT, INT)
    kind, factor = FILL_KINDS[fill], fills.factor(buffer)
    made = make(*addresses(found), kind, DTYPES.index(dtype), key, factor, 123, len(found))
    assert made == (dtype not in SHORT or fill in (Fill.RANDOM, Fill.ONES))
    if made:
        wanted = fills.elements(buffer, key, 123, len(found))
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", [DType.E4M3, DType.E5M2])
def test_eight_bits_hold_the_nearest_number(dtype):
    """Beside a search through all finite patterns; random numbers below one are held exactly."""
    every = decode(np.arange(256, dtype=np.uint64), str(dtype))
    finite = every[np.isfinite(every)]
    wanted = np.random.default_rng(0).normal(0, 10.0 ** np.arange(-6, 6)[:, None], (12, 50)).ravel()
    held = every[fills.convert(wanted, dtype)]
    assert np.abs(held - wanted) == pytest.approx(np.abs(finite[:, None] - wanted).min(axis=0), abs=0)
    drawn = every[fills.random(7, dtype, 0, 1000)]
    assert 0 <= drawn.min() < drawn.max() < 1
    assert len(np.unique(drawn)) == 2 ** fills.FRACTION_BITS[dtype]
