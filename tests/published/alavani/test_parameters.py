"""The thesis' tables, number for number, and what stands in for them."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.gpus import find, find_many
from warpwatt.published.alavani.parameters import parameters

K20 = parameters(find("k20"))


def test_the_k20_is_all_its_own() -> None:
    assert K20.borrowed_from == {}
    assert all("Alavani" in source for source in K20.sources.values())
    assert (K20.latencies["divf"], K20.latencies["mads"], K20.latencies["shared"]) == (894.5, 20, 47)
    assert len(K20.latencies) == 16


@pytest.mark.parametrize(
    ("threads", "cycles"),
    [
        (3328, 0.02828 * 3328 + 220),  # thesis, Algorithm 6: 315 once rounded up
        (4096, 0.02828 * 4096 + 220),
        (4097, 0.004780 * 4097 + 251.7),
        (24_576, 0.004780 * 24_576 + 251.7),
        (24_577, 0.0001679 * 24_577 + 307.8),
        (2_203_648, -0.00002529 * 2_203_648 + 501.8),
        (10**9, -0.00002529 * 2_203_648 + 501.8),
    ],
)
def test_global_latency(threads: float, cycles: float) -> None:
    assert K20.global_latency_at(threads) == pytest.approx(cycles)


def test_worked_example_of_algorithm_6() -> None:
    assert math.ceil(K20.global_latency_at(3328)) == 315


def test_launch_overhead() -> None:
    assert K20.launch_overhead_at(0) == pytest.approx(1.4489e-6)
    assert K20.launch_overhead_at(1e6) == pytest.approx(21.4489e-6)


@given(st.lists(st.floats(0, 1e9), min_size=2, max_size=10))
def test_throughput_rises_to_its_asymptote(requests: list[float]) -> None:
    fit = K20.global_throughput
    values = [fit.at(n) for n in sorted(requests)]
    assert all(a <= b for a, b in pairwise(values))
    assert values[-1] <= fit.a * fit.b


def test_stand_ins_are_named() -> None:
    v100 = parameters(find("v100"))
    assert v100.borrowed_from == {
        "global_throughput": "GeForce GTX 1050",
        "shared_throughput": "GeForce GTX 1050",
        "launch_slope": "Tesla K20",
        "launch_intercept": "Tesla K20",
        "global_latency": "the constant DRAM latency of Tesla V100 PCIe 16GB",
    }
    ratio = find("v100").memory_bandwidth / find("gtx 1050").memory_bandwidth
    assert v100.global_throughput.a == pytest.approx(47244.33e6 * ratio)
    assert v100.latencies["divf"] == 977


def test_every_gpu_has_parameters() -> None:
    for gpu in find_many("all"):
        found = parameters(gpu)
        assert found.latencies.keys() == K20.latencies.keys()
        assert found.global_latency_at(1e5) > 0
        assert 0 < found.global_throughput.at(1e7) < 1.2 * gpu.memory_bandwidth
        assert ("latencies" in found.borrowed_from) == (
            gpu.name
            not in {
                "Tesla K20",
                "Quadro K4200",
                "Tesla M60 (per GPU)",
                "GeForce GTX 1050",
                "Tesla V100 SXM2 16GB",
            }
        )
