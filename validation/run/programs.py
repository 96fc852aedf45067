"""Run public programs under ``warpwatt run``; keep a journal of which build, run and pass their checks.

``python -m validation.run.programs SUITE CHECKOUT JOURNAL.csv [-k PART] [--again]``; suites:
``cuda-samples``, ``rodinia``, ``polybench``. One program at a time; a run that was ended goes on
where the journal ends.
Programs are copied and compiled in a folder beside the journal; checkouts are not written to.
:mod:`validation.run.table` makes the page of journals.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation.run.journal import Outcome, append, read
from validation.run.suites import SUITES
from validation.run.toolkit import make_toolkit

if TYPE_CHECKING:
    from validation.run.program import Program

GPU = "h200"
FAILED = re.compile(r"Result = FAIL|\bFAILED\b|[Tt]est (failed|FAIL)|MISMATCH|[Mm]ismatch")
CONTENTS = "contents"
"""Word in the parameters of assumptions about what buffers hold."""
BUILD_SECONDS = 900
ERRORS = re.compile(r"error|undefined|No such|cannot find")


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one program: seconds of wall time, of CPU time, and of CPU time for computing kernels."""

    wall: float
    cpu: int
    budget: float


def outcome(program: Program, folder: Path, limits: Limits) -> Outcome:
    """Build a program in a folder, unless that was done, and run it."""
    target = folder / "work" / program.runs_in / program.target
    why = build(program, folder)
    if why:
        return Outcome(program.name, note=why)
    return _run(program, folder, target, limits)


def build(program: Program, folder: Path) -> str:
    """Compile in a folder, unless that was done; return why that failed, empty if it did not."""
    if (folder / "built").exists():
        return ""
    shutil.rmtree(folder, ignore_errors=True)
    work = folder / "work"
    for part in program.parts:
        shutil.copytree(program.folder / part, work / part, symlinks=True, ignore_dangling_symlinks=True)
    for path, data in program.files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_bytes(data())
    toolkit = make_toolkit(folder / "cuda")
    environment = {**os.environ, "PATH": f"{toolkit / 'bin'}:{os.environ['PATH']}"}
    for command in program.build:
        words = [word.replace("TOOLKIT", str(toolkit)) for word in command]
        try:
            done = subprocess.run(
                words, cwd=work / program.runs_in, env=environment, capture_output=True, text=True,
                errors="replace", check=False, timeout=BUILD_SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"does not build: {words[0]} takes more than {BUILD_SECONDS} s"
        if done.returncode:
            lines = (done.stderr + done.stdout).splitlines()
            errors = [line for line in lines if ERRORS.search(line)]
            return "does not build: " + (errors or lines or ["?"])[0].strip()[:200]
    if not (work / program.runs_in / program.target).exists():
        return f"does not build: there is no {program.target}"
    (folder / "built").touch()
    return ""


def _run(program: Program, folder: Path, target: Path, limits: Limits) -> Outcome:
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    options = ["--gpu", GPU, "--budget", str(limits.budget), "--timeout", str(limits.wall), "-o", str(result)]
    command = [sys.executable, "-m", "warpwatt", "run", *options, str(target), *program.arguments]
    begun, before = time.monotonic(), _cpu_seconds()
    try:
        done = subprocess.run(
            command, cwd=folder / "work" / program.runs_in, capture_output=True, text=True, errors="replace",
            check=False, timeout=2 * limits.wall, preexec_fn=lambda: _bound(limits.cpu),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Outcome(program.name, builds=True, seconds=time.monotonic() - begun, note="no end")
    seconds, cpu = time.monotonic() - begun, _cpu_seconds() - before
    (folder / "stdout").write_text(done.stdout)
    (folder / "stderr").write_text(done.stderr)
    if not result.exists():
        note = f"more than {limits.cpu} s of CPU time" if done.returncode == -24 else _last(done.stderr)
        return Outcome(program.name, builds=True, seconds=seconds, cpu_seconds=cpu, note=note[:200])
    found = json.loads(result.read_text(encoding="utf-8"))
    return _judged(program, done, found, seconds, cpu)


def _judged(
    program: Program,
    done: subprocess.CompletedProcess[str],
    found: dict[str, Any],
    seconds: float,
    cpu: float,
) -> Outcome:
    """Return what came of a run that left a result."""
    said = done.stdout + done.stderr
    broken = [
        line.strip()
        for line in said.splitlines()
        if FAILED.search(line) and not line.startswith("note: launch")
    ]
    unsupported = ", ".join(one["function"] for one in found["unsupported"])
    runs = not found["ended"]
    reasons = [found["ended"], unsupported, found["unknown_from"], *broken[:1], *found["failures"][:1]]
    passes = runs and not broken and not found["unknown_from"]
    if passes and not all(re.search(part, said) for part in program.expects):
        passes = False
        reasons.append("its own check does not say that it passed")
    clean = sum(
        place is not None and _is_clean(found["predictions"][place]) for place in found["runs"][0]["launches"]
    )
    executed = found["executed"]
    return Outcome(
        program.name, True, runs, passes, program.checks, found["launches"], clean,
        executed["warp_instructions"], round(executed["seconds"], 2), round(seconds, 1), round(cpu, 1),
        next(filter(None, reasons), "")[:200],
    )  # fmt: skip


def _last(text: str) -> str:
    return (text.splitlines() or ["?"])[-1]


def _cpu_seconds() -> float:
    """Return the CPU time of all that was started and has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _bound(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def _is_clean(prediction: dict[str, object]) -> bool:
    """Whether a prediction assumes nothing about what buffers hold."""
    assumptions = prediction["assumptions"]
    assert isinstance(assumptions, list)
    return not any(CONTENTS in str(a.get("parameter", "")) for a in assumptions)


def _wanted(
    known: dict[str, Outcome], programs: Sequence[Program], given: argparse.Namespace
) -> Iterator[Program]:
    """Yield the programs to run: those without a row, or whose row is to be made again."""
    for one in programs:
        row = known.get(one.name)
        chosen = re.search(given.part, one.name)
        if chosen and (row is None or given.all or (given.again and not row.passes)):
            yield one


def main() -> None:
    """Run a suite and add to its journal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("checkout", type=Path)
    parser.add_argument("journal", type=Path)
    parser.add_argument("-k", dest="part", default="", help="only programs whose names match this expression")
    parser.add_argument("--again", action="store_true", help="run those again that did not pass")
    parser.add_argument("--all", action="store_true", help="run all again")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of wall time each")
    parser.add_argument("--cpu", type=int, default=600, help="seconds of CPU time each")
    parser.add_argument("--budget", type=float, default=400.0, help="seconds of computing each")
    given = parser.parse_args()
    programs, left_out = SUITES[given.suite](given.checkout)
    for name, reason in left_out.items():
        append(given.journal, Outcome(name, left_out=reason))
    for program in _wanted(read(given.journal), programs, given):
        folder = given.journal.with_suffix("") / program.name
        one = outcome(program, folder.absolute(), Limits(given.limit, given.cpu, given.budget))
        append(given.journal, one)
        print(one.line, flush=True)


if __name__ == "__main__":
    os.environ.setdefault("WARPWATT_NO_PROGRESS", "1")
    main()
