"""The command line as a function, and files to feed it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from warpwatt.commands.main import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs the command line and returns (exit code, stdout, stderr)."""

    def command(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["warpwatt", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return command


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
