"""The learned correction on top of the pipeline model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import warpwatt
from warpwatt.models.residual import correction, features

SAXPY = """
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
LAUNCH: dict[str, Any] = {"grid": 4096, "block": 256, "args": {"n": 2**20}}


@pytest.mark.toolchain
def test_the_time_is_the_pipelines_times_what_the_trees_say() -> None:
    plain = warpwatt.predict(SAXPY, **LAUNCH)
    learned = warpwatt.predict(SAXPY, model="pipeline+residual", **LAUNCH)
    row = np.array([list(features(plain.case, plain.timing).values())])
    factor = math.exp(float(correction().predict(row)[0]))
    assert factor != 1.0
    assert learned.time.value == pytest.approx(plain.time.value * factor)
    assert sum(learned.timing.breakdown.values()) == pytest.approx(
        sum(plain.timing.breakdown.values()) * factor
    )
    assert learned.timing.model == "pipeline+residual"
