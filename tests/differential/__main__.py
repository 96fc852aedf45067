"""Random kernels, computed as ``warpwatt run`` computes them, against the processor: ``make differential``.

``python -m tests.differential [PROGRAMS] [FIRST SEED]``: so many programs, spread over :data:`GPUS`; exit
code 1 where any differs. Launches are computed and not predicted: that would double the time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.differential.generate import source
from warpwatt.core.errors import WarpWattError
from warpwatt.gpus import find
from warpwatt.run.build import compile_program
from warpwatt.run.client import Bounds
from warpwatt.run.launches import Predicted
from warpwatt.run.session import Wanted, run
from warpwatt.run.work import Work

GPUS = ("t4", "a100", "rtx3080", "rtx4090", "h200", "b200", "rtx5090")
"""One of each target, from sm_75 to sm_120."""
BATCH = 10
"""Programs of one file."""
FLAGS = (
    "-O2",
    "-std=c++17",
    "-fmad=false",
    "-w",
    "-Xcompiler",
    "-ffp-contract=off,-frounding-math,-fwrapv,-fno-strict-aliasing",  # else GCC takes 0 - x for -x
)
PRELUDE = Path(__file__).with_name("prelude.cuh")


def verdicts(seeds: list[int], gpu: str, *, level: str = "-O2") -> dict[int, str]:
    """Return for each seed ``same``, or how its kernel on a GPU differs from its twin."""
    found = dict.fromkeys(seeds, "FAILED: it has printed nothing")
    said: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "a.cu").write_text(source(seeds))
        try:
            flags = [f"-I{PRELUDE.parent}", level, *FLAGS[1:]]
            program = compile_program(folder / "a.cu", flags, [find(gpu).target], folder)
            with (folder / "said").open("w") as output:
                run([str(program)], Wanted([find(gpu)], notify=said.append, budget=500), Bounds(900), output)
        except WarpWattError as error:
            return dict.fromkeys(seeds, f"FAILED: {error} {error.details[:500]}")
        for line in (folder / "said").read_text().splitlines():
            name, _, verdict = line.partition(" ")
            if name.startswith("k"):
                found[int(name[1:])] = verdict
    return {seed: text if text == "same" else f"{text}; {' '.join(said)}" for seed, text in found.items()}


def unpredicted(self: Any, request: Any) -> Predicted:
    """Take a launch as one that cannot be predicted: stands in for ``Work._predict``."""
    found = Predicted(request, (None,) * len(self.gpus))
    self.predicted.append(found)
    return found


def main(programs: int, first: int) -> int:
    """Try programs and print what differs, then how many were the same by target."""
    Work._predict = unpredicted  # type: ignore[method-assign]
    same, tried, begun = Counter[str](), Counter[str](), time.monotonic()
    for number, start in enumerate(range(first, first + programs, BATCH)):
        gpu = GPUS[number % len(GPUS)]
        seeds = list(range(start, min(start + BATCH, first + programs)))
        for seed, verdict in verdicts(seeds, gpu).items():
            tried[gpu] += 1
            same[gpu] += verdict == "same"
            if verdict != "same":
                print(f"seed {seed} on {gpu}: {verdict}", flush=True)
        print(
            f"{sum(same.values())} of {sum(tried.values())} after {time.monotonic() - begun:.0f} s",
            flush=True,
        )
    for gpu in tried:
        print(f"{find(gpu).target:7} {gpu:8} {same[gpu]} of {tried[gpu]} the same")
    return int(same != tried)


if __name__ == "__main__":
    sys.exit(main(*(map(int, [*sys.argv[1:], *("500", "0")[len(sys.argv) - 1 :]]))))
