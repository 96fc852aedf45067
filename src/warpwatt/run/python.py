"""Python programs, as command lines name them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def script_place(words: Sequence[str]) -> int | None:
    """Return where the script stands in a command that runs one, None for other commands.

    >>> script_place(["a.py", "1"]), script_place(["venv/bin/python3", "-u", "a.py"])
    (0, 2)
    >>> script_place(["./a", "b.py"]), script_place(["python", "-m", "b.py"])
    (None, None)
    """
    if words[0].endswith(".py"):
        return 0
    if not Path(words[0]).name.startswith("python"):
        return None
    place = next((k for k, word in enumerate(words[1:], 1) if not word.startswith("-")), 0)
    alone = not {"-m", "-c", "-X", "-W"}.intersection(words[:place])
    return place if place and alone and words[place].endswith(".py") else None
