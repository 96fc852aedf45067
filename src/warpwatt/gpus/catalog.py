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
from warpwatt.gpus.datafile import DataFile

DATA = Path(__file__).parent / "data"
ENVIRONMENT = "WARPWATT_GPUS"
# Marketing words that people leave out, and drivers put in front.
_VENDOR_WORDS = ("nvidia", "geforce", "tesla", "quadro")


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


def user_directories() -> tuple[Path, ...]:
    """Return the directories whose ``*.toml`` files are GPUs, highest precedence first."""
    import platformdirs

    listed = [Path(part) for part in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if part]
    return (*listed, platformdirs.user_config_path("warpwatt") / "gpus")


@lru_cache(maxsize=64)
def read(path: Path, user: bool, modified: int) -> DataFile:  # noqa: ARG001 - the time is part of the key
    """Return the file at ``path``, parsed once per time of modification (nanoseconds)."""
    return DataFile(path, user=user)


def open_entry(entry: Entry) -> DataFile:
    """Return the parsed file of a board; a user's file is read again once it has changed."""
    return read(entry.path, entry.user, entry.path.stat().st_mtime_ns if entry.user else 0)


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

    >>> len(names()) >= 77, names()[0]
    (True, 'GeForce GTX 460')
    """
    return tuple(dict.fromkeys([e.name for e in packaged()] + [e.name for e in _users()]))


def lookup(name: str, candidates: Iterable[Entry] | None = None) -> Entry:
    """Return the board called ``name``: a name or alias, or else the only one with such a beginning.

    Raises
    ------
    UnknownGpuError
        If none or several match; the hint lists the candidates.
    """
    boards = entries() if candidates is None else tuple(candidates)
    wanted = spellings(name)
    for matches in (_exactly, _without_vendor, _beginning):
        found = matches(boards, wanted)
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(sorted(e.name for e in found))
            raise UnknownGpuError(f"{name!r} could be {len(found)} GPUs", hint=f"say which: {listed}")
    raise UnknownGpuError(f"no GPU called {name!r}", hint=_nearest(name, boards))


def _exactly(boards: Iterable[Entry], wanted: tuple[str, ...]) -> list[Entry]:
    """Return the first board, in order of precedence, that has the name as it was written."""
    found = (e for e in boards if any(normalise(n) == wanted[0] for n in (e.name, *e.aliases)))
    first = next(found, None)
    return [] if first is None else [first]


def _without_vendor(boards: Iterable[Entry], wanted: tuple[str, ...]) -> list[Entry]:
    known = set(wanted)
    return _unique(e for e in boards if any(known.intersection(spellings(n)) for n in (e.name, *e.aliases)))


def _beginning(boards: Iterable[Entry], wanted: tuple[str, ...]) -> list[Entry]:
    start = wanted[-1]
    if not start:
        return []
    return _unique(
        e for e in boards if any(s.startswith(start) for n in (e.name, *e.aliases) for s in spellings(n))
    )


def _unique(found: Iterable[Entry]) -> list[Entry]:
    """Return one entry per name: a user's file hides the package's."""
    by_name: dict[str, Entry] = {}
    for entry in found:
        by_name.setdefault(entry.name, entry)
    return list(by_name.values())


def _nearest(name: str, boards: Iterable[Entry]) -> str:
    import difflib

    shown = {s: n for e in boards for n in (e.name, *e.aliases) for s in spellings(n)}
    near = difflib.get_close_matches(spellings(name)[-1], shown, n=6, cutoff=0.5)
    listed = ", ".join(list(dict.fromkeys(shown[s] for s in near))[:3])
    suffix = "'warpwatt gpus' lists all"
    return f"did you mean {listed}? {suffix}" if listed else suffix
