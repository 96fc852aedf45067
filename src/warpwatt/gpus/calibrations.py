"""Calibration files: what ``warpwatt calibrate`` measured on one device, read back.

A file holds ``gpu``, ``date`` and ``protocol`` as strings, and one table for each constant with ``value`` and
``error`` (standard error), in tables by kind: ``[latency.l2]``. Files are looked for in the folder
``calibrations`` of the package's data and of each of the user's GPU folders; what a user's file lacks stays
as the package's has it.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from warpwatt.core.errors import ParseError
from warpwatt.core.gpu import Calibration
from warpwatt.gpus.catalog import DATA, normalise, user_directories


def load_calibration(path: Path) -> Calibration:
    """Return a device's calibration; constants are named by their tables, ``latency.l2``.

    Raises
    ------
    ParseError
        If the file cannot be read or is no calibration.
    """
    hint = "write it with: warpwatt calibrate RESULTS_DIR -o FILE"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParseError(f"cannot be read: {error.strerror}", file=path, hint=hint) from None
    except (ValueError, RecursionError) as error:
        raise ParseError(f"not a TOML file: {error}", file=path, hint=hint) from None
    texts = {name: data.pop(name, None) for name in ("gpu", "date", "protocol")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise ParseError(f"{name} is missing or no text", file=path, hint=hint)
    constants = dict(_constants(data, "", path))
    return Calibration(str(texts["gpu"]), str(texts["date"]), str(texts["protocol"]), constants)


def calibration_files(gpu: str) -> tuple[Path, ...]:
    """Return the calibrations of a GPU by its name: the package's, then the user's first one."""
    users = (path for folder in user_directories() for path in _files(folder, gpu))
    packaged = (path for path in _files(DATA, gpu))
    found = (next(packaged, None), next(users, None))
    return tuple(path for path in found if path is not None)


def stack_calibrations(calibrations: Sequence[Calibration]) -> Calibration | None:
    """Return calibrations of one GPU as one, later ones on top; None for none."""
    found: Calibration | None = None
    for one in calibrations:
        found = replace(one, base=found)
    return found


def _files(folder: Path, gpu: str) -> Iterator[Path]:
    """Yield the calibrations of a GPU in a folder."""
    for path in sorted((folder / "calibrations").glob("*.toml")):
        if normalise(_load_once(path, path.stat().st_mtime_ns).gpu) == normalise(gpu):
            yield path


@lru_cache(maxsize=64)
def _load_once(path: Path, modified: int) -> Calibration:  # noqa: ARG001 - the time is part of the key
    """Return a calibration, read once per time of modification (nanoseconds)."""
    return load_calibration(path)


def _constants(
    table: Mapping[str, Any], prefix: str, path: Path
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the constants of a table and of those in it; other entries describe the device."""
    for name, entry in table.items():
        if not isinstance(entry, dict):
            continue
        if "value" in entry and not isinstance(entry["value"], dict):
            yield prefix + name, _pair(entry, prefix + name, path)
        else:
            yield from _constants(entry, f"{prefix}{name}.", path)


def _pair(entry: Mapping[str, Any], name: str, path: Path) -> tuple[float, float]:
    pair = (entry["value"], entry.get("error"))
    for number in pair:
        if isinstance(number, bool) or not isinstance(number, int | float) or math.isnan(number):
            raise ParseError(f"{name}: value and error must be numbers", file=path)
    return float(pair[0]), float(pair[1] or 0.0)
