"""Imported once by the process that all workers are forked from, so that each begins warm.

It loads what a prediction needs and makes one of every kind, trusted, so that code generators have run.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from warpwatt.core.errors import WarpWattError
from warpwatt.server.tasks import tasks
from warpwatt.workers.limits import Limits

WARM = """
__global__ void saxpy(int n, float a, const float *x, float *y) {
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x % 64] = a;
    __syncthreads();
    for (int k = 0; k < 4; ++k) if (i < n) y[i] += s[(threadIdx.x + k) % 64] * x[i];
}
"""
REQUEST = {
    "name": "warm.cu",  # no one else may send that name, or his lines would be remembered as these
    "source": WARM,
    "gpus": ["h200"],
    "launch": {"grid": "64", "block": "64", "args": {"n": 4096, "a": 2, "x": "f32[n]", "y": "f32[n]"}},
    "advice": True,
}


def warm() -> None:
    """Predict once, as a worker does; a toolchain that is missing shows in the first request."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="warpwatt-") as folder, suppress(WarpWattError):
        os.chdir(folder)
        try:
            for level in ("sass", "ptx"):
                tasks.predict({**REQUEST, "level": level}, Limits(), confined=True)
        finally:
            os.chdir(here)


if "multiprocessing.forkserver" in " ".join(sys.orig_argv) and "WARPWATT_SERVE_COLD" not in os.environ:
    warm()
