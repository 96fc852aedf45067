"""Print how much processor time the command line takes beside what a user would run instead, and its memory.

Every row runs two commands in alternation and reports the medians of their processor seconds, which a busy
machine changes little, and their ratio; nothing here passes or fails. What is wanted is named in the row.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import nothing_kept
from warpwatt.frontend.toolchain import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXAMPLE = Path(__file__).parents[1] / "examples" / "matmul.cu"
REPEATS = 3
WARPWATT = [sys.executable, "-m", "warpwatt"]
ONE_KERNEL = ["--kernel", "matmul_tiled"]


def seconds(action: Callable[[], object]) -> float:
    """Return the processor seconds of one call, of processes that it starts too."""
    start = _spent()
    action()
    return _spent() - start


def _spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def most_memory(command: Sequence[str], environment: dict[str, str]) -> float:
    """Return the most MiB that a command had resident at one time; of processes it starts, the largest."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=-3)"
    code += "; print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    told = subprocess.run(
        [sys.executable, "-c", code, *command], check=True, capture_output=True, text=True, env=environment
    )
    return float(told.stdout)


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    """Run a command, its output dropped; fail loudly if it fails."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment or dict(os.environ))


def pair(ours: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Return the medians of both in alternation, the first of each left out."""
    samples = [(seconds(ours), seconds(other)) for _ in range(REPEATS + 1)][1:]
    return statistics.median(a for a, _ in samples), statistics.median(b for _, b in samples)


@nothing_kept()
def main() -> None:
    """Run everything and print one row per pair, then what is resident."""
    nvcc = str(installed().require("nvcc"))
    with tempfile.TemporaryDirectory() as folder:
        cold = dict(os.environ, WARPWATT_CACHE_DIR=f"{folder}/cold")
        warm = dict(os.environ, WARPWATT_CACHE_DIR=f"{folder}/warm")
        fresh = dict(warm, WARPWATT_KEEP_ANSWERS="0")
        predict = [*WARPWATT, "predict", str(EXAMPLE), *ONE_KERNEL]
        run(predict, warm)

        def predict_cold() -> None:
            shutil.rmtree(f"{folder}/cold", ignore_errors=True)
            run(predict, cold)

        clean = {"PATH": os.environ["PATH"]}
        cubin = [nvcc, "-cubin", "-arch=sm_90", "-o", f"{folder}/x.cubin", str(EXAMPLE)]
        compile_ = partial(run, cubin, clean)
        python = partial(run, [sys.executable, "-c", "pass"])
        rows = {
            "warpwatt --help, kept / python -c pass": pair(partial(run, [*WARPWATT, "--help"]), python),
            "predict, nothing kept / nvcc -cubin (want <= 2x)": pair(predict_cold, compile_),
            "predict, code kept / nvcc -cubin (want < 0.35 s)": pair(partial(run, predict, fresh), compile_),
            "predict, asked again / nvcc -cubin": pair(partial(run, predict, warm), compile_),
            "library predict on a parsed kernel / command, code kept": pair(
                library_call(), partial(run, predict, fresh)
            ),
        }
        sweep = [
            *WARPWATT,
            "sweep",
            str(EXAMPLE),
            *ONE_KERNEL,
            "--clock",
            "1000:1980:5",
            "-o",
            f"{folder}/rows.csv",
        ]
        resident = {"predict": most_memory(predict, fresh), "sweep": most_memory(sweep, fresh)}
    print(f"{'pair, processor time':<68} {'ours':>9} {'other':>9} {'ratio':>8}")
    for name, (ours, other) in rows.items():
        print(f"{name:<68} {ours * 1e3:>6.1f} ms {other * 1e3:>6.1f} ms {ours / other:>8.3f}")
    print("".join(f"{name}: at most {most:.0f} MiB resident\n" for name, most in resident.items()), end="")


def library_call() -> Callable[[], object]:
    """Return one library prediction of an already parsed kernel, nothing about the launch cached."""
    from warpwatt.compose import predict
    from warpwatt.core.launch import Dim3, Launch
    from warpwatt.frontend.load import load
    from warpwatt.frontend.options import CompileOptions
    from warpwatt.frontend.select import select
    from warpwatt.gpus import find
    from warpwatt.request.directives import read_directives

    kernel = select(load(str(EXAMPLE), "sm_90", CompileOptions()), "matmul_tiled")
    written = read_directives(EXAMPLE.read_text(encoding="utf-8"), str(EXAMPLE))[1].read().launch
    gpu = find("h200")
    blocks = iter(range(63, 0, -1))

    def call() -> object:
        launch = Launch(Dim3(64, next(blocks)), written.block, arguments=written.arguments)
        return predict(kernel, launch, gpu)

    return call


if __name__ == "__main__":
    main()
