"""Where WarpWatt keeps files on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_XDG = {
    "cache": ("XDG_CACHE_HOME", "~/.cache"),
    "state": ("XDG_STATE_HOME", "~/.local/state"),
    "config": ("XDG_CONFIG_HOME", "~/.config"),
}
"""Variable and default of each (freedesktop.org, XDG Base Directory Specification 0.8)."""
_HAS_XDG: bool = sys.platform == "linux"


def user_folder(kind: str) -> Path:
    """Return WarpWatt's folder of the user for ``cache``, ``state`` or ``config``; it may not exist yet.

    It is platformdirs', which takes a hundredth of a command's time to load: it is asked where no XDG is.
    """
    if _HAS_XDG:
        variable, usual = _XDG[kind]
        said = os.environ.get(variable, "")
        return Path(said if said.startswith("/") else usual).expanduser() / "warpwatt"
    import platformdirs

    chosen: Path = getattr(platformdirs, f"user_{kind}_path")("warpwatt", appauthor=False)
    return chosen


def cache_directory() -> Path:
    """Return the folder for compiled kernels and period toolkits.

    ``WARPWATT_CACHE_DIR`` if it is set, else the cache folder of the user. It may not exist yet.
    """
    chosen = os.environ.get("WARPWATT_CACHE_DIR")
    return Path(chosen).expanduser() if chosen else user_folder("cache")
