"""What each feature is: symbol, equation, unit, and how the released tables differ (``described.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_TABLE = Path(__file__).with_name("described.toml")


@dataclass(frozen=True, slots=True)
class Description:
    """One feature of thesis Table 5.4.

    ``equation`` is the thesis' number, A9 and A10 being its Algorithms 9 and 10; ``published`` what the
    released tables hold where that is something else; ``final`` whether section 5.5 selects it.
    """

    symbol: str
    equation: str
    unit: str
    published: str = ""
    final: bool = False


@lru_cache(maxsize=1)
def descriptions() -> Mapping[str, Description]:
    """Return all features by name, in the order of Table 5.4.

    >>> descriptions()["inst_issue_cycles"].equation, sum(one.final for one in descriptions().values())
    ('(5.1)', 15)
    """
    with _TABLE.open("rb") as file:
        return {name: Description(**entry) for name, entry in tomllib.load(file).items()}
