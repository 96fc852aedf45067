"""What boards draw at full clocks with nothing to do (``no_work.toml``): the floor under every kernel."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.core.gpu import Gpu

_MEGA = 1e6


@dataclass(frozen=True, slots=True)
class Reading:
    """Watts of a board without work at an SM clock in hertz; the usual temperature where none is recorded."""

    clock: float
    watts: float
    temperature_c: float
    source: str


def readings(gpu: Gpu) -> tuple[Reading, ...]:
    """Return the readings of a board, or of the one that it inherits from; empty where nobody published any.

    >>> from warpwatt.gpus import find
    >>> [reading.watts for reading in readings(find("rtx 4090"))]
    [51.7, 68.3]
    """
    return all_readings().get(gpu.name) or all_readings().get(gpu.inherits, ())


@lru_cache(maxsize=1)
def all_readings() -> Mapping[str, tuple[Reading, ...]]:
    """Return the readings of every board, by its name."""
    text = files("warpwatt.models.component").joinpath("no_work.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return {
        board: tuple(
            Reading(
                row["mhz"] * _MEGA,
                float(row["watts"]),
                float(row.get("celsius", table["usual_celsius"])),
                table["sources"][row["source"]],
            )
            for row in rows
        )
        for board, rows in table["boards"].items()
    }
