"""Budgets from TOML.

::

    gpu = "h200"                     # of every budget that names none; the default is h200
    quantile = "value"               # what is judged: "value", or "worst" for the end of the 80 % interval
    baseline = "baseline.json"       # what relative limits refer to; `warpwatt check --record` writes it

    [[budget]]
    source = "saxpy.cu"              # beside this file; a // warpwatt: line in it may hold the launch
    kernel = "saxpy"
    grid = 65536
    block = 256
    args = { n = 16777216, a = 2.5, x = "f32[n]", y = "f32[n]" }
    max.time = "60 us"
    max.energy = "+5 %"              # over the baseline
    max.spills = 0
    min.occupancy = "75 %"
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwatt.budget.amounts import example, parse_amount
from warpwatt.budget.places import Document, Key
from warpwatt.budget.quantities import QUANTITIES, SHARE
from warpwatt.core.budget import Bound, Limit, Quantile
from warpwatt.core.errors import InputError, WarpWattError
from warpwatt.request.fields import Group, keys
from warpwatt.request.launch_text import LaunchText, from_table
from warpwatt.request.options import CompilationOptions, ModelOptions

_LAUNCH = keys(Group.LAUNCH)
_INERT_FLAG = re.compile(
    r"--?(O[0-3]|G|lineinfo|restrict|extended-lambda|expt-[\w-]+|use_fast_math|std=[\w+]+|rdc=\w+"
    r"|(ftz|fmad|prec-div|prec-sqrt|extra-device-vectorization)(=\w+)?|maxrregcount=\d+)"
)
_COMPILE = keys(Group.COMPILATION)
_MODEL = keys(Group.MODELS)
_SHARED = ("source", "gpu", "quantile")
_TOP = (*_SHARED, "baseline", "budget", *_COMPILE, *_MODEL)
_BUDGET = ("name", *_SHARED, *_LAUNCH, *_COMPILE, *_MODEL, "max", "min")
DEFAULT_GPU = "h200"


@dataclass(frozen=True, slots=True)
class Budget:
    """What one kernel may cost: its predictions in words, and the limits; ``line`` is where it begins."""

    name: str
    line: int
    source: Path
    gpu: str
    launch: LaunchText
    compilation: CompilationOptions
    modelling: ModelOptions
    quantile: Quantile
    limits: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class Budgets:
    """A file of budgets; ``baseline`` is the file that relative limits refer to."""

    file: Path
    budgets: tuple[Budget, ...]
    baseline: Path | None


def read_budgets(file: Path) -> Budgets:
    """Read a file of budgets.

    Raises
    ------
    InputError
        If it cannot be read, is empty, has an unknown key or an impossible value; names file and line.
    """
    document = Document.read(file)
    reader = _Reader(document)
    reader.check_keys(document.data, _TOP, ())
    tables = document.data.get("budget", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise reader.error("budget is not an array of tables", ("budget",), "write [[budget]]")
    if not tables:
        hint = 'for example:\n[[budget]]\nsource = "kernel.cu"\nmax.time = "60 us"'
        raise InputError("no budget here", file=file, hint=hint)
    baseline = reader.text(document.data, "baseline", ())
    budgets = tuple(reader.budget(table, index) for index, table in enumerate(tables))
    relative = next((limit for one in budgets for limit in one.limits if limit.relative), None)
    if relative is not None and baseline is None:
        hint = 'add baseline = "baseline.json" at the top, then `warpwatt check --record` writes it'
        raise InputError(
            f"{relative.text!r} is relative to a baseline, and none is named",
            file=file,
            line=relative.line,
            hint=hint,
        )
    return Budgets(file, budgets, file.parent / baseline if baseline is not None else None)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads values and says where those stand that are wrong."""

    document: Document

    def error(self, message: str, key: Key, hint: str = "") -> InputError:
        """Return the error of a wrong value."""
        lines = self.document.lines
        line = lines.get(key) or lines.get(key[-1:]) or self.document.line(key)  # inherited from the top
        return InputError(message, file=self.document.file, line=line, hint=hint)

    def check_keys(self, table: Mapping[str, Any], known: Iterable[str], path: Key) -> None:
        """Raise for the first key that is not known; the hint names the nearest."""
        names = list(known)
        for key in table:
            if key not in names:
                near = difflib.get_close_matches(key, names, 1)
                hint = f"did you mean {near[0]}?" if near else "keys: " + " ".join(names)
                raise self.error(f"unknown key {key!r}", (*path, key), hint)

    def text(self, table: Mapping[str, Any], key: str, path: Key) -> str | None:
        """Return a text that is not empty, None where it is not there."""
        value = table.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.error(f"{key} is not a text: {value!r}", (*path, key), f'write {key} = "..."')
        return value

    def texts(self, table: Mapping[str, Any], key: str, path: Key) -> tuple[str, ...]:
        """Return a text or an array of texts."""
        value = table.get(key, [])
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise self.error(f"{key} is no list of texts: {value!r}", (*path, key), f'{key} = ["..."]')
        return tuple(found)

    def budget(self, table: Mapping[str, Any], index: int) -> Budget:
        """Read one budget; what it does not say comes from the top of the file."""
        path: Key = ("budget", index)
        self.check_keys(table, _BUDGET, path)
        top = {
            key: self.document.data[key]
            for key in (*_SHARED, *_COMPILE, *_MODEL)
            if key in self.document.data
        }
        merged = {**top, **table}
        source = self.text(merged, "source", path)
        if source is None:
            raise self.error("no source", path, 'add source = "kernel.cu", beside this file')
        limits = tuple(self._limits(table, path))
        if not limits:
            raise self.error("no limit", path, 'add one: max.time = "60 us", min.occupancy = "75 %"')
        launch = self._launch(table, path)
        name = (
            self.text(table, "name", path) or launch.kernel or self.document.file.parent.joinpath(source).stem
        )
        return Budget(
            name,
            self.document.line(path) or 1,
            self.document.file.parent / source,
            self.text(merged, "gpu", path) or DEFAULT_GPU,
            launch,
            self._compilation(merged, path),
            self._modelling(merged, path),
            self._quantile(merged, path),
            limits,
        )

    def _launch(self, table: Mapping[str, Any], path: Key) -> LaunchText:
        options = {key: table[key] for key in _LAUNCH if key in table}
        try:
            return from_table(options, self.document.file)
        except WarpWattError as error:
            key = next((name for name in options if name in error.message), "")
            raise self.error(error.message, (*path, key), error.hint) from None

    def _compilation(self, table: Mapping[str, Any], path: Key) -> CompilationOptions:
        registers = table.get("maxrregcount")
        if registers is not None and (type(registers) is not int or not 16 <= registers <= 255):
            raise self.error(f"impossible maxrregcount: {registers!r}", (*path, "maxrregcount"), "16 to 255")
        folders = self.texts(table, "include", path)
        return CompilationOptions(
            self.texts(table, "define", path),
            tuple(str(self.document.file.parent / folder) for folder in folders),
            self.text(table, "toolkit", path) or "",
            registers,
            self._flags(table, path),
        )

    def _flags(self, table: Mapping[str, Any], path: Key) -> tuple[str, ...]:
        """Read flags of the compiler; the file may be a stranger's, so only those that run no program."""
        flags = self.texts(table, "flags", path)
        for flag in flags:
            if not _INERT_FLAG.fullmatch(flag):
                hint = "those of language, optimisation and arithmetic may, such as --use_fast_math"
                raise self.error(f"a file may not say {flag!r}", (*path, "flags"), hint)
        return flags

    def _modelling(self, table: Mapping[str, Any], path: Key) -> ModelOptions:
        clock = table.get("clock")
        if clock is not None and (isinstance(clock, bool) or not isinstance(clock, (str, int, float))):
            raise self.error(f"not a clock: {clock!r}", (*path, "clock"), 'MHz: clock = 1410, or "1410,1215"')
        limit = table.get("power_limit")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (str, int, float))):
            raise self.error(f"not a power limit: {limit!r}", (*path, "power_limit"), "W: power_limit = 420")
        level = self.text(table, "level", path)
        if level not in (None, "ptx", "sass"):
            raise self.error(f"no level {level!r}", (*path, "level"), "levels: ptx sass")
        return ModelOptions(
            self.texts(table, "model", path),
            None if clock is None else str(clock),
            level,
            power_limit=None if limit is None else str(limit),
        )

    def _quantile(self, table: Mapping[str, Any], path: Key) -> Quantile:
        name = self.text(table, "quantile", path) or Quantile.VALUE.value
        if name not in list(Quantile):
            raise self.error(f"no quantile {name!r}", (*path, "quantile"), "quantiles: " + " ".join(Quantile))
        return Quantile(name)

    def _limits(self, table: Mapping[str, Any], path: Key) -> Iterable[Limit]:
        for bound in Bound:
            limits = table.get(bound, {})
            if not isinstance(limits, dict):
                raise self.error(f"{bound} is no table", (*path, bound), f'write {bound}.time = "60 us"')
            self.check_keys(limits, QUANTITIES, (*path, bound))
            for name, value in limits.items():
                yield self._limit(name, bound, value, (*path, bound, name))
        low, high = table.get(Bound.MIN, {}), table.get(Bound.MAX, {})
        for name in low.keys() & high.keys():
            self._ordered(name, low[name], high[name], (*path, Bound.MIN, name))

    def _ordered(self, name: str, low: object, high: object, key: Key) -> None:
        least, most = self._limit(name, Bound.MIN, low, key), self._limit(name, Bound.MAX, high, key)
        if least.relative == most.relative and least.amount > most.amount:
            raise self.error(f"min.{name} is above max.{name}: nothing can hold both", key)

    def _limit(self, name: str, bound: Bound, value: object, key: Key) -> Limit:
        unit = QUANTITIES[name].unit
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise self.error(f"not an amount: {value!r}", key, f'write "{example(unit)}"')
        try:
            amount, relative = parse_amount(value, unit) if isinstance(value, str) else (float(value), False)
        except (ValueError, OverflowError) as error:
            raise self.error(str(error), key) from None
        if not relative and (not math.isfinite(amount) or amount < 0 or (unit == SHARE and amount > 1)):
            allowed = 'a share is at most 1, or "100 %"' if unit == SHARE else "write 0 or more"
            raise self.error(f"impossible {bound}.{name}: {value!r}", key, allowed)
        if relative and amount < -1:
            raise self.error(f"impossible {bound}.{name}: {value!r}", key, "-100 % is nothing left")
        return Limit(name, bound, amount, relative, str(value), self.document.line(key) or 1)
