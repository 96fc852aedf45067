"""One identity of inputs, for whatever is kept on disk: of files, and of the program itself."""
# ruff: noqa: PTH113, PTH116, PTH118, PTH123
# Hundreds of files are looked at, and a Path each costs milliseconds.

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from warpwatt.core.version import __version__

State = tuple[int, int, int]
"""Size, and the nanoseconds in which contents and entry were changed; (-1, 0, 0): there is none."""
ABSENT: State = (-1, 0, 0)
Identity = tuple[int, int, int, str]
"""State and digest of contents, which is empty for folders, absent files and where the state decides."""
PACKAGE = Path(__file__).parents[1]
_ENDINGS = (".py", ".toml", ".csv", ".json", ".npz", ".so")


def state(path: str) -> State:
    """Return what tells whether a file or folder is still the same.

    >>> state("/no/such/file")
    (-1, 0, 0)
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ABSENT
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def identity(path: str, *, contents: bool = True) -> Identity:
    """Return what tells whether a file has the same contents, also after it was copied or written anew."""
    before = state(path)
    return *before, _digest([path]) if contents and os.path.isfile(path) else ""


def is_same(path: str, was: Sequence[int | str]) -> bool:
    """Return whether a file is the one whose identity this is."""
    now = state(path)
    if now == tuple(was[:3]):
        return True
    return now[0] == was[0] and bool(was[3]) and _digest([path]) == was[3]


def changed(read: Mapping[str, Sequence[int | str]]) -> list[str]:
    """Return the files that are no longer those whose identities these are."""
    return [path for path, was in read.items() if not is_same(path, was)]


@lru_cache
def package_files(*rooms: str) -> tuple[str, ...]:
    """Return the files of code and data of some rooms of the package, or of all."""
    found = []
    for room in rooms or ("",):
        for folder, inside, names in os.walk(PACKAGE / room):
            inside[:] = [name for name in inside if name not in ("__pycache__", "runtime")]
            found += [os.path.join(folder, name) for name in names if name.endswith(_ENDINGS)]
    return tuple(sorted(found))


@lru_cache
def package_state(*rooms: str) -> str:
    """Return what changes with code and data of some rooms of the package on this machine."""
    return repr((__version__, [(file, *state(file)) for file in package_files(*rooms)]))


@lru_cache
def package_digest(*, native: bool = False) -> str:
    """Return what changes with the package's version and files; of ``native`` code only where it is wanted.

    Without that it is the same on machines that have compiled it themselves.
    """
    files = [file for file in package_files() if native or not file.endswith(".so")]
    return f"{__version__} ({_digest(files)[:12]})"


def _digest(files: Iterable[str]) -> str:
    found = blake2b(digest_size=20)
    for file in files:
        name = os.path.relpath(file, PACKAGE) if file.startswith(str(PACKAGE)) else ""
        found.update(f"{name}\0".encode())
        try:
            with open(file, "rb") as opened:
                while part := opened.read(1 << 20):
                    found.update(part)
        except OSError:
            found.update(b"?")  # a folder, or a file that cannot be read
    return found.hexdigest()
