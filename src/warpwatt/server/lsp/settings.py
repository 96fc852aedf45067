"""Settings: ``warpwatt.toml`` found upwards of a document, and the editor's own on top.

::

    gpu = ["h200", "a100"]          # also "all"; default h200
    define = ["TILE=16"]
    include = ["include"]           # relative to this file
    clock = "1410,1215"             # MHz; also: flags, toolkit, maxrregcount, model, level, power_limit
    beside = ["time=volkov"]        # other models whose answers a hover shows too

    [[launch]]                      # for documents whose comments say no launch of this kernel
    kernel = "saxpy"
    file = "src/*.cu"               # optional
    grid = 4096
    block = 256
    args = { n = 1048576, x = "f32[n]", y = "f32[n]" }

    [[file]]                        # other settings for some documents
    path = "tests/*.cu"
    define = ["TILE=8"]

The editor sends the keys of the first part under ``warpwatt``; what it sets wins over the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from warpwatt.core.errors import InputError
from warpwatt.core.toml import read_toml
from warpwatt.request.fields import FIELDS, Group, Kind
from warpwatt.request.launch_text import from_table
from warpwatt.request.values import format_pairs
from warpwatt.server.lsp.facts import PlacedLaunch, Problem, Query

NAME = "warpwatt.toml"
_FIELDS = {field.key: field for field in FIELDS if field.group is not Group.LAUNCH and field.key}
KEYS = ("gpu", *_FIELDS, "advice", "beside")
"""Keys that both the file and the editor may set."""
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for one document; ``problems`` lie in ``file``."""

    query: Query = field(default_factory=Query)
    launches: tuple[PlacedLaunch, ...] = ()
    file: Path | None = None
    problems: tuple[Problem, ...] = ()


def find_file(document: Path) -> Path | None:
    """Return the nearest ``warpwatt.toml`` in the document's folder or above it."""
    for folder in document.parents:
        file = folder / NAME
        try:
            if file.is_file():
                return file
        except OSError:
            return None
    return None


def settings_for(document: Path | None, editor: Mapping[str, Any]) -> Settings:
    """Return the settings of a document; what is wrong with its file is among them, never raised.

    A file that cannot be used as a whole leaves the editor's settings and the defaults.
    """
    file = find_file(document) if document is not None else None
    found = Settings(file=file)
    if file is not None and document is not None:
        try:
            found = _read(file, document)
        except InputError as error:
            found = replace(found, problems=(_problem(error, file),))
    try:
        options = {key: value for key, value in editor.items() if key in KEYS and value not in (None, "", [])}
        base = document.parent if document is not None else Path.cwd()
        query = _query(options, found.query, base, "the editor's settings")
    except InputError as error:
        problem = Problem("settings", f"{error.message} (editor settings)", hint=error.hint, severity="error")
        return replace(found, problems=(*found.problems, problem))
    return replace(found, query=query)


def _read(file: Path, document: Path) -> Settings:
    table = read_toml(file)
    unknown = sorted(set(table) - {*KEYS, "launch", "file"})
    if unknown:
        keys = " ".join((*KEYS, "launch", "file"))
        raise InputError(f"unknown key {unknown[0]!r}", file=file, hint=f"keys: {keys}")
    query = _query({k: v for k, v in table.items() if k in KEYS}, Query(), file.parent, file)
    for part in _tables(table, "file", file):
        pattern = part.get("path")
        if not isinstance(pattern, str):
            raise InputError("a [[file]] has no path", file=file, hint='write path = "src/*.cu"')
        unknown = sorted(set(part) - {*KEYS, "path"})
        if unknown:
            raise InputError(f"unknown key {unknown[0]!r}", file=file, hint=f"keys: path {' '.join(KEYS)}")
        if _fits(document, pattern, file):
            query = _query({k: v for k, v in part.items() if k in KEYS}, query, file.parent, file)
    launches: list[PlacedLaunch] = []
    problems: list[Problem] = []
    for part in _tables(table, "launch", file):
        try:
            launches += _launch(part, document, file)
        except InputError as error:
            problems.append(_problem(error, file))
    return Settings(query, tuple(launches), file, tuple(problems))


def _tables(table: Mapping[str, Any], key: str, file: Path) -> list[dict[str, Any]]:
    parts = table.get(key, [])
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InputError(f"{key} is not an array of tables", file=file, hint=f"write [[{key}]]")
    return parts


def _fits(document: Path, pattern: str, file: Path) -> bool:
    try:
        relative = document.relative_to(file.parent).as_posix()
    except ValueError:
        return False
    return fnmatch(relative, pattern)


def _launch(part: dict[str, Any], document: Path, file: Path) -> list[PlacedLaunch]:
    pattern = part.get("file", "*")
    if not isinstance(pattern, str):
        raise InputError(f"file is not a text: {pattern!r}", file=file)
    launch = from_table({key: value for key, value in part.items() if key != "file"}, file)
    if launch.kernel is None:
        raise InputError("a [[launch]] names no kernel", file=file, hint='write kernel = "NAME"')
    if not launch.complete:
        raise InputError(f"the launch of {launch.kernel} needs grid and block", file=file)
    if not _fits(document, pattern, file):
        return []
    return [PlacedLaunch.at(launch, file=str(file))]


def _query(options: Mapping[str, Any], base: Query, folder: Path, where: Path | str) -> Query:
    """Lay options over ``base``; raise InputError where a value is of the wrong type."""
    values: dict[str, Any] = {}
    for key, value in options.items():
        if key == "gpu":
            values[key] = ",".join(_texts(key, value, where))
        elif key == "advice":
            values[key] = _checked(key, value, bool, where)
        elif key == "beside":
            values[key] = _texts(key, value, where)
        elif _FIELDS[key].kind is Kind.NUMBER:
            values[key] = _checked(key, value, int, where)
        elif _FIELDS[key].repeated or _FIELDS[key].kind is Kind.REST:
            values[key] = _texts(key, value, where)
        else:
            values[key] = _text(key, value, where)
    if "include" in values:
        values["include"] = tuple(str((folder / part).resolve()) for part in values["include"])
    return replace(base, **values)


def _checked(key: str, value: object, wanted: type, where: Path | str) -> object:
    """Return a value of exactly that type: a truth value is no number."""
    if type(value) is not wanted:
        named = "true or false" if wanted is bool else "a number"
        raise InputError(f"{key} is not {named}: {value!r}", file=where)
    return value


def _texts(key: str, value: Any, where: Path | str) -> tuple[str, ...]:
    """Read a text, an array of texts, or (definitions) a table of names and values."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, dict) and key == "define":
        return format_pairs(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise InputError(f"{key} is not a text or an array of texts: {value!r}", file=where)


def _text(key: str, value: Any, where: Path | str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{key} is not a text: {value!r}", file=where)
    return str(value)


def _problem(error: InputError, file: Path) -> Problem:
    """Return the error with its line: TOML's own, else that of the word it quotes."""
    position = _AT_LINE.search(error.message)
    line = int(position[1]) if position else error.line
    quoted = re.search(r"'(\w+)'|launch of ([\w<>:, ]+) needs", error.message)
    if line is None and quoted:
        line = _line_of(quoted[1] or quoted[2], file)
    return Problem("settings", error.message, line, str(file), error.hint, error.details)


def _line_of(word: str, file: Path) -> int | None:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return None
    pattern = re.compile(rf"\b{re.escape(word)}\b")
    return next((n for n, line in enumerate(lines, start=1) if pattern.search(line)), None)
