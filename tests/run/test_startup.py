"""What every Python process of a program imports first, with a stand-in of a few lines for PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PARENT = """
import subprocess, sys
sys.exit(subprocess.run([sys.executable, "-c", "import torch; torch.report()"]).returncode)
"""
TORCH = """
import time
def report():
    loaded = open("/proc/self/maps").read()
    print("ours" if "warpwatt/native/runtime/libcudart.so.13" in loaded else "not ours")
    print(callbacks, time.perf_counter.__module__)
callbacks = []
from torch import _C
from types import SimpleNamespace
backends = SimpleNamespace(
    cudnn=SimpleNamespace(enabled=True), cuda=SimpleNamespace(enable_cudnn_sdp=lambda on: None)
)
"""
TRACE = """
import torch
def register_callback_for_memory_allocation(call): torch.callbacks.append("allocation")
def register_callback_for_memory_deallocation(call): torch.callbacks.append("deallocation")
"""


@pytest.fixture
def torch(tmp_path: Path) -> Path:
    """Return a folder with what looks like PyTorch, built with CUDA."""
    for folder in ("torch/lib", "torch/cuda"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "torch/__init__.py").write_text(TORCH)
    (tmp_path / "torch/_C.py").write_text("def _activate_gpu_trace(): pass\n")
    (tmp_path / "torch/cuda/__init__.py").write_text("def is_initialized(): return False\n")
    (tmp_path / "torch/cuda/_gpu_trace.py").write_text(TRACE)
    (tmp_path / "torch/lib/libtorch_cuda.so").touch()
    return tmp_path


def test_pytorch_finds_our_libraries_in_a_child_process(torch: Path):
    (torch / "sitecustomize.py").write_text("print('own')\n")
    (torch / "parent.py").write_text(PARENT)
    command = [sys.executable, "-m", "warpwatt", "run", sys.executable, "parent.py"]
    environment = {**os.environ, "PYTHONPATH": str(torch)}
    done = subprocess.run(command, cwd=torch, env=environment, capture_output=True, text=True, check=False)
    *own, first, second = done.stdout.splitlines()
    assert own == ["own"] * 3  # of warpwatt's process, too
    assert first == "ours"
    assert second == "['allocation', 'deallocation'] _warpwatt_device"
    assert "nothing to predict" in done.stderr


CHILD = """
import ctypes, os, subprocess, sys
cuda = ctypes.CDLL("libcudart.so.13")
at = ctypes.c_void_p()
assert cuda.cudaMalloc(ctypes.byref(at), 1 << 20) == 0
if len(sys.argv) > 1:
    assert cuda.cudaMemset(at, 0, 1 << 20) == 0 and cuda.cudaDeviceSynchronize() == 0
else:
    subprocess.run([sys.executable, __file__, "again"], check=True)
"""


def test_a_child_process_has_a_device_of_its_own(tmp_path: Path):
    (tmp_path / "parent.py").write_text(CHILD)
    command = [sys.executable, "-m", "warpwatt", "run", sys.executable, str(tmp_path / "parent.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "fill" in done.stdout
