"""Which program a row is a launch of: spellings and variants brought together (``programs.toml``)."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

BEFORE_SUFFIX = "before .py"
"""Rule of data sets whose rows are named after a script and its settings: the script is the program."""


def program_of(name: str, aliases: str) -> str:
    """Return the program of a row under a data set's rule.

    >>> [program_of(name, "alavani") for name in ("Breadth First Search", "SUM", "Pi")]
    ['bfs', 'sum', 'pi']
    >>> program_of("19_ReLU.py_variable_multiplier_0.8", BEFORE_SUFFIX)
    '19_ReLU'
    """
    if aliases == BEFORE_SUFFIX:
        return name.partition(".py")[0]
    if not aliases:
        return name
    spelled = " ".join(name.lower().split())
    return _spellings(aliases).get(spelled, spelled)


def dwarf_of(program: str, aliases: str) -> str:
    """Return a program's dwarf (thesis Table 4.7), empty where the table has none.

    >>> dwarf_of("needleman-wunsch", "alavani")
    'dynamic programming'
    """
    entry = _programs().get(aliases, {}).get(program, {})
    return str(entry.get("dwarf", ""))


@lru_cache(maxsize=1)
def _programs() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    return tomllib.loads((files("warpwatt.lab.learn") / "programs.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=4)
def _spellings(aliases: str) -> Mapping[str, str]:
    entries = _programs().get(aliases, {})
    return {str(name): program for program, entry in entries.items() for name in entry["names"]}
