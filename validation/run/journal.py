"""What came of each program, a row in a CSV file for each time that it was run; its last row counts."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one program; ``note`` says why not more."""

    program: str
    builds: bool = False
    runs: bool = False
    passes: bool = False
    checks: bool = True
    """Whether it checks its own results; where it does not, passing is running to its end."""
    launches: int = 0
    without_assumption: int = 0
    """Launches predicted without an assumption about what buffers hold."""
    warp_instructions: int = 0
    computing_seconds: float = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    note: str = ""
    left_out: str = ""
    """Why it was not tried."""

    @property
    def line(self) -> str:
        """One line for a person."""
        steps = ((self.builds, "b"), (self.runs, "r"), (self.passes, "p"))
        letters = "".join(letter if done else "-" for done, letter in steps)
        return (
            f"{letters}  {self.program:30} {self.launches:5} launches, {self.without_assumption:5} clean, "
            f"{self.seconds:5.0f} s, {self.cpu_seconds:5.0f} s CPU  {self.note}"
        )


def read(path: Path) -> dict[str, Outcome]:
    """Return the last row of each program; none where there is no journal.

    >>> read(Path("no such file"))
    {}
    """
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["program"]: _outcome(row) for row in csv.DictReader(file)}


def append(path: Path, one: Outcome) -> None:
    """Add a row."""
    begin = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Outcome)])
        if begin:
            writer.writeheader()
        writer.writerow(asdict(one))


def _outcome(row: dict[str, str]) -> Outcome:
    made: dict[str, Any] = {}
    for one in fields(Outcome):
        text = row[one.name]
        made[one.name] = text == "True" if one.type == "bool" else _NUMBERS.get(str(one.type), str)(text)
    return Outcome(**made)


_NUMBERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float}
