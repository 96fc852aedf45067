"""Fat binaries: what our reader finds is what cuobjdump finds, whatever holds and compresses it."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warpwatt.core.errors import ParseError
from warpwatt.frontend import toolchain
from warpwatt.frontend.fatbin import Kind, parts

SOURCE = """
__device__ int table[4] = {1, 2, 3, 4};
__global__ void first(int *x) { x[threadIdx.x] = table[threadIdx.x & 3]; }
__global__ void second(float *x) { x[0] = sinf(x[0]); }
int main() {}
"""
ARCHITECTURES = [
    "-gencode",
    "arch=compute_75,code=sm_75",
    "-gencode",
    "arch=compute_90,code=[sm_90,compute_90]",
]
FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def compiled(folder: Path, *flags: str, output: str) -> Path:
    (folder / "a.cu").write_text(SOURCE)
    nvcc = toolchain.installed().require("nvcc")
    command = [str(nvcc), *flags, "a.cu", "-o", output]
    subprocess.run(command, cwd=folder, env=toolchain.environment(), check=True, capture_output=True)
    return folder / output


def extracted(file: Path) -> Counter[bytes]:
    """Return what cuobjdump writes out."""
    tool = toolchain.installed().root / "bin" / "cuobjdump"
    folder = file.parent / "out"
    folder.mkdir()
    command = [str(tool), str(file), "-xelf", "all", "-xptx", "all"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return Counter(one.read_bytes().rstrip(b"\0") for one in folder.iterdir())


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("mode", "output", "flags"),
    [
        *((mode, "a.o", ["-c"]) for mode in ("none", "speed", "balance", "size")),
        ("size", "a.fatbin", ["-fatbin"]),
        ("size", "a.o", ["-dc"]),
        ("speed", "a.a", ["-lib"]),
        ("size", "a.so", ["-cudart", "none", "-shared"]),
    ],
)
def test_parts_are_those_of_cuobjdump(tmp_path: Path, mode: str, output: str, flags: list[str]):
    file = compiled(tmp_path, *ARCHITECTURES, f"-compress-mode={mode}", *flags, output=output)
    found = parts(file.read_bytes())
    assert Counter(part.data.rstrip(b"\0") for part in found) == extracted(file)
    assert {(part.kind, part.number) for part in found} == {
        (Kind.CUBIN, 75), (Kind.CUBIN, 90), (Kind.PTX, 90)
    }  # fmt: skip


@pytest.fixture(scope="module")
def fatbin(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("fatbin")
    return compiled(folder, *ARCHITECTURES, "-compress-mode=size", "-fatbin", output="a.fatbin").read_bytes()


@pytest.mark.toolchain
@FUZZ
@given(st.data())
def test_damage_raises_nothing_but_parse_errors(fatbin: bytes, data: st.DataObject):
    damaged = bytearray(fatbin[: data.draw(st.integers(0, len(fatbin)))])
    for place in data.draw(st.lists(st.integers(0, max(0, len(damaged) - 1)), max_size=4)):
        if damaged:
            damaged[place] ^= data.draw(st.integers(1, 255))
    try:
        for part in parts(bytes(damaged)):
            _ = part.cubin.kernels if part.kind is Kind.CUBIN else part.text
    except ParseError:
        pass
