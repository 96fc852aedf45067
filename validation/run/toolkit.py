"""A folder that looks like a CUDA toolkit to makefiles, with our compiler and our runtime in it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from warpwatt.frontend import toolchain
from warpwatt.run.client import RUNTIME


def make_toolkit(folder: Path) -> Path:
    """Make ``bin/nvcc``, ``include`` and ``lib64`` and return the folder."""
    if not folder.exists():
        (folder / "bin").mkdir(parents=True)
        nvcc = folder / "bin" / "nvcc"
        nvcc.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m warpwatt nvcc "$@"\n')
        nvcc.chmod(0o755)
        include = toolchain.installed().require("nvcc").parents[1] / "include"
        (folder / "include").symlink_to(include)
        for name in ("lib", "lib64"):
            (folder / name).symlink_to(RUNTIME)
    return folder
