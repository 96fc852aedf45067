"""A row of such a table, and the command line as its scripts run it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation import ROOT

SMALLEST = 5e-5
"""Relative differences below are rounding."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: ``part`` of a document, the command, what it says and what the document says of ``what``.

    ``document`` and ``difference`` are empty where the document has no number.
    """

    part: str
    command: str
    what: str
    ours: str
    document: str = ""
    difference: str = ""


def compared(part: str, command: str, what: str, ours: float, document: float) -> Row:
    """Return a row of two numbers; the difference is relative."""
    apart = ours / document - 1
    difference = f"{apart:+.2%}" if abs(apart) >= SMALLEST else "0"
    return Row(part, command, what, f"{ours:.5g}", f"{document:.5g}", difference)


def page(title: str, text: str, rows: Sequence[Row]) -> str:
    """Return a Markdown page."""
    lines = [f"# {title}", "", text.strip(), "", "| part | command | what | ours | document | difference |"]
    lines.append("|---|---|---|---|---|---|")
    for row in rows:
        cells = (row.part, f"`{row.command}`", row.what, row.ours, row.document, row.difference)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


class CommandLine:
    """Runs ``warpwatt`` in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, name: str, text: str) -> str:
        """Write a file that commands name."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def text(self, command: str) -> str:
        """Return what a command says, on one line; an error's message where it refuses."""
        words = [sys.executable, "-m", "warpwatt", *shlex.split(command)[1:]]
        own = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False, env=own)
        return re.sub(r"[ \n]+", " ", done.stdout or done.stderr)

    def json(self, command: str) -> Any:
        """Return what a command says with ``--format json``."""
        text = self.text(f"{command} --format json")
        try:
            return json.loads(text)
        except ValueError:
            raise RuntimeError(f"{command}: {text}") from None
