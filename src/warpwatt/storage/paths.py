"""Where WarpWatt keeps files on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from warpwatt.core.folders import user_folder


def cache_directory() -> Path:
    """Return the folder for compiled kernels and period toolkits.

    ``WARPWATT_CACHE_DIR`` if it is set, else the platform's cache folder of the user. It may not exist yet.
    """
    chosen = os.environ.get("WARPWATT_CACHE_DIR")
    return Path(chosen).expanduser() if chosen else user_folder("cache")
