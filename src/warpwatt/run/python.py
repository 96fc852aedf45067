"""Python programs: started so that Triton finds our device."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

BOOTSTRAP = Path(__file__).with_name("bootstrap.py")
"""What runs the script, in the user's own Python."""


def script_place(words: Sequence[str]) -> int | None:
    """Return where the script stands in a command that runs one, None for other commands.

    >>> script_place(["a.py", "1"]), script_place(["venv/bin/python3", "a.py"]), script_place(["./a", "b.py"])
    (0, 1, None)
    """
    for place, word in enumerate(words[:2]):
        if word.endswith(".py") and (place == 0 or Path(words[0]).name.startswith("python")):
            return place
    return None


def python_command(words: Sequence[str], script: int) -> list[str]:
    """Return the command that runs a script: with the Python that was named, else the one that runs us."""
    python = str(Path(words[0]).absolute()) if script and Path(words[0]).exists() else words[0]
    return [python if script else sys.executable, str(BOOTSTRAP), *words[script:]]
