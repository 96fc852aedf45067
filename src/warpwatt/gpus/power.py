"""Idle power and the static part of power (``data/power/*.toml``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpwatt.gpus.catalog import DATA
from warpwatt.gpus.datafile import DataFile


@dataclass(frozen=True, slots=True)
class StaticPower:
    """Watts by name for one board, measured (``idle_power``) or fitted (AccelWattch's constants).

    ``variant`` names the configuration the fitted values belong to, empty for measured ones.
    """

    gpu: str
    capability: str
    watts: Mapping[str, float]
    sources: Mapping[str, str]
    variant: str = ""


def static_power() -> tuple[StaticPower, ...]:
    """Return every board whose static power is known, in order of file name.

    >>> [board.gpu for board in static_power()]
    ['Quadro GV100', 'Tesla K20Xm', 'Tesla M2075']
    """
    return tuple(_read(DataFile(path)) for path in sorted((DATA / "power").glob("*.toml")))


def _read(file: DataFile) -> StaticPower:
    # An additional lane may cost nothing, so that zero is a value here.
    values = {name.removesuffix("_w"): cited for name, cited in file.cited("values").items()}
    return StaticPower(
        gpu=file.text("gpu"),
        capability=file.text("capability"),
        watts={name: float(cited.value) for name, cited in values.items()},
        sources={name: str(cited.source) for name, cited in values.items()},
        variant=file.text("variant", ""),
    )
