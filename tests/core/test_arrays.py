"""What stands in for NumPy's own functions gives what they give."""

from __future__ import annotations

import numpy as np
import pytest

from warpwatt.core.arrays import unique


@pytest.mark.parametrize(
    "values",
    [
        [],
        [7],
        [3, 1, 3, 2, 1],
        [2.5, -1.0, 2.5],
        [[4, 4], [0, 4]],
        np.arange(12)[::-2],
        np.array([5, 5], np.uint8),
    ],
    ids=str,
)
def test_unique_is_that_of_numpy(values):
    assert unique(values).tolist() == np.unique(values).tolist()
    assert unique(values).dtype == np.unique(values).dtype
