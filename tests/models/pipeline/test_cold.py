"""What an empty L2 costs besides the data: parameters and code come from DRAM."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpwatt.compose import predict
from warpwatt.core.launch import Dim3, L2State, Launch
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import find
from warpwatt.models.pipeline.model import chip_launch

LINES = 600
SOURCE = """
__global__ void k(float *out, float a) {{
    float x = a;
{lines}
    if (x == 3.0f) out[0] = x;
}}
"""
BOARD = find("rtx3080")


@pytest.fixture
def kernels(tmp_path):
    """Return a kernel of a few instructions and one whose code has many lines."""

    def load(lines: int):
        path = tmp_path / f"k{lines}.cu"
        path.write_text(SOURCE.format(lines="    x = x * a + 1.0f;\n" * lines))
        return load_kernel(path, BOARD.target)

    return load(1), load(LINES)


def wait(kernel) -> float:
    """Return the cycles that a launch of one warp takes longer where L2 is empty, in ways to DRAM."""
    times = []
    for state in (L2State.COLD, L2State.PREVIOUS):
        launch = Launch(Dim3(1), Dim3(32), l2=state)
        found = predict(kernel, launch, BOARD)
        times.append(found.time.value * found.case.clocks.sm)
    sm = chip_launch(replace(found.case, launch=launch)).machine
    return (times[0] - times[1]) / sm.dram_latency


def test_parameters_and_the_first_code_come_from_dram_one_after_the_other(kernels):
    assert 1.4 < wait(kernels[0]) < 2.0  # the way to L2 was waited for already


def test_long_code_is_waited_for_more_than_once_but_mostly_fetched_ahead(kernels):
    assert wait(kernels[0]) < wait(kernels[1]) < LINES * 16 / 128 / 4
