"""Numbers that stand on one screen agree: a rate over its base is the share beside it, parts sum to wholes.

Screens are read as people read them: text of 80 columns, the page, JSON, Nsight Compute's metrics.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import warpwatt
from tests.render.report.parsed import parse
from warpwatt.core.application import Application, CopyKind, CopyNode, KernelNode
from warpwatt.gpus import find
from warpwatt.jobs.application import predict_application
from warpwatt.render import application, explain, html, text
from warpwatt.render.context import Context
from warpwatt.render.document import prediction_document
from warpwatt.render.ncu.metrics import metrics
from warpwatt.render.run import json as run_json
from warpwatt.render.run import page as run_page
from warpwatt.render.run import text as run_text
from warpwatt.run.build import compile_program
from warpwatt.run.client import Bounds
from warpwatt.run.session import Wanted, run

pytestmark = pytest.mark.toolchain

EXAMPLES = Path(__file__).parent.parent / "examples"
SCREEN = Context(width=80, verbosity=1)
WIDE = Context(width=300)
ROUNDED = 0.012
"""Three digits of a rate and of its base."""
SLACK = 1.03
"""What simulated blocks may differ from the whole grid: no level reaches more than its peak."""
PREFIX = {
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "m": 1e-3,
    "µ": 1e-6,
    "n": 1e-9,
    "p": 1e-12,
}
AMOUNT = r"(\d[\d.]*) (\w?)(B/s|FLOP/s|J|W|s)\b"
SHARE = r"(?:<1|\d+) %"
LEVELS = {"L1 cache": "l1", "L2 cache": "l2", "DRAM": "dram"}
HISTOGRAM = """
__global__ void histogram(int n, const int *x, int *bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[x[i] & 7], 1);
}"""
TINY: Any = {"grid": 16, "block": 64, "args": {"n": 1024, "a": 2.0, "x": "f32[n]", "y": "f32[n]"}}
PROGRAM = """
#include <vector>
__global__ void scale(int n, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
int main() {
    int n = 1 << 18;
    std::vector<float> host(n);
    float *x, *y;
    cudaMalloc(&x, 4 * n); cudaMalloc(&y, 4 * n);
    cudaMemset(x, 0, 4 * n);
    for (int k = 0; k < 3; ++k) {
        scale<<<n / 256, 256>>>(n, x);
        cudaMemcpy(host.data(), x, 4 * n, cudaMemcpyDeviceToHost);
    }
    cudaMemcpy(y, x, 4 * n, cudaMemcpyDeviceToDevice);
    cudaStream_t other;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaMemcpyAsync(y, host.data(), 4 * n, cudaMemcpyHostToDevice, other);
    scale<<<n / 256, 256>>>(n, x);
    cudaDeviceSynchronize();
}"""


@pytest.fixture(scope="module")
def predictions() -> list[Any]:
    asked = {"saxpy": "h200", "transpose": "h200", "reduce": "a40", "matmul": "a40"}
    found = [p for name, gpu in asked.items() for p in warpwatt.predict_all(example(name), gpu=gpu)]
    found += warpwatt.predict_all(example("saxpy"), gpu="h200", **TINY)
    found += warpwatt.predict_all(example("saxpy"), gpu="h200", clock="900")
    arrays = {"n": 1 << 18, "x": "i32[n]", "bins": "i32[8]"}
    found += warpwatt.predict_all(HISTOGRAM, gpu="a100", grid=1024, block=256, args=arrays)
    return found


def example(name: str) -> str:
    return str(EXAMPLES / f"{name}.cu")


def amounts(line: str) -> list[float]:
    """Return the quantities of a line in SI units."""
    return [float(number) * PREFIX[prefix] for number, prefix, _ in re.findall(AMOUNT, line)]


def shares(line: str) -> list[float]:
    return [0.0025 if one.startswith("<") else int(one[:-2]) / 100 for one in re.findall(SHARE, line)]


def lines(rendered: str, title: str) -> list[str]:
    body = re.split(rf"^{title}$", rendered, flags=re.MULTILINE)[1]
    return [line.strip() for line in body.split("\n\n")[0].splitlines() if line.strip()]


def of_levels(rows: list[str]) -> dict[str, str]:
    return {name: row for row in rows for name in LEVELS if row.startswith(f"{name} ")}


def same(share: float, rate: float, base: float) -> bool:
    """Whether a share in whole percent is that of a rate in a base, both with three digits."""
    return abs(rate / base - share) <= 0.0055 + ROUNDED * rate / base


def test_rates_over_their_bases_are_the_shares_beside_them(predictions: list[Any]) -> None:
    """In bars, table of memory and roofline of the text, and no level reaches more than its peak."""
    for prediction in predictions:
        screen = text.render([prediction], SCREEN)
        assert max(map(len, screen.splitlines())) <= 80
        rows, bars = (of_levels(lines(screen, title)) for title in ("Memory", "Speed of Light"))
        assert rows.keys() == set(LEVELS)
        assert not shares(rows.pop("L1 cache"))
        for name, row in rows.items():
            rate, peak = amounts(row)
            assert same(shares(row)[0], rate, peak), row
            if name in bars and (found := amounts(bars[name])):
                assert same(shares(bars[name])[0], rate, found[0]), (row, bars[name])
                assert found[0] <= SLACK * peak, (row, bars[name])
        for line in lines(screen, "Roofline"):
            if "roof " in line:
                assert same(*shares(line), *amounts(line)), line


def test_sentences_pages_and_profilers_say_what_the_text_says(predictions: list[Any]) -> None:
    """The same words for the same share: explanation, page, JSON; ncu's DRAM is of the data sheet's peak."""
    for prediction in predictions:
        screen, page = text.render([prediction], WIDE), parse(html.render([prediction], WIDE))
        memory = next(n for n in page.all("section") if n.attributes.get("id", "").endswith("-memory"))
        busy = prediction_document(prediction)["utilisation"]
        rows, bars = (of_levels(lines(screen, title)) for title in ("Memory", "Speed of Light"))
        cells = [[cell.text for cell in row.children] for row in memory.one("tbody").all("tr")]
        for name, _, _, rate, reached, peak, _ in cells:
            assert rate in rows[name]
            assert rows[name].endswith(peak)
            if reached and shares(reached)[0] >= 0.01:
                assert reached in bars[name]
                assert shares(reached)[0] == pytest.approx(busy[LEVELS[name]], abs=0.00501)
        peaks = {peak for *_, peak, _ in cells}
        said = explain.render([prediction], WIDE)
        for found in re.findall(rf"B/s, ({SHARE} of [\d.]+ \wB/s, [\w ]+)", said):
            assert found.strip() in peaks
        ncu: dict[str, Any] = {metric.name: metric.value for metric in metrics(prediction)}
        base = ncu["dram__bytes.sum.peak_sustained"] * ncu["dram__cycles_elapsed.avg.per_second"]
        share = ncu["dram__throughput.avg.pct_of_peak_sustained_elapsed"] / 100
        assert ncu["dram__bytes.sum.per_second"] / base == pytest.approx(share)
        assert same(shares(cells[-1][5])[0], share, 1.0)


def test_parts_of_a_prediction_sum_to_the_whole(predictions: list[Any]) -> None:
    """Energy over time is the power, below the limit; components, lines and warp states sum up."""
    for prediction in predictions:
        document = prediction_document(prediction)
        time, power, energy = (document[key]["value"] for key in ("time", "power", "energy"))
        assert energy / time == pytest.approx(power, rel=0.02)
        assert 0 < energy / time <= prediction.case.gpu.power_limit * 1.001
        assert sum(document["breakdown"]["energy"].values()) == pytest.approx(energy, rel=1e-6)
        assert sum(line["time_share"] for line in document["lines"]) == pytest.approx(1.0, abs=0.01)
        assert sum(document["stalls"].values()) == pytest.approx(1.0)
        assert all(0 <= share <= 1 for share in document["utilisation"].values())
        rows = lines(text.render([prediction], SCREEN), "Energy")
        assert sum(amounts(row)[0] for row in rows) == pytest.approx(energy, rel=ROUNDED)
        assert sum(sum(shares(row)) for row in rows) == pytest.approx(1.0, abs=0.006 * len(rows))


def agree(screen: str, limit: float) -> None:
    """Check the head of a run or an application: kernels, copies and idle, each with its time and energy."""
    facts = {m[1]: amounts(m[2]) for m in re.finditer(r"^│ (\w+) +(.*?) *│$", screen, re.MULTILINE)}
    parts = {name: facts[name] for name in ("Kernels", "Copies", "Idle")}
    assert sum(joules for _, joules in parts.values()) == pytest.approx(facts["Energy"][0], rel=ROUNDED)
    for name, (seconds, joules) in parts.items():
        assert 0 <= joules <= limit * seconds * (1 + ROUNDED), name
    assert facts["Power"][0] <= limit


def test_parts_of_a_run_sum_to_the_whole(tmp_path: Path) -> None:
    """Every line's energy belongs to the time beside it, in text, JSON and page."""
    gpu = find("h200")
    (tmp_path / "program.cu").write_text(PROGRAM)
    made = compile_program(tmp_path / "program.cu", [], [gpu.target], tmp_path)
    result = run([str(made)], Wanted((gpu,)), Bounds())
    agree(run_text.render(result, SCREEN), gpu.power_limit)
    (shown,) = json.loads(run_json.render(result, SCREEN))["runs"]
    rows = [(row["time"]["value"], row["energy"]["value"]) for row in shown["kernels"]]
    rows += [(row["time"], row["energy"]) for row in shown["copies"]]
    idle = (shown["idle"], shown["idle_energy"])
    spans = [(span["end"] - span["start"], span["energy"]) for span in shown["spans"]]
    for seconds, joules in (*rows, idle, *spans):
        assert 0 <= joules <= gpu.power_limit * seconds
    for parts in (rows, spans):
        assert sum(joules for _, joules in (*parts, idle)) == pytest.approx(shown["energy"])
    assert shown["energy"] == pytest.approx(shown["mean_power"] * (shown["busy"] + shown["idle"]))
    assert shown["mean_power"] <= shown["peak_power"] <= gpu.power_limit
    page = parse(run_page.render(result, SCREEN))
    for row in page.one("section", class_="run").all("tr")[1:]:
        cells = [cell.text for cell in row.children]
        if len(cells) == 8:  # a kernel: total, mean, share, power, energy
            (seconds, *_), (watts,), (joules,) = map(amounts, (cells[2], cells[5], cells[6]))
            assert joules == pytest.approx(watts * seconds, rel=2 * ROUNDED)


def test_parts_of_an_application_sum_to_the_whole(predictions: list[Any]) -> None:
    """Also where launches follow one another slowly, copies overlap with kernels, and the host waits."""
    gpu, tiny = find("h200"), predictions[-3]
    kernel = KernelNode("work", Path("saxpy.cu"), None, tiny.case.launch, repeats=50, stream="a")
    copies = [CopyNode(f"up {s}", CopyKind.HOST_TO_DEVICE, 4 << 20, stream=s) for s in ("a", "b")]
    found = predict_application(
        Application("steps", (*copies, kernel), idle=1e-3), gpu, lambda _node, _gpu: tiny
    )
    agree(application.render_text([found], SCREEN), gpu.power_limit)
    (shown,) = json.loads(application.render_json([found], SCREEN))["applications"]
    joules = shown["idle_energy"]["value"] + sum(step["energy"]["value"] for step in shown["steps"])
    assert joules == pytest.approx(shown["energy"]["value"])
    for step in shown["steps"]:
        assert 0 < step["energy"]["value"] <= gpu.power_limit * step["time"]["value"]
