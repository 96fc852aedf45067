"""What emulation says of launches beside hardware counters of real GPUs.

Run ``python -m validation.counters.compare_all --data FOLDER --checkouts FOLDER`` from the root: the first
holds the public data sets (default ``../shared/data``), the second the checkouts that
``validation/counters/counters.toml`` names, side by side (default ``../fetched``); what is absent is left
out. Writes
``docs/validation/counters.md``. ``--only`` takes names of programs, and prints without writing.
"""

from __future__ import annotations

import argparse
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.counters.cases import nvprof_cases, rodinia_cases
from validation.counters.comparison import Failure, compare, emulated, forget, quads
from validation.counters.page import page
from validation.counters.tuning import tuning_cases
from warpwatt.core.program import Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.counters.cases import Case
    from validation.counters.comparison import Ratio

LEVELS = (Level.PTX, Level.SASS)
PAGE = ROOT / "docs" / "validation" / "counters.md"


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page, and write it if it is complete."""
    options = _options(arguments)
    cases = [c for c in _cases(options.data, options.checkouts) if c.program in (options.only or [c.program])]
    present = [c for c in cases if c.code.source.exists()]
    ratios, failures = _compared(present, options.processes)
    if options.dump:
        options.dump.write_bytes(pickle.dumps((ratios, failures)))
    text = page(ratios, failures, sorted({c.program for c in cases} - {c.program for c in present}))
    print(text)
    if not options.only:
        PAGE.write_text(text)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--checkouts", type=Path, default=ROOT.parent / "fetched")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--dump", type=Path, help="also pickle every comparison there")
    parser.add_argument("--only", nargs="*", help="programs")
    return parser.parse_args(list(arguments))


def _cases(data: Path, checkouts: Path) -> list[Case]:
    if not data.exists():
        raise FileNotFoundError(f"no data in {data}")
    return [*nvprof_cases(data, checkouts), *rodinia_cases(data, checkouts), *tuning_cases(data, checkouts)]


def _compared(cases: Sequence[Case], processes: int) -> tuple[list[Ratio], list[Failure]]:
    codes = dict.fromkeys(c.code for c in cases)
    tasks = [(way, [c for c in cases if c.code == code]) for way in (*LEVELS, None) for code in codes]
    with ProcessPoolExecutor(processes) as pool:
        found = [x for part in pool.map(_task, tasks) for x in part]
    return [x for x in found if not isinstance(x, Failure)], [x for x in found if isinstance(x, Failure)]


def _task(task: tuple[Level | None, Sequence[Case]]) -> list[Ratio | Failure]:
    """Compare the cases of one kernel: at one level, or (None) the load passes of Maxwell and Pascal."""
    level, cases = task
    forget()
    return list(quads(cases) if level is None else compare(cases, level, emulated))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
