"""On every board: power is the sum of its components, within the limit, and energy power × time."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from warpwatt.compose import Choice, LaunchModels
from warpwatt.gpus import default_clocks, find_many, missing
from warpwatt.models.registry import power_model, time_model

GPUS = [gpu for gpu in find_many("all") if not missing(gpu)]
STEP = 8
"""One board of so many is tried for each kernel in CI; all of them: violations(toy, fmas, blocks, GPUS)."""
KERNELS = [(fmas, blocks) for fmas in (1, 10, 60, 300) for blocks in (1, 40, 1_000, 20_000, 100_000)]
"""From streaming to compute-bound, from one block to a full chip."""


@pytest.mark.parametrize("number", range(0, len(KERNELS), 3))
def test_power_clock_time_and_components_agree(toy, number):
    fmas, blocks = KERNELS[number]
    assert violations(toy, fmas, blocks, GPUS[number % STEP :: STEP]) == []


def violations(toy, fmas, blocks, gpus):
    """Return the boards on which something disagrees, at default clocks and at a third beyond boost."""
    found = []
    case = toy.case(toy.execution(blocks=blocks, fmas=fmas))
    for gpu in gpus:
        own = replace(case, gpu=gpu, clocks=default_clocks(gpu))
        models = LaunchModels((time_model("roofline"), power_model("component")), own, Choice())
        for asked, fixed in ((own.clocks, False), (replace(own.clocks, sm=1.33 * gpu.boost_clock), True)):
            settled = models.settle(asked, fixed=fixed)
            watts, time = settled.board.value, settled.timing.time.value
            agree = (
                math.isclose(math.fsum(settled.components.values()), watts, rel_tol=1e-9),
                watts <= gpu.power_limit and settled.board.high <= gpu.power_limit,
                math.isclose(settled.energy.value, watts * time, rel_tol=1e-9),
                settled.limited_by_power == (settled.case.clocks.sm < asked.sm),
                settled.limited_by_power or settled.power.power.value <= gpu.power_limit,
            )
            if not all(agree):
                found.append((gpu.name, fixed, agree))
    return found
