"""How right the time models are on public measurements that nobody had looked at while they were built.

Run ``python -m validation.timing.unseen --data FOLDER --checkouts FOLDER`` from the repository root: the
first holds the public data sets (default ``../shared/data``), the second checkouts of NV-DVFS-Benchmark
(``nv-dvfs``), CUDA samples and Rodinia, whose kernels are compiled (left out where absent). ``--only`` takes
names of programs, and prints without writing. Writes ``docs/validation/time_unseen.md``.
"""

from __future__ import annotations

import argparse
import pickle
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.timing import dvfs as time_dvfs
from validation.timing import neusight as time_neusight
from validation.timing.cases import compare
from validation.timing.kept import compare_kept, others
from validation.timing.unseen_page import page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.timing.cases import Measured

PAGE = ROOT / "docs" / "validation" / "time_unseen.md"


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page, and write it if it is complete."""
    options = _options(arguments)
    runs, left_out = _runs(options.data, options.checkouts)
    wanted = [run for run in runs if run.program in (options.only or [run.program])]
    compared = compare_kept(wanted, options.kept) if options.kept else compare(wanted)
    if options.kept:
        left_out["all of them"] = others(wanted, compared)
    if options.dump:
        options.dump.write_bytes(pickle.dumps(compared))
    text = page(compared, left_out)
    print(text)
    if not options.only:
        PAGE.write_text(text)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--checkouts", type=Path, default=ROOT.parent / "fetched")
    parser.add_argument("--dump", type=Path, help="also pickle every comparison there")
    parser.add_argument("--only", nargs="*", help="programs")
    parser.add_argument("--kept", metavar="STORE", help="only what timing.development keeps there")
    return parser.parse_args(list(arguments))


def _runs(data: Path, checkouts: Path) -> tuple[list[Measured], dict[str, Counter[str]]]:
    found: list[Measured] = []
    left_out: dict[str, Counter[str]] = {}
    if (checkouts / "nv-dvfs").exists():
        found, left_out[time_dvfs.NAME] = time_dvfs.runs(data, checkouts)
        more, left_out[time_dvfs.OLDER] = time_dvfs.older_runs(data, checkouts)
        found += more
    else:
        left_out[time_dvfs.NAME] = Counter(["the checkout of its sources is absent"])
    more, left_out[time_neusight.NAME] = time_neusight.runs(data)
    return [*found, *more], left_out


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
