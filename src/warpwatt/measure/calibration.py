"""Calibration: from a device's results to one file of constants with provenance, and back.

Public names: ``calibrate(folder) -> Calibrated``, ``to_toml(calibrated) -> str``, and
``warpwatt.gpus.calibrations.load_calibration(path)``, which reads the file.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.gpus.calibrations import load_calibration
from warpwatt.measure.constants import Constant, Plot, extract
from warpwatt.measure.energies import add_energies
from warpwatt.measure.microbench.points import COLUMNS, PROTOCOL
from warpwatt.measure.results import read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from warpwatt.measure.results import Row

__all__ = ["Calibrated", "calibrate", "load_calibration", "to_toml"]

FILE = f"{PROTOCOL}.csv"
_TOLD = ("uuid_hash", "driver", "target", "toolkit", "cubin")
"""Columns that say what was measured on what; rows that differ are told with all their values."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """Everything that a device's results give.

    Attributes
    ----------
    gpu, date, protocol
        The device's own name; the last day of measuring; name and version of the protocol.
    provenance
        Driver, target, compiler and the like, by name.
    rows
        Rows by status: how many went in, and how many did not.
    missing
        What could not be determined, and why.
    """

    gpu: str
    date: str
    protocol: str
    provenance: Mapping[str, str]
    rows: Mapping[str, int]
    constants: tuple[Constant, ...]
    plots: tuple[Plot, ...]
    missing: tuple[str, ...]


def calibrate(folder: Path) -> Calibrated:
    """Determine the constants of the device whose results are in a folder.

    Raises
    ------
    InputError
        If the folder has no rows of microbenchmarks, or those of several devices.
    ParseError
        If its file is damaged.
    """
    file = folder / FILE
    hint = "measure first: warpwatt measure --protocol micro"
    if not file.is_file():
        raise InputError("no results of microbenchmarks here", file=folder, hint=hint)
    rows = read(file, COLUMNS)
    names = _values(rows, "gpu")
    if len(names) != 1 or len(_values(rows, "version")) != 1:
        what = "no rows" if not rows else "rows of several devices or protocol versions"
        raise InputError(what, file=file, hint=hint if not rows else "keep one folder for each")
    found = extract(rows)
    add_energies(rows, found)
    statuses = [str(row["status"]) for row in rows]
    return Calibrated(
        gpu=names[0],
        date=max(_values(rows, "date"))[:10],
        protocol=f"{PROTOCOL} {_values(rows, 'version')[0]}",
        provenance={name: ", ".join(_values(rows, name)) for name in _TOLD},
        rows={status: statuses.count(status) for status in sorted(set(statuses))},
        constants=tuple(sorted(found.constants, key=lambda one: one.name)),
        plots=tuple(found.plots),
        missing=tuple(found.missing),
    )


def _values(rows: Sequence[Row], column: str) -> list[str]:
    """Return the different values of a column, sorted, without empty ones."""
    return sorted({str(row[column]) for row in rows if row[column] not in ("", None)})


def to_toml(calibrated: Calibrated) -> str:
    """Return the file's text: the device, then one table for each constant, sorted by name."""
    head = {"gpu": calibrated.gpu, "date": calibrated.date, "protocol": calibrated.protocol}
    lines = ["# Measured constants; written by `warpwatt calibrate`. `error` is the standard error."]
    lines += [f"{name} = {_text(value)}" for name, value in {**head, **calibrated.provenance}.items()]
    lines += [f"missing = [{', '.join(map(_text, calibrated.missing))}]", "", "[rows]"]
    lines += [f"{_text(status)} = {count}" for status, count in calibrated.rows.items()]
    for one in calibrated.constants:
        lines += ["", f"[{'.'.join(_key(part) for part in one.name.split('.'))}]"]
        lines += [
            f"value = {_number(one.value)}",
            f"error = {_number(one.error)}",
            f"unit = {_text(one.unit)}",
        ]
        lines.append(f"points = {one.points}")
        lines += [f"r2 = {_number(one.r2)}"] if one.r2 is not None else []
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """Return a TOML string: JSON's escapes are TOML's too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(part: str) -> str:
    return part if part.replace("_", "").isalnum() and part.isascii() else _text(part)


def _number(value: float) -> str:
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = f"{value:.9g}"
    return text if any(c in text for c in ".en") else f"{text}.0"
