"""Sampled blocks of random kernels, scaled, against all blocks of their grids.

``WARPWATT_RANDOM_KERNELS`` is how many seeds are tried (``make random-kernels``).
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from tests.emulate.random_kernels import random_kernel
from tests.emulate.test_execution import program
from warpwatt.core.execution import Execution
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.lift import lift
from warpwatt.emulate.native import run
from warpwatt.emulate.run import Limits, Stop
from warpwatt.emulate.strategies import UNTRIED, LaunchAnalysis, emulate
from warpwatt.program.binding import bind

SEEDS = int(os.environ.get("WARPWATT_RANDOM_KERNELS", "3"))
CLOSE = 0.03
"""Relative difference of the warp instructions of a grid; beyond, twice the standard error that is told."""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_sample_counts_what_the_whole_grid_executes(seed: int):
    kernel = random_kernel(seed)
    text = program(kernel.text)
    found = emulate(LaunchAnalysis(text, kernel.launch, ptx=text), UNTRIED)
    assert isinstance(found, Execution)
    bound = bind(text, kernel.launch)
    routine = lift(text)
    whole = run(routine, *load_launch(bound), range(kernel.launch.grid.count), Limits(100_000_000))
    assert whole.stop is Stop.DONE
    wanted = float(whole.executions.sum())
    difference = abs(float(np.sum(found.counts)) / wanted - 1.0)
    told = max((a.spread for a in found.assumptions), default=0.0)
    assert difference <= max(CLOSE, 2.0 * told), (difference, told, found.blocks_run)
