"""Names and aliases of GPUs and the file of each: the package's index and the user's own directories.

User files win over the package: directories in ``$WARPWATT_GPUS`` (separated like ``$PATH``) first, then
``gpus/`` in the user's configuration directory of WarpWatt.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from warpwatt.core.errors import UnknownGpuError
from warpwatt.core.folders import user_folder
from warpwatt.gpus.datafile import DataFile

DATA = Path(__file__).parent / "data"
ENVIRONMENT = "WARPWATT_GPUS"
# Marketing words that people leave out, and drivers put in front.
_VENDOR_WORDS = ("nvidia", "geforce", "tesla", "quadro")
_LIKENESS = 0.6
"""Ratio of common letters (``difflib``) from which a name is near another."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One board: its name, its aliases and its file."""

    name: str
    aliases: tuple[str, ...]
    path: Path
    user: bool = False


def normalise(name: str) -> str:
    """Return ``name`` without case, blanks and punctuation.

    >>> normalise("NVIDIA A100-SXM4-40GB")
    'nvidiaa100sxm440gb'
    """
    return "".join(filter(str.isalnum, name.casefold()))


@lru_cache(maxsize=2048)
def spellings(name: str) -> tuple[str, ...]:
    """Return the normalised name with and without the vendor's words in front, longest first.

    >>> spellings("NVIDIA GeForce RTX 4090")
    ('nvidiageforcertx4090', 'geforcertx4090', 'rtx4090')
    """
    found = [normalise(name)]
    while word := next((w for w in _VENDOR_WORDS if found[-1].startswith(w) and found[-1] != w), None):
        found.append(found[-1].removeprefix(word))
    return tuple(found)


@lru_cache(maxsize=1)
def index() -> DataFile:
    """Return the package's index (``data/index.toml``)."""
    return DataFile(DATA / "index.toml")


@lru_cache(maxsize=1)
def packaged() -> tuple[Entry, ...]:
    """Return the package's boards in the order of the index (by age)."""
    boards = index().table("boards")
    return tuple(
        Entry(names[0], tuple(names[1:]), DATA / "boards" / f"{stem}.toml") for stem, names in boards.items()
    )


@lru_cache(maxsize=1)
def _packaged_names() -> dict[str, Entry]:
    """Return the package's boards by their names and aliases, normalised; the first of the index wins."""
    boards = reversed(packaged())
    return {spellings(name)[0]: entry for entry in boards for name in (entry.name, *entry.aliases)}


def user_directories() -> tuple[Path, ...]:
    """Return the directories whose ``*.toml`` files are GPUs, highest precedence first."""
    listed = [Path(part) for part in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if part]
    return (*listed, user_folder("config") / "gpus")


@lru_cache(maxsize=256)
def read(path: Path, user: bool, modified: int) -> DataFile:  # noqa: ARG001 - the time is part of the key
    """Return the file at ``path``, parsed once per time of change (nanoseconds), which nobody can set."""
    return DataFile(path, user=user)


def open_entry(entry: Entry) -> DataFile:
    """Return the parsed file of a board; a user's file is read again once it has changed."""
    return read(entry.path, entry.user, entry.path.stat().st_ctime_ns if entry.user else 0)


def user_files() -> tuple[Path, ...]:
    """Return the user's GPU files, highest precedence first."""
    return tuple(path for directory in user_directories() for path in sorted(directory.glob("*.toml")))


def user_entry(path: Path) -> Entry:
    """Return the entry of a user's file, or raise ``ParseError``."""
    file = open_entry(Entry("", (), path, user=True))
    return Entry(file.text("name"), file.texts("aliases"), path, user=True)


def _users() -> Iterator[Entry]:
    return map(user_entry, user_files())


def entries() -> tuple[Entry, ...]:
    """Return every board, the user's first.

    Raises
    ------
    ParseError
        If a file of the user's is malformed.
    """
    return (*_users(), *packaged())


def names() -> tuple[str, ...]:
    """Return the name of every GPU, in the order of the index (by age), the user's own at the end.

    >>> len(names()) >= 156, names()[0]
    (True, 'GeForce GTX 460')
    """
    return tuple(dict.fromkeys([e.name for e in packaged()] + [e.name for e in _users()]))


def lookup(name: str, candidates: Iterable[Entry] | None = None) -> Entry:
    """Return the board called ``name``: a name or alias, with or without the vendor's words.

    A beginning is not enough: RTX 4070 and RTX 4070 Ti are different boards.

    Raises
    ------
    UnknownGpuError
        If none or several are called so; each name that the hint proposes is the name of one.
    """
    wanted = spellings(name)
    users = tuple(_users()) if candidates is None else tuple(candidates)
    found = _exactly(users, wanted)
    if not found and candidates is None and (packed := _packaged_names().get(wanted[0])) is not None:
        return packed
    boards = (*users, *packaged()) if candidates is None else users
    found = found or _without_vendor(boards, wanted)
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(sorted(e.name for e in found))
        raise UnknownGpuError(f"{name!r} could be {len(found)} GPUs", hint=f"say which: {listed}")
    listed = ", ".join(e.name for e in neighbours(name, boards))
    suffix = "'warpwatt gpus' lists all"
    hint = f"did you mean {listed}? {suffix}" if listed else suffix
    raise UnknownGpuError(f"no GPU called {name!r}", hint=hint)


def _exactly(boards: Iterable[Entry], wanted: tuple[str, ...]) -> list[Entry]:
    """Return the first board, in order of precedence, that has the name as it was written."""
    found = (e for e in boards if any(spellings(n)[0] == wanted[0] for n in (e.name, *e.aliases)))
    first = next(found, None)
    return [] if first is None else [first]


def _without_vendor(boards: Iterable[Entry], wanted: tuple[str, ...]) -> list[Entry]:
    known = set(wanted)
    return _unique(e for e in boards if any(known.intersection(spellings(n)) for n in (e.name, *e.aliases)))


def _unique(found: Iterable[Entry]) -> list[Entry]:
    """Return one entry per name: a user's file hides the package's."""
    by_name: dict[str, Entry] = {}
    for entry in found:
        by_name.setdefault(entry.name, entry)
    return list(by_name.values())


def neighbours(name: str, boards: Iterable[Entry], most: int = 6) -> tuple[Entry, ...]:
    """Return the boards whose names begin as ``name`` does or come near it, nearest first.

    >>> [entry.name for entry in neighbours("rtx 306", packaged(), 2)]
    ['GeForce RTX 3060 12GB', 'GeForce RTX 3060 Ti']
    """
    import difflib

    wanted = spellings(name)[-1]
    known = _unique(boards)
    spelled = {s: e for e in reversed(known) for n in (e.name, *e.aliases) for s in spellings(n)}
    beginning = sorted((s for s in spelled if wanted and s.startswith(wanted)), key=len)
    near = difflib.get_close_matches(wanted, spelled, n=most, cutoff=_LIKENESS)
    found = dict.fromkeys(spelled[s].name for s in (*beginning, *near))
    by_name = {entry.name: entry for entry in known}
    return tuple(by_name[name] for name in found)[:most]
