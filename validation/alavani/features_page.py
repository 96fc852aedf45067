"""The Markdown page of ``validation/alavani/features.py``; every number on it is computed."""

from __future__ import annotations

import datetime
import subprocess
from typing import TYPE_CHECKING

from validation.alavani.feature_checks import checks
from warpwatt.gpus import find
from warpwatt.published.alavani.features import published_constants, thesis_constants
from warpwatt.published.alavani.features.constants import published_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from validation.alavani.feature_checks import Check, Result
    from validation.alavani.feature_tables import DataSet

PROTOCOL = """\
Written by `python -m validation.alavani.features` on {date} at commit {commit}; do not edit.

Data: the tables of github.com/santonus/energymodel (folder `Datasets`, commit 76f3e50), rows with data:
{rows}. Protocol: each column is recomputed from *other columns of the same row* and constants of the GPU,
with the functions of `warpwatt.published.alavani.features`, once with the printed equations (`thesis`) and
once with what the data hold (`published`). A row counts where the column and all inputs hold numbers; it
matches within the tolerance of its line (relative, or absolute where that is wider). "–": nothing to
compare. The constants of the `published` convention were inferred from these same tables: this page shows
that they describe the data, not that they would predict others. Formulas that say "either" or "or" take
the better of two for each row, so their shares are upper bounds. The Maxwell file names no model; its
constants are those of the thesis' Tesla M60."""

FINDINGS = """\
- `wtotal`, not `waves`, is the wave count of the cache penalty; in all files it is
  round({slope:g}·threads + {start:g}), whatever the GPU.
- The cache penalty takes {bytes} bytes per access on every GPU; on the V100 it multiplies with the
  latency of all accesses of an SM (`glob_lat_sm`) instead of one.
- `glb_penalty` rounds the threads up to whole batches of the load-store units of all SMs ({batch} on the
  K20), and multiplies µs by GHz: it is a thousandth of the cycles meant.
- Global latency of the K20 is Table 3.3, each piece ending just before its upper bound, and {last:g}
  cycles from {bound:,.0f} threads on; on the M60 {load:g} per load and {store:g} per store, on the V100
  {v_load:g} and {v_store:g}.
- Shared throughput of the M60 uses c = {c_data:g}; Table 4.5 prints {c_printed:g}.
- `sh_penalty` of the K20 is {factor:g} times larger above {above:,.0f} threads, whether or not a kernel can
  conflict.
- `misc_inst_sm` holds {per_compute} instructions per compute instruction, {per_branch} per branch and
  about {per_kernel} per kernel and wave: exact for small kernels, off by a constant per kernel for
  others.
- Part of the larger K20 table was made with waves of {cores} threads per SM (one per core) instead of
  {full}: see the lines that say "either".
- Latencies behind the K20 tables are mostly those the thesis prints for the Quadro K4200:"""


def report(sets: Sequence[DataSet], results: Sequence[Result], root: Path) -> str:
    """Return the page; ``root`` is the checkout whose commit it names."""
    parts = [
        "# Program features against the released tables",
        _protocol(sets, root),
        "## Share of matching rows",
        _shares(sets, results),
        "## What the data hold",
        _findings(),
        _latencies(),
        "## Columns neither convention matches in 99 % of the rows",
        _open_questions(sets, results),
        "## Defects of the files",
        _defects(sets),
    ]
    return "\n\n".join(parts) + "\n"


def _protocol(sets: Sequence[DataSet], root: Path) -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    rows = ", ".join(f"{d.name} {len(d.rows)} ({d.gpu})" for d in sets)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    return PROTOCOL.format(date=date, commit=found.stdout.strip() or "unknown", rows=rows)


def _shares(sets: Sequence[DataSet], results: Sequence[Result]) -> str:
    names = [d.name for d in sets]
    head = ["column", "convention", "formula", "tolerance", *names]
    rows = []
    for check in checks():
        tolerance = f"{check.relative:g}, {check.absolute:g}"
        shares = [str(_one(results, check, name)) for name in names]
        rows.append([check.column, check.convention, check.formula, tolerance, *shares])
    remarks = sorted({f"- `{c.column}` ({c.convention}): {c.note}." for c in checks() if c.note})
    return _table(head, rows) + "\n\n" + "\n".join(remarks)


def _one(results: Sequence[Result], check: Check, data: str) -> Result:
    return next(r for r in results if r.check == check and r.data == data)


def _findings() -> str:
    k20, m60, v100 = (published_constants(f"Tesla {name}") for name in ("K20", "M60", "V100"))
    printed, common = thesis_constants(find("Tesla M60")), published_rules()
    data_fit, printed_fit = m60.shared_throughput, printed.shared_throughput
    assert data_fit is not None
    assert printed_fit is not None
    pieces = k20.global_latency.pieces
    return FINDINGS.format(
        slope=common.wave_slope_per_thread,
        start=common.wave_intercept,
        bytes=common.cache_access_bytes,
        batch=k20.batch,
        last=pieces[-1].intercept,
        bound=pieces[-2].below,
        load=m60.global_latency.load,
        store=m60.global_latency.store,
        v_load=v100.global_latency.load,
        v_store=v100.global_latency.store,
        c_data=data_fit.c,
        c_printed=printed_fit.c,
        factor=k20.shared_conflict.factor,
        above=k20.shared_conflict.above_threads,
        per_compute=common.misc_per_compute,
        per_branch=common.misc_per_branch,
        per_kernel=common.misc_per_kernel,
        cores=k20.later_threads_per_wave,
        full=k20.max_threads_per_sm,
    )


def _latencies() -> str:
    boards = ("Tesla K20", "Quadro K4200")
    sources = [published_constants("Tesla K20"), *(thesis_constants(find(name)) for name in boards)]
    names = ("mov", "cvt", "setp", "addf", "mulf", "mul", "mads", "fma", "sqrt", "divs", "divf", "shared")
    rows = [[name, *(f"{source.latency(name):g}" for source in sources)] for name in names]
    return _table(["instruction (cycles)", "K20 data", *(f"{b}, Table 3.2" for b in boards)], rows)


def _open_questions(sets: Sequence[DataSet], results: Sequence[Result]) -> str:
    rows = []
    for column in dict.fromkeys(c.column for c in checks()):
        for data in sets:
            found = [r for r in results if r.check.column == column and r.data == data.name and r.rows]
            best = max(found, key=lambda r: r.matching / r.rows, default=None)
            if best is not None and best.matching < 0.99 * best.rows:
                rows.append([column, data.name, best.check.formula, str(best), best.worst])
    return _table(["column", "data set", "best formula", "share", "most mismatches (kernel, rows)"], rows)


def _defects(sets: Sequence[DataSet]) -> str:
    kinds = [
        "blank rows",
        "rows with error cells",
        "error cells",
        "stray text",
        "blank cells",
        "empty columns",
    ]
    rows = []
    for data in sets:
        d = data.defects
        cells = [_tally(d.error), _tally(d.stray), _tally(d.blank), ", ".join(d.empty) or "–"]
        rows.append([data.name, str(d.blank_rows), str(d.error_rows), *cells])
    return _table(["data set", *kinds], rows)


def _tally(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items())) or "–"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))
