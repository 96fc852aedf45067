"""Run public programs under ``warpwatt run``; print which build, run and pass their own checks.

``python -m validation.run.programs SUITE CHECKOUT [-k PART] [-o FILE.csv]``; suites: ``cuda-samples``,
``rodinia``, ``polybench``. Programs are compiled in a temporary folder; checkouts are not written to.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from validation.run.suites import SUITES, Program

GPU = "h200"
FAILED = re.compile(r"Result = FAIL|\bFAILED\b|[Tt]est (failed|FAIL)|MISMATCH|[Mm]ismatch")
CONTENTS = "contents"
"""Word in the parameters of assumptions about what buffers hold."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one program; ``note`` says why not more."""

    program: str
    builds: bool = False
    runs: bool = False
    passes: bool = False
    launches: int = 0
    without_assumption: int = 0
    """Launches predicted without an assumption about what buffers hold."""
    warp_instructions: int = 0
    computing_seconds: float = 0.0
    seconds: float = 0.0
    note: str = ""


def outcome(program: Program, limit: float, budget: float) -> Outcome:
    """Build and run one program."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="warpwatt-validation-") as name:
        folder = Path(name)
        work = folder / "work"
        shutil.copytree(program.folder, work, symlinks=True, ignore_dangling_symlinks=True)
        built = _build(program, work, folder / "program")
        if built:
            return Outcome(program.name, note=built)
        return _run(program, work, folder, limit, budget, begun)


def _build(program: Program, work: Path, target: Path) -> str:
    """Compile; return why that failed, empty if it did not."""
    flags = ["-gencode=arch=compute_90,code=[sm_90,compute_90]", "-lineinfo", *program.flags]
    command = [sys.executable, "-m", "warpwatt", "nvcc", *flags, *program.sources, "-o", str(target)]
    try:
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False, timeout=600)
    except subprocess.TimeoutExpired:
        return "nvcc takes more than 600 s"
    if done.returncode == 0:
        return ""
    errors = [
        line for line in done.stderr.splitlines() if re.search(r"error|undefined|No such|cannot find", line)
    ]
    return "does not build: " + (errors or done.stderr.splitlines() or ["?"])[0].strip()[:200]


def _run(program: Program, work: Path, folder: Path, limit: float, budget: float, begun: float) -> Outcome:
    result = folder / "result.json"
    options = ["--gpu", GPU, "--budget", str(budget), "--timeout", str(limit), "-o", str(result)]
    command = [sys.executable, "-m", "warpwatt", "run", *options, str(folder / "program"), *program.arguments]
    cwd = work / program.runs_in
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, errors="replace", check=False, timeout=3 * limit
        )
    except subprocess.TimeoutExpired:
        return Outcome(program.name, builds=True, seconds=time.monotonic() - begun, note="no end")
    seconds = time.monotonic() - begun
    if not result.exists():
        last = (done.stderr.splitlines() or ["?"])[-1]
        return Outcome(program.name, builds=True, seconds=seconds, note=last[:200])
    found = json.loads(result.read_text(encoding="utf-8"))
    said = done.stdout + done.stderr
    broken = [
        line.strip()
        for line in said.splitlines()
        if FAILED.search(line) and not line.startswith("note: launch")
    ]
    runs = not found["ended"] and not found["unsupported"]
    complaint = found["ended"] or (found["unsupported"] or [{"function": ""}])[0]["function"]
    note = complaint or found["unknown_from"] or (broken or found["failures"] or [""])[0]
    passes = runs and not broken and not found["unknown_from"] and _expected(program, done.stdout)
    if runs and not passes and not note:
        note = "its own check does not say that it passed"
    clean = sum(
        place is not None and _is_clean(found["predictions"][place]) for place in found["runs"][0]["launches"]
    )
    executed = found["executed"]
    return Outcome(
        program.name, True, runs, passes, found["launches"], clean, executed["warp_instructions"],
        executed["seconds"], seconds, note[:200],
    )  # fmt: skip


def _expected(program: Program, output: str) -> bool:
    return program.expects is None or re.search(program.expects, output) is not None


def _is_clean(prediction: dict[str, object]) -> bool:
    """Whether a prediction assumes nothing about what buffers hold."""
    assumptions = prediction["assumptions"]
    assert isinstance(assumptions, list)
    return not any(CONTENTS in str(a.get("parameter", "")) for a in assumptions)


def _chosen(programs: Sequence[Program], part: str) -> Iterator[Program]:
    yield from (one for one in programs if part in one.name)


def main() -> None:
    """Run a suite and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("checkout", type=Path)
    parser.add_argument("-k", dest="part", default="", help="only programs with this in their names")
    parser.add_argument("-o", dest="output", type=Path, help="CSV to append to; programs in it are left out")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of wall time each")
    parser.add_argument("--budget", type=float, default=240.0, help="seconds of computing each")
    given = parser.parse_args()
    programs, left_out = SUITES[given.suite](given.checkout)
    for name, reason in left_out.items():
        print(f"left out  {name}: {reason}")
    known = _known(given.output)
    found = []
    for program in _chosen(programs, given.part):
        if program.name in known:
            continue
        one = outcome(program, given.limit, given.budget)
        found.append(one)
        steps = "".join(
            letter if done else "-"
            for letter, done in (("b", one.builds), ("r", one.runs), ("p", one.passes))
        )
        print(f"{steps}  {one.program:40} {one.launches:5} launches, {one.without_assumption:5} clean, "
              f"{one.seconds:5.0f} s  {one.note}", flush=True)  # fmt: skip
        _append(given.output, one)
    print(f"{len(found)} programs: {sum(o.builds for o in found)} build, {sum(o.runs for o in found)} run, "
          f"{sum(o.passes for o in found)} pass")  # fmt: skip


def _known(path: Path | None) -> set[str]:
    if path is None or not path.exists():
        return set()
    with path.open(encoding="utf-8", newline="") as file:
        return {row["program"] for row in csv.DictReader(file)}


def _append(path: Path | None, one: Outcome) -> None:
    if path is None:
        return
    begin = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Outcome)])
        if begin:
            writer.writeheader()
        writer.writerow(asdict(one))


if __name__ == "__main__":
    os.environ.setdefault("WARPWATT_NO_PROGRESS", "1")
    main()
