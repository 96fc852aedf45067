"""Print how many points of a sweep one core predicts in a second, by what varies between them.

``python -m benchmarks.sweep_speed``. Process time of one process; compiled kernels and native code are in
the disk cache. Wanted: 5,000 where only clocks vary, 1,000 where the GPU (of one target) or a launch with
affine addresses does. The pipeline model simulates each point anew, unless times are read off a curve through
few simulated clocks.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.advise.clocks import Asked
from warpwatt.advise.configurations import Configuration
from warpwatt.advise.run import run
from warpwatt.advise.sweep import Sweep
from warpwatt.compose import Choice
from warpwatt.frontend.directives import read_directives
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.source import read_source
from warpwatt.gpus import find_many

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parents[1] / "examples"
EXAMPLE_KERNELS = (("saxpy.cu", 0), ("matmul.cu", 1))
MODELS = ("roofline", "pipeline")
POWER = ("specification", "component")
SAME_TARGET = "a100-pcie-40gb,a100-pcie-80gb,a100-sxm4-40gb,a100-sxm4-80gb,a30"
CLOCKS = tuple(Asked((500 + 0.5 * step) * 1e6) for step in range(1820))
"""As a clock controller would ask: in steps of 0.5 MHz."""
OFFERED = tuple(Asked((510 + 15 * step) * 1e6) for step in range(61))
LAUNCHES = tuple(Configuration(grid=f"64-{by},64") for by in range(1, 6))
"""Smaller grids."""


def main() -> None:
    """Time everything and print the table."""
    print(f"{'points per second and core':<64} " + " ".join(f"{file:>10}" for file, _ in EXAMPLE_KERNELS))
    for name, changed in _rows():
        rates = [_rate(changed(_sweep(file, number))) for file, number in EXAMPLE_KERNELS]
        print(f"{name:<64} " + " ".join(f"{rate:>10,.0f}" for rate in rates))


def _rows() -> list[tuple[str, Callable[[Sweep], Sweep]]]:
    """Return what is timed."""
    rows: list[tuple[str, Callable[[Sweep], Sweep]]] = []
    for model in MODELS:
        for power in POWER:
            choice = Choice(time=model, power=power)
            name = f"{model}, {power}: "
            rows += [
                (f"{name}1820 clocks on a curve", _changing(choice, clocks=CLOCKS, curve=True)),
                (
                    f"{name}61 clocks on a curve, samples and all",
                    _changing(choice, clocks=OFFERED, curve=True),
                ),
                (f"{name}61 clocks, each asked of the model", _changing(choice, clocks=OFFERED)),
                (f"{name}5 GPUs of a target", _changing(choice, gpus=find_many(SAME_TARGET))),
                (f"{name}5 launches", _changing(choice, configurations=LAUNCHES)),
            ]
    return rows


def _changing(choice: Choice, **fields: object) -> Callable[[Sweep], Sweep]:
    return lambda sweep: replace(sweep, choice=choice, **fields)  # type: ignore[arg-type] # names are Sweep's


def _sweep(file: str, number: int) -> Sweep:
    """Return the default launch of an example on one GPU."""
    source = read_source(str(EXAMPLES / file))
    text = read_directives(source.text, source.name)[number]
    return Sweep(source, (text,), find_many("a100-pcie-40gb"), options=CompileOptions())


def _rate(sweep: Sweep) -> float:
    """Return points per second; what the first point alone needs, compiling included, is not counted."""
    list(run(replace(sweep, clocks=sweep.clocks[:1], curve=False)))
    start = time.process_time()
    rows = list(run(sweep))
    spent = time.process_time() - start
    failed = next((row.error for row in rows if row.error), "")
    if failed:
        print(f"  {failed}")
    return len(rows) / spent


if __name__ == "__main__":
    main()
