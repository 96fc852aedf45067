"""A program with calls of every chapter of the Runtime and Driver APIs, compiled with NVIDIA's headers."""

import subprocess
import sys
from pathlib import Path

import pytest

from warpwatt.run.build import compile_program

pytestmark = pytest.mark.toolchain


def test_every_chapter_does_what_programs_expect(tmp_path):
    source = Path(__file__).with_name("runtime_calls.cu")
    program = compile_program(source, ["-O1", "-lcuda"], ["sm_90"], tmp_path)
    command = [sys.executable, "-m", "warpwatt", "run", "--gpu", "h200", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines()[0] == "0 wrong", done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
