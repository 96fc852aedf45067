"""Where WarpWatt keeps files on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def user_folder(kind: str) -> Path:
    """Return WarpWatt's folder of the user for ``cache``, ``state`` or ``config``; it may not exist yet."""
    import platformdirs

    chosen: Path = getattr(platformdirs, f"user_{kind}_path")("warpwatt", appauthor=False)
    return chosen


def cache_directory() -> Path:
    """Return the folder for compiled kernels and period toolkits.

    ``WARPWATT_CACHE_DIR`` if it is set, else the cache folder of the user. It may not exist yet.
    """
    chosen = os.environ.get("WARPWATT_CACHE_DIR")
    return Path(chosen).expanduser() if chosen else user_folder("cache")
