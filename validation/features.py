"""Recompute every derivable column of the released feature tables and print the share of rows that match.

Run ``python -m validation.features [FOLDER]`` from the repository root; ``FOLDER`` holds the four
``power_model_inputs_*.csv`` (default: ``../shared/data/alavani_power``). Writes ``docs/validation/features.md``.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from validation.alavani_data import DataSet, Defects, Row, load_all
from validation.feature_checks import Case, Check, Missing, checks, rules
from warpwatt.core.errors import LaunchError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Resources
from warpwatt.gpus import find, occupancy
from warpwatt.program.features import Convention, published_constants, thesis_constants
from warpwatt.program.features.equations import pfea_waves

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warpwatt.core.gpu import Gpu
    from warpwatt.program.features import Constants

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT.parent / "shared" / "data" / "alavani_power"
PAGE = ROOT / "docs" / "validation" / "features.md"
BOARDS: Mapping[str, str] = {"Tesla V100": "Tesla V100 SXM2 16GB"}
"""Boards of GPUs whose released name is not one of ours."""


@dataclass(frozen=True, slots=True)
class Result:
    """How many rows of a data set a check matches. ``rows`` is 0 where nothing could be compared.

    ``worst`` describes the kernels with the most mismatches.
    """

    check: Check
    data: str
    matching: int
    rows: int
    worst: str

    @property
    def share(self) -> float | None:
        """Matching rows over compared rows."""
        return self.matching / self.rows if self.rows else None


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
    return tuple(
        Case(row, constants, rules(), row.kernel in free, lambda r, g=gpu: theoretical_occupancy(r, g))
        for row in data.rows
    )


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


def theoretical_occupancy(row: Row, gpu: Gpu) -> float | None:
    """Return the occupancy calculator's value, None where the row holds no launch the GPU could run."""
    numbers = row.numbers(("block_size", "reg_thread", "shmem_block"))
    if numbers is None:
        return None
    return _occupancy(gpu, *(int(x) for x in numbers))


@lru_cache(maxsize=4096)
def _occupancy(gpu: Gpu, size: int, registers: int, shared: int) -> float | None:
    try:
        launch = Launch(Dim3(1), Dim3(size))
        return occupancy(gpu, Resources(registers, static_shared=shared), launch).theoretical
    except LaunchError:
        return None


def report(sets: Sequence[DataSet], results: Sequence[Result]) -> str:
    """Return the Markdown page."""
    parts = [
        "# Program features against the released tables",
        _protocol(sets),
        "## Share of matching rows\n\n" + _shares(sets, results),
        "## Columns neither convention matches in 99 % of the rows\n\n" + _open_questions(sets, results),
        "## Defects of the files\n\n" + _defects(sets),
    ]
    return "\n\n".join(parts) + "\n"


def _protocol(sets: Sequence[DataSet]) -> str:
    commit = subprocess.run(  # noqa: S607 - whichever git is installed
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    today = datetime.datetime.now(tz=datetime.UTC).date()
    rows = ", ".join(f"{d.name} {len(d.rows)} ({d.gpu})" for d in sets)
    return f"""Written by `python -m validation.features` on {today} at commit {commit or "unknown"}; do not edit.

Data: the tables of github.com/santonus/energymodel (folder `Datasets`, commit 76f3e50), rows with data: {rows}.
Protocol: each column is recomputed from *other columns of the same row* and constants of the GPU, with the functions
of `warpwatt.program.features`, once with the printed equations (`thesis`) and once with what the data hold
(`published`). A row counts where the column and all inputs hold numbers; it matches within the tolerance of its
line (relative, or absolute where that is wider). "–": nothing to compare. The constants of the `published` convention
were inferred from these same tables, so this page shows that they describe the data, not that they would predict others."""


def _shares(sets: Sequence[DataSet], results: Sequence[Result]) -> str:
    names = [d.name for d in sets]
    lines = [
        "| column | convention | formula | tolerance | " + " | ".join(names) + " |",
        "|---|---|---|---|" + "---:|" * len(names),
    ]
    for check in checks():
        cells = [_cell(_one(results, check, name)) for name in names]
        tolerance = f"{check.relative:g}, {check.absolute:g}"
        lines.append(
            f"| {check.column} | {check.convention} | {check.formula} | {tolerance} | "
            + " | ".join(cells)
            + " |"
        )
    remarks = sorted({f"- `{c.column}` ({c.convention}): {c.note}." for c in checks() if c.note})
    return "\n".join(lines) + "\n\n" + "\n".join(remarks)


def _cell(result: Result) -> str:
    return "–" if result.share is None else f"{100 * result.share:.2f} % of {result.rows}"


def _one(results: Sequence[Result], check: Check, data: str) -> Result:
    return next(r for r in results if r.check == check and r.data == data)


def _open_questions(sets: Sequence[DataSet], results: Sequence[Result]) -> str:
    lines = [
        "| column | data set | better convention | share | most mismatches (kernel, rows) |",
        "|---|---|---|---:|---|",
    ]
    for column in dict.fromkeys(c.column for c in checks()):
        for data in sets:
            shared = [r for r in results if r.check.column == column and r.data == data.name and r.rows]
            best = max(shared, key=lambda r: r.matching / r.rows, default=None)
            if best is not None and best.share is not None and best.share < 0.99:
                cells = (column, data.name, best.check.convention, f"{100 * best.share:.2f} %", best.worst)
                lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _defects(sets: Sequence[DataSet]) -> str:
    lines = [
        "| data set | blank rows | rows with error cells | error cells | stray text | blank cells | empty columns |"
    ]
    lines.append("|---|---:|---:|---|---|---|---|")
    for data in sets:
        d: Defects = data.defects
        cells = [_tally(d.error), _tally(d.stray), _tally(d.blank), ", ".join(d.empty) or "–"]
        lines.append(f"| {data.name} | {d.blank_rows} | {d.error_rows} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _tally(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name or 'unnamed'} {n}" for name, n in sorted(counts.items())) or "–"


def main() -> None:
    """Check the tables, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--output", type=Path, default=PAGE)
    arguments = parser.parse_args()
    sets = load_all(arguments.folder)
    page = report(sets, run(sets))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
