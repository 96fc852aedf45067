"""Searches over configurations: what they find, what they keep, what they say."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.choose.mixture import SPACE, Experts, aligned, products
from warpwatt.choose.rough import rough_seconds
from warpwatt.choose.surrogate import Surrogate
from warpwatt.choose.tuned import Aim, combinations, read_space, tune_kernel
from warpwatt.choose.tuning import Journal, search
from warpwatt.commands.main import app
from warpwatt.core.errors import InputError
from warpwatt.core.estimate import Estimate
from warpwatt.core.program import Kernel
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.configurations import MANY
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions, Compiler
from warpwatt.gpus import find
from warpwatt.request import session
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.options import CompilationOptions, ModelOptions
from warpwatt.request.session import Session

GRID = [{"x": x, "y": y} for x in range(8) for y in range(8)]


def bowl(config: Mapping[str, Any]) -> tuple[Estimate, str]:
    """Return a time that is least at (5, 2); nothing runs where x is 7."""
    if config["x"] == 7:
        raise InputError("too large")
    value = 1.0 + (config["x"] - 5) ** 2 + (config["y"] - 2) ** 2
    return Estimate.spread(value, {"own": 0.1}, "s"), ""


def wrong(config: Mapping[str, Any]) -> float:
    return float(abs(config["x"] - 3) + abs(config["y"] - 4))


def test_the_best_is_found_from_a_rough_order_that_is_wrong_about_it():
    found = search(GRID, bowl, rough=wrong, budget=24)
    assert found.order[0].config == {"x": 5, "y": 2}
    assert len(found.order) + len(found.failed) == 24
    assert [t.value.value for t in found.order] == sorted(t.value.value for t in found.order)
    assert all(t.config["x"] == 7 and "too large" in t.error for t in found.failed)


def test_without_a_rough_order_the_best_is_found_from_what_was_drawn():
    found = search(GRID, bowl, budget=24)
    assert found.order[0].config == {"x": 5, "y": 2}
    assert len(found.order) + len(found.failed) == 24


def test_words_are_parameters_too():
    space = [{"n": n, "kind": kind} for n in range(40) for kind in ("row", "column")]

    def valley(config: Mapping[str, Any]) -> tuple[Estimate, str]:
        seconds = 1.0 + abs(config["n"] - 31) + 5.0 * (config["kind"] == "row")
        return Estimate.exact(seconds, "s"), ""

    assert search(space, valley, budget=20).order[0].config == {"n": 31, "kind": "column"}


def test_a_surrogate_knows_what_it_has_seen_and_is_unsure_of_the_rest():
    surrogate = Surrogate([{"n": n} for n in range(30)])
    for number in (3, 4, 5, 20):
        surrogate.see(number, 2.0)
    better = surrogate.expected_improvement()
    assert better[[3, 4, 5, 20]] == pytest.approx(0.0, abs=0.02)
    assert better[12] > better[6] > 0.02


def test_a_parameter_that_does_not_matter_soon_counts_little():
    space = [{"n": n, "idle": idle} for n in range(6) for idle in range(6)]
    surrogate = Surrogate(space)
    for number in (0, 3, 7, 10, 20, 29, 32, 35):
        surrogate.see(number, 2.0 + (space[number]["n"] - 3) ** 2)
    better = surrogate.expected_improvement().reshape(6, 6)
    assert better[3].min() > better[[0, 1, 5]].max()
    n, idle = surrogate._lengths
    assert idle > 4 * n


def test_a_space_within_the_budget_is_predicted_whole():
    found = search(GRID, bowl, budget=64)
    assert len(found.order) == 56
    assert found.order[0].config == {"x": 5, "y": 2}


def test_nothing_that_runs_is_an_error_with_the_first_reason():
    with pytest.raises(InputError, match="none of 8 configurations could be predicted: too large"):
        search([c for c in GRID if c["x"] == 7], bowl, budget=8)


def test_a_search_goes_on_where_it_was(tmp_path: Path):
    """Killed after 10 predictions and with its last line torn, it predicts only what is missing."""
    file = tmp_path / "a.partial"
    whole = search(GRID, bowl, budget=24, journal=Journal(file))
    lines = file.read_text().splitlines()
    assert len(lines) == 24
    file.write_text("\n".join(lines[:10]) + "\n" + lines[10][:20])
    asked = []

    def counted(config):
        asked.append(config)
        return bowl(config)

    again = search(GRID, counted, budget=24, journal=Journal(file))
    assert len(asked) == 14
    assert [t.config for t in again.order] == [t.config for t in whole.order]
    assert again.sure == pytest.approx(whole.sure, abs=1e-4)


def test_what_is_too_close_to_call_is_named():
    close = {0: 1.0, 1: 1.02, 2: 5.0}

    def known(config: Mapping[str, Any]) -> tuple[Estimate, str]:
        return Estimate.exact(close[config["n"]], "s"), ""

    found = search([{"n": n} for n in close], known)
    assert [t.config["n"] for t in found.open] == [0, 1]
    assert 0.5 < found.sure < 0.6


def test_comparisons_restrict_a_space(tmp_path: Path):
    file = tmp_path / "tune_params.json"
    file.write_text(json.dumps({"x": [16, 32, 64], "y": [1, 2, 4]}))
    found = combinations(read_space(file), ["32 <= x * y <= 64", "x != 64"])
    every: Any = combinations(read_space(file))
    assert found == [c for c in every if 32 <= c["x"] * c["y"] <= 64 and c["x"] != 64]
    file.write_text("[1, 2]")
    with pytest.raises(InputError, match="no space"):
        read_space(file)


@given(st.integers(1, 60), st.integers(1, 12), st.sampled_from([1, 4, 16]))
def test_rows_are_dealt_to_experts_in_turn_and_padded(rows: int, experts: int, block: int):
    ids, owners, padded = aligned(rows, experts, block)
    assert sorted(ids[ids < rows]) == list(range(rows))
    assert padded % block == 0
    assert len(ids) == rows + experts * (block - 1)
    for place in range(padded):
        if ids[place] < rows:
            assert ids[place] % experts == owners[place // block]
    assert np.all(ids[padded:] == rows)


def test_the_rough_order_excludes_what_does_not_fit_and_knows_the_weights():
    gpu, layer = find("a100-sxm4-80gb"), Experts(16, 64, 6, 2048, 1024)
    every = [dict(zip(SPACE, values, strict=True)) for values in itertools.product(*SPACE.values())]
    seconds = {json.dumps(c): rough_seconds(layer, c, gpu) for c in every}
    weights = sum(p.experts * p.width * p.depth * 2 for p in products(layer))
    assert min(seconds.values()) > weights / gpu.memory_bandwidth
    large = dict(zip(SPACE, (256, 256, 256, 1, 8, 5), strict=True))  # 1.3 MB of shared memory
    assert seconds[json.dumps(large)] == float("inf")


def ordered(layer: Experts, gpu: str) -> list[dict[str, int]]:
    board = find(gpu)
    every = [dict(zip(SPACE, values, strict=True)) for values in itertools.product(*SPACE.values())]
    return sorted(every, key=lambda config: rough_seconds(layer, config, board))


@pytest.mark.parametrize("gpu", ["a100-sxm4-80gb", "h100-sxm", "l40", "rtx-5090"])
def test_the_rough_order_has_small_tiles_for_few_tokens_and_large_ones_for_many(gpu: str):
    few, many = (ordered(Experts(tokens, 64, 6, 2048, 1024), gpu)[:96] for tokens in (4, 4096))
    assert max(config["BLOCK_SIZE_M"] for config in few[:24]) <= 32
    assert min(config["BLOCK_SIZE_M"] for config in many) >= 64
    assert sum(config["BLOCK_SIZE_K"] >= 128 for config in few[:24]) >= 16  # short rows come slower


def test_the_rough_order_knows_tensor_cores_of_sm_90():
    """A third at least of the 986 TFLOP/s of an H100; its FMA pipe does a sixteenth."""
    layer, gpu = Experts(8192, 8, 2, 4096, 3584), find("h100-sxm")
    operations = sum(2 * p.rows * p.width * p.depth for p in products(layer))
    best = rough_seconds(layer, ordered(layer, "h100-sxm")[0], gpu)
    assert operations / 986e12 < best < 3 * operations / 986e12


def test_what_the_rough_order_cannot_tell_apart_is_looked_at_once():
    """Eight values of y alike: the 14 predictions at the head of the order are of 7 values of x."""
    looked: list[Any] = []

    def seen(config: Mapping[str, Any]) -> tuple[Estimate, str]:
        looked.append(config["x"])
        return bowl(config)

    search(GRID, seen, rough=lambda c: float("inf") if c["x"] == 7 else float(str(c["x"])), budget=12)
    assert sorted(looked[:7]) == list(range(7))


KERNEL = """
extern "C" __global__ void scale(float* x) {
    for (int k = 0; k < WORK; ++k) x[(blockIdx.x * WORK + k) * blockDim.x + threadIdx.x] *= 2;
}
"""


@pytest.mark.toolchain
def test_the_verb_writes_the_order_of_a_kernels_macros(tmp_path: Path):
    (tmp_path / "scale.cu").write_text(KERNEL)
    out = tmp_path / "best.json"
    words = [
        *("tune", str(tmp_path / "scale.cu"), "--gpu", "a100", "-D", "WORK=16", "-D", "B=32,256,512"),
        *("--where", "WORK * B <= 4096", "--grid", "1048576/(WORK*B)", "--block", "B"),
        *("--arg", "x=f32[1048576]", "-o", str(out)),
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    said = json.loads(out.read_text())
    assert said["configurations"] == 2
    assert said["best"]["B"] == 256  # one warp a block leaves half of an SM's warps without a block
    assert not out.with_name("best.json.partial").exists()
    assert "2 of 2 predicted" in done.output


@pytest.mark.toolchain
@pytest.mark.parametrize(("number", "compiler"), [(MANY - 1, Compiler.AUTO), (MANY, Compiler.CONFIGURATION)])
def test_many_configurations_are_compiled_as_such(
    number: int, compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "scale.cu").write_text(KERNEL)
    asked: list[CompileOptions] = []

    def load(source: Source, target: str, options: CompileOptions, name: str) -> Kernel:
        asked.append(options)
        return load_kernel(source, target, CompileOptions(defines=("WORK=16",)), name)

    monkeypatch.setattr(session, "load_kernel", load)
    text = LaunchText(grid="256", block="256", arg=("x=f32[1048576]",))
    given = Session(str(tmp_path / "scale.cu"), "a100", CompilationOptions(), ModelOptions())
    space = [{"WORK": work} for work in range(1, number + 1)]
    found = tune_kernel(given, text, space, Aim(budget=number))
    assert len(found.order) == number
    assert {options.compiler for options in asked} == {compiler}
    assert [options.defines for options in asked] == [(f"WORK={work}",) for work in range(1, number + 1)]
