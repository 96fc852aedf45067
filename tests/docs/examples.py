"""Blocks of a tutorial that are marked as examples: read, run in order, outputs held against the page.

::

    <!-- example -->                 the next block is run: console (lines after $), python;
                                     or, text, is what the Python before it printed
    <!-- example exit=4 -->          it ends with this code
    <!-- example file=budget.toml --> the next block is the content of a file

Outputs are compared by shape: numbers and bars may differ, words may not. ``...`` alone stands for any lines,
at the end of a line for the rest of it.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = re.compile(
    r"^<!-- example(?P<options>[^>]*)-->\n+```(?P<language>\w+)[^\n]*\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"(?<!\w)(?:[<×±+−-] ?)?\d[\d,_]*(?:\.\d+)?(?:e[+-]?\d+)?(?:[–:]\d[\d.]*)*")
_UNIT = re.compile(r"# ?(?:[npuµmkMGT]|[KMG]i)?(s|W|J|Hz|B|FLOP)\b")
_LIMIT = re.compile(
    r"(?:DRAM|L1|L2) (?:bandwidth|throughput)|block dispatch|shared memory|L2 atomics|latency|"
    r"(?:[A-Z]\w+ )+pipe|LSU"
)
_DRAWN = re.compile(r"[─-▟★◆*|]+")


@dataclass(frozen=True)
class Example:
    """One block; ``start`` and ``end`` are where its body stands in the page."""

    language: str
    body: str
    start: int
    end: int
    exit_code: int = 0
    file: str = ""


@dataclass(frozen=True)
class Command:
    """One line after a prompt, and the output the page shows under it."""

    line: str
    shown: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line, comments=True)


def examples(page: str) -> Iterator[Example]:
    """Yield the marked blocks of a page."""
    for found in _BLOCK.finditer(page):
        options = dict(word.split("=", 1) for word in found["options"].split())
        yield Example(
            found["language"],
            found["body"],
            found.start("body"),
            found.end("body"),
            int(options.pop("exit", 0)),
            options.pop("file", ""),
        )
        assert not options, f"unknown options of an example: {options}"


def commands(body: str) -> list[Command]:
    """Return the commands of a console block; a line that ends with a backslash goes on."""
    found: list[Command] = []
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, _, shown = part.replace("\\\n", "").partition("\n")
        found.append(Command(line, shown))
    return found


def shape(line: str) -> str:
    """Return a line of output without what may change: numbers, prefixes of units, limits, bars, padding.

    >>> shape("time  53.7 µs (41.3–73.0) ██▌") == shape("time 1.2 ms (1.0–1.4) █")
    True
    """
    text = _UNIT.sub(r"# \1", _NUMBER.sub("#", _LIMIT.sub("limit", _DRAWN.sub(" ", line))))
    return " ".join(text.split())


def refreshed(shown: str, actual: str) -> str:
    """Return what a page shows with the numbers of now; lines that are elided stay."""
    now: dict[str, list[str]] = {}
    for line in actual.splitlines():
        now.setdefault(shape(line), []).append(line)
    lines = []
    for line in shown.splitlines():
        same = now.get(shape(line), []) if line.strip() and not line.endswith("...") else []
        lines.append(same.pop(0) if same else line)
    return "".join(f"{line}\n" for line in lines)


def missing(shown: str, actual: str) -> str | None:
    """Return the first line that a page shows and an output does not have, None if all are there.

    The order does not count: many lists are ordered by their numbers.
    """
    lines = [shape(line) for line in actual.splitlines()]
    for line in filter(None, (one.rstrip() for one in shown.splitlines())):
        wanted = shape(line.removesuffix("..."))
        if not wanted:
            continue
        whole = not line.endswith("...")
        if not any(one == wanted if whole else one.startswith(wanted) for one in lines):
            return line
    return None
