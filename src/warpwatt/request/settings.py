"""What is said once for all predictions: by a project, and by the user in a file of his own.

A project says it in ``[tool.warpwatt]`` of the nearest ``pyproject.toml``::

    [tool.warpwatt]
    gpu = ["a100", "h200"]
    power_limit = 300
    toolkit = "12.9"
    include = ["include"]           # relative to this file
    define = { TILE = 16 }          # also: model, clock, level, maxrregcount

A repository may be a stranger's: its keys are a closed list, and none of them can run a program. The user's
own file, ``config.toml`` in the folder of settings, may also hold ``flags`` of the compiler and ``trusted``,
the folders that the editor may compile in. It wins over the project, variables of the environment
(``WARPWATT_GPU`` ...) win over it, and options of the command line win over all. The editor's
``warpwatt.toml`` has the keys of a project and is read by the same functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import InputError
from warpwatt.core.folders import user_folder
from warpwatt.request.fields import FIELDS, Group, Kind
from warpwatt.request.values import format_pairs

if TYPE_CHECKING:
    from warpwatt.request.fields import Field

PROJECT = "pyproject.toml"
SETTABLE: Mapping[str, Field] = {f.key: f for f in FIELDS if f.group is not Group.LAUNCH and f.key}
"""By key; those of the launch are its own, and ``gpu`` is in no group."""
KEYS = ("gpu", *(key for key, one in SETTABLE.items() if one.kind is not Kind.REST))
"""Keys of ``[tool.warpwatt]``: further flags of the compiler, which can run programs, are not among them."""
USER_KEYS = ("gpu", *SETTABLE, "trusted")
_TABLE = re.compile(rb"tool[\"'\s]*\.[\"'\s]*warpwatt")


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """Values by key, as the options of these names take them, and the file that says so.

    ``remarks`` say what of the file is ignored.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None
    remarks: tuple[str, ...] = ()


def project_settings(folder: Path) -> ProjectSettings:
    """Return what the nearest ``pyproject.toml`` with a ``[tool.warpwatt]``, in a folder or above, says.

    Raises
    ------
    InputError
        If the table has a key that is not known or a value of the wrong type, or the file is not TOML.
    """
    for parent in (folder, *folder.parents):
        table = _table(parent / PROJECT)
        if table is not None:
            file = parent / PROJECT
            table, remarks = only_inert(table, file)
            check_keys(table, KEYS, file)
            return ProjectSettings(_values(table, file), file, remarks)
    return ProjectSettings()


def user_file() -> Path:
    """Return the user's own file of settings; it may not exist."""
    return user_folder("config") / "config.toml"


def user_settings() -> ProjectSettings:
    """Return what the user's own file says; raise as :func:`project_settings`."""
    file = user_file()
    try:
        text = file.read_bytes().decode()
    except OSError:
        return ProjectSettings()
    except UnicodeDecodeError:
        raise InputError("not UTF-8", file=file) from None
    from warpwatt.core.toml import parse_toml

    table = parse_toml(text, file)
    check_keys(table, USER_KEYS, file)
    return ProjectSettings(_values(table, file), file)


def only_inert(table: Mapping[str, Any], file: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return what a repository's file may say, and remarks on what else it says.

    Flags could run a program, and folders outside hold files that are not the repository's.
    """
    kept, remarks, root = dict(table), [], file.parent.resolve()
    where = f"give it on the command line or in {user_file()}"
    if kept.pop("flags", None):
        remarks.append(f"flags of {file} are ignored, because they can run programs: {where}")
    if "include" in kept:
        folders = texts("include", kept["include"], file)
        kept["include"] = [one for one in folders if (root / one).resolve().is_relative_to(root)]
        outside = [one for one in folders if one not in kept["include"]]
        remarks += [
            f"include folder {one} of {file} is ignored, because it is outside: {where}" for one in outside
        ]
    return kept, tuple(remarks)


def _values(table: Mapping[str, Any], file: Path) -> dict[str, Any]:
    values = read_values(table, file.parent, file)
    return {**values, "gpu": ",".join(values["gpu"])} if "gpu" in values else values


def _table(file: Path) -> dict[str, Any] | None:
    """Return ``[tool.warpwatt]`` of a file; None where there is none: most files are not parsed."""
    try:
        content = file.read_bytes()  # also where there is none: who keeps answers hears of it
    except OSError:
        return None
    if not _TABLE.search(content):
        return None
    from warpwatt.core.toml import parse_toml, read_text  # not for every --help

    text = read_text(file)
    tools = parse_toml(text, file).get("tool", {})
    table = tools.get("warpwatt") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise InputError("tool.warpwatt is not a table", file=file, hint="write [tool.warpwatt]")
    return table


def check_keys(table: Iterable[str], known: Iterable[str], file: Path) -> None:
    """Raise ``InputError`` for the first key that is not known."""
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise InputError(f"unknown key {unknown[0]!r}", file=file, hint=f"keys: {' '.join(known)}")


def read_values(table: Mapping[str, Any], folder: Path, where: Path | str) -> dict[str, Any]:
    """Return settings as the options of these names take them; folders are relative to ``folder``.

    Raises
    ------
    InputError
        If a value is of the wrong type.

    >>> read_values({"gpu": "a100", "define": {"TILE": 16}, "power_limit": 300}, Path("/project"), "here")
    {'gpu': ('a100',), 'define': ('TILE=16',), 'power_limit': '300'}
    """
    values = {key: _reader(key)(key, value, where) for key, value in table.items()}
    for key in {"include", "trusted"} & values.keys():
        values[key] = tuple(str((folder / Path(part).expanduser()).resolve()) for part in values[key])
    return values


def _reader(key: str) -> Callable[[str, Any, Path | str], Any]:
    if key in ("gpu", "trusted") or SETTABLE[key].repeated or SETTABLE[key].kind is Kind.REST:
        return texts
    return _number if SETTABLE[key].kind is Kind.NUMBER else _text


def texts(key: str, value: Any, where: Path | str) -> tuple[str, ...]:
    """Read a text, an array of texts, or (definitions) a table of names and values."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, dict) and key == "define":
        return format_pairs(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise InputError(f"{key} is not a text or an array of texts: {value!r}", file=where)


def _number(key: str, value: object, where: Path | str) -> object:
    if type(value) is not int:  # a truth value is no number
        raise InputError(f"{key} is not a number: {value!r}", file=where)
    return value


def _text(key: str, value: Any, where: Path | str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{key} is not a text: {value!r}", file=where)
    return str(value)
