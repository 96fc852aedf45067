"""Workflow commands of GitHub Actions: lines of a log that become annotations beside the source."""

from __future__ import annotations

import os
from pathlib import Path


def annotation(level: str, message: str, *, file: str = "", line: int | None = None, title: str = "") -> str:
    r"""Return one workflow command; ``level`` is ``"error"``, ``"warning"`` or ``"notice"``.

    >>> annotation("error", "50 % over\nits budget", file="a,b.cu", line=3, title="x: y")
    '::error file=a%2Cb.cu,line=3,title=x%3A y::50 %25 over%0Aits budget'
    """
    properties = {"file": file, "line": "" if line is None else str(line), "title": title}
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::{level}{' ' if said else ''}{said}::{_data(message)}"


def repository_path(file: str) -> str:
    """Return a path as annotations want it: relative to the working directory where it lies below it."""
    path = Path(os.path.normpath(file))
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return path.as_posix()


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
