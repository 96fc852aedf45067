"""Which bytes of parameters decide what a kernel does."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpwatt.emulate.deciding_parameters import deciding_bytes
from warpwatt.emulate.lift import lift
from warpwatt.frontend.load import load_kernel

SOURCE = """
struct Lists { float *to[4]; float scale[4]; int size[4]; };
__global__ void lists(const __grid_constant__ Lists l, float shift) {
  int k = blockIdx.x, i = threadIdx.x;
  if (i < l.size[k]) l.to[k][i] = l.scale[k] * i + shift;
}
__global__ void scaled(float *x, float a, int n, float b, bool flag) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = a * x[i] + b + flag;
}
"""


def deciding(tmp_path: Path, name: str) -> list[int]:
    """Return the bytes of a kernel's parameters that decide what it does."""
    file = tmp_path / "k.cu"
    file.write_text(SOURCE)
    found = deciding_bytes(lift(load_kernel(file, "sm_90", name=name).sass))
    return [place for place, byte in enumerate(found) if byte]


@pytest.mark.toolchain
def test_factors_decide_nothing(tmp_path: Path):
    assert deciding(tmp_path, "scaled") == [*range(8), *range(12, 16)]


@pytest.mark.toolchain
def test_an_array_ends_where_the_next_begins(tmp_path: Path):
    """Pointers and sizes decide, at whatever index; factors between them do not, nor does the shift."""
    assert deciding(tmp_path, "lists") == [*range(32), *range(48, 64)]
