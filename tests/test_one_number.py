"""Ten kernels, asked for in every place that shows a number: one time, one power, one energy, one limit."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import warpwatt
from warpwatt.choose.recommend import choices, recommend
from warpwatt.frontend.source import read_source
from warpwatt.gpus import find_many
from warpwatt.render import brief, explain, text
from warpwatt.render.context import Context
from warpwatt.render.figures import quantity
from warpwatt.request.directives import read_directives
from warpwatt.server.lsp.extract import facts_of
from warpwatt.server.lsp.lenses import lens_text
from warpwatt.server.tasks.tasks import predict as answer_page
from warpwatt.sweep.clock_sweep import clock_sweep
from warpwatt.sweep.clocks import Asked
from warpwatt.sweep.run import run
from warpwatt.sweep.sweep import Sweep
from warpwatt.sweep.tasks import kernel_tasks
from warpwatt.workers.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from warpwatt.core.estimate import Estimate
    from warpwatt.core.prediction import Prediction
    from warpwatt.sweep.rows import Range

pytestmark = pytest.mark.toolchain

GPU = "h200"
BODIES = {
    "copy": "y[i] = x[i];",
    "strided": "y[i] = x[(i * 32) % n];",
    "polynomial": "float a = x[i]; for (int k = 0; k < 64; ++k) a = a * a + 0.5f; y[i] = a;",
    "exponential": "float a = x[i]; for (int k = 0; k < 16; ++k) a = __expf(a); y[i] = a;",
    "doubles": "double a = x[i]; for (int k = 0; k < 16; ++k) a = a * a + 0.5; y[i] = (float)a;",
    "integers": "unsigned a = i; for (int k = 0; k < 64; ++k) a = a * 1664525u + 1013904223u; y[i] = a;",
    "shared": "__shared__ float s[256]; s[threadIdx.x] = x[i]; __syncthreads(); float a = 0.f;"
    " for (int k = 0; k < 64; ++k) a += s[(threadIdx.x + k) % 256]; y[i] = a;",
    "conflicts": "__shared__ float s[8192]; s[threadIdx.x * 32] = x[i]; __syncthreads();"
    " y[i] = s[(threadIdx.x ^ 1) * 32];",
    "one_address": "atomicAdd(y, x[i]);",
    "divergent": "float a = x[i]; if (threadIdx.x % 2) for (int k = 0; k < 64; ++k) a = sqrtf(a); y[i] = a;",
}
LAUNCH = "// warpwatt: --kernel {} --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]"
KERNEL = """\
{}
__global__ void {}(const float *x, float *y, int n) {{
  int i = blockIdx.x * 256 + threadIdx.x;
  {}
}}"""

PAGED = ("shared", "one_address")
"""Those of the page: its charts take a second each."""


def source_of(names: Iterable[str]) -> str:
    return "\n".join(KERNEL.format(LAUNCH.format(name), name, BODIES[name]) for name in names)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ten") / "ten.cu"
    path.write_text(source_of(BODIES))
    return path


@pytest.fixture(scope="module")
def predictions(file: Path) -> tuple[Prediction, ...]:
    return warpwatt.predict_all(file, gpu=GPU)


@pytest.fixture(scope="module")
def sweep(file: Path) -> Sweep:
    source = read_source(str(file))
    return Sweep(kernel_tasks(source, read_directives(source.text, source.name)), find_many(GPU))


def figures(*amounts: Estimate | Range | None) -> tuple[float, ...]:
    return tuple(x for one in amounts if one is not None for x in (one.value, one.low, one.high))


def said(prediction: Prediction) -> tuple[float, ...]:
    return figures(prediction.time, prediction.power, prediction.energy)


def test_every_text_says_the_same(predictions: tuple[Prediction, ...]) -> None:
    limits = {one.timing.bottleneck for one in predictions}
    assert len(limits) > 4
    for one in predictions:
        amounts, limit = [quantity(x) for x in (one.time, one.power, one.energy)], one.timing.bottleneck
        told = text.render([one], Context()), explain.render([one], Context())
        for shown in told:
            assert all(amount in shown for amount in amounts)
        assert all(f"Limited by {limit}" in shown for shown in told)
        assert f"limited by {limit}" in re.sub(r"\s+", " ", told[1])
        line = json.loads(brief.render([one], Context()))
        line = line["predictions"][0] if "predictions" in line else line
        assert line["limited_by"] == limit
        lens = lens_text(facts_of(one, ""))
        assert lens == f"{' · '.join(amounts)} on H200 · {limit}"


def test_sweep_and_recommend_say_the_same(predictions: tuple[Prediction, ...], sweep: Sweep) -> None:
    rows = list(run(sweep))
    chosen = recommend(sweep, rows, "energy")
    for number, (one, row) in enumerate(zip(predictions, rows, strict=True)):
        assert figures(row.time, row.power, row.energy) == said(one)
        assert row.limited_by == one.timing.bottleneck
        baseline = next(found.baseline for found in chosen if found.baseline.launch == number)
        assert figures(baseline.time, baseline.power, baseline.energy) == said(one)


def test_the_page_says_the_same(
    predictions: tuple[Prediction, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a worker's folder, where it writes the source
    asked = {"source": source_of(PAGED), "advice": False}
    answer = answer_page(asked, Limits(), confined=False)
    known = {one.kernel_name: one for one in predictions}
    for page in json.loads(answer["document"])["predictions"]:
        one = known[page["kernel"]]
        assert [page[key]["value"] for key in ("time", "power", "energy")] == list(said(one)[::3])
        assert page["bottleneck"] == one.timing.bottleneck
        assert all(quantity(x) in answer["report"] for x in (one.time, one.power, one.energy))


def test_at_another_clock_too(predictions: tuple[Prediction, ...], sweep: Sweep, file: Path) -> None:
    slower = warpwatt.predict_all(file, gpu=GPU, clock=1500)
    rows = run(replace(sweep, clocks=(Asked(1.5e9),)))
    offered = {row.launch: row for row in run(replace(choices(sweep), clocks=(Asked(1.5e9), Asked(1.2e9))))}
    for number, (one, before, row) in enumerate(zip(slower, predictions, rows, strict=True)):
        assert figures(row.time, row.power, row.energy) == said(one)
        assert before.time.value <= one.time.value <= offered[number].time.value
    slowest = clock_sweep(predictions[0]).points[0]
    (own,) = warpwatt.predict_all(file, gpu=GPU, kernel="copy", clock=slowest.clock / 1e6)
    assert figures(slowest.time, slowest.power, slowest.energy) == said(own)
