"""The one-run hybrid (Alavani 2023, section 7.2): one launch is measured, others are predicted.

Run ``python -m validation.timing.hybrid --data FOLDER --checkouts FOLDER`` from the repository root: the
first holds the public data sets (default ``../shared/data``), the second a checkout of NV-DVFS-Benchmark
(``nv-dvfs``) and CUDA samples, whose kernels are compiled (left out where absent). Writes
``docs/validation/hybrid.md``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.timing import dvfs as time_dvfs
from validation.timing import pmpp as time_pmpp
from validation.timing.hybrid_page import page
from validation.timing.hybrid_runs import timed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.timing.hybrid_runs import Timed

PAGE = ROOT / "docs" / "validation" / "hybrid.md"
MODELS = ("pipeline", "roofline")
CLOCKED = "Quadro RTX 8000"
"""The GPU whose clock sweep is used: all its clocks were applied as labelled."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--checkouts", type=Path, default=ROOT.parent / "fetched")
    options = parser.parse_args(list(arguments))
    text = page(
        {model: textbook(options.data, model) for model in MODELS},
        {model: clock_sweep(options.data, options.checkouts, model) for model in MODELS},
    )
    PAGE.write_text(text)
    print(text)


def textbook(data: Path, model: str) -> list[Timed]:
    """Return the textbook kernels that are one launch each; a reduction's launches were timed together."""
    if not (data / time_pmpp.FILE).exists():
        return []
    return timed([run for run in time_pmpp.runs(data)[0] if len(run.launches) == 1], model)


def clock_sweep(data: Path, checkouts: Path, model: str) -> list[Timed]:
    """Return the applications at ten SM clocks, every launch of the timed loop together."""
    if not (checkouts / "nv-dvfs").exists() or not (data / time_dvfs.FOLDER).exists():
        return []
    return timed([run for run in time_dvfs.runs(data, checkouts)[0] if run.gpu == CLOCKED], model)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
