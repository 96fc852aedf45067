"""Which programs of public collections are run, how they are compiled, and which are left out and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from validation.run.program import Program
from validation.run.rodinia import rodinia

_INCLUDE = r"#include\s*[<\"]"
OUTSIDE = {
    _INCLUDE
    + r"(GL/|GLFW|helper_gl|rendercheck_gl|vulkan|d3d|cuda_gl_interop|EGL|GLES|FreeImage)": "graphics",
    _INCLUDE + r"(cublas|cufft|curand|cusparse|cusolver|npp|nvjpeg|cudnn|cufile|nccl)": "a closed library",
    _INCLUDE + r"(mpi\.h|nvsci|cudla|nvml|drm|screen/)": "MPI or another system",
    _INCLUDE + r"(nvrtc|nvvm|nvJitLink)": "a compiler",
    r"\bcu(Init|Device[A-Z]|Ctx|Module|Mem[A-Z]|Launch|Link|Get[A-Z])\w*\s*\(": "the driver interface",
    r"multi_?gpu|MultiGPU|multi_device|MultiDevice|cudaDeviceEnablePeerAccess|cudaIpc": "several GPUs",
}
"""What a program needs that is not there, by what its sources say."""


Suite = tuple[list[Program], dict[str, str]]


def cuda_samples(checkout: Path) -> Suite:
    """Return the samples that need no graphics, several GPUs, closed libraries or the driver interface."""
    found, left_out = [], {}
    common = (checkout / "Common").resolve()
    for file in sorted(checkout.glob("Samples/[0-6]_*/*/CMakeLists.txt")):
        folder, cmake = file.parent, file.read_text(errors="replace")
        sources = sorted(p.name for p in folder.iterdir() if p.suffix in (".cu", ".cpp", ".c", ".cc"))
        reason = _outside(folder) or (
            "" if any(s.endswith(".cu") for s in sources) else "no kernels of its own"
        )
        if reason:
            left_out[folder.name] = reason
            continue
        flags = [f"-I{common}", "-Iinc", "-std=c++17", "-O2", "--extended-lambda", "--threads", "0"]
        flags += ["-rdc=true"] if re.search(r"CUDA_SEPARABLE_COMPILATION\s+ON", cmake) else []
        flags += ["-Xcompiler", "-fopenmp"] if "OpenMP" in cmake else []
        found.append(Program(folder.name, folder, _nvcc(*flags, *sources)))
    return found, left_out


def _outside(folder: Path) -> str:
    """Return why a sample is left out, empty if it is not."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".cu", ".cpp", ".h", ".cuh", ".c", ".hpp"):
            text = path.read_text(errors="replace")
            for pattern, reason in OUTSIDE.items():
                if re.search(pattern, text):
                    return reason
    return ""


def _nvcc(*words: str) -> tuple[tuple[str, ...], ...]:
    """Return the command that compiles a program for the GPU that it runs on."""
    target = "-gencode=arch=compute_90,code=[sm_90,compute_90]"
    return (("nvcc", target, "-lineinfo", *words, "-o", "program"),)


def polybench(checkout: Path) -> Suite:
    """Return the programs of PolyBench/GPU, each of which compares with its own host code."""
    found = []
    for file in sorted((checkout / "CUDA").glob("*/*.cu")):
        flags = ("-O3", f"-I{file.parent.resolve()}", "-DSMALL_DATASET")
        expects = r"Non-Matching CPU-GPU Outputs Beyond Error Threshold of [\d.]+ Percent: 0\b"
        found.append(Program(file.parent.name, file.parent, _nvcc(*flags, file.name), expects=(expects,)))
    return found, {}


SUITES: Mapping[str, Callable[[Path], Suite]] = {
    "cuda-samples": cuda_samples,
    "polybench": polybench,
    "rodinia": rodinia,
}
