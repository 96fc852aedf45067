"""What profilers call their columns: from a header cell to a role and, where it says so, a unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from warpwatt.frontend.profiles.cells import frequency_unit, power_unit, size_unit, time_unit

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    COUNTER = "counter"
    OTHER = "something else"


_NAMES: Mapping[Role, tuple[str, ...]] = {
    Role.ID: ("id", "corrid", "correlation_id"),
    Role.KERNEL: ("kernel", "kernel name", "name"),
    Role.GRID: ("grid", "grid size"),
    Role.GRID_X: ("grid x", "gridx", "grdx", "launch__grid_dim_x"),
    Role.GRID_Y: ("grid y", "gridy", "grdy", "launch__grid_dim_y"),
    Role.GRID_Z: ("grid z", "gridz", "grdz", "launch__grid_dim_z"),
    Role.BLOCK: ("block", "block size"),
    Role.BLOCK_X: ("block x", "blockx", "blkx", "launch__block_dim_x"),
    Role.BLOCK_Y: ("block y", "blocky", "blky", "launch__block_dim_y"),
    Role.BLOCK_Z: ("block z", "blockz", "blkz", "launch__block_dim_z"),
    Role.SHARED: (
        "shared", "dynamic shared", "dynamic smem", "dymsmem", "dynamic shared memory",
        "dynamic shared memory per block", "launch__shared_mem_per_block_dynamic",
    ),
    Role.DURATION: ("duration", "time", "gpu time", "gpu__time_duration.sum", "gpu__time_duration"),
    Role.SM_CLOCK: (
        "sm", "sm clock", "sm frequency", "core clock", "gpc__cycles_elapsed.avg.per_second",
        "smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second",
    ),
    Role.MEMORY_CLOCK: (
        "memory", "mem", "memory clock", "mem clock", "memory frequency", "dram frequency",
        "dram__cycles_elapsed.avg.per_second",
    ),
    Role.POWER: ("power",),
    Role.SOURCE: ("time source",),
    Role.GPU: ("gpu", "device", "device name"),
    Role.METRIC: ("metric name",),
    Role.UNIT: ("metric unit",),
    Role.VALUE: ("metric value", "avg"),
    Role.OTHER: (
        "start", "process id", "process name", "host name", "context", "ctx", "greenctx", "stream", "strm",
        "cc", "section name", "rule name", "rule type", "rule description", "estimated speedup type",
        "estimated speedup", "srcmemtype", "dstmemtype", "srcmemkd", "dstmemkd", "kernel time", "invocations",
        "metric description", "min", "max",
    ),
}  # fmt: skip
_ROLES = {name: role for role, names in _NAMES.items() for name in names}
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
        """Return the SI value of one ``unit`` in this column, None if the unit does not fit the role."""
        return scale(self.role, unit)


def column(header: str) -> Column:
    """Return what a header cell says.

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
        if match and role is not None and (scale(role, match[2]) is not None or pattern is _BRACKETS):
            return Column(role, match[1], match[2])
    return Column(Role.COUNTER if text else Role.OTHER, text)


def scale(role: Role, unit: str) -> float | None:
    """Return what one ``unit`` is in seconds, hertz, bytes or watts, by role; None if it does not fit."""
    reader = _UNITS.get(role)
    return reader(unit) if reader else None


_UNITS = {
    Role.DURATION: time_unit,
    Role.SM_CLOCK: frequency_unit,
    Role.MEMORY_CLOCK: frequency_unit,
    Role.SHARED: size_unit,
    Role.POWER: power_unit,
}


def _plain(text: str) -> str:
    """Return a name in lower case, words parted by one blank; underscores are blanks outside ncu's names."""
    text = (
        text.lower() if "__" in text or text.lower() == "correlation_id" else text.lower().replace("_", " ")
    )
    return " ".join(text.split())
