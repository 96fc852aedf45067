"""Small kernels that a review found wrong answers for, predicted again.

Run ``python -m validation.explanations.small_cases --cases FOLDER`` from the repository root (default
``../shared/cases``). Writes ``docs/validation/small_cases.md``.
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import warpwatt
from validation import ROOT
from validation.timing.page import stamp
from warpwatt.core.errors import WarpWattError
from warpwatt.core.units import si

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.core.prediction import Prediction

PAGE = ROOT / "docs" / "validation" / "small_cases.md"
ROWS = Path(__file__).with_suffix(".toml")
LOUD = 0.1
"""Spread of an assumption that the table names."""
MOST = 130
"""Letters of a remark."""
HEAD = (
    "kernel | GPU | blocks | what is true | a review saw | time now (80 %) | DRAM | limited by | first advice"
    " | remark"
)
PROTOCOL = """\
# Small kernels that were wrong

Written by `python -m validation.explanations.small_cases` on {date} at commit {commit}; do not edit.

A review of 2026-11-22 tried the product as its users would, and found these answers wrong. Beside what it
saw stand what follows from the kernel alone, without a measurement, and what is predicted now. Remark: the
widest assumption, else the first warning, else the first remark.
"""


def main() -> None:
    """Predict every launch and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=Path, default=ROOT.parent / "shared" / "cases")
    folder = parser.parse_args().cases
    lines = [PROTOCOL.format(**stamp()), f"| {HEAD} |", "|" + " --- |" * len(HEAD.split(" | "))]
    for cells in _rows(folder):
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _rows(folder: Path) -> Iterator[tuple[str, ...]]:
    for case in tomllib.loads(ROWS.read_text(encoding="utf-8"))["case"]:
        for one in case["launches"]:
            said = case["kernel"], one["gpu"], f"{one['grid']:,}", case["true"], one["seen"]
            yield *said, *_answer(folder / case["file"], case["kernel"], one)


def _answer(source: Path, kernel: str, one: dict[str, Any]) -> tuple[str, ...]:
    args = dict(pair.split("=", 1) for pair in one["args"].split())
    try:
        launch = {"kernel": kernel, "grid": one["grid"], "block": one["block"], "args": args}
        found = warpwatt.predict(source, gpu=one["gpu"], advice=True, **launch)
    except WarpWattError as error:
        return type(error).__name__, "", "", "", error.message[:MOST]
    time, moved = found.time, found.case.workload.dram
    shown = f"{si(time.value, 's')} ({si(time.low, 's')}–{si(time.high, 's')})"
    advice = next((one.text for one in found.advice or ()), "none")
    return shown, si(moved.total, "B"), found.timing.bottleneck, advice, _remark(found)


def _remark(found: Prediction) -> str:
    loud = max(found.assumptions, key=lambda a: a.spread, default=None)
    said = [loud.message] if loud is not None and loud.spread >= LOUD else []
    remarks = map(str, found.case.workload.execution.remarks)
    return next(iter([*said, *found.warnings, *remarks]), "")[:MOST].replace("|", "/")


if __name__ == "__main__":
    main()
