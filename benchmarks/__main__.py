"""Print how long the command line takes beside what a user would run instead.

Every row times two commands in alternation and reports the medians and their ratio; nothing here passes or
fails. The figures a design decision rests on are named in the row.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.frontend.toolchain import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXAMPLE = Path(__file__).parents[1] / "examples" / "matmul.cu"
REPEATS = 7
WARPWATT = [sys.executable, "-m", "warpwatt"]
ONE_KERNEL = ["--kernel", "matmul_tiled"]


def seconds(action: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    """Run a command, its output dropped; fail loudly if it fails."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment or dict(os.environ))


def pair(ours: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Return the medians of both in alternation, one warm-up each left out."""
    samples = [(seconds(ours), seconds(other)) for _ in range(REPEATS + 1)][1:]
    return statistics.median(a for a, _ in samples), statistics.median(b for _, b in samples)


def main() -> None:
    """Time everything and print one row per pair."""
    nvcc = str(installed().require("nvcc"))
    with tempfile.TemporaryDirectory() as folder:
        cold = dict(os.environ, WARPWATT_CACHE_DIR=f"{folder}/cold")
        warm = dict(os.environ, WARPWATT_CACHE_DIR=f"{folder}/warm")
        predict = [*WARPWATT, "predict", str(EXAMPLE), *ONE_KERNEL]
        run(predict, warm)

        def predict_cold() -> None:
            shutil.rmtree(f"{folder}/cold", ignore_errors=True)
            run(predict, cold)

        clean = {"PATH": os.environ["PATH"]}
        cubin = [nvcc, "-cubin", "-arch=sm_90", "-o", f"{folder}/x.cubin", str(EXAMPLE)]
        python = [sys.executable, "-c", "pass"]
        rows = {
            "warpwatt --help / python -c pass (want < 0.3 s)": pair(
                lambda: run([*WARPWATT, "--help"]), lambda: run(python)
            ),
            "predict, cold / nvcc -cubin (want <= 2x)": pair(predict_cold, lambda: run(cubin, clean)),
            "predict, warm / nvcc -cubin (want < 0.25 s)": pair(
                lambda: run(predict, warm), lambda: run(cubin, clean)
            ),
            "library predict on a parsed kernel / warm command (want < 10 ms)": pair(
                library_call(), lambda: run(predict, warm)
            ),
        }
    print(f"{'pair':<68} {'ours':>9} {'other':>9} {'ratio':>8}")
    for name, (ours, other) in rows.items():
        print(f"{name:<68} {ours * 1e3:>6.1f} ms {other * 1e3:>6.1f} ms {ours / other:>8.3f}")


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
    blocks = iter(range(64, 10_000))

    def call() -> object:
        launch = Launch(Dim3(64, next(blocks)), written.block, arguments=written.arguments)
        return predict(kernel, launch, gpu)

    return call


if __name__ == "__main__":
    main()
