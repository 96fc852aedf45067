"""The native core's own unit tests, ``native/tests``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMPILING = Path(__file__).parents[2] / "native" / "compiling.py"


def test_every_unit_passes_its_tests() -> None:
    if subprocess.run([sys.executable, COMPILING, "--check"], check=False).returncode:
        pytest.skip("no compiler of C++20 or no CMake: the native core's unit tests do not run")
    done = subprocess.run([sys.executable, COMPILING, "--test"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed" in done.stdout
