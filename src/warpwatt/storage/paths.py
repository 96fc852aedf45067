"""Where WarpWatt keeps files on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """Return the folder for compiled kernels and period toolkits.

    ``WARPWATT_CACHE_DIR`` if it is set, else the platform's cache folder of the user. It may not exist yet.
    """
    chosen = os.environ.get("WARPWATT_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("warpwatt", appauthor=False))
