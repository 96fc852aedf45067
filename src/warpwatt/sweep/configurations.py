"""The configurations a sweep goes through: macros, register limits, block and grid sizes.

Sizes may be expressions of macros, scalar arguments and the block (``bx``, ``by``, ``bz``), so that the grid
follows the tile: ``--grid n/TILE,n/TILE``.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError

if TYPE_CHECKING:
    from warpwatt.request.launch_text import LaunchText, Request

LAUNCH_COLUMNS = ("maxrregcount", "grid", "block", "shared")
"""Columns of a file of configurations that are not macros."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to build and launch a kernel; what is None or absent stays as it was.

    ``grid``, ``block`` and ``shared`` are texts in which expressions may stand.
    """

    defines: tuple[tuple[str, str], ...] = ()
    max_registers: int | None = None
    grid: str | None = None
    block: str | None = None
    shared: str | None = None

    @property
    def name(self) -> str:
        """What distinguishes it, as a user would type it; empty if nothing does.

        >>> Configuration((("TILE", "16"),), 64, block="32,8").name
        'TILE=16 maxrregcount=64 block=32,8'
        """
        words = [f"{macro}={value}" for macro, value in self.defines]
        options = {"maxrregcount": self.max_registers, "grid": self.grid, "block": self.block}
        words += [f"{key}={value}" for key, value in {**options, "shared": self.shared}.items() if value]
        return " ".join(words)

    def request(self, text: LaunchText) -> Request:
        """Return the launch in these words with this configuration laid over it, expressions evaluated.

        Raises
        ------
        UsageError
            If grid or block is missing.
        InputError
            If an expression or a part of the launch cannot be read.
        """
        launch = replace(text, grid=self.grid or text.grid, block=self.block or text.block)
        return replace(launch, shared=self.shared or text.shared).read(
            f"{name}={value}" for name, value in self.defines
        )


def configurations(
    defines: Sequence[str] = (), registers: Sequence[int] = (), blocks: Sequence[str] = ()
) -> tuple[Configuration, ...]:
    """Return every combination of values of macros (``NAME=V1,V2``), register limits and block sizes.

    >>> [c.name for c in configurations(["TILE=8,16", "FAST"], blocks=["64"])]
    ['TILE=8 FAST=1 block=64', 'TILE=16 FAST=1 block=64']
    """
    macros = []
    for text in defines:
        name, equals, values = text.partition("=")
        macros.append([(name, value) for value in (values.split(",") if equals else ["1"])])
    return tuple(
        Configuration(tuple(chosen), limit, block=block)
        for chosen in itertools.product(*macros)
        for limit in registers or (None,)
        for block in blocks or (None,)
    )


def combined(first: Iterable[Configuration], second: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """Return every pair of configurations laid over each other; ``second`` wins."""
    return tuple(
        Configuration(
            tuple({**dict(a.defines), **dict(b.defines)}.items()),
            b.max_registers or a.max_registers,
            b.grid or a.grid,
            b.block or a.block,
            b.shared or a.shared,
        )
        for a in first
        for b in second
    )


def read_configurations(path: Path) -> tuple[Configuration, ...]:
    """Read a CSV file: a column per macro, and ``maxrregcount``, ``grid``, ``block``, ``shared`` if wanted.

    An empty field leaves the macro undefined, or the launch as it is.

    Raises
    ------
    InputError
        If it cannot be read, a row has more fields than the header, or a register limit is no number.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read it: {error}", file=path) from None
    rows = csv.DictReader(text.splitlines(), restkey="", restval="", strict=True)
    try:
        found = tuple(_from_row(row, path, rows.line_num) for row in rows)
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", file=path, line=rows.line_num) from None
    if not found:
        raise InputError("no configuration here", file=path, hint="a header line, then one line for each")
    return found


def _from_row(row: Mapping[str, str], path: Path, line: int) -> Configuration:
    if "" in row:
        raise InputError(f"a field without a name: {row['']!r}", file=path, line=line)
    cells = {name.strip(): value.strip() for name, value in row.items() if value.strip()}
    limit = cells.get("maxrregcount")
    if limit is not None and not re.fullmatch("[0-9]{1,3}", limit):
        raise InputError(f"maxrregcount is no number: {limit!r}", file=path, line=line)
    return Configuration(
        tuple((name, value) for name, value in cells.items() if name not in LAUNCH_COLUMNS),
        int(limit) if limit is not None else None,
        cells.get("grid"),
        cells.get("block"),
        cells.get("shared"),
    )


def parse_registers(text: str) -> tuple[int, ...]:
    """Read register limits: ``64``, ``32,64,128`` or ``32:128:16`` (the end belongs to it).

    >>> parse_registers("32:64:16"), parse_registers("40,255")
    ((32, 48, 64), (40, 255))
    """
    try:
        if ":" in text:
            low, high, step = (int(part) for part in text.split(":"))
            found = tuple(range(low, high + 1, step))
        else:
            found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(16 <= limit <= 255 for limit in found):
        hint = "write N, N,N,... or LOW:HIGH:STEP, each from 16 to 255"
        raise InputError(f"not register limits: {text!r}", hint=hint)
    return found
