"""Calibration: from a device's results to one file of constants with provenance, and back.

Microbenchmarks give latencies, rates and the like; the power of whole programs gives the coefficients of the
component power model. Either is enough for a calibration.

Public names: ``calibrate(folder, corpus) -> Calibrated``, ``to_toml(calibrated) -> str``;
``warpwatt.gpus.calibrations.load_calibration(path)`` reads the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError, WarpWattError
from warpwatt.gpus import find
from warpwatt.lab.measure.columns import MICRO, POWER
from warpwatt.lab.measure.constants import Constant, Extraction, Plot, extract
from warpwatt.lab.measure.corpus import Corpus
from warpwatt.lab.measure.energies import add_energies
from warpwatt.lab.measure.microbench.host import PROTOCOL
from warpwatt.lab.measure.powered import FEWEST, component_constants, has_enough_programs, powered_runs
from warpwatt.lab.measure.powered import FILE as POWER_FILE
from warpwatt.lab.measure.results import read

if TYPE_CHECKING:
    from warpwatt.lab.measure.columns import Row

FILE = f"{PROTOCOL}.csv"
_PROVENANCE = ("uuid_hash", "driver", "target", "toolkit", "cubin")
"""Columns that say what was measured on what; where rows differ, all their values are listed."""


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


def calibrate(folder: Path, corpus: Path | None = None) -> Calibrated:
    """Determine the constants of the device whose results are in a folder.

    ``corpus`` holds the programs whose power was measured; without it no coefficients of power are fitted.

    Raises
    ------
    InputError
        If the folder has rows neither of microbenchmarks nor of power, or those of several devices.
    ParseError
        If a file of it is damaged.
    """
    files = {FILE: MICRO, POWER_FILE: POWER}
    rows = {name: read(folder / name, of) for name, of in files.items() if (folder / name).is_file()}
    if not rows:
        hint = "measure first: warpwatt measure --protocol micro, or power"
        raise InputError("no results of microbenchmarks or power here", file=folder, hint=hint)
    every = [row for own in rows.values() for row in own]
    gpu = _one_device(folder, every)
    found = Extraction()
    if FILE in rows:
        found = extract(rows[FILE])
        add_energies(rows[FILE], found)
    else:
        found.missing.append(f"latencies, rates and energies: no {FILE}")
    _add_components(gpu, rows.get(POWER_FILE, []), corpus, found)
    statuses = [str(row["status"]) for row in every]
    protocols = [f"{file[:-4]} {_values(own, 'version')[0]}" for file, own in rows.items() if own]
    return Calibrated(
        gpu=gpu,
        date=max(_values(every, "date"))[:10],
        protocol=", ".join(protocols),
        provenance={name: ", ".join(_values(every, name)) for name in _PROVENANCE},
        rows={status: statuses.count(status) for status in sorted(set(statuses))},
        constants=tuple(sorted(found.constants, key=lambda one: one.name)),
        plots=tuple(found.plots),
        missing=tuple(found.missing),
    )


def _one_device(folder: Path, rows: Sequence[Row]) -> str:
    """Return the name of the device that all rows are of."""
    names = _values(rows, "gpu")
    if not rows:
        raise InputError("no rows", file=folder, hint="measure first: warpwatt measure")
    protocols = {str(row["protocol"]) for row in rows}
    versions = [_values([r for r in rows if r["protocol"] == p], "version") for p in protocols]
    if len(names) != 1 or any(len(own) != 1 for own in versions):
        raise InputError(
            "rows of several devices or protocol versions", file=folder, hint="keep one folder for each"
        )
    return names[0]


def _add_components(name: str, rows: Sequence[Row], corpus: Path | None, found: Extraction) -> None:
    """Add the coefficients of the component power model; note it as missing where they cannot be fitted."""
    what = "coefficients of the component power model"
    if not rows:
        found.missing.append(f"{what}: no {POWER_FILE}")
        return
    if corpus is None:
        found.missing.append(f"{what}: the programs that were measured are not here (--corpus)")
        return
    try:
        gpu = find(name)
        programs = {program.name: program for program in Corpus.load(corpus)}
        runs, left_out = powered_runs(rows, programs, gpu)
        found.missing += [f"{what}: {count} rows left out, {why}" for why, count in left_out.most_common()]
        if not has_enough_programs(runs):
            found.missing.append(f"{what}: fewer than {FEWEST} families of programs have a power")
            return
        found.constants += component_constants(runs, gpu)
    except WarpWattError as error:
        found.missing.append(f"{what}: {error.message}")


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
