"""Sampled launches of public programs beside their whole grids: a journal, and its table.

``python -m validation.run.sampled SUITE CHECKOUT JOURNAL [-k PART] [--limit SECONDS] [--again]``; suites:
those of :mod:`validation.run.suites`, and ``gpuflopbench``, whose test programs are only told of together.
One program at a time, built in a folder beside the journal, once; a JSON line for each program.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation import ROOT
from validation.run import gpuflopbench
from validation.run.gpuflopbench_inputs import lay_out
from validation.run.gpuflopbench_programs import Program, is_test, programs
from validation.run.programs import build
from validation.run.sampled_launches import WALL
from validation.run.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable

GPU = {"gpuflopbench": "rtx3080"}
"""For which programs of a suite are compiled; the others for the one of :mod:`validation.run.programs`."""
ENVIRONMENT = {**gpuflopbench.ENVIRONMENT, "OMP_NUM_THREADS": "1", "WARPWATT_NO_PROGRESS": "1"}


@dataclass(frozen=True, slots=True)
class Ready:
    """A program: what builds it (returning why that failed), and how it is run."""

    name: str
    build: Callable[[], str]
    command: tuple[str, ...]
    folder: Path
    gpu: str


def public(suite: str, checkout: Path, folder: Path) -> Iterator[Ready]:
    """Yield the programs of a suite, built below a folder."""
    for one in SUITES[suite](checkout)[0]:
        place = (folder / one.name).absolute()
        inside = place / "work" / one.runs_in
        command = (str(inside / one.target), *one.arguments)
        yield Ready(one.name, partial(build, one, place), command, inside, "h200")


def benchmarks(checkout: Path, folder: Path) -> Iterator[Ready]:
    """Yield gpuFLOPBench's programs that are ours, those that run shortest first."""
    gpuflopbench.unpack(checkout)
    maker = gpuflopbench.Maker("nvcc", "", ())
    for one in programs(checkout.resolve()):
        if not one.sources:
            continue
        target = (folder / one.name).absolute()

        def make(one: Program = one, target: Path = target) -> str:
            folder.mkdir(parents=True, exist_ok=True)
            lay_out(checkout / "src", one.name)
            return "" if target.exists() else gpuflopbench.build(one, maker, target)

        yield Ready(one.name, make, (str(target), *one.arguments), one.folder, "rtx3080")


def outcome(one: Ready, limit: float) -> dict[str, Any]:
    """Build and run a program; return its launches' rows."""
    begun = time.monotonic()
    try:
        failed = one.build()
    except OSError as error:
        failed = str(error)
    if failed:
        return {"program": one.name, "note": failed, "rows": []}
    built = time.monotonic() - begun
    child = [sys.executable, "-m", "validation.run.sampled_launches", one.gpu, str(limit), *one.command]
    with tempfile.TemporaryFile("w+") as said:
        try:
            done = subprocess.run(
                child, cwd=one.folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=said, text=True,
                check=False, timeout=2 * WALL * limit,
            )  # fmt: skip
            output, note = done.stdout, "" if done.returncode == 0 else f"status {done.returncode}"
        except subprocess.TimeoutExpired as error:
            output, note = (error.stdout or b"").decode(), "no end"
        said.seek(0)
        last = said.read()[-300:] if note else ""
    rows = [json.loads(line) for line in output.splitlines() if line.startswith('{"kernel"')]
    seconds = {"built": round(built), "ran": round(time.monotonic() - begun - built)}
    return {"program": one.name, "note": note, "said": last, **seconds, "rows": rows}


def known(journal: Path) -> dict[str, dict[str, Any]]:
    """Return what the journal has of each program; the last line counts."""
    if not journal.exists():
        return {}
    lines = journal.read_text(encoding="utf-8").splitlines()
    return {entry["program"]: entry for entry in map(json.loads, lines)}


def main(words: Sequence[str] | None = None) -> None:
    """Run what the journal lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=(*sorted(SUITES), "gpuflopbench"))
    parser.add_argument("checkout", type=Path)
    parser.add_argument("journal", type=Path)
    parser.add_argument("-k", dest="part", default="", help="only programs whose names match this expression")
    parser.add_argument("--again", action="store_true", help="also programs that the journal has")
    parser.add_argument("--limit", type=float, default=30.0, help="CPU seconds of each program")
    given = parser.parse_args(words)
    folder = given.journal.with_suffix("")
    found = (
        benchmarks(given.checkout, folder)
        if given.suite == "gpuflopbench"
        else public(given.suite, given.checkout, folder)
    )
    done = {} if given.again else known(given.journal)
    for one in found:
        if one.name in done or not re.search(given.part, one.name):
            continue
        entry = outcome(one, given.limit)
        with given.journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        hidden = given.suite == "gpuflopbench" and is_test(one.name)
        print(one.name, "test" if hidden else f"{len(entry['rows'])} launches {entry['note']}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
    main()
