"""Wang and Chu (2018): published tables, the exact simulation, and measured clock sweeps of four GPUs.

Run ``python -m validation.wang_chu.clock_scaling --data FOLDER --checkouts FOLDER`` from the repository root:
the first holds the public data sets (default ``../shared/data``), the second a checkout of NV-DVFS-Benchmark
(``nv-dvfs``) and CUDA samples, whose kernels are compiled; without it what needs a source is left out. Writes
``docs/validation/wang_chu.md``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.wang_chu import unprofiled
from validation.wang_chu.measurements import CAMPAIGNS, FOLDER
from validation.wang_chu.page import Measured, page

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = ROOT / "docs" / "validation" / "wang_chu.md"


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--checkouts", type=Path, default=ROOT.parent / "fetched")
    options = parser.parse_args(list(arguments))
    text = page(measured(options.data, options.checkouts))
    PAGE.write_text(text)
    print(text)


def measured(data: Path, checkouts: Path) -> list[Measured]:
    """Return every campaign with what the models say about it; empty where the data are absent."""
    if not (data / FOLDER).exists():
        return []
    runs = unprofiled.older(data, checkouts)
    found = []
    for campaign in CAMPAIGNS:
        kernels = campaign.kernels(data)
        swept = unprofiled.swept(kernels, runs)
        found.append(Measured(campaign.name, campaign.gpu, campaign.baseline, tuple(kernels), tuple(swept)))
    return found + _newer(data, checkouts)


def _newer(data: Path, checkouts: Path) -> list[Measured]:
    kernels, runs = unprofiled.newer(data, checkouts)
    found = []
    for gpu in sorted({kernel.gpu for kernel in kernels}):
        own = tuple(kernel for kernel in kernels if kernel.gpu == gpu)
        pairs = sorted(own[0].points)
        name = f"{gpu}, core {pairs[0][0]:g}-{pairs[-1][0]:g} MHz, later campaign"
        swept = tuple(unprofiled.swept(own, runs))
        found.append(Measured(name, gpu, pairs[-1], own, swept, counters=False))
    return found


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
