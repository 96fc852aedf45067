"""From the rows of a table to profiles: one for each launch, repeats merged."""

from __future__ import annotations

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.case import Profile
from warpwatt.core.errors import InputError, LaunchError, ParseError, UnknownGpuError
from warpwatt.core.estimate import Source
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.launch import Dim3, Launch
from warpwatt.frontend.profiles.cells import extent, missing, number
from warpwatt.frontend.profiles.columns import Role, column
from warpwatt.frontend.profiles.table import HOW, Table, read_table
from warpwatt.gpus import default_clocks, find

SINGLE_SPREAD = 0.03
"""Standard deviation of the logarithm of a time that was measured once (repeats of the packaged public
measurements scatter by 1 to 5 %)."""
LEAST_SPREAD = 0.005
FEWEST_REPEATS = 3
"""From this many repeats on their own scatter counts."""
CLOCK_RANGE = (0.05, 2.0)
"""An SM clock outside this share of the boost clock is a mistake."""
MEMORY_CLOCK_LIMIT = 1.2
"""Profilers count some memories at a multiple of the driver's clock: beyond this share it is disregarded."""
OURS = "warpwatt"
"""Process name of what :mod:`warpwatt.render.ncu` writes."""
_IDENTITY = (Role.KERNEL, Role.GRID, Role.BLOCK, Role.GPU)


@dataclass(slots=True)
class _Row:
    """One launch as the file has it: cells by role, metrics and arguments by name, each with its unit."""

    line: int
    cells: dict[Role, tuple[str, str]] = field(default_factory=dict)
    metrics: dict[str, tuple[str, str]] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)

    def text(self, role: Role) -> str:
        """Return a cell, "" where it is missing."""
        cell = self.cells.get(role, ("", ""))[0]
        return "" if missing(cell) else cell.strip()


def read_profiles(path: Path, gpu: Gpu | None = None) -> tuple[Profile, ...]:
    """Return the measured launches of a CSV file, in its order, rows of the same launch merged.

    The time of a merged profile is the median. A profile whose file gives no SM clock has the GPU's default
    clocks, marked ``sustained``: the board chose. Copies and other rows without a kernel's grid are skipped.

    Parameters
    ----------
    path
        Output of nvprof, Nsight Systems or Nsight Compute, or a table of one's own.
    gpu
        The device of rows that do not name theirs.

    Raises
    ------
    ParseError
        If there is no table, or a cell cannot be read; names file, line and what to do.
    """
    table = read_table(path)
    rows = _long(table) if Role.METRIC in table.roles() else _wide(table)
    groups: dict[tuple[object, ...], list[Profile]] = defaultdict(list)
    for row in rows:
        profile = _profile(row, path, gpu)
        if profile is not None:
            groups[_key(profile)].append(profile)
    if not groups:
        raise ParseError(
            f"no row has a {Role.DURATION}, a {Role.GRID} and a {Role.BLOCK}", file=path, line=1, hint=HOW
        )
    return tuple(_merged(group) for group in groups.values())


def _wide(table: Table) -> Iterable[_Row]:
    """Yield the rows of a table that has one line for each launch."""
    for line, cells in table.rows:
        row = _Row(line)
        for own, unit, cell in zip(table.columns, table.units, cells, strict=True):
            if own.role is Role.COUNTER:
                row.metrics[own.name] = (cell, unit)
            elif own.role is Role.ARGUMENT:
                row.arguments[own.name] = cell
            elif not missing(cell):
                row.cells.setdefault(own.role, (cell, unit))
        yield row


def _long(table: Table) -> Iterable[_Row]:
    """Yield one row for each launch of a table that has one line for each metric."""
    launches: dict[tuple[str, ...], _Row] = {}
    for line, cells in table.rows:
        named = {c.role: cell for c, cell in zip(table.columns, cells, strict=True)}
        key = tuple(named.get(role, "") for role in (Role.ID, *_IDENTITY))
        row = launches.setdefault(key, _Row(line))
        for role in (*_IDENTITY, Role.SHARED, Role.PROCESS):
            if not missing(named.get(role, "")):
                row.cells.setdefault(role, (named[role], ""))
        name, unit = named.get(Role.METRIC, "").strip(), named.get(Role.UNIT, "").strip()
        value = named.get(Role.VALUE, "")
        role = column(name).role
        if role in (Role.DURATION, Role.SM_CLOCK, Role.MEMORY_CLOCK, Role.POWER, Role.SHARED):
            row.cells.setdefault(role, (value, unit))
        elif name:
            row.metrics.setdefault(name, (value, unit))
    return launches.values()


def _profile(row: _Row, path: Path, gpu: Gpu | None) -> Profile | None:
    """Return the profile of a row, None if it is no kernel launch."""
    grid = _extent(row, Role.GRID, (Role.GRID_X, Role.GRID_Y, Role.GRID_Z), path)
    block = _extent(row, Role.BLOCK, (Role.BLOCK_X, Role.BLOCK_Y, Role.BLOCK_Z), path)
    seconds = _quantity(row, Role.DURATION, path)
    if grid is None or block is None or seconds is None:
        return None
    if seconds <= 0:
        raise ParseError(
            f"duration of {seconds:g} s", file=path, line=row.line, hint="leave out launches that failed"
        )
    device = _device(row, path, gpu)
    return Profile(
        gpu=device.name,
        clocks=_clocks(row, path, device),
        time=seconds,
        power=_quantity(row, Role.POWER, path),
        counters=_counters(row.metrics),
        kernel=re.sub(r"\s*\[\d+\]$", "", row.text(Role.KERNEL)),
        launch=_launch(row, path, grid, block),
        arguments=_arguments(row, path),
        spread=SINGLE_SPREAD,
        origin=f"{path.name}:{row.line}",
        source=_source(row),
    )


def _source(row: _Row) -> Source:
    """Return whether a row was measured; ours (``--format ncu-csv``) never were."""
    measured = row.text(Role.SOURCE) in ("", Source.MEASURED) and row.text(Role.PROCESS) != OURS
    return Source.MEASURED if measured else Source.MODELLED


def _launch(row: _Row, path: Path, grid: Dim3, block: Dim3) -> Launch:
    try:
        return Launch(grid, block, round(_quantity(row, Role.SHARED, path) or 0))
    except LaunchError as error:
        raise ParseError(error.message, file=path, line=row.line, hint=error.hint) from None


def _arguments(row: _Row, path: Path) -> tuple[str, ...]:
    """Return the row's arguments as texts; one that stands alone must be readable."""
    texts = [f"{name}={cell.strip()}" for name, cell in row.arguments.items() if not missing(cell)]
    try:
        parse_arguments(text for text in texts if "[" not in text)
    except InputError as error:
        raise ParseError(error.message, file=path, line=row.line, hint=error.hint) from None
    return tuple(texts)


def _extent(row: _Row, whole: Role, axes: tuple[Role, Role, Role], path: Path) -> Dim3 | None:
    """Return a grid or block from its one column or its three."""
    text = row.text(whole) or ",".join(row.text(axis) or "1" for axis in axes if row.text(axes[0]))
    if not text:
        return None
    try:
        return extent(text)
    except InputError as error:
        hint = "write X,Y,Z in quotes, or XxYxZ"
        raise ParseError(f"{whole}: {error.message}", file=path, line=row.line, hint=hint) from None


def _quantity(row: _Row, role: Role, path: Path) -> float | None:
    """Return a cell in SI units, None where it is missing."""
    cell, unit = row.cells.get(role, ("", ""))
    if missing(cell):
        return None
    value = number(cell)
    if value is None:
        raise ParseError(
            f"{role} is no number: {cell.strip()!r}", file=path, line=row.line, hint="mend the cell"
        )
    own = column("shared" if role is Role.SHARED else _SAMPLES[role])
    if role is Role.SHARED and not unit:
        return value
    factor = own.scale(unit)
    if factor is None:
        what = f"unit {unit!r}" if unit else "no unit"
        hint = f"put the unit into the column's name, such as {_SAMPLES[role]}"
        raise ParseError(f"{role} has {what}", file=path, line=row.line, hint=hint)
    return value * factor


_SAMPLES: Mapping[Role, str] = {
    Role.DURATION: "duration_us",
    Role.SM_CLOCK: "sm_mhz",
    Role.MEMORY_CLOCK: "memory_mhz",
    Role.POWER: "power_w",
    Role.SHARED: "shared",
}


def _device(row: _Row, path: Path, gpu: Gpu | None) -> Gpu:
    """Return the row's GPU: by name, or the given one where the row has none or only a number."""
    name = re.sub(r"\s*\(\d+\)$", "", row.text(Role.GPU))
    if name and not name.isdigit():
        try:
            return find(name)
        except UnknownGpuError as error:
            hint = f"{error.hint}; or leave the column out and name the GPU with --gpu"
            raise ParseError(error.message, file=path, line=row.line, hint=hint) from None
    if gpu is None:
        raise ParseError(
            "the row does not name its GPU",
            file=path,
            line=row.line,
            hint="add a column gpu, or predict for one GPU only: --gpu NAME",
        )
    return gpu


def _clocks(row: _Row, path: Path, gpu: Gpu) -> Clocks:
    """Return the row's clocks; the GPU's own, marked sustained, where the SM clock is not there."""
    nominal = default_clocks(gpu)
    sm, memory = _quantity(row, Role.SM_CLOCK, path), _quantity(row, Role.MEMORY_CLOCK, path)
    if sm is None:
        return replace(nominal, sustained=True)
    if not CLOCK_RANGE[0] <= sm / nominal.sm <= CLOCK_RANGE[1]:
        hint = f"{gpu.name} runs up to {nominal.sm / 1e6:.0f} MHz: mend the clock, its unit or the GPU"
        raise ParseError(f"SM clock of {sm / 1e6:g} MHz", file=path, line=row.line, hint=hint)
    known = memory is not None and CLOCK_RANGE[0] <= memory / nominal.memory <= MEMORY_CLOCK_LIMIT
    return Clocks(sm, memory if known and memory is not None else nominal.memory)


def _counters(metrics: Mapping[str, tuple[str, str]]) -> dict[str, float]:
    """Return counters that hold a number, as the file has them; others are left out."""
    found = {name: number(cell) for name, (cell, _) in metrics.items()}
    return {name: value for name, value in found.items() if value is not None}


def _key(profile: Profile) -> tuple[object, ...]:
    launch = profile.launch
    assert launch is not None
    arguments = tuple(sorted(profile.arguments))
    clocks = None if profile.clocks.sustained else round(profile.clocks.memory, -8)
    return (
        profile.kernel,
        profile.gpu,
        launch.grid,
        launch.block,
        launch.dynamic_shared,
        arguments,
        clocks,
        (None if profile.clocks.sustained else round(math.log(profile.clocks.sm) * 100)),
    )


def _merged(group: list[Profile]) -> Profile:
    """Return the median of repeats; their spread is the scatter between the quartiles, as of a normal."""
    times = [p.time for p in group if p.time is not None]
    middle = statistics.median(times)
    nearest = min(group, key=lambda p: abs((p.time or 0.0) - middle))
    if len(times) < FEWEST_REPEATS:
        return replace(nearest, time=middle)
    lower, _, upper = statistics.quantiles([math.log(t) for t in times], n=4)
    return replace(nearest, time=middle, spread=max(LEAST_SPREAD, (upper - lower) / 1.349))
