"""Pages filled natively hold what Python would put there."""

import ctypes

import numpy as np
import pytest

from warpwatt.emulate import fills
from warpwatt.emulate.memory import DTYPES
from warpwatt.emulate.native import filling
from warpwatt.emulate.native.aot import Library, load


@pytest.mark.parametrize("dtype", DTYPES[filling.SINGLE :])
def test_native_random_numbers_are_those_of_python(dtype):
    code = load([Library((filling,), ("fill",)).object()])
    fill = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 6)(code.address("fill"))
    found = np.zeros(777, fills.NUMPY[dtype])
    key = fills.key("a buffer", 5)
    fill(found.ctypes.data, DTYPES.index(dtype), found.itemsize, key, 123, len(found))
    assert (found == fills.random(key, dtype, 123, len(found))).all()
