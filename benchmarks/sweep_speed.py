"""Print how many points of a sweep one core predicts in a second, by what varies between them.

``python -m benchmarks.sweep_speed``. Process time of one process; compiled kernels and native code are in
the disk cache, and what the points share (compiling, the first emulation) is done before the clock runs.
Wanted: 5,000 where only clocks vary, 1,000 where the GPU (of one target) or a launch with affine addresses
does.
The pipeline model reads times off a curve through few simulated clocks: *samples* are the seconds of those
simulations, which a curve costs once, whatever the number of its points.
"""

from __future__ import annotations

import io
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import nothing_kept
from warpwatt.compose import Choice
from warpwatt.frontend.source import read_source
from warpwatt.gpus import find, find_many
from warpwatt.render.context import Context
from warpwatt.render.sweep import write
from warpwatt.request.directives import read_directives
from warpwatt.sweep.clocks import Asked
from warpwatt.sweep.configurations import Configuration
from warpwatt.sweep.journal import Journal
from warpwatt.sweep.run import run
from warpwatt.sweep.sweep import Sweep
from warpwatt.sweep.tasks import kernel_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.sweep.rows import Row

EXAMPLES = Path(__file__).parents[1] / "examples"
KERNELS = (("saxpy.cu", 0), ("matmul.cu", 1))
MODELS = ("roofline", "pipeline")
SAME_TARGET = "a100-pcie-40gb,a100-pcie-80gb,a100-sxm4-40gb,a100-sxm4-80gb,a30"
CLOCKS = tuple(Asked((500 + 0.5 * step) * 1e6) for step in range(1820))
"""As a clock controller would ask: in steps of 0.5 MHz."""
FEW = tuple(Asked((510 + 15 * step) * 1e6) for step in range(61))
"""What a driver offers."""
REPEATS = 3
"""Of what is quick, the best is taken: the machine does other things too."""
MANY_ROWS = 100_000


@dataclass(frozen=True)
class Spent:
    """Points, the seconds they took, and what of them a curve's samples are."""

    points: int
    seconds: float
    samples: float = 0.0

    def __str__(self) -> str:
        after = f"{self.points / (self.seconds - self.samples):>10,.0f}" if self.samples else f"{'':>10}"
        return f"{self.points / self.seconds:>10,.0f}{after}{self.samples:>10.3f}"


@nothing_kept()
def main() -> None:
    """Time everything and print the tables."""
    heads = "".join(f"{'per s':>10}{'w/o s.':>10}{'samples':>10}" for _ in KERNELS)
    print(f"{'points per second and core':<44}" + "".join(f"{file:>30}" for file, _ in KERNELS))
    print(f"{'':<44}{heads}")
    for model in MODELS:
        tables = [_rows(_sweep(file, number, model)) for file, number in KERNELS]
        for name in tables[0]:
            print(f"{f'{model}: {name}':<44}" + "".join(str(table[name]) for table in tables))
    _writing()


def _rows(sweep: Sweep) -> dict[str, Spent]:
    """Return what is timed for one kernel and model."""
    gpu = find("a100-pcie-40gb")
    boards = tuple(
        replace(gpu, name=f"board {i}", memory_bandwidth=gpu.memory_bandwidth * (1 + i / 200))
        for i in range(40)
    )
    list(run(sweep))
    return {
        "1820 clocks": _curve(replace(sweep, clocks=CLOCKS)),
        "61 clocks": _curve(replace(sweep, clocks=FEW)),
        "5 GPUs of a target": _timed(replace(sweep, gpus=find_many(SAME_TARGET))),
        "40 boards of a target that nobody made": _timed(replace(sweep, gpus=boards)),
        "20 launches, each emulated": _timed(replace(sweep, configurations=_launches(sweep, 20))),
    }


def _launches(sweep: Sweep, number: int) -> tuple[Configuration, ...]:
    """Return grids that nobody has emulated yet: every model has its own."""
    first = 1 + number * MODELS.index(sweep.choice.time)
    two = "," in (sweep.tasks[0].launch.grid or "")
    return tuple(
        Configuration(grid=f"64-{by % 60},64-{by // 60}" if two else f"65536-{by}")
        for by in range(first, first + number)
    )


def _sweep(file: str, number: int, model: str) -> Sweep:
    """Return the default launch of an example on one GPU."""
    source = read_source(str(EXAMPLES / file))
    text = read_directives(source.text, source.name)[number]
    tasks = kernel_tasks(source, (text,))
    return Sweep(tasks, find_many("a100-pcie-40gb"), choice=Choice(time=model))


def _timed(sweep: Sweep) -> Spent:
    start = time.process_time()
    rows = list(run(sweep))
    spent = time.process_time() - start
    failed = next((row.error for row in rows if row.error), "")
    if failed:
        print(f"  {failed}")
    return Spent(len(rows), spent)


def _curve(sweep: Sweep) -> Spent:
    """Time a curve several times, and of it the first point, before which the samples are simulated."""
    return min((_drawn(sweep) for _ in range(REPEATS)), key=lambda spent: spent.seconds)


def _drawn(sweep: Sweep) -> Spent:
    start = time.process_time()
    rows = run(sweep)
    first = next(rows)
    samples = time.process_time() - start
    left = list(rows)
    spent = time.process_time() - start
    for row in (first, *left):
        assert not row.error, row.error
    return Spent(1 + len(left), spent, samples)


def _writing() -> None:
    """Time what a row costs after it is predicted: the journal, and tables made of it."""
    sweep = replace(_sweep("saxpy.cu", 0, "roofline"), clocks=CLOCKS * (MANY_ROWS // len(CLOCKS) + 1))
    (row, *_) = run(replace(sweep, clocks=CLOCKS[:1]))
    print(f"\n{f'rows per second, of {MANY_ROWS:,}':<44}{'per s':>10}")
    with tempfile.TemporaryDirectory() as folder:
        with Journal(Path(folder) / "x", sweep) as journal:
            start = time.process_time()
            for at in range(0, MANY_ROWS, 1000):
                journal.add(replace(row, number=number) for number in range(at, at + 1000))
            _print("kept in the journal", start)
        start = time.process_time()
        with Journal(Path(folder) / "x", sweep) as journal:
            _print("read when a sweep goes on", start)
            for shape in ("csv", "parquet"):
                start = time.process_time()
                _write(shape, journal)
                _print(f"written as {shape}", start)


def _write(shape: str, rows: Sequence[Row]) -> None:
    write(shape, rows, Context(), io.BytesIO())


def _print(name: str, start: float) -> None:
    print(f"{name:<44}{MANY_ROWS / (time.process_time() - start):>10,.0f}")


if __name__ == "__main__":
    main()
