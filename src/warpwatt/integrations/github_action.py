"""What a pull request costs in time and joules, as a comment: the step behind ``action.yml``.

Reads the event that GitHub describes in a file, compares every changed source that says its launches with
what it was where the branches parted, and writes Markdown. A source that cannot be predicted is listed with
the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from warpwatt.compare.variants import ComparisonRequest, compared
from warpwatt.core.errors import InputError, WarpWattError
from warpwatt.render.compare import markdown
from warpwatt.render.context import Context
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.options import CompilationOptions, ModelOptions

SOURCES = (".cu", ".ptx")
MARK = "<!-- warpwatt -->"
"""First line of the comment, by which it is found again."""
_LAUNCH = re.compile(r"^\s*//\s*warpwatt:", re.MULTILINE)


def main(words: Sequence[str] = ()) -> None:
    """Write the comment of the event to a file."""
    parser = argparse.ArgumentParser(description="comment a pull request with what it costs")
    parser.add_argument("--event", type=Path, default=os.environ.get("GITHUB_EVENT_PATH"))
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--paths", default="", help="only sources below these, separated by blanks")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args(list(words))
    base = base_commit(json.loads(Path(options.event).read_text(encoding="utf-8")))
    options.output.write_text(comment(base, options.gpu, options.paths.split()), encoding="utf-8")


def base_commit(event: Any) -> str:
    """Return the commit a pull request is compared with.

    Raises
    ------
    InputError
        If the event is none of a pull request.

    >>> base_commit({"pull_request": {"base": {"sha": "abc"}}})
    'abc'
    """
    try:
        return str(event["pull_request"]["base"]["sha"])
    except (KeyError, TypeError):
        raise InputError("not an event of a pull request", hint="run it `on: pull_request`") from None


def comment(base: str, gpu: str, paths: Iterable[str] = ()) -> str:
    """Return the comment: the changes of every source, those without a launch left out."""
    parts = [part for file in changed(base, paths) for part in _part(file, base, gpu)]
    told = parts or ["No changed source says its launch (`// warpwatt: --grid …`).", ""]
    foot = "Predicted by WarpWatt, no GPU was used. Bold: clear; brackets hold 80 % of what is uncertain."
    return "\n".join((MARK, "### What this costs in time and energy", "", *told, foot, ""))


def changed(base: str, paths: Iterable[str] = ()) -> list[Path]:
    """Return the sources that differ from where the branch left ``base`` and are still there."""
    names = _git("diff", "--name-only", "--diff-filter=d", "-z", f"{base}...HEAD", "--", *paths)
    return [Path(name) for name in names.split("\0") if name.endswith(SOURCES) and Path(name).is_file()]


def _part(file: Path, base: str, gpu: str) -> Iterator[str]:
    if not _LAUNCH.search(file.read_text(encoding="utf-8", errors="replace")):
        return
    there = bool(_git("ls-tree", base, "--", str(file)))
    yield f"**{file}**" + ("" if there else " (new)")
    yield ""
    if there:
        start = _git("merge-base", base, "HEAD").strip()
        asked = ComparisonRequest(
            str(file), None, f"{start}..", gpu, LaunchText(), CompilationOptions(), ModelOptions()
        )
        try:
            yield markdown.render(compared(asked), Context())
        except WarpWattError as error:
            yield f"not predicted: {error}\n"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)  # noqa: S607 - as PATH says
    if done.returncode:
        raise InputError(done.stderr.strip() or "git failed", hint="check out with fetch-depth: 0")
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1:])
