"""Run whole grids of the corpus on the emulator, PTX and machine code, and compare the memory.

``python -m validation.corpus.emulator_check [NAME...]`` runs the named programs, or all, in every column
(``--columns ptx,sm_90``) and every run, a size and an engine (``--runs tiny:reference``), and prints what is
not right; with all programs and columns it writes ``docs/validation/emulator.md``. Two processes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from validation import ROOT
from validation.corpus.emulator_runs import FAILED, PASSED, SKIPPED, UNCOVERED, WRONG, corpus, outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from validation.corpus.emulator_runs import Outcome

PAGE = ROOT / "docs" / "validation" / "emulator.md"
COLUMNS = ("ptx", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
RUNS = "tiny:native,small:native"
STATES = (PASSED, UNCOVERED, WRONG, FAILED, SKIPPED)

HEAD = """\
# The emulator on the corpus

Written by `python -m validation.corpus.emulator_check` on {date} at commit {commit}; do not edit.

Every program of the corpus is run, all blocks of all launches in order, and every buffer is compared with
the program's NumPy reference by the rules that judge measurements (integers exactly; floats within the
program's tolerance). `ptx` is the compiler's PTX for sm_90, the other columns are machine code for that
target. *Uncovered* programs executed an instruction without semantics and said so; *wrong* ones said
nothing; *failed* ones stopped with an error; some programs are *not for* old targets. *As PTX*: machine code
that leaves the very bytes PTX left (compilers contract and reorder arithmetic differently, so not all can).
"""


def page(runs: dict[str, list[Outcome]]) -> str:
    """Return the Markdown page; ``runs`` holds what came of each size and engine, ``SIZE:ENGINE``."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    parts = [HEAD.format(date=time.strftime("%Y-%m-%d"), commit=commit)]
    for run, results in runs.items():
        size, _, engine = run.partition(":")
        columns = [c for c in COLUMNS if any(r.column == c for r in results)]
        header = ("column", *STATES, "as PTX", "million warp instructions")
        parts += [f"## Size `{size}`, {engine} engine\n"]
        parts += [_table(header, (_summary(column, results) for column in columns)), *_failures(results)]
    every = [result for results in runs.values() for result in results]
    parts += ["## Opcodes\n", *_opcodes(every, list(COLUMNS))]
    return "\n".join(parts)


def _summary(column: str, results: list[Outcome]) -> tuple[str, ...]:
    mine = [r for r in results if r.column == column]
    states = Counter(r.state for r in mine)
    compared = [r.same for r in mine if r.same is not None]
    same = f"{sum(compared)} / {len(compared)}" if compared else "-"
    executed = f"{sum(r.instructions for r in mine) / 1e6:.1f}"
    return (f"`{column}`", *(str(states[state]) for state in STATES), same, executed)


def _failures(results: list[Outcome]) -> list[str]:
    bad = [r for r in results if r.state not in (PASSED, SKIPPED)]
    if not bad:
        return []
    return [
        _table(
            ("program", "column", "state", "why"),
            ((f"`{r.program}`", r.column, r.state, r.note) for r in bad),
        )
    ]


def _opcodes(results: list[Outcome], columns: list[str]) -> list[str]:
    """Return, per column, how many opcodes the code has and which have no semantics."""
    lines = ["Base opcodes in the programs' code with semantics, and full opcodes without.\n"]
    for column in columns:
        mine = [r for r in results if r.column == column]
        missing = sorted(set().union(*(r.uncovered for r in mine)))
        covered = sorted(set().union(*(r.covered for r in mine)) - {m.partition(".")[0] for m in missing})
        lines += [f"### `{column}`\n", f"{len(covered)} covered: {' '.join(f'`{c}`' for c in covered)}\n"]
        lines += [f"Not covered: {' '.join(f'`{m}`' for m in missing) or 'none'}\n"]
    return lines


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Run and report; return 1 if a program was wrong or failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="programs or folders of dwarfs; default all")
    parser.add_argument("--columns", default=",".join(COLUMNS), help="ptx, targets; default all")
    parser.add_argument("--runs", default=RUNS, help=f"SIZE:ENGINE: reference, native, functional; {RUNS}")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    columns = tuple(options.columns.split(","))
    wanted = set(options.names)
    names = [p.name for p in corpus() if not wanted or {p.name, p.source.parent.name} & wanted]
    runs: dict[str, list[Outcome]] = {}
    for run in options.runs.split(","):
        size, _, engine = run.partition(":")
        with ProcessPoolExecutor(options.processes) as pool:
            jobs = [pool.submit(outcomes, name, size, columns, engine) for name in names]
            runs[run] = [result for job in jobs for result in _shown(job.result())]
        print(run)
        for column in columns:
            print("  ".join(_summary(column, runs[run])), flush=True)
    if not wanted and columns == COLUMNS:
        PAGE.write_text(page(runs), encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}")
    return 1 if any(r.state in (WRONG, FAILED) for results in runs.values() for r in results) else 0


def _shown(results: list[Outcome]) -> list[Outcome]:
    for r in results:
        if r.state not in (PASSED, SKIPPED):
            print(f"{r.state:9} {r.column:6} {r.program}: {r.note}", flush=True)
    return results


if __name__ == "__main__":
    sys.exit(main())
