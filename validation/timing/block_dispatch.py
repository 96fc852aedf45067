"""Blocks started per cycle by the whole chip, from public microbenchmarks: the source of ``dispatch.toml``.

Run ``python -m validation.timing.block_dispatch --data FOLDER`` from the repository root (default
``../shared/data``). Writes ``docs/validation/block_dispatch.md``.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from validation import ROOT
from validation.timing.microbench_runs import FOLDER, GPUS, STREAM_ELEMENTS
from validation.timing.page import stamp
from warpwatt.gpus import find
from warpwatt.models.dispatch import dispatch_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = ROOT / "docs" / "validation" / "block_dispatch.md"
THREADS = (32, 64, 128, 256)
LEAST_BLOCKS = 2000
"""Shorter launches are mostly overhead."""
FEWEST = 10
"""Launches of a slope."""
IN_L2 = 0.4
"""Part of L2 that both arrays may fill, so that DRAM does not count."""
PROTOCOL = """\
# Block dispatch

Written by `python -m validation.timing.block_dispatch` on {date} at commit {commit}; do not edit.

**Development data**: the rates of `models/dispatch.toml` are chosen on these
(github.com/te42kyfo/gpu-benches, commit 1c36d50): blocks
started per cycle of the boost clock, on the whole chip.

- *small kernels*: slope of time over blocks, scaling of arrays in L2 ({part:.0%} of it at most), kernel after
  kernel in a stream or graph. Where blocks of twice the threads come at the same rate, dispatch is the limit.
- *stream init*: two resident blocks per SM write 2^27 doubles; the rate is at least what is seen.

| GPU | data | {head} | in the package |
|---|---|{lines}|---|
"""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    folder = parser.parse_args(list(arguments)).data / FOLDER
    head = " | ".join(f"{threads} threads" for threads in THREADS)
    text = PROTOCOL.format(**stamp(), part=IN_L2, head=head, lines="|".join("---" for _ in THREADS))
    for gpu, data, rates in [*small_kernels(folder), *streams(folder)]:
        cells = " | ".join(f"{rates[t]:.2f}" if t in rates else "" for t in THREADS)
        ours = dispatch_rate(find(GPUS[gpu]), find(GPUS[gpu]).boost_clock)[0]
        text += f"| {GPUS[gpu]} | {data} | {cells} | {ours} |\n"
    PAGE.write_text(text)
    print(text)


def small_kernels(folder: Path) -> Iterator[tuple[str, str, dict[int, float]]]:
    """Yield GPU, way of launching, and threads to blocks per cycle."""
    points: dict[tuple[str, str, int], list[tuple[float, float]]] = defaultdict(list)
    for row in _rows(folder / "small_kernel_bandwidth.csv"):
        elements, gpu = int(row["elements"]), find(GPUS[row["gpu"]])
        if row["launch_mode"] not in ("stream_launch", "graph") or 16 * elements > IN_L2 * gpu.l2_size:
            continue
        for threads in THREADS:
            blocks, speed = elements // threads + 1, float(row[f"gbs_block{threads}"])
            if blocks >= LEAST_BLOCKS:
                cycles = 16 * elements / (speed * 1e9) * gpu.boost_clock
                points[row["gpu"], row["launch_mode"], threads].append((blocks, cycles))
    for name, mode in dict.fromkeys((gpu, mode) for gpu, mode, _ in points):
        rates = {t: _slope(points[name, mode, t]) for t in THREADS if len(points[name, mode, t]) >= FEWEST}
        yield name, f"small kernels, {mode.partition('_')[0]}", rates


def _slope(points: list[tuple[float, float]]) -> float:
    """Return blocks per cycle of points (blocks, cycles)."""
    blocks, cycles = np.array(points).T
    return 1.0 / float(np.polyfit(blocks, cycles, 1)[0])


def streams(folder: Path) -> Iterator[tuple[str, str, dict[int, float]]]:
    """Yield GPU, kernel, and threads to blocks per cycle."""
    rates: dict[str, dict[int, float]] = defaultdict(dict)
    for row in _rows(folder / "stream_bandwidth_vs_occupancy.csv"):
        threads = int(row["block_size"])
        seconds = 8 * STREAM_ELEMENTS / (float(row["init_gbs"]) * 1e9)
        rates[row["gpu"]][threads] = STREAM_ELEMENTS / threads / seconds / find(GPUS[row["gpu"]]).boost_clock
    for gpu, found in rates.items():
        yield gpu, "stream init", found


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
