"""A content-addressed cache of files: bounded, least recently used out first, safe under parallel processes.

Every entry is one file: a magic line, a keyed checksum, the payload. Writers rename a finished temporary
file into place, so that readers see all or nothing; a reader treats a vanished, damaged or foreign entry as
a miss (:mod:`~warpwatt.storage.private`).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path

from warpwatt.core.errors import InputError
from warpwatt.core.folders import cache_directory
from warpwatt.storage.private import user_key

MAGIC = b"warpwatt-cache-2\n"
DIGEST_BYTES = 20
TEMPORARY = ".tmp-"
DEFAULT_LIMIT = 2**30
ANSWERS = 8
"""Answers may take this part of the limit."""
EXECUTIONS = 4
"""So may executions."""
STALE_SECONDS = 3600.0
"""Age at which a temporary file must be the remains of a killed process."""

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def digest(*parts: bytes) -> str:
    """Return a hexadecimal digest of byte strings; their boundaries count.

    >>> digest(b"ab", b"c") == digest(b"a", b"bc")
    False
    """
    state = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.hexdigest()


def parse_size(text: str) -> int:
    """Read a size in bytes, with an optional unit K, M, G or T (powers of 1024).

    >>> parse_size("500M")
    524288000
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if found is None:
        raise InputError(
            f"WARPWATT_CACHE_SIZE: not a size: {text!r}", hint="write it like 500M or 2G; 0 is off"
        )
    return int(float(found[1]) * _UNITS[found[2].upper()])


_LOOKS = 32
"""How often sizes are added up while as much as the limit is written; it is kept to about such a part."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of entries, together about ``limit`` bytes at most; where it fails, it is only a miss."""

    folder: Path
    limit: int = DEFAULT_LIMIT

    def get(self, key: str) -> bytes | None:
        """Return the payload stored under a key, or None; reading makes the entry recent."""
        file = self._file(key)
        try:
            data = file.read_bytes()
        except OSError:
            return None
        with suppress(OSError):  # evicted meanwhile, or the cache is read-only
            os.utime(file)
        head = len(MAGIC) + DIGEST_BYTES
        payload = data[head:]
        if compare_digest(data[:head], MAGIC + _checksum(payload)):
            return payload
        file.unlink(missing_ok=True)
        return None

    def put(self, key: str, payload: bytes) -> None:
        """Store a payload. Where it cannot be written or is over the limit, nothing is stored."""
        if len(payload) + len(MAGIC) + DIGEST_BYTES > self.limit:
            return
        file = self._file(key)
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = file.parent / f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"
            try:
                temporary.write_bytes(MAGIC + _checksum(payload) + payload)
                temporary.replace(file)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError:
            return  # a cache that cannot be written is only slow; `warpwatt doctor` says so
        if os.urandom(1)[0] / 256 * self.limit < _LOOKS * len(payload):
            self.evict()

    def evict(self) -> None:
        """Remove the least recently used entries until the rest is within the limit."""
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        now = time.time()
        for used, size, path in entries:
            stale = path.name.startswith(TEMPORARY) and now - used > STALE_SECONDS
            if total <= self.limit and not stale:
                continue
            path.unlink(missing_ok=True)
            total -= size

    def size(self) -> int:
        """Bytes stored."""
        return sum(size for _, size, _ in self._entries())

    def count(self) -> int:
        """Return the number of entries."""
        return sum(1 for _ in self._entries())

    def clear(self) -> None:
        """Remove every entry."""
        for _, _, path in list(self._entries()):
            path.unlink(missing_ok=True)

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yield time of last use, size and path of every file; vanished ones are skipped."""
        for path in self.folder.glob("??/*"):
            try:
                status = path.stat()
            except OSError:
                continue
            yield status.st_mtime, status.st_size, path

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]


def default_cache() -> Cache:
    """Return the user's cache: ``WARPWATT_CACHE_DIR``, ``WARPWATT_CACHE_SIZE`` (``500M``, ``2G``; 0 is off).

    Raises
    ------
    InputError
        If the size cannot be read.
    """
    return Cache(cache_directory() / "compiled", _limit())


def answer_cache() -> Cache:
    """Return the user's answers, a small part of what :func:`default_cache` may hold; raise as it does."""
    return Cache(cache_directory() / "answers", _limit() // ANSWERS)


def execution_cache() -> Cache:
    """Return what launches do, a part of what :func:`default_cache` may hold; raise as it does."""
    return Cache(cache_directory() / "executions", _limit() // EXECUTIONS)


def _limit() -> int:
    text = os.environ.get("WARPWATT_CACHE_SIZE", "")
    return parse_size(text) if text else DEFAULT_LIMIT


def _checksum(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=DIGEST_BYTES, key=user_key()).digest()
