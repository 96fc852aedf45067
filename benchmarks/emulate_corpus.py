"""Print how long the emulator takes for every launch of the corpus, by its machine code for sm_90.

``python -m benchmarks.emulate_corpus [PROGRAM...]`` times :func:`warpwatt.emulate.first_execution.execute` in
process time (one thread). Lifting and slicing the kernel, writing its steps or compiling them,
which a process does once per kernel, are timed apart. Wanted: 95 % of launches under 0.3 s.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import WarpWattError
from warpwatt.core.program import Level
from warpwatt.emulate.emulation import prepared
from warpwatt.emulate.first_execution import execute
from warpwatt.emulate.native.engine import translate
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find
from warpwatt.lab.measure.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpwatt.core.program import Kernel
    from warpwatt.lab.measure.corpus import KernelLaunch

CORPUS = Path(__file__).parents[1] / "corpus"
SASS_ONLY = CompileOptions(levels=frozenset({Level.SASS}))
GPU = "h200"
WANTED_SECONDS, SLOWEST = 0.3, 10


@dataclass(frozen=True, slots=True)
class Point:
    """Seconds of process time that one launch took; ``prepare`` is 0 where the kernel was seen before."""

    name: str
    prepare: float
    execute: float
    workload: float


def main(names: Sequence[str] = ()) -> None:
    """Time everything and print the table."""
    found: list[Point] = []
    failed: list[str] = []
    for name, kernel, launch in _launches(names):
        try:
            found.append(_timed(name, kernel, launch))
        except WarpWattError as error:
            failed.append(f"{name}: {error}")
    print("\n".join([*failed, *_table(found)]))


def _launches(names: Sequence[str]) -> Iterator[tuple[str, Kernel, KernelLaunch]]:
    """Yield every launch of the corpus, or of some programs, at every size."""
    target = find(GPU).target
    for program in Corpus.load(CORPUS):
        if names and program.name not in names:
            continue
        for size in program.sizes:
            for launch in program.size(size.name).launches:
                kernel = load_kernel(program.source, target, SASS_ONLY, launch.kernel)
                yield f"{program.name} {size.name} {launch.kernel}", kernel, launch


def _timed(name: str, kernel: Kernel, launch: KernelLaunch) -> Point:
    """Emulate a launch; its code is compiled beforehand."""
    program = kernel.sass
    assert program is not None
    times = [time.process_time()]
    translate(prepared(program)[1], record=True)
    times.append(time.process_time())
    execution = execute(program, launch.launch)
    times.append(time.process_time())
    workload(execution, find(GPU), kernel.resources)
    times.append(time.process_time())
    return Point(name, times[1] - times[0], times[2] - times[1], times[3] - times[2])


def _table(points: Sequence[Point]) -> list[str]:
    """Return the lines to print."""
    rows = [f"{len(points)} launches, sm_90 machine code; process time in ms"]
    rows.append(f"{'':<10} {'median':>8} {'mean':>8} {'95 %':>8} {'longest':>8} {'< 300 ms':>9}")
    for part in ("prepare", "execute", "workload"):
        seconds = sorted(getattr(point, part) for point in points)
        under = sum(s < WANTED_SECONDS for s in seconds) / len(seconds)
        figures = (
            statistics.median(seconds),
            statistics.fmean(seconds),
            seconds[int(0.95 * (len(seconds) - 1))],
            seconds[-1],
        )
        rows.append(f"{part:<10} " + " ".join(f"{s * 1e3:>8.1f}" for s in figures) + f" {under:>9.1%}")
    rows.append("slowest:")
    slowest = sorted(points, key=lambda point: -point.execute)[:SLOWEST]
    return rows + [f"{p.execute * 1e3:>8.0f} {p.workload * 1e3:>8.0f}  {p.name}" for p in slowest]


if __name__ == "__main__":
    main(sys.argv[1:])
