"""How right the built-in time models are on public measurements that nothing was fitted to.

Run ``python -m validation.timing.models --data FOLDER --hub FOLDER`` from the repository root: ``FOLDER``
holds the public data sets (default ``../shared/data``), ``hub`` is a checkout of
github.com/AutoTuningAssociation/benchmark_hub, ``--ktt`` one of github.com/HiPerCoRe/KTT, whose kernels are
compiled (left out where absent). Writes ``docs/validation/time_models.md``.
"""

from __future__ import annotations

import argparse
import pickle
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.timing import pmpp as time_pmpp
from validation.timing import tuning as time_tuning
from validation.timing.cases import compare
from validation.timing.kept import compare_kept, others
from validation.timing.page import SAMPLE_OF_TUNED, page
from validation.timing.thesis import compare_thesis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.timing.cases import Measured

PAGE = ROOT / "docs" / "validation" / "time_models.md"


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    options = _options(arguments)
    runs, left_out = _runs(options.data, {"hub": options.hub, "ktt": options.ktt})
    kept = options.use and pickle.loads(options.use.read_bytes())
    if options.kept:
        compared = compare_kept(runs, options.kept)
        left_out["all of them"] = others(runs, compared)
    else:
        compared = kept or compare(runs) + compare_thesis()
    if options.dump:
        options.dump.write_bytes(pickle.dumps(compared))
    text = page(compared, left_out)
    PAGE.write_text(text)
    print(text)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--hub", type=Path, default=ROOT.parent / "fetched" / "benchmark_hub")
    parser.add_argument("--ktt", type=Path, default=ROOT.parent / "fetched" / "ktt")
    parser.add_argument("--kept", metavar="STORE", help="only what timing.development keeps there")
    parser.add_argument("--dump", type=Path, help="also pickle every comparison there")
    parser.add_argument("--use", type=Path, help="the page of the comparisons that --dump wrote")
    return parser.parse_args(list(arguments))


def _runs(data: Path, checkouts: dict[str, Path]) -> tuple[list[Measured], dict[str, Counter[str]]]:
    found: list[Measured] = []
    left_out: dict[str, Counter[str]] = {}
    if (data / time_pmpp.FILE).exists():
        found, left_out[time_pmpp.NAME] = time_pmpp.runs(data)
    else:
        left_out[time_pmpp.NAME] = Counter(["the data set is absent"])
    if (data / "autotuning_hub").exists():
        more, left_out["tuned kernels"] = time_tuning.runs(data, checkouts, SAMPLE_OF_TUNED)
        found = [*found, *more]
    else:
        left_out["tuned kernels"] = Counter(["the data set is absent"])
    return found, left_out


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
