"""Platforms, jobs of known cost, and whether SimGrid is here."""

from __future__ import annotations

import warnings

import pytest

from warpwatt.gpus import find
from warpwatt.jobs.platform import Device, Platform
from warpwatt.published.boughzala import simgrid

HERE = simgrid.interpreter() is not None
if not HERE:
    warnings.warn("SimGrid is not installed: its tests are skipped. " + simgrid.HOW, stacklevel=1)


@pytest.fixture
def needs_simgrid():
    """Skip a test where SimGrid is not installed."""
    if not HERE:
        pytest.skip("SimGrid is not installed: " + simgrid.HOW)


def platform_of(*names: str, host: float = 0.0, idle: float = 50.0) -> Platform:
    """Return one node with these GPUs, all idle at the same power."""
    devices = tuple(Device(f"n/gpu{i}", "n", find(name), idle) for i, name in enumerate(names))
    return Platform(devices, {"n": host})


def no_kernels(job):
    """Stand in for predictors where every job has its seconds and watts."""
    raise AssertionError(job.name)
