"""Every command says the same the second time, from what is kept on disk, and on another version's cache.

``make twice`` does so with every command of the tutorials.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import warpwatt
from warpwatt.emulate import analysis, kept_executions

PACKAGE = Path(warpwatt.__file__).parent
SOURCE = """\
// warpwatt: --grid 64 --block 128 --arg n=8192 --arg x=f32[n]
__device__ __noinline__ float twice(float v) { return v * 2.0f; }
__global__ void k(int n, float *x) {
    __shared__ float s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < 4; ++j) s[threadIdx.x] = x[(i + j) % n];
    __syncthreads();
    if (i < n) x[i] = twice(s[threadIdx.x ^ 1]);
}
"""
COMMANDS = (
    "predict k.cu --format json --level ptx",
    "predict k.cu --gpu h200,t4",
    "predict k.cu --format html -o page.html --force",
    "predict k.cu --model power=alavani --gpu v100",
    "predict k.cu --model time=alavani-ilp-tlp --gpu v100",
    "predict k.cu --model time=volkov",
    "explain k.cu --model time=wang-chu",
    "features k.cu --gpu v100",
    "compare k.cu --block 128/64",
    "rank k.cu k.cu",
    "sweep k.cu --block 64/128 --jobs 1",
)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Return a folder with a source and an empty cache in which every execution is kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("WARPWATT_KEEP_EXECUTIONS", "1")
    monkeypatch.setenv("WARPWATT_KEEP_ANSWERS", "0")
    monkeypatch.setattr(kept_executions, "WORTH_SECONDS", 0.0)
    (tmp_path / "k.cu").write_text(SOURCE)
    return tmp_path


TWICE = "WARPWATT_TWICE" in os.environ
QUICK = re.compile("html|alavani|features|compare")
"""Verbs that compare programs, or show what was compared; ``make twice`` takes all."""


@pytest.mark.parametrize("command", [one for one in COMMANDS if TWICE or QUICK.search(one)])
def test_the_second_answer_is_the_first(run, folder, monkeypatch, command):
    def answer() -> tuple[int, str, str, str]:
        analysis._analyse.cache_clear()
        page = folder / "page.html"
        return *run(*command.split()), page.read_text() if page.exists() else ""

    first = answer()
    assert first[0] == 0, first
    monkeypatch.setattr(kept_executions, "_dumped", None)  # nothing is left to be kept
    assert answer() == first


@pytest.mark.skipif(not TWICE, reason="make twice")
def test_a_cache_of_another_version_changes_no_answer(run, folder, monkeypatch):
    """That version's executions and resources have another field, and its counts are others."""
    other = folder / "other" / "warpwatt"
    shutil.copytree(PACKAGE, other, ignore=shutil.ignore_patterns("__pycache__"))
    edits = {
        "core/version.py": ('__version__ = "', '__version__ = "0'),
        "core/execution.py": (
            "    counts: tuple",
            "    new: int = field(default=0, kw_only=True)\n    counts: tuple",
        ),
        "core/program.py": ("    registers: int\n", "    registers: int\n    new: int = 0\n"),
    }
    for name, (old, new) in edits.items():
        text = (other / name).read_text()
        (other / name).write_text(text.replace(old, new, 1))
    words = COMMANDS[0].split()
    environment = {**os.environ, "PYTHONPATH": str(other.parent)}
    subprocess.run([sys.executable, "-m", "warpwatt", *words], check=True, env=environment)
    filled = run(*words)
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(folder / "empty"))
    analysis._analyse.cache_clear()
    assert run(*words) == filled


_KEPT = r"[\w.()]*\.(program|kernel|execution|workload|launch|sass|ptx|instruction)\b"
_IDENTITY = re.compile(rf"{_KEPT} is (not )?(?!None|not)\w|is (not )?{_KEPT}(?!\()")
"""A comparison by identity of what is kept on disk."""


def test_what_is_kept_is_not_compared_by_identity():
    """What an analysis goes on with, beside itself in one process, remains."""
    files = [file for file in PACKAGE.rglob("*.py") if file.name != "strategies.py"]
    lines = [
        f"{file}: {line}"
        for file in files
        for line in file.read_text().splitlines()
        if _IDENTITY.search(line)
    ]
    assert not [line for line in lines if ".level is" not in line and '"""' not in line]
