"""What long validations have computed, kept on disk so that an interrupted run goes on where it stopped.

Entries live in folders named by a digest of the code that made them; a change of that code begins anew.
"""

from __future__ import annotations

import os
import pickle
import zlib
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import warpwatt
from warpwatt.core.folders import cache_directory

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

LOWER_FLOORS = ("core", "isa", "program", "frontend", "emulate")
"""Packages that decide what a launch executes."""


def folder(name: str) -> Path:
    """Return a folder of the validation's own below the user's cache; it exists."""
    path = cache_directory() / "validation" / name
    path.mkdir(parents=True, exist_ok=True)
    return path


@lru_cache(maxsize=4)
def version(*packages: str) -> str:
    """Return a digest of the source text of packages of warpwatt, or of all of it."""
    root = Path(warpwatt.__file__).parent
    places = [root / package for package in packages] or [root]
    state = blake2b(digest_size=6)
    for file in sorted(
        f for place in places for f in place.rglob("*") if f.suffix in (".py", ".toml", ".csv")
    ):
        state.update(str(file.relative_to(root)).encode() + file.read_bytes())
    return state.hexdigest()


def has(kind: str, key: object) -> bool:
    """Whether something is stored under a folder name and a key."""
    return _file(kind, key).exists()


def kept(kind: str, key: object, make: Callable[[], T]) -> T:
    """Return what is stored under a folder name and a key, else what ``make`` makes, stored from now on."""
    file = _file(kind, key)
    if file.exists():
        found: T = pickle.loads(zlib.decompress(file.read_bytes()))
        return found
    made = make()
    file.parent.mkdir(exist_ok=True)
    temporary = file.with_suffix(f".{os.getpid()}")
    temporary.write_bytes(zlib.compress(pickle.dumps(made), 1))
    temporary.replace(file)
    return made


def _file(kind: str, key: object) -> Path:
    name = blake2b(repr(key).encode(), digest_size=16).hexdigest()
    return folder(kind) / name[:2] / name[2:]
