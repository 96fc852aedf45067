"""What only this user may write: folders whose contents are trusted, and the key that marks cached files.

What is compiled is loaded as code, so that who can write a cache could run anything as its reader. Entries
therefore carry a code that only holders of the user's key can make, and the key lies outside the cache: a
copied, shared or restored cache is only slow.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from warpwatt.core.errors import InputError
from warpwatt.core.folders import user_folder

KEY_BYTES = 32


def check_private(folder: Path) -> None:
    """Refuse a folder that another user may have filled.

    Raises
    ------
    InputError
        If it belongs neither to this user nor to root, or all may write it.
    """
    status = folder.stat()
    if status.st_uid not in (os.getuid(), 0):
        why = "belongs to another user"
    elif status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        why = "may be written by every user"
    else:
        return
    hint = f"chmod o-w {folder}, or set WARPWATT_CACHE_DIR to a folder of yours"
    raise InputError(f"{why}, and programs in it would be run", file=folder, hint=hint)


def user_key() -> bytes:
    """Return the user's secret key, made when it is first asked for.

    Where it cannot be kept (no home, a full disk, or a file that others may read), a key of this process.
    """
    return _key(user_folder("state") / "cache.key")


@lru_cache
def _key(file: Path) -> bytes:
    with suppress(OSError):
        if not file.exists():
            _write_key(file)
        status = file.stat()
        key = file.read_bytes()
        if len(key) == KEY_BYTES and status.st_uid == os.getuid() and not status.st_mode & 0o077:
            return key
    return os.urandom(KEY_BYTES)


def _write_key(file: Path) -> None:
    """Write a new key; of several processes at once, the first wins."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    written = file.with_name(f"{file.name}.{os.getpid()}")
    handle = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, os.urandom(KEY_BYTES))
    finally:
        os.close(handle)
    try:
        with suppress(FileExistsError):
            os.link(written, file)
    finally:
        written.unlink()
