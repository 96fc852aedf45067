"""What tasks read of this machine; walls keep everything else from them."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from warpwatt.frontend import toolchain
from warpwatt.frontend.toolkits import toolkits_directory
from warpwatt.gpus.catalog import user_directories
from warpwatt.workers.confinement import SYSTEM


def readable_places() -> tuple[Path, ...]:
    """Return what a prediction reads: the system's libraries, Python, this package, compilers."""
    package = Path(__file__).parents[2]
    installation = (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())
    places: tuple[str | Path, ...] = (
        *SYSTEM,
        *installation,
        package,
        toolchain.installed().root,
        toolkits_directory(),
        *user_directories(),
    )
    return tuple(dict.fromkeys(path for place in places if (path := Path(place).resolve()) != Path("/")))
