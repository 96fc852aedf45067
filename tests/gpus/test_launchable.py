"""Launches a GPU would refuse: the limit, the GPU and the fix are named."""

from __future__ import annotations

from typing import Any

import pytest

from warpwatt.core.errors import LaunchError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Resources
from warpwatt.gpus import check_launch, find

FINE = {"grid": Dim3(1000), "block": Dim3(256)}


def refusal(gpu: str, resources: dict[str, Any], launch: dict[str, Any]) -> LaunchError:
    with pytest.raises(LaunchError) as error:
        check_launch(find(gpu), Resources(**{"registers": 32, **resources}), Launch(**{**FINE, **launch}))
    return error.value


@pytest.mark.parametrize(
    ("gpu", "resources", "launch", "said", "fix"),
    [
        ("h200", {}, {"block": Dim3(33, 32)}, ("1056 threads", "NVIDIA H200 allows 1024"), "--block"),
        ("h200", {}, {"block": Dim3(1, 1, 65)}, ("block z is 65", "64"), "x"),
        ("h200", {"max_threads": 128}, {}, ("256 threads", "compiled for 128"), "__launch_bounds__"),
        ("h200", {}, {"grid": Dim3(2**31)}, ("grid x", str(2**31 - 1)), ""),
        ("h200", {}, {"grid": Dim3(1, 65536)}, ("grid y", "65535"), "x"),
        ("h200", {}, {"grid": Dim3(1, 1, 65536)}, ("grid z", "65535"), "x"),
        ("gtx 480", {}, {"grid": Dim3(65536)}, ("grid x", "GeForce GTX 480 allows 65535"), ""),
        ("a100", {}, {"cluster": Dim3(2)}, ("NVIDIA A100-SXM4-40GB has no clusters",), "9.0"),
        ("h200", {}, {"cluster": Dim3(17), "grid": Dim3(34)}, ("17 blocks", "allows 16"), "--cluster"),
        ("h200", {}, {"cluster": Dim3(3)}, ("grid x is 1000", "3"), "--cluster"),
        ("h200", {"registers": 256}, {}, ("256 registers per thread", "255"), "maxrregcount"),
        ("k4200", {"registers": 64}, {}, ("64 registers per thread", "Quadro K4200 has 63"), "maxrregcount"),
        ("h200", {"registers": 80}, {"block": Dim3(1024)}, ("80 registers × 1024", "65536"), "__launch"),
        ("h200", {"static_shared": 49153}, {}, ("49153 bytes of static", "49152"), "dynamic"),
        ("h200", {"static_shared": 1024}, {"dynamic_shared": 232448}, ("opt-in", "allows 232448"), "231424"),
        ("k20", {"static_shared": 1024}, {"dynamic_shared": 48129}, ("49153", "K20 allows 49152"), "48128"),
        ("h200", {}, {"carveout": 101}, ("101 %",), "100"),
        ("h200", {}, {"cooperative": True, "grid": Dim3(8 * 132 + 1)}, ("cooperative",), "--grid 1056"),
    ],
)  # fmt: skip
def test_refused(
    gpu: str, resources: dict[str, Any], launch: dict[str, Any], said: tuple[str, ...], fix: str
) -> None:
    error = refusal(gpu, resources, launch)
    assert all(part in error.message for part in said), error.message
    assert fix in error.hint
    assert error.hint
    assert error.exit_code == 1


def test_without_opt_in_nothing_is_said_about_it() -> None:
    assert "opt-in" not in refusal("gtx 1080", {}, {"dynamic_shared": 49153}).message


@pytest.mark.parametrize(
    ("gpu", "resources", "launch"),
    [
        ("h200", {}, {}),
        ("h200", {}, {"block": Dim3(16, 1, 64), "grid": Dim3(2**31 - 1, 1)}),
        ("h200", {}, {"cluster": Dim3(2, 4), "grid": Dim3(2, 8)}),
        ("h200", {"registers": 255}, {}),
        ("h200", {"registers": 64}, {"block": Dim3(1024)}),
        ("h200", {"static_shared": 1024}, {"dynamic_shared": 231424}),
        ("h200", {}, {"cooperative": True, "grid": Dim3(8 * 132)}),
        ("gtx 480", {"registers": 63}, {"grid": Dim3(65535)}),
    ],
)
def test_accepted(gpu: str, resources: dict[str, Any], launch: dict[str, Any]) -> None:
    check_launch(find(gpu), Resources(**{"registers": 32, **resources}), Launch(**{**FINE, **launch}))
