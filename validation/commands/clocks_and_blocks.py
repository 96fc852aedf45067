"""Wang and Chu (2018) and Boughzala et al. (2020) as commands: what is typed, said, and published.

Run ``python -m validation.commands.clocks_and_blocks --shared FOLDER`` from the repository root; the folder
(default ``../shared``) holds public measurements, without which their rows are left out. Writes
``docs/validation/clocks_and_blocks.md``.
"""

from __future__ import annotations

import argparse
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from validation import ROOT
from validation.boughzala.block_model import LONG_SECONDS, ROUND_SECONDS
from validation.boughzala.fits import ENDS, outcomes
from validation.boughzala.sweeps import POWERQUANT, powerquant
from validation.commands.table import CommandLine, Row, compared, page
from validation.wang_chu.errors import error, from_profile
from validation.wang_chu.measurements import CAMPAIGNS, FOLDER
from validation.wang_chu.oracle import drawn

if TYPE_CHECKING:
    from validation.wang_chu.measurements import Kernel

PAGE = ROOT / "docs" / "validation" / "clocks_and_blocks.md"
TITLE = "Clocks and blocks on the command line"
TEXT = """\
Written by `python -m validation.commands.clocks_and_blocks`: every row is a command as a user types it, what
it says and what the document says. Rows D are Wang and Chu (2018), rows E Boughzala, Lefèvre and Orgerie
(2020). Kernels of row D4 are generic ones of our own with the launches of NV-DVFS-Benchmark's on GTX 980;
`p.csv` holds one measured launch at 700/700 MHz with its counters, and errors are over the other 35 measured
pairs of 500 to 1000 MHz. The 49 pairs of the paper itself were never published. Rows E1 and E2: three
launches as Figure 3 implies them (a round of 14 blocks in 4.2004 s at 153.65 W, 29.4 W idle), five rounds
asked for."""

STREAM = """__global__ void stream(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
"""
VECTOR_ADD = """__global__ void vectorAdd(int n, const float *A, const float *B, float *C) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) C[i] = A[i] + B[i];
}
"""
MATMUL = """__global__ void matmul(int n, const float *A, const float *B, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = sum;
}
"""
TILED = """__global__ void tiled(int n, const float *A, const float *B, float *C) {
    __shared__ float a[32][32], b[32][32];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    float sum = 0.0f;
    for (int tile = 0; tile < n; tile += 32) {
        a[y][x] = A[row * n + tile + x];
        b[y][x] = B[(tile + y) * n + column];
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}
"""
TRANSPOSE = """__global__ void transpose(int n, const float *A, float *C) {
    __shared__ float tile[16][17];
    tile[threadIdx.y][threadIdx.x] = A[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x];
    __syncthreads();
    C[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""
PROFILED = {
    "vectorAdd": ("VA", VECTOR_ADD, "65536", "256", 16777216, "n"),
    "matrixMulGlobal": ("MMG", MATMUL, "16,16", "32,32", 512, "n*n"),
    "matrixMulShared": ("MMS", TILED, "16,16", "32,32", 512, "n*n"),
    "transpose": ("TR", TRANSPOSE, "64,64", "16,16", 1024, "n*n"),
}
"""Programs of NV-DVFS-Benchmark: the paper's abbreviation, a kernel, its launch, n, and its buffers' size."""
PAPERS = (
    "BlackScholes", "conjugateGradient", "fastWalshTransform", "matrixMulGlobal", "matrixMulShared",
    "scanScanExclusiveShared", "sortingNetworks", "scalarProd", "transpose", "vectorAdd",
    "convolutionSeparable",
)  # fmt: skip
"""Table VI, by the data's names."""
COUNTERS = (
    "inst_executed", "achieved_occupancy", "l2_read_transactions", "l2_write_transactions",
    "dram_read_transactions", "dram_write_transactions", "shared_load_transactions",
    "shared_store_transactions", "inst_fp_64", "flop_count_sp_special",
)  # fmt: skip
TABLE_II = {400: 500.0, 700: 404.6, 1000: 366.4}
"""Cycles of a request by memory clock, the core at 400 MHz."""
ROUND_RUNS = "grid,block,duration_us,power_w,idle_w\n" + "".join(
    f"{14 * n},1024,{n * ROUND_SECONDS * 1e6:.10g},153.65,29.4\n" for n in (1, 2, 10)
)
BLOCKS = "stream.cu --gpu m2075 --grid 70 --block 1024 --arg n=71680 --arg x=f32[n] --arg y=f32[n]"


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    data = parser.parse_args(list(arguments)).shared / "data"
    with TemporaryDirectory() as folder:
        line = CommandLine(Path(folder))
        line.file("stream.cu", STREAM)
        text = page(TITLE, TEXT, [*_clocks(line), *_settings(line, data), *_blocks(line, data)])
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def _clocks(line: CommandLine) -> Iterator[Row]:
    """Yield D1 to D3: latency, hit rate, cases."""
    launch = "--gpu gtx980 --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --arg y=f32[n]"
    for memory, published in TABLE_II.items():
        command = f"warpwatt explain stream.cu {launch} --model time=wang-chu --clock 400,{memory}"
        found = _number(line.text(command), r"a request takes ([\d.]+) core cycles")
        yield compared("D1", command, "latency (4), Table II", found, published)
    command = f"warpwatt explain stream.cu {launch} --model time=wang-chu --clock 700,700"
    text = line.text(command)
    sectors = _number(text, r"a request of ([\d.]+) sectors")
    delay = _number(text, r"busy for ([\d.]+) \(5b\)") / sectors
    yield compared("D1", command, "delay per sector, Table III", delay, 9.31)
    line.file("matmul.cu", MATMUL)
    shape = "--grid 16,16 --block 32,32 --arg n=512 --arg A=f32[n*n] --arg B=f32[n*n] --arg C=f32[n*n]"
    command = f"warpwatt explain matmul.cu --gpu gtx980 {shape} --model time=wang-chu --clock 700,700"
    text = line.text(command)
    hit = _number(text, r"L2 answers (\d+) %") / 100
    found = _number(text, r"a request takes ([\d.]+) core cycles")
    yield compared("D2", command, f"(5a) at a hit rate of {hit:.0%}", found, 222 * hit + 500.1 * (1 - hit))
    case = re.search(r"case is (.*?), equations (.*?):", text)
    yield Row("D3", command, "case and equations", f"{case[1]}, {case[2]}" if case else "none")
    rounds = drawn()
    ours = statistics.fmean(abs(one.corrected) for one in rounds)
    printed = statistics.fmean(abs(one.printed) for one in rounds)
    what = "closed forms against 3000 exact simulations, mean error (as printed beside)"
    yield Row("D3", "python -m validation.wang_chu.clock_scaling", what, f"{ours:.2%}", f"{printed:.1%}")


def _settings(line: CommandLine, data: Path) -> Iterator[Row]:
    """Yield D4: 49 settings from one profile, against the measured ones."""
    if not (data / FOLDER).exists():
        return
    campaign = CAMPAIGNS[0]
    kernels = {kernel.name: kernel for kernel in campaign.kernels(data)}
    papers = [kernels[name] for name in PAPERS]
    times = [from_profile(kernel, campaign.baseline)["wang-chu, profile"] for kernel in papers]
    mean = error(papers, times, campaign.baseline).mean
    script = "python -m validation.wang_chu.clock_scaling"
    yield Row("D4", script, "Table VI's 11 kernels from counters alone, MAPE", f"{mean:.1f} %", "3.5 %")
    errors, inside, regrets = [], [], []
    for name, (abbreviation, source, grid, block, n, size) in PROFILED.items():
        kernel = kernels[name]
        line.file(f"{name}.cu", source)
        line.file("p.csv", _profile(kernel, grid, block, campaign.baseline))
        buffers = " ".join(f"--arg {a}=f32[{size}]" for a in "ABC" if f"*{a}" in source)
        command = (
            f"warpwatt sweep {name}.cu --gpu gtx980 --grid {grid} --block {block} --arg n={n} {buffers} "
            "--clock 400:1000:100,400:1000:100 --profile p.csv --model time=wang-chu"
        )
        rows = line.json(command)["rows"]
        own, held = _judged(rows, kernel, campaign.baseline)
        errors.append(statistics.fmean(own))
        inside += held
        regrets.append(_regret(rows, kernel))
        what = f"{abbreviation}: {len(rows)} settings printed; MAPE over {len(own)} measured"
        yield Row("D4", command, what, f"{errors[-1]:.1%}", "0.7 to 6.9 %")
    share = statistics.fmean(inside)
    what = f"mean of these; {share:.0%} of the pairs inside the 80 % interval"
    yield Row("D4", "the same", what, f"{statistics.fmean(errors):.1%}", "3.5 %")
    what = "measured energy at the pair of least predicted energy, over the least measured: mean excess"
    yield Row("D4", "the same", what, f"{statistics.fmean(regrets):.1%}")
    command = command.replace("sweep", "recommend").replace("400:1000:100,400:1000:100", "500:1200:100")
    found = line.json(f"{command} --objective energy")["recommendations"][0]
    clock, saved = found["chosen"]["sm_clock_hz"] / 1e6, found["energy_saving"]["value"]
    said = f"SM {clock:.0f} MHz, {saved:.0%} saved"
    yield Row("D4", f"{command} --objective energy", "clocks of least energy (TR)", said)


def _profile(kernel: Kernel, grid: str, block: str, pair: tuple[float, float]) -> str:
    """Return the launch measured at one pair of clocks as a file for ``--profile``."""
    point = kernel.points[pair]
    known = [name for name in COUNTERS if name in point.counters]
    head = ["grid", "block", "duration_us", "sm_mhz", "memory_mhz", *known]
    cells = [f'"{grid}"', f'"{block}"', *(f"{value:.9g}" for value in (point.seconds * 1e6, *pair))]
    cells += [f"{point.counters[name]:.9g}" for name in known]
    return f"{','.join(head)}\n{','.join(cells)}\n"


def _regret(rows: Sequence[dict[str, float]], kernel: Kernel) -> float:
    """Return how much more energy the pair chosen by prediction takes than the best of the measured ones."""
    said = {(row["sm_clock_hz"] / 1e6, row["memory_clock_hz"] / 1e6): row["energy_j"] for row in rows}
    chosen = min(kernel.points, key=lambda pair: said[pair])
    return kernel.points[chosen].joules / min(point.joules for point in kernel.points.values()) - 1


def _judged(
    rows: Sequence[dict[str, float]], kernel: Kernel, baseline: tuple[float, float]
) -> tuple[list[float], list[bool]]:
    """Return relative errors at measured pairs but the baseline, and whether the interval held each."""
    said = {(row["sm_clock_hz"] / 1e6, row["memory_clock_hz"] / 1e6): row for row in rows}
    judged = [(said[pair], point.seconds) for pair, point in kernel.points.items() if pair != baseline]
    errors = [abs(row["time_s"] / seconds - 1) for row, seconds in judged]
    return errors, [row["time_low_s"] <= seconds <= row["time_high_s"] for row, seconds in judged]


def _blocks(line: CommandLine, data: Path) -> Iterator[Row]:
    """Yield E1 to E6."""
    line.file("runs.csv", ROUND_RUNS)
    for part, model in (("E1", "boughzala"), ("E2", "boughzala-rounds"), ("E2", "boughzala-resident")):
        command = f"warpwatt predict {BLOCKS} --model {model} --profile runs.csv"
        found = line.json(command)["predictions"][0]
        yield compared(part, command, "s of five rounds", found["time"]["value"], 5 * ROUND_SECONDS)
        joules = 5 * ROUND_SECONDS * 153.65
        yield compared(part, command, "J of five rounds", found["energy"]["value"], joules)
    for gpu, steps in (("m2075", 14), ("k20xm", 28)):
        command = f"warpwatt predict {BLOCKS.replace('m2075', gpu)} --model roofline"
        found = line.json(command)["predictions"][0]["occupancy"]
        yield compared("E3", command, "blocks of 1024 threads in a step", _resident(found, 14), steps)
    yield from _platform(line)
    yield from _held_out(data)
    yield from _concurrent(line)


def _resident(occupancy: dict[str, float], sm_count: int) -> float:
    return float(occupancy["blocks_per_sm"]) * sm_count


def _platform(line: CommandLine) -> Iterator[Row]:
    line.file("jobs.toml", '[[job]]\nname = "five rounds"\nseconds = 5.0\nwatts = 153.65\n')
    line.file("one.toml", '[[node]]\nname = "n"\ngpus = ["m2075"]\ngpu_idle_w = 29.4\noff_w = 10.0\n')
    command = "warpwatt simulate jobs.toml --platform one.toml --engine simgrid --write-platform p.xml"
    found = line.json(command)["simulation"]
    yield compared("E4", command, "J, our engine (five rounds of Figure 3)", found["energy"]["value"], 768.25)
    yield compared("E4", command, "J, SimGrid", found["simgrid"]["energy"], 768.25)
    source = (
        'source = "stream.cu"\ngrid = 70\nblock = 1024\nargs = { n = 71680, x = "f32[n]", y = "f32[n]" }\n'
    )
    model = 'model = "boughzala-rounds"\nprofile = "runs.csv"\n'
    line.file("kernel.toml", f'[[job]]\nname = "vectorAdd"\n{source}{model}')
    command = "warpwatt simulate kernel.toml --platform one.toml --write-platform kernel.xml"
    line.text(command)
    xml = (line.folder / "kernel.xml").read_text(encoding="utf-8")
    yield compared("E4", command, "flop/s in the platform file", _number(xml, r'speed="([\d.]+)f'), 3413.0)
    said = re.search(r'wattage_per_state" value="([\d.:]+)"', xml)
    yield Row("E4", command, "wattage_per_state", said[1] if said else "none", "29.4:153.65")


def _held_out(data: Path) -> Iterator[Row]:
    if not all((data / "alavani_powerquant" / name).exists() for name, _ in POWERQUANT.values()):
        return
    sweeps = [sweep for sweep in powerquant(data, LONG_SECONDS) if sweep.equal]
    every = [one for sweep in sweeps for one in outcomes(sweep, ENDS)[0]]
    script = "python -m validation.boughzala.block_model"
    for model in ("line (1), (3)", "resident rounds (E3), ours"):
        found = [one for one in every if one.model == model]
        times = [one.time.average for one in found]
        joules = [one.energy.average for one in found if one.energy is not None]
        what = f"{model}: mean ARE (8), {len(found)} sweeps of other kernels and GPUs"
        yield Row("E5", script, f"{what}, time", f"{statistics.mean(times):.1f} %", "≤ 6.69 % (M2075)")
        yield Row("E5", script, f"{what}, energy", f"{statistics.mean(joules):.1f} %", "≤ 6.86 % (M2075)")


def _concurrent(line: CommandLine) -> Iterator[Row]:
    step = '[[step]]\nname = "{0}"\nstream = "{0}"\nsource = "stream.cu"\ngrid = 50\nblock = 256\n'
    step += 'args = {{ n = 12800, x = "f32[n]", y = "f32[n]" }}\nrepeats = 1000\n'
    line.file("app.toml", step.format("a") + step.format("b"))
    command = "warpwatt simulate app.toml --gpu a100-pcie-40gb"
    found = line.json(command)["applications"][0]
    alone, beside = found["one_at_a_time"], found["side_by_side"]
    what = "two kernels of half the SMs: makespan over one at a time"
    yield compared("E6", command, what, beside["time"] / alone["time"], 0.5)
    interval = f"{beside['energy_low']:.3g} to {beside['energy_high']:.3g} J"
    yield Row("E6", command, "energy beside each other, 80 % interval", interval)
    command = f"warpwatt sweep {BLOCKS} --clock 500:1100:100 --model boughzala --profile runs.csv"
    said = line.text(command)
    yield Row("E6", command, "other clocks", said.partition(" fix:")[0].removeprefix("error: ").strip())


def _number(text: str, pattern: str) -> float:
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"{pattern} is not in: {text[:400]}")
    return float(found[1])


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
