"""Kernel Tuner's own ``tune_kernel`` with our strategy, on cached results: no GPU, real search."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from warpwatt.choose.ranking import Candidate
from warpwatt.core.errors import InputError, LaunchError, UnknownGpuError, UsageError, WarpWattError
from warpwatt.integrations.kernel_tuner import Guided, Pruner, describe_argument

tune_kernel = pytest.importorskip("kernel_tuner", reason="Kernel Tuner is not installed").tune_kernel
pytestmark = pytest.mark.toolchain

N = 2**20
SPACE = {"block_size_x": [32, 256], "tile_size": [1, 4], "PAD": [0, 9000, 50000]}
KERNEL = """
__global__ void pairs(float* out, const float* in, int n) {
    __shared__ float tile[block_size_x + PAD];
    for (int k = 0; k < tile_size; k++) {
        int i = (blockIdx.x * tile_size + k) * block_size_x + threadIdx.x;
        __syncthreads();
        if (i < n) tile[threadIdx.x] = in[i];
        __syncthreads();
        if (i < n) out[i] = tile[threadIdx.x] + (threadIdx.x > 0 ? tile[threadIdx.x - 1] : 0);
    }
}
"""
ARGUMENTS = [np.zeros(N, np.float32), np.arange(N, dtype=np.float32), np.int32(N)]


def measured(chosen: Mapping[str, Any]) -> float:
    """Milliseconds that somebody might have measured."""
    return 1.0 + 32 / chosen["block_size_x"] + chosen["PAD"] / 1000 - chosen["tile_size"] / 100


@pytest.fixture
def cache(tmp_path):
    """A cache file as Kernel Tuner leaves it after a full search."""
    entries = {}
    for values in itertools.product(*SPACE.values()):
        chosen = dict(zip(SPACE, values, strict=True))
        spent = dict.fromkeys(("compile_time", "verification_time", "benchmark_time", "strategy_time"), 1.0)
        told = {"time": measured(chosen), "energy": 100 - measured(chosen)}
        entries[",".join(map(str, values))] = {
            **chosen, **told, **spent, "framework_time": 0.0, "timestamp": ""
        }  # fmt: skip
    head = {"device_name": "a GPU", "kernel_name": "pairs", "problem_size": [N], "objective": "time"}
    file = tmp_path / "cache.json"
    file.write_text(
        json.dumps({**head, "tune_params_keys": list(SPACE), "tune_params": SPACE, "cache": entries})
    )
    return file


def tuned(cache, pruner, source=KERNEL, **options):
    said = {"grid_div_x": ["block_size_x", "tile_size"], "lang": "CUDA", "quiet": True, **options}
    results, _ = tune_kernel(
        "pairs", source, N, ARGUMENTS, SPACE, strategy=pruner, cache=str(cache), simulation_mode=True, **said
    )
    return [tuple(result[name] for name in SPACE) for result in results]


def guess(chosen):
    return Candidate(chosen, time=measured(chosen), power=1.0, energy=100 - measured(chosen), limited_by="x")


def test_real_kernel(cache, tmp_path, capsys):
    """Predicted from the source that Kernel Tuner holds: shared memory that starves the SM is pruned."""
    report = tmp_path / "report.csv"
    pruner = Pruner("a100", keep=2, report=report)
    run = tuned(cache, pruner, restrictions=["tile_size == 4"])
    assert len(run) == 2
    assert run[0] == (256, 4, 0)
    rows = list(csv.DictReader(report.read_text().splitlines()))
    assert len(rows) == 6
    assert [row["decision"] for row in rows].count("pruned") == 4
    refused = [row for row in rows if row["PAD"] == "50000"]  # 200 kB of static shared memory
    assert all(row["reason"].startswith("cannot launch") for row in refused)
    starved = [row for row in rows if row["PAD"] == "9000"]
    assert all(row["occupancy_limiter"] == "shared memory" for row in starved)
    said = capsys.readouterr().out
    assert "6 configurations ranked by predicted time: 2 to run, 4 pruned" in said
    assert "cannot launch" in said


def test_order_and_budget(cache):
    """Best prediction first, so that a budget of two runs is spent on the two best."""
    run = tuned(cache, Pruner(predictor=guess, keep=None, quiet=True), strategy_options={"max_fevals": 2})
    assert run == [(256, 4, 0), (256, 1, 0)]


def test_energy_follows_the_tuners_objective(cache):
    pruner = Pruner(predictor=guess, keep=1, quiet=True)
    assert tuned(cache, pruner, objective="energy", objective_higher_is_better=False) == [(32, 1, 50000)]
    assert pruner.ranking.objective == "energy"


@pytest.mark.parametrize("then", ["brute_force", "random_sample", "genetic_algorithm"])
def test_another_strategy_searches_what_is_left(cache, then):
    options = {} if then == "brute_force" else {"strategy_options": {"max_fevals": 3}}
    run = tuned(cache, Pruner(predictor=guess, keep=4, then=then, quiet=True), seed=1, **options)
    assert run
    assert {padding for _, _, padding in run} == {0}


def test_unpredictable_configurations_run(cache):
    """What our compiler refuses may be fine for the user's: it is not pruned."""

    def sometimes(chosen):
        if chosen["tile_size"] == 4:
            raise InputError("not this one")
        return guess(chosen)

    run = tuned(cache, Pruner(predictor=sometimes, keep=1, quiet=True))
    assert run[0] == (256, 1, 0)
    assert {tile for _, tile, _ in run[1:]} == {4}
    assert len(run) == 7


def test_nothing_predicted_is_an_error(cache):
    with pytest.raises(WarpWattError, match=r'none of 2 configurations could be predicted; .*"nonsense"'):
        tuned(
            cache,
            Pruner("a100", quiet=True),
            source=KERNEL.replace("tile[threadIdx.x] =", "nonsense ="),
            restrictions=["tile_size == 4", "PAD == 0"],
        )


def test_mistakes(cache):
    with pytest.raises(InputError, match="cannot keep"):
        Pruner("a100", keep=-1)
    with pytest.raises(UnknownGpuError, match="a GPU"):
        tuned(cache, Pruner(quiet=True))
    with pytest.raises(UsageError, match="no strategy 'magic'"):
        tuned(cache, Pruner(predictor=guess, then="magic", quiet=True))


def test_arguments(tmp_path):
    numbers = np.array([3, 1, 2], np.int32)
    assert describe_argument("index", numbers, tmp_path) == f"i32[3]:{tmp_path / 'index.npy'}"
    assert np.array_equal(np.load(tmp_path / "index.npy"), numbers)
    assert describe_argument("zero", np.zeros(4, np.float16), tmp_path) == "f16[4]:zeros"
    assert describe_argument("n", np.float64(0.5), tmp_path) == 0.5
    with pytest.raises(InputError, match="complex"):
        describe_argument("z", np.ones(2, np.complex64), tmp_path)


def test_predicted_and_run_in_turn(cache):
    """With a budget of two runs the best of the first predictions runs first; without one, all run."""
    guided = Guided(predictor=guess)
    run = tuned(cache, guided, strategy_options={"max_fevals": 2})
    assert len(run) == 2
    assert len(guided.predicted) < 12
    predicted = [measured(one.parameters) for one in guided.predicted[:8]]
    assert measured(dict(zip(SPACE, run[0], strict=True))) == min(predicted)
    assert sorted(tuned(cache, Guided(predictor=guess))) == sorted(itertools.product(*SPACE.values()))


def test_what_cannot_be_launched_never_runs_in_turn(cache):
    def refusing(chosen):
        if chosen["PAD"] == 50000:
            raise LaunchError("too much shared memory")
        if chosen["PAD"] == 9000:
            raise InputError("not this one")
        return guess(chosen)

    run = tuned(cache, Guided(predictor=refusing))
    assert [padding for _, _, padding in run] == [0] * 4 + [9000] * 4


def test_configurations_are_one_source_with_macros(cache, monkeypatch):
    """What Kernel Tuner writes before the source are macros of one source, so that NVRTC may compile it."""
    seen = []

    def predicting(source, **options):
        seen.append((source.data, options["define"], options["configurations"]))
        raise InputError("enough")

    monkeypatch.setattr("warpwatt.integrations.kernel_tuner.predict", predicting)
    with pytest.raises(WarpWattError, match="could be predicted"):
        tuned(cache, Guided("a100"))
    assert {data for data, _, _ in seen} == {KERNEL.encode()}
    assert len({define["PAD"] + define["tile_size"] + define["block_size_x"] for _, define, _ in seen}) == 12
    assert {count for *_, count in seen} == {12}
