"""How caches differ between GPUs."""

from __future__ import annotations

import pytest

from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Resources
from warpwatt.emulate.caches.policy import l1_capacity
from warpwatt.gpus import find
from warpwatt.gpus.occupancy import occupancy


@pytest.mark.parametrize(
    ("gpu", "cached"),
    [
        ("Tesla K40m", False),
        ("GeForce GTX 980", False),
        ("TITAN X (Pascal)", False),
        ("Tesla P100 PCIe 16GB", True),
        ("Tesla V100 PCIe 16GB", True),
        ("GeForce RTX 2080 Ti", True),
    ],
)
def test_global_loads_bypass_l1_on_kepler_maxwell_and_most_of_pascal(gpu: str, cached: bool) -> None:
    """Maxwell Tuning Guide and Pascal Tuning Guide, Unified L1/Texture Cache."""
    device = find(gpu)
    residency = occupancy(device, Resources(registers=16), Launch(Dim3(8), Dim3(128)))
    assert (l1_capacity(device, residency) > 0) is cached
