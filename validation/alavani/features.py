"""Recompute every derivable column of the released feature tables and print the share of rows that match.

Run ``python -m validation.alavani.features [FOLDER]`` from the repository root; ``FOLDER`` holds the four
``power_model_inputs_*.csv`` (default: ``../shared/data/alavani_power``). Writes
``docs/validation/features.md``.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.alavani import features_page
from validation.alavani.feature_checks import Check, Result, checks
from validation.alavani.feature_formulas import Case, Missing
from validation.alavani.feature_tables import DataSet, Row, load_all
from warpwatt.gpus import find
from warpwatt.published.alavani.features import Convention, published_constants, thesis_constants
from warpwatt.published.alavani.features.constants import published_rules
from warpwatt.published.alavani.features.equations import pfea_waves

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warpwatt.published.alavani.features import Constants

FOLDER = ROOT.parent / "shared" / "data" / "alavani_power"
PAGE = ROOT / "docs" / "validation" / "features.md"
BOARDS: Mapping[str, str] = {"Tesla V100": "Tesla V100 SXM2 16GB"}
"""Boards of GPUs whose released name is not one of ours."""
PROMISED = (
    "inst_issue_cycles",
    "waves",
    "sm_active",
    "glob_throughput",
    "sh_throughput",
    "wtotal",
    "total_inst",
)
"""Columns the published convention must match in 99 % of the rows."""


def run(sets: Iterable[DataSet]) -> tuple[Result, ...]:
    """Return the result of every check on every data set."""
    found = []
    for data in sets:
        cases = {convention: _cases(data, convention) for convention in Convention}
        found += [_evaluate(check, data, cases[check.convention]) for check in checks()]
    return tuple(found)


def _cases(data: DataSet, convention: Convention) -> tuple[Case, ...]:
    gpu = find(BOARDS.get(data.gpu, data.gpu))
    published = convention is Convention.PUBLISHED
    constants = published_constants(data.gpu) if published else thesis_constants(gpu)
    free = loop_free_kernels(data, constants)
    return tuple(Case(row, constants, published_rules(), row.kernel in free, gpu) for row in data.rows)


def _evaluate(check: Check, data: DataSet, cases: Sequence[Case]) -> Result:
    matching = rows = 0
    misses: defaultdict[str, int] = defaultdict(int)
    for case in cases:
        actual = case.row.values.get(check.column)
        try:
            predicted = check.compute(case)
        except Missing:
            continue
        if actual is None:
            continue
        rows += 1
        if check.matches(predicted, actual):
            matching += 1
        else:
            misses[case.row.kernel] += 1
    worst = sorted(misses.items(), key=lambda item: (-item[1], item[0]))[:3]
    return Result(check, data.name, matching, rows, ", ".join(f"{k} {n}" for k, n in worst))


def loop_free_kernels(data: DataSet, constants: Constants) -> frozenset[str]:
    """Return kernels of which some row has ``comp_inst_sm`` = waves · ``comp_inst_kernel``: no loops."""
    return frozenset(row.kernel for row in data.rows if _is_loop_free(row, constants))


def _is_loop_free(row: Row, constants: Constants) -> bool:
    numbers = row.numbers(("grid_size", "block_size", "comp_inst_sm", "comp_inst_kernel"))
    if numbers is None:
        return False
    blocks, size, executed, static = numbers
    waves = pfea_waves(int(blocks), int(size), constants.sm_count, constants.max_threads_per_sm)
    return static > 0 and executed == waves * static


def broken_promises(results: Sequence[Result]) -> tuple[str, ...]:
    """Return promised columns that the published convention matches in less than 99 % of the rows."""
    checked = [
        r for r in results if r.check.column in PROMISED and r.check.convention is Convention.PUBLISHED
    ]
    short = [r for r in checked if r.share is not None and r.share < 0.99]
    return tuple(f"{r.check.column} in {r.data}: {r}" for r in short)


def main() -> None:
    """Check the tables, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--output", type=Path, default=PAGE)
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        parser.error(f"no folder {arguments.folder}: name the one that holds power_model_inputs_*.csv")
    sets = load_all(arguments.folder)
    results = run(sets)
    page = features_page.report(sets, results, ROOT)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(page, encoding="utf-8")
    print(page)
    if short := broken_promises(results):
        raise SystemExit("below 99 %: " + "; ".join(short))


if __name__ == "__main__":
    main()
