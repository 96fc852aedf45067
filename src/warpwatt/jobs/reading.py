"""Job lists from TOML and CSV.

::

    [[job]]
    name = "training step"
    source = "matmul.cu"             # a kernel and its launch, as a step of an application
    grid = [64, 64]
    block = [16, 16]
    args = { n = 1024 }
    repeats = 10000                  # launches in a row
    count = 20                       # such jobs
    every = 0.5                      # seconds between their arrivals
    gpu = "h200,a100"                # where it may run; anywhere without

    [[job]]
    application = "pipeline.toml"    # or a whole application
    arrival = 10.0

    [[job]]
    seconds = 120.0                  # or something already measured
    watts = 310.0
    gpu = "h200"

In CSV the same keys are columns, arguments ``arg:NAME``; empty cells are not said.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warpwatt.core.application import Application
from warpwatt.core.errors import InputError
from warpwatt.core.toml import read_toml
from warpwatt.gpus import find_many
from warpwatt.jobs.jobs import Fixed, Job
from warpwatt.request.applications import kernel_node, load_application

MOST_PIECES = 100_000
"""Pieces of work in one simulation."""
_OWN = ("count", "arrival", "every", "gpu", "clock", "model", "profile", "application", "seconds", "watts")
_KINDS = ("source", "application", "seconds")
_WHOLE = ("count", "repeats", "shared")
_DECIMAL = ("arrival", "every", "seconds", "watts")
_HOW = "write [[job]] tables with source, application, or seconds and watts"


def read_jobs(path: Path) -> tuple[Job, ...]:
    """Return the jobs of a TOML or CSV file, in its order.

    Raises
    ------
    InputError
        If the file cannot be read, a key is unknown or a value impossible; names the file and the job.
    UnknownGpuError
        If a job names a GPU that there is not.
    """
    tables = _csv_tables(path) if path.suffix.lower() == ".csv" else _toml_tables(path)
    jobs = tuple(_job(table, f"job {i}", path) for i, table in enumerate(tables, start=1))
    if sum(job.count for job in jobs) > MOST_PIECES:
        raise InputError(f"more than {MOST_PIECES} pieces of work", file=path, hint="join some with repeats")
    return jobs


def _toml_tables(path: Path) -> list[dict[str, Any]]:
    data = read_toml(path)
    unknown = sorted(set(data) - {"job"})
    if unknown:
        raise InputError(f"unknown key {unknown[0]!r}", file=path, hint=_HOW)
    tables = data.get("job", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError("no jobs", file=path, hint=_HOW)
    return tables


def _csv_tables(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", file=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", file=path) from None
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", file=path) from None
    if not rows:
        raise InputError("no jobs", file=path, hint="a header line and one line for each job")
    return [_csv_table(row, line, path) for line, row in rows]


def _csv_table(row: Mapping[str | None, Any], line: int, path: Path) -> dict[str, Any]:
    """Return a row as the table that TOML would have given."""
    if None in row:
        raise InputError("more cells than columns", file=path, line=line, hint='put X,Y in quotes: "8,8"')
    table: dict[str, Any] = {}
    for name, cell in row.items():
        text = (cell or "").strip()
        key = (name or "").strip()
        if not text:
            continue
        if key.startswith("arg:"):
            table.setdefault("args", {})[key.removeprefix("arg:")] = text
        else:
            table[key] = _number(key, text, line, path) if key in (*_WHOLE, *_DECIMAL) else text
    return table


def _number(key: str, text: str, line: int, path: Path) -> float | int:
    try:
        return int(text) if key in _WHOLE else float(text)
    except ValueError:
        raise InputError(f"{key} is no number: {text!r}", file=path, line=line) from None


def _job(table: Mapping[str, Any], default_name: str, path: Path) -> Job:
    name = str(table.get("name", default_name))
    kinds = [kind for kind in _KINDS if kind in table]
    if len(kinds) != 1:
        problem = "two kinds of work" if kinds else "no work"
        raise InputError(f"{name}: {problem}", file=path, hint=_HOW)
    model = table.get("model", ())
    profile = table.get("profile")
    return Job(
        name=name,
        work=_work(table, name, kinds[0], path),
        count=int(_least(table, "count", 1, 1, name, path, whole=True)),
        arrival=_least(table, "arrival", 0.0, 0.0, name, path),
        every=_least(table, "every", 0.0, 0.0, name, path),
        gpus=_gpus(table.get("gpu"), name, path),
        clock=str(table["clock"]) if "clock" in table else None,
        model=tuple(map(str, model))
        if isinstance(model, list)
        else tuple(str(model).split())
        if model
        else (),
        profile=path.parent / str(profile) if profile is not None else None,
    )


def _work(table: Mapping[str, Any], name: str, kind: str, path: Path) -> Application | Fixed:
    if kind == "source":
        step = {key: value for key, value in table.items() if key not in _OWN}
        return Application(name, (kernel_node(step, name, path),))
    allowed = {"name", *_OWN[:7], kind, *(("watts",) if kind == "seconds" else ())}
    unknown = sorted(set(table) - allowed)
    if unknown:
        raise InputError(f"{name}: {unknown[0]!r} does not go with {kind}", file=path)
    if kind == "application":
        return load_application(path.parent / str(table["application"]))
    if "watts" not in table:
        raise InputError(f"{name}: seconds without watts", file=path, hint="add the mean power: watts = 250")
    seconds = _least(table, "seconds", 0.0, 1e-9, name, path)
    return Fixed(seconds, _least(table, "watts", 0.0, 0.0, name, path))


def _least(
    table: Mapping[str, Any],
    key: str,
    default: float,
    least: float,
    name: str,
    path: Path,
    *,
    whole: bool = False,
) -> float:
    """Return a finite number of at least ``least``."""
    value = table.get(key, default)
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= sys.float_info.max:
        what = "a whole number" if whole else "a number"
        raise InputError(f"{name}: {key} must be {what} of at least {least:g}, not {value!r}", file=path)
    return float(value)


def _gpus(value: object, name: str, path: Path) -> tuple[str, ...]:
    if value is None:
        return ()
    names = ",".join(map(str, value)) if isinstance(value, list) else value
    if not isinstance(names, str) or not names.strip():
        raise InputError(f"{name}: gpu is no name: {value!r}", file=path, hint='write gpu = "h200,a100"')
    return tuple(gpu.name for gpu in find_many(names))
