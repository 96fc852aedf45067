"""A public program: where it is, how it is built and run, and how one sees that it worked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """A program: its folder is copied, built there and run there.

    Attributes
    ----------
    build
        Commands that make ``target``; ``TOOLKIT`` in their words is a folder like a CUDA toolkit's, whose
        ``nvcc`` is ours; it comes first in ``PATH`` too.
    runs_in
        Where it is built and run, within its folder.
    parts
        What of its folder is copied.
    files
        What is written into the copy first: path -> what makes the bytes.
    expects
        What its output says when its own check passes, all of it; where it says nothing, its exit status
        tells, or a line that says that something failed.
    checks
        Whether it checks its own results; where it does not, passing is running to its end.
    """

    name: str
    folder: Path
    build: tuple[tuple[str, ...], ...]
    target: str = "program"
    arguments: tuple[str, ...] = ()
    runs_in: str = "."
    parts: tuple[str, ...] = (".",)
    files: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)
    expects: tuple[str, ...] = ()
    checks: bool = True
