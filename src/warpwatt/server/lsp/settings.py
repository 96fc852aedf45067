"""Settings: the project's, ``warpwatt.toml`` found upwards of a document, and the editor's own on top.

::

    gpu = ["h200", "a100"]          # also "all"; default h200
    define = ["TILE=16"]
    include = ["include"]           # relative to this file
    clock = "1410,1215"             # MHz; also: toolkit, maxrregcount, model, level, power_limit
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

The editor sends the keys of the first part and ``flags`` under ``warpwatt``; what it sets wins over the
user's own file (:mod:`~warpwatt.request.settings`), that file over ``warpwatt.toml``, and this over
``[tool.warpwatt]`` of ``pyproject.toml``. Nothing is compiled in a folder that the user has not trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from warpwatt.core.errors import InputError
from warpwatt.core.toml import read_toml
from warpwatt.request.launch_text import from_table
from warpwatt.request.settings import (
    SETTABLE,
    check_keys,
    only_inert,
    project_settings,
    read_values,
    texts,
    user_file,
    user_settings,
)
from warpwatt.server.lsp.facts import PlacedLaunch, Problem, Query

NAME = "warpwatt.toml"
KEYS = ("gpu", *SETTABLE, "advice", "beside")
"""Keys that the editor may set; of them the file has no ``flags``."""
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for one document; ``problems`` lie in ``file``. ``trusted``: whether it is compiled."""

    query: Query = field(default_factory=Query)
    launches: tuple[PlacedLaunch, ...] = ()
    file: Path | None = None
    problems: tuple[Problem, ...] = ()
    trusted: bool = False


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


def settings_for(document: Path | None, editor: Mapping[str, Any], trust: Iterable[str] = ()) -> Settings:
    """Return the settings of a document; what is wrong with its file is among them, never raised.

    ``trust`` are folders that are trusted beside those of the user's own file.

    A file that cannot be used as a whole leaves the editor's settings and the defaults.
    """
    found = _of_files(document) if document is not None else Settings()
    try:
        options = {key: value for key, value in editor.items() if key in KEYS and value not in (None, "", [])}
        base = document.parent if document is not None else Path.cwd()
        own = dict(user_settings().values)
        found = _trusting(found, document, (*trust, *own.pop("trusted", ())))
        query = _query(options, replace(found.query, **own), base, "the editor's settings")
    except InputError as error:
        problem = Problem("settings", f"{error.message} (editor settings)", hint=error.hint, severity="error")
        return replace(found, problems=(*found.problems, problem))
    return replace(found, query=query)


def _trusting(found: Settings, document: Path | None, folders: Iterable[str]) -> Settings:
    """Return the settings, with a remark where the document lies in no trusted folder."""
    if document is None or any(document.resolve().is_relative_to(folder) for folder in folders):
        return replace(found, trusted=True)
    text = "not compiled: this folder is not trusted"
    hint = f'add it to trusted = ["FOLDER"] in {user_file()}, or start `warpwatt lsp --trust FOLDER`'
    problem = Problem("trust", text, 1, hint=hint, severity="information")
    return replace(found, problems=(*found.problems, problem))


def _of_files(document: Path) -> Settings:
    """Return what the project's file says, and on top what the document's does."""
    query, problems, file = Query(), [], None
    try:
        project = project_settings(document.parent)
        query, file = replace(query, **project.values), project.file
        problems += [_remark(remark, file or document) for remark in project.remarks]
    except InputError as error:
        file = Path(error.file or document)
        problems.append(_problem(error, file))
    own = find_file(document)
    try:
        found = _read(own, document, query) if own is not None else Settings(query, file=file)
    except InputError as error:
        found = Settings(query, file=own)
        problems.append(_problem(error, own or document))
    return replace(found, problems=(*problems, *found.problems))


def _read(file: Path, document: Path, base: Query) -> Settings:
    table, remarks = only_inert(read_toml(file), file)
    check_keys(table, (*KEYS, "launch", "file"), file)
    query = _query({k: v for k, v in table.items() if k in KEYS}, base, file.parent, file)
    for whole in _tables(table, "file", file):
        part, more = only_inert(whole, file)
        remarks += more
        pattern = part.get("path")
        if not isinstance(pattern, str):
            raise InputError("a [[file]] has no path", file=file, hint='write path = "src/*.cu"')
        check_keys(part, ("path", *KEYS), file)
        if _fits(document, pattern, file):
            query = _query({k: v for k, v in part.items() if k in KEYS}, query, file.parent, file)
    launches: list[PlacedLaunch] = []
    problems = [_remark(remark, file) for remark in dict.fromkeys(remarks)]
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
    values = read_values({k: v for k, v in options.items() if k not in ("advice", "beside")}, folder, where)
    if "gpu" in values:
        values["gpu"] = ",".join(values["gpu"])
    if "beside" in options:
        values["beside"] = texts("beside", options["beside"], where)
    if "advice" in options:
        if not isinstance(options["advice"], bool):
            raise InputError(f"advice is not true or false: {options['advice']!r}", file=where)
        values["advice"] = options["advice"]
    return replace(base, **values)


def _remark(text: str, file: Path) -> Problem:
    return Problem(
        "settings",
        text,
        _line_of("flags" if text.startswith("flags") else "include", file),
        str(file),
        severity="warning",
    )


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
