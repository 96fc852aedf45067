"""What profilers call their columns: from a header cell to a role and, where it names one, a unit."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from warpwatt.frontend.profiles.cells import frequency_unit, power_unit, size_unit, time_unit


class Role(StrEnum):
    """What a column means. Anything else is a counter."""

    ID = "launch number"
    KERNEL = "kernel"
    GRID = "grid"
    GRID_X = "grid x"
    GRID_Y = "grid y"
    GRID_Z = "grid z"
    BLOCK = "block"
    BLOCK_X = "block x"
    BLOCK_Y = "block y"
    BLOCK_Z = "block z"
    SHARED = "dynamic shared memory"
    DURATION = "duration"
    SM_CLOCK = "SM clock"
    MEMORY_CLOCK = "memory clock"
    POWER = "power"
    GPU = "GPU"
    METRIC = "metric name"
    UNIT = "metric unit"
    VALUE = "metric value"
    ARGUMENT = "argument"
    SOURCE = "source of the time"
    PROCESS = "process"
    COUNTER = "counter"
    OTHER = "something else"


_NAMES = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
_ROLES = {name: Role(role) for role, names in _NAMES.items() for name in names}
_BRACKETS = re.compile(r"^(.*?)\s*[(\[]\s*([^)\]]*?)\s*[)\]]$")
_SUFFIX = re.compile(r"^(.+?)[ _]([a-zµμ/]+)$", re.IGNORECASE)
ARGUMENT_PREFIX = "arg:"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its role, its own name without the unit, and the unit its header gives ("" for none)."""

    role: Role
    name: str
    unit: str = ""

    def scale(self, unit: str) -> float | None:
        """Return one ``unit`` in seconds, hertz, bytes or watts, by role; None if it does not fit."""
        reader = _UNITS.get(self.role)
        return reader(unit) if reader else None


def column(header: str) -> Column:
    """Return the column that a header cell names.

    >>> column("Duration (ns)"), column("duration_us").unit
    (Column(role=<Role.DURATION: 'duration'>, name='Duration', unit='ns'), 'us')
    >>> column("sm_mhz").role, column("arg:n").name, column("dram__bytes_read.sum").role
    (<Role.SM_CLOCK: 'SM clock'>, 'n', <Role.COUNTER: 'counter'>)
    """
    text = header.strip().lstrip("\ufeff")
    if text.lower().startswith(ARGUMENT_PREFIX):
        return Column(Role.ARGUMENT, text[len(ARGUMENT_PREFIX) :].strip())
    role = _ROLES.get(_plain(text))
    if role is not None:
        return Column(role, text)
    for pattern in (_BRACKETS, _SUFFIX):
        match = pattern.match(text)
        role = _ROLES.get(_plain(match[1])) if match else None
        if match and role is not None:
            found = Column(role, match[1], match[2])
            if pattern is _BRACKETS or found.scale(found.unit) is not None:
                return found
    return Column(Role.COUNTER if text else Role.OTHER, text)


_UNITS = {
    Role.DURATION: time_unit,
    Role.SM_CLOCK: frequency_unit,
    Role.MEMORY_CLOCK: frequency_unit,
    Role.SHARED: size_unit,
    Role.POWER: power_unit,
}


def _plain(text: str) -> str:
    """Return a name in lower case, words separated by one blank, as underscores are but in ncu's names."""
    text = (
        text.lower() if "__" in text or text.lower() == "correlation_id" else text.lower().replace("_", " ")
    )
    return " ".join(text.split())
