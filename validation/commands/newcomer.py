"""A newcomer's first minutes, each step timed: ``python -m validation.commands.newcomer DISTRIBUTION...``.

Each distribution (a wheel or an sdist of this checkout) is installed by pip into an environment of its own,
in a home of its own: nothing that this machine keeps (wheels, compiled kernels) helps. Writes
``docs/validation/newcomer.md``.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from validation import ROOT

PAGE = ROOT / "docs" / "validation" / "newcomer.md"
HEAD = """\
# A newcomer's first minutes

Written by `python -m validation.commands.newcomer` on {date} at commit {commit}; do not edit.

From an empty folder and an empty home (no wheel is kept, no kernel has been compiled) with nothing but
Python {python}: what is typed, how long it takes by the clock and in CPU time. {cores} cores that others use
too, packages from an index over the network.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One line that a newcomer types."""

    command: str
    seconds: float
    cpu: float
    shown: str


def typed(package: str) -> list[str]:
    """Return the lines, the package by its file instead of its name."""
    return [
        "python3 -m venv .venv && . .venv/bin/activate",
        f"pip install {package}",
        "warpwatt example matmul",
        "warpwatt predict matmul.cu --gpu h200,a100,t4",
        "warpwatt predict matmul.cu --gpu h200,a100,t4",
        "warpwatt predict matmul.cu --gpu h200 -o report.html",
        "warpwatt explain matmul.cu --kernel matmul_tiled --gpu h200",
        "warpwatt rank matmul.cu --gpu a100",
    ]


def run(command: str, folder: Path) -> Step:
    """Run one line of a shell in the folder, which is its home, too; raise where it fails."""
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "NO_COLOR": "1"}
    active = ". .venv/bin/activate; " if (folder / ".venv").exists() else ""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        ["bash", "-c", active + command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout}{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = (done.stdout + done.stderr).strip().splitlines()
    print(f"{seconds:7.1f} s {cpu:7.1f} s CPU  {command}", flush=True)
    return Step(command, seconds, cpu, lines[-1].strip() if lines else "")


def followed(distribution: Path) -> list[str]:
    """Follow the path with one distribution; return its part of the page."""
    folder = Path(tempfile.mkdtemp(prefix="newcomer-"))
    try:
        steps = [run(command, folder) for command in typed(str(distribution))]
        files = (one for one in (folder / ".venv").rglob("*") if one.is_file() and not one.is_symlink())
        size = sum(one.stat().st_size for one in files)
    finally:
        shutil.rmtree(folder)
    kind = "wheel" if distribution.suffix == ".whl" else "source distribution"
    rows = [
        f"| `{step.command.replace(str(distribution), 'warpwatt')}` | {step.seconds:.1f} | {step.cpu:.1f} |"
        for step in steps
    ]
    answer, whole = sum(step.seconds for step in steps[:4]), sum(step.seconds for step in steps)
    sums = (
        f"First answer after {answer:.0f} s, all steps {whole:.0f} s. The environment takes "
        f"{size / 1e9:.1f} GB, the {kind} itself {distribution.stat().st_size / 1e6:.1f} MB."
    )
    return [
        f"## From the {kind}\n",
        f"{sums}\n",
        "| typed | seconds | CPU seconds |\n|---|--:|--:|",
        *rows,
        "",
    ]


def main(distributions: list[Path]) -> None:
    """Follow the path with each distribution and write the page."""
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True).strip()
    parts = [line for one in distributions for line in followed(one.resolve())]
    head = HEAD.format(
        date=datetime.now(UTC).date(),
        commit=commit,
        python=".".join(map(str, sys.version_info[:2])),
        cores=os.cpu_count(),
    )
    PAGE.write_text("\n".join([head, *parts]), encoding="utf-8")


if __name__ == "__main__":
    main([Path(word) for word in sys.argv[1:]])
