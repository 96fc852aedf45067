"""A program with calls of every chapter of the Runtime and Driver APIs, compiled with NVIDIA's headers."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run.programs import SAXPY
from warpwatt.frontend import toolchain
from warpwatt.run.build import compile_program

pytestmark = pytest.mark.toolchain


def test_every_chapter_does_what_programs_expect(tmp_path):
    source = Path(__file__).with_name("runtime_calls.cu")
    program = compile_program(source, ["-O1", "-lcuda"], ["sm_90"], tmp_path)
    command = [sys.executable, "-m", "warpwatt", "run", "--gpu", "h200", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines()[0] == "0 wrong", done.stdout + done.stderr
    assert done.returncode == 0, done.stderr


def test_a_program_linked_to_nvidias_runtime_finds_ours(tmp_path):
    nvcc = toolchain.installed().require("nvcc")
    (tmp_path / "libcudart.so").symlink_to(nvcc.parents[1] / "lib" / "libcudart.so.13")
    (tmp_path / "saxpy.cu").write_text(SAXPY)
    host = ["-allow-unsupported-compiler", "-ccbin", str(toolchain.host_compiler())]
    words = ["-arch=sm_90", *host, "-cudart", "shared", f"-L{tmp_path}", "saxpy.cu", "-o", "saxpy"]
    subprocess.run([str(nvcc), *words], check=True, cwd=tmp_path)
    command = [sys.executable, "-m", "warpwatt", "run", "--gpu", "h200", str(tmp_path / "saxpy"), "1000", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert re.match(r"ms \S+ wrong 0 count 5 error 0\n", done.stdout), done.stdout + done.stderr
    assert "version information" not in done.stderr
