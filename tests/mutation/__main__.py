"""The runner behind ``make mutation``."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from universalmutator import mutator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[2]
RULES = Path(__file__).with_name("mutants.rules")
PYTHON = sys.executable
SLOW_FACTOR = 5.0
"""A mutant that takes this many times longer than the unchanged tests hangs: it was seen."""
UNCHANGED_LINES = (
    r"^\s*(//|\*|#|import|from|static_assert|template|using|namespace|@dataclass)",
    r"TYPE_CHECKING",
    r"raise ",
)
"""Lines without behaviour that a test could see."""


@dataclass(frozen=True, slots=True)
class Part:
    """Files to mutate, how to build after a change, and the commands that should fail, quickest first."""

    files: tuple[str, ...]
    build: tuple[str, ...]
    tests: tuple[tuple[str, ...], ...]


def _pytest(*paths: str) -> tuple[str, ...]:
    return (PYTHON, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *paths)


PARTS = {
    "compose": Part(
        ("src/warpwatt/compose.py",),
        (),
        (_pytest("tests/test_settle.py"), _pytest("tests/test_compose.py")),
    ),
    "simulator": Part(
        ("native/sm/*.cpp", "native/sm/*.h"),
        (PYTHON, "native/compiling.py"),
        ((PYTHON, "native/compiling.py", "--test"), _pytest("tests/models/pipeline")),
    ),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed line of one file."""

    file: str
    line: int
    text: str


def main() -> int:
    """Run the parts named, all by default; return 1 where the score is below what is wanted."""
    parser = argparse.ArgumentParser(description="mutation testing")
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--sample", type=int, default=60, help="mutants per part; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--want", type=float, default=0.85, help="share of mutants that tests must see")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = checkout(Path(folder))
        scores = [score(PARTS[name], name, copy, options.sample, options.seed) for name in options.parts]
    return 0 if min(scores) >= options.want else 1


def checkout(folder: Path) -> Path:
    """Copy the tracked files as they are in the working tree."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    copy = folder / "copy"
    for name in listed.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    subprocess.run([PYTHON, "native/compiling.py"], cwd=copy, capture_output=True, check=True)
    return copy


def score(part: Part, name: str, copy: Path, sample: int, seed: int) -> float:
    """Break one thing at a time; print what no test saw; return the share that one did."""
    found = [mutant for file in _files(part, copy) for mutant in mutants(copy, file)]
    if sample and sample < len(found):
        found = sorted(random.Random(seed).sample(found, sample), key=lambda m: (m.file, m.line))
    limit = _patience(part, copy)
    seen, survived = 0, []
    for number, mutant in enumerate(found, 1):
        verdict = _verdict(part, mutant, copy, limit)
        seen += verdict == "seen"
        survived += [mutant] if verdict == "survived" else []
        print(f"\r{name}: {number}/{len(found)}, {seen} seen", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for mutant in survived:
        print(f"survived: {mutant.file}:{mutant.line}: {mutant.text.strip()}")
    share = seen / max(1, seen + len(survived))
    print(f"{name}: {seen} of {seen + len(survived)} mutants seen by a test: {share:.0%}")
    return share


def _files(part: Part, copy: Path) -> Iterator[str]:
    for pattern in part.files:
        yield from sorted(str(path.relative_to(copy)) for path in copy.glob(pattern))


def mutants(copy: Path, file: str) -> list[Mutant]:
    """Return every change of one line that the rules make."""
    lines = (copy / file).read_text(encoding="utf-8").splitlines(keepends=True)
    with contextlib.redirect_stdout(io.StringIO()):  # the library tells what it does
        found = mutator.mutants_regexp(lines, ruleFiles=[str(RULES)], ignorePatterns=list(UNCHANGED_LINES))
    documented = _inside_strings(lines)
    return [Mutant(file, line, text) for line, text, *_ in found if line not in documented]


def _inside_strings(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines of docstrings, which the library does not know."""
    inside, found = False, set()
    for number, line in enumerate(lines, 1):
        quotes = line.count('"""')
        if inside or quotes:
            found.add(number)
        inside ^= quotes % 2 == 1
    return found


def _patience(part: Part, copy: Path) -> float:
    """Build and test the unchanged copy; return the seconds after which a mutant counts as hanging."""
    _run(part.build, copy, None)
    started = time.monotonic()
    for command in part.tests:
        if not _run(command, copy, None):
            raise SystemExit(f"fails without any change: {' '.join(command)}")
    return SLOW_FACTOR * (time.monotonic() - started)


def _verdict(part: Part, mutant: Mutant, copy: Path, limit: float) -> str:
    path = copy / mutant.file
    before = path.read_text(encoding="utf-8")
    lines = before.splitlines(keepends=True)
    lines[mutant.line - 1] = mutant.text
    try:
        path.write_text("".join(lines), encoding="utf-8")
        if not _run(part.build, copy, None):
            return "does not compile"
        return "survived" if all(_run(command, copy, limit) for command in part.tests) else "seen"
    finally:
        path.write_text(before, encoding="utf-8")


def _run(command: Sequence[str], copy: Path, limit: float | None) -> bool:
    """Return whether a command succeeds within so many seconds; no command does."""
    if not command:
        return True
    environment = os.environ | {"PYTHONPATH": "src", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
