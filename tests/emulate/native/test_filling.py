"""Pages filled natively hold what Python would put there."""

import numpy as np
import pytest

from warpwatt.core.arguments import DType
from warpwatt.emulate import fills
from warpwatt.emulate.memory import DTYPES
from warpwatt.native import ADDRESS, INT, addresses, function


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype not in (DType.F16, DType.BF16)])
def test_native_random_numbers_are_those_of_python(dtype):
    found = np.zeros(777, fills.NUMPY[dtype])
    key = fills.key("a buffer", 5)
    fill = function("fill_random", None, ADDRESS, INT, INT, INT, INT)
    fill(*addresses(found), DTYPES.index(dtype), key, 123, len(found))
    assert (found == fills.random(key, dtype, 123, len(found))).all()
