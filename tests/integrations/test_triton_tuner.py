"""Triton's own autotuner asks our model; nothing runs on a GPU."""

from __future__ import annotations

import math
from typing import Any

import pytest

from warpwatt.core.errors import InputError, UsageError
from warpwatt.integrations.triton import Model, pruned, rank, warpwatt_model, warpwatt_prune

triton = pytest.importorskip("triton", reason="Triton is not installed")
kernels = pytest.importorskip("tests.integrations.triton_kernels", reason="Triton is not installed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = [pytest.mark.toolchain, pytest.mark.filterwarnings("ignore:.*FP_FUSION.*")]

ARGS = {"a": "f16[M*K]", "b": "f16[K*N]", "c": "f16[M*N]", "M": 1024, "N": 1024, "K": 1024}
USUAL, SMALL, TOO_LARGE = kernels.CONFIGURATIONS


def grid(values):
    return values["M"] // values["BM"], values["N"] // values["BN"]


@pytest.fixture(scope="module")
def ranking():
    return rank(kernels.tuned_matmul, "a100", grid=grid, args=ARGS, keep=1)


def asked(tuner):
    """What the autotuner keeps of its configurations for a launch with real tensors."""
    tensor = torch.zeros(1024, 1024, dtype=torch.float16)
    tuner.nargs = dict(zip(tuner.arg_names, (tensor, tensor, tensor, 1024, 1024, 1024), strict=False))
    return tuner.prune_configs({"grid": grid, "warmup": False})


def test_ranking(ranking):
    assert [c.parameters["BM"] for c in ranking.kept] == [64]
    small, large = ranking.decisions[1:]
    assert small.candidate.parameters["BM"] == 16
    assert small.ratio > 2
    assert large.cause == "cannot launch"
    assert "shared memory" in large.reason


def test_perf_model():
    tuner: Any = triton.autotune(
        kernels.CONFIGURATIONS,
        key=["M"],
        prune_configs_by={"perf_model": warpwatt_model(lambda: tuner, "a100"), "top_k": 1},
    )(kernels.matmul)
    assert asked(tuner) == [USUAL]
    assert math.isinf(tuner.perf_model(**tuner.nargs, grid=grid, warmup=False, **TOO_LARGE.all_kwargs()))
    assert len(tuner.perf_model.candidates) == 3  # the same launch is not predicted twice


def test_early_prune(tmp_path, capsys):
    report = tmp_path / "pruned.csv"
    tuner: Any = triton.autotune(
        kernels.CONFIGURATIONS,
        key=["M"],
        prune_configs_by={
            "early_config_prune": warpwatt_prune(
                lambda: tuner, "a100", within=1.5, report=report, quiet=False
            )
        },
    )(kernels.matmul)
    assert asked(tuner) == [USUAL]
    assert "cannot launch" in report.read_text()
    assert "3 configurations ranked" in capsys.readouterr().err


def test_pruned_changes_a_tuned_function():
    tuner: Any = triton.autotune(kernels.CONFIGURATIONS, key=["M"])(kernels.matmul)
    assert pruned(tuner, "a100", top_k=2) is tuner
    assert asked(tuner) == [USUAL, SMALL]


def test_unpredictable_configurations_stay():
    model = Model(kernels.matmul, "a100")
    odd = triton.Config({"BM": 48, "BN": 64, "BK": 32})  # not a power of two: Triton refuses
    assert model(grid=grid, **ARGS, **odd.all_kwargs()) == 0.0


def test_mistakes():
    with pytest.raises(UsageError, match="not tuned"):
        pruned(kernels.matmul, "a100")
    with pytest.raises(UsageError, match="no function of Triton's"):
        warpwatt_model(lambda: 3, "a100")(grid=grid, **ARGS, **USUAL.all_kwargs())
    with pytest.raises(InputError, match="no objective"):
        warpwatt_model(kernels.matmul, objective="beauty")
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="no GPU here"):
            warpwatt_model(kernels.matmul)(grid=grid, **ARGS, **USUAL.all_kwargs())
