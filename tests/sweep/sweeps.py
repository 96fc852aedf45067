"""Small sweeps that several tests use."""

from __future__ import annotations

from typing import Any

from warpwatt.frontend.compiled import Source
from warpwatt.gpus import find_many
from warpwatt.request.launch_text import LaunchText
from warpwatt.sweep.clocks import Asked
from warpwatt.sweep.configurations import configurations
from warpwatt.sweep.sweep import Sweep
from warpwatt.sweep.tasks import kernel_tasks

STREAM = """
#ifndef WIDTH
#define WIDTH 1
#endif
#if WIDTH > 2
#error too wide
#endif
__global__ void stream(int n, const float *x, float *y) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    for (int k = 0; k < WIDTH; ++k)
        if (i + k < n) y[i + k] = 2.0f * x[i + k];
}
"""
SOURCE = Source("stream.cu", STREAM.encode())
LAUNCH = LaunchText(grid="n/(bx*WIDTH)", block="256", arg=("n=100000", "x=f32[n]", "y=f32[n]:zeros"))
CLOCKS = (None, Asked(0.9e9), Asked(1.2e9, 1.0e9))


def small_sweep(launches: tuple[LaunchText, ...] = (LAUNCH,), **changes: Any) -> Sweep:
    """Return two configurations, two block sizes, two GPUs of one target and three pairs of clocks."""
    said: dict[str, Any] = {
        "tasks": kernel_tasks(SOURCE, launches),
        "gpus": find_many("a100-pcie-40gb,a30"),
        "configurations": configurations(["WIDTH=1,2"], blocks=["128", "256"]),
        "clocks": CLOCKS,
        **changes,
    }
    return Sweep(**said)
