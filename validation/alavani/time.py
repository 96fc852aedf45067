"""Recompute the published errors of Alavani's time models, and predict the kernels we can match.

Run ``python -m validation.alavani.time`` from the repository root (some seconds). Writes
``docs/validation/alavani_time.md``.
"""

from __future__ import annotations

import datetime
import math
import statistics
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation import ROOT
from validation.alavani.cases import TARGET, Published, published_kernels, thesis_case
from validation.alavani.published_errors import (
    GPUS,
    Row,
    by_dwarf,
    mean_absolute_percentage_error,
    mean_percentage_error,
    printed_by_dwarf,
    table_4_2,
    table_4_8,
)
from warpwatt.core.errors import WarpWattError
from warpwatt.models.roofline import Roofline
from warpwatt.published.alavani.ilp_tlp_model import AlavaniIlpTlp
from warpwatt.published.alavani.reservation_model import AlavaniReservation, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from warpwatt.core.case import Case, Timing

PAGE = ROOT / "docs" / "validation" / "alavani_time.md"
PRINTED_COLUMNS = {"K20": "Tesla K20", "K4200": "Quadro K4200", "M60": "Tesla M60", "GTX1050": "GTX 1050"}
"""Columns of Table 4.9 by those of Table 4.8."""
PRINTED_ERRORS = {
    "K20": (-8.88, 28.3),
    "K4200": (-5.66, 29.4),
    "M60": (-10.64, 47.8),
    "GTX1050": (-3.94, 28.5),
}
"""MPE and MAPE printed under Table 4.8."""


def bandwidth_time(case: Case) -> float:
    """Return the baseline in seconds: every byte asked for, at the theoretical DRAM bandwidth."""
    return case.workload.dram.total / case.gpu.memory_bandwidth


MODELS: dict[str, Callable[[Case], float]] = {
    "reservation": lambda case: AlavaniReservation().predict(case).time.value,
    "reservation, converted": lambda case: AlavaniReservation(Reading.CONVERTED).predict(case).time.value,
    "ILP-TLP": lambda case: AlavaniIlpTlp().predict(case).time.value,
    "roofline": lambda case: Roofline().predict(case).time.value,
    "bytes / bandwidth": bandwidth_time,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One kernel on one GPU: the published row and our predictions in microseconds by model."""

    published: Published
    row: Row
    ours: dict[str, float]
    timing: Timing


def compare(column: str, kernels: Iterable[Published]) -> list[Comparison]:
    """Predict every kernel on the GPU of a column of Table 4.8."""
    rows = {(r.benchmark, r.kernel): r for r in table_4_8(column)}
    found = []
    for published in kernels:
        case = thesis_case(published, GPUS[column])
        ours = {name: 1e6 * predict(case) for name, predict in MODELS.items()}
        found.append(Comparison(published, rows[published.row], ours, AlavaniReservation().predict(case)))
    return found


def log_error(pairs: Sequence[tuple[float, float]]) -> str:
    """Return the geometric mean of predicted/actual and the typical factor of error around 1."""
    logs = [math.log(predicted / actual) for predicted, actual in pairs]
    centre = math.exp(statistics.fmean(logs))
    factor = math.exp(math.sqrt(statistics.fmean([x * x for x in logs])))
    return f"{centre:.2f} | {factor:.2f}"


def error_tables() -> list[str]:
    """Return the recomputed error figures as Markdown."""
    first = mean_absolute_percentage_error(table_4_2())
    lines = [
        "| table | GPU | MPE printed | MPE recomputed | MAPE printed | MAPE recomputed |",
        "|---|---|---|---|---|---|",
        f"| 4.2 (first model) | Tesla K20 | | | 26.86 | {first:.2f} |",
    ]
    for column, (mpe, mape) in PRINTED_ERRORS.items():
        rows = table_4_8(column)
        lines.append(
            f"| 4.8 (second model) | {GPUS[column]} | {mpe} | {mean_percentage_error(rows):.2f} "
            f"| {mape} | {mean_absolute_percentage_error(rows):.2f} |"
        )
    return lines


def dwarf_tables() -> list[str]:
    """Return Tables 4.3 and 4.9 beside the recomputed values as Markdown."""
    lines = ["| dwarf | " + " | ".join(f"{GPUS[c]}: printed / recomputed" for c in GPUS) + " |"]
    lines.append("|---" * (len(GPUS) + 1) + "|")
    printed = {c: printed_by_dwarf("table_4_9.csv", PRINTED_COLUMNS[c]) for c in GPUS}
    ours = {c: by_dwarf(table_4_8(c)) for c in GPUS}
    for dwarf in printed["K20"]:
        cells = (
            f"{printed[c][dwarf]:.2f} / {mean_absolute_percentage_error(ours[c][dwarf]):.2f}" for c in GPUS
        )
        lines.append(f"| {dwarf} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "Table 4.3 (first model, Tesla K20). Only two dwarfs follow from the printed rows: the others",
    ]
    lines += ["count kernels that Table 4.2 does not print.", "", "| dwarf | printed | recomputed | rows |"]
    lines.append("|---|---|---|---|")
    rows = by_dwarf(table_4_2())
    for dwarf, value in printed_by_dwarf("table_4_3.csv", "mean_absolute_error_pct").items():
        own = rows.get(dwarf, [])
        again = f"{mean_absolute_percentage_error(own):.2f}" if own else ""
        lines.append(f"| {dwarf} | {value} | {again} | {len(own)} |")
    return lines


def prediction_table(column: str, comparisons: Sequence[Comparison]) -> list[str]:
    """Return our predictions on one GPU beside the published times as Markdown."""
    names = " | ".join(f"ours: {name}" for name in MODELS)
    lines = [f"### {GPUS[column]}", "", f"| kernel | actual | thesis | {names} |"]
    lines.append("|---" * (len(MODELS) + 3) + "|")
    for c in comparisons:
        ours = " | ".join(f"{us:.4g}" for us in c.ours.values())
        name = f"{c.row.benchmark}, {c.row.kernel}"
        lines.append(f"| {name} | {c.row.actual:.4g} | {c.row.predicted:.4g} | {ours} |")
    lines += [
        "",
        "| | predicted/actual, mean | typical factor of error | both, against the thesis |",
    ]
    lines.append("|---|---|---|---|")
    thesis = log_error([(c.row.predicted, c.row.actual) for c in comparisons])
    lines.append(f"| thesis, same rows | {thesis} | |")
    for name in MODELS:
        measured = log_error([(c.ours[name], c.row.actual) for c in comparisons])
        theirs = log_error([(c.ours[name], c.row.predicted) for c in comparisons]).split(" | ")
        lines.append(f"| ours: {name} | {measured} | {theirs[0]} × / ÷ {theirs[1]} |")
    inside = sum(c.timing.time.low <= 1e-6 * c.row.actual <= c.timing.time.high for c in comparisons)
    share = f"{inside} of {len(comparisons)}"
    lines += ["", f"Actual times inside our 80 % interval of the reservation model: {share}.", ""]
    return lines


def launch_table(kernels: Iterable[Published]) -> list[str]:
    """Return the assumed launches as Markdown."""
    lines = ["| kernel | ours | grid | block | why |", "|---|---|---|---|---|"]
    for p in kernels:
        launch = f"{p.launch.grid} | {p.launch.block}"
        lines.append(f"| {', '.join(p.row)} | `{p.kernel.name}` | {launch} | {p.reason} |")
    return lines


PROTOCOL = f"""\
Protocol. The error figures are recomputed from the columns of Tables 4.2 and 4.8. Our own kernels
(`examples/published/`) are compiled to PTX for {TARGET}, the oldest target of the pinned compiler, and
predicted under the thesis' protocol: every branch is taken by every warp, loop counts are given, accesses
coalesce, nothing hits a cache. Register counts are those of {TARGET}, capped at what the GPU allows. Clocks
are the boards' defaults. Launch overhead is not part of our times. No constant of the models was fitted to
these tables. They decided two things: which reading of the penalties is the default (the one nearer to the
thesis' own predictions) and how wide our interval is, because the published error alone would be far too
narrow for our predictions; that the interval holds most of these rows is therefore no test of it.

The thesis prints neither problem sizes nor launches with its times, so a row compares orders of magnitude,
not accuracy: our kernel is not the benchmark's code, the compiler is ten years younger, the launch is
inferred.
"Typical factor of error" is the exponential of the root mean square logarithm of predicted over actual.
"""


def page() -> str:
    """Return the whole page."""
    kernels = published_kernels()
    lines = ["# Alavani's time models", "", _stamp(), "", PROTOCOL, "## Published errors, recomputed", ""]
    lines += [*error_tables(), "", _coincidences(), "", "## Errors by dwarf", "", *dwarf_tables(), ""]
    lines += ["## Our predictions beside the published times, microseconds", ""]
    for column in GPUS:
        try:
            lines += prediction_table(column, compare(column, kernels))
        except WarpWattError as error:
            lines += [f"### {GPUS[column]}", "", f"Refused: {error}", ""]
    lines += ["## Launches we assumed", "", *launch_table(kernels), ""]
    return "\n".join(lines)


def _coincidences() -> str:
    pairs = list(zip(table_4_8("K20"), table_4_8("M60"), strict=True))
    same = sum(k20.predicted == m60.predicted for k20, m60 in pairs)
    return (
        f"In Table 4.8, {same} of {len(pairs)} predictions for the Tesla M60 equal those for the Tesla K20."
    )


def _stamp() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    today = datetime.datetime.now(tz=datetime.UTC).date()
    return f"Generated by `validation/alavani/time.py` on {today} at commit {commit}."


def main() -> None:
    """Print the page and write it."""
    text = page()
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
