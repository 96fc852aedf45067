"""Sampled blocks of random kernels, scaled, against all blocks of their grids.

``WARPWATT_RANDOM_KERNELS`` is how many seeds are tried (``make random-kernels``); without it three whose
guards lie inside warps and whose loops jump between blocks.
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

SEEDS = os.environ.get("WARPWATT_RANDOM_KERNELS", "")
CLOSE = 0.005
"""Relative difference of warp and thread instructions of a grid; beyond, twice the standard error told."""


@pytest.mark.parametrize("seed", range(int(SEEDS)) if SEEDS else (17, 118, 148))
def test_a_sample_counts_what_the_whole_grid_executes(seed: int):
    kernel = random_kernel(seed)
    text = program(kernel.text)
    found = emulate(LaunchAnalysis(text, kernel.launch, ptx=text), UNTRIED)
    assert isinstance(found, Execution)
    bound = bind(text, kernel.launch)
    routine = lift(text)
    whole = run(routine, *load_launch(bound), range(kernel.launch.grid.count), Limits(100_000_000))
    assert whole.stop is Stop.DONE
    warps = float(np.sum(found.counts)) / float(whole.executions.sum()) - 1.0
    threads = float(np.dot(found.counts, found.lanes)) / float(whole.lanes.sum()) - 1.0
    told = max((a.spread for a in found.assumptions), default=0.0)
    assert max(abs(warps), abs(threads)) <= max(CLOSE, 2.0 * told), (warps, threads, told, found.blocks_run)
