"""NVIDIA's CUDA samples: which need only a GPU, and how their CMakeLists.txt say they are built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from validation.run.program import Program

_INCLUDE = r"#include\s*[<\"]"
OUTSIDE = {
    _INCLUDE
    + r"(GL/|GLFW|helper_gl|rendercheck_gl|vulkan|d3d|cuda_gl_interop|EGL|GLES|FreeImage)": "graphics",
    r"\bcu(da)?EGL": "graphics",
    _INCLUDE + r"(cublas|cufft|curand|cusparse|cusolver|npp|(?i:(helper_)?nvjpeg)|cudnn|cufile|nccl)": (
        "a closed library"
    ),
    _INCLUDE + r"boost/": "a library of others (Boost)",
    _INCLUDE + r"(nvrtc|nvvm|nvJitLink)": "a compiler in the program (NVRTC, nvJitLink)",
    _INCLUDE + r"(mpi\.h|nvsci|cudla|nvml|drm|screen/)": "MPI or another system",
    r"cudaIpc|helper_multiprocess": "several processes",
}
"""What a sample needs that is not there, by what its sources say."""
_SEVERAL_GPUS = re.compile(r"MultiGPU|MGPU|P2P|p2p|MultiDevice")
"""In names of samples that need more than one GPU."""
_SOURCES = (".cu", ".cpp", ".h", ".cuh", ".c", ".hpp", ".cc")
_EXECUTABLE = re.compile(r"add_executable\s*\(\s*\w+\s+([^)]*)\)")
_IMAGE = re.compile(r'CUDA_(FATBIN|PTX)_FILE "[^"]*?([\w.]+)"')
_KERNEL = re.compile(r'CUDA_KERNEL_SOURCE "[^"]*?([\w.]+)"')
_TARGET = "-gencode=arch=compute_90,code=[sm_90,compute_90]"


def cuda_samples(checkout: Path) -> tuple[list[Program], dict[str, str]]:
    """Return the samples that need one GPU and nothing else, and why others are left out."""
    found, left_out = [], {}
    for file in sorted(checkout.glob("Samples/[0-6]_*/*/CMakeLists.txt")):
        reason = _outside(file.parent)
        if reason:
            left_out[file.parent.name] = reason
        else:
            found.append(_sample(file.parent, file.read_text(errors="replace"), checkout / "Common"))
    return found, left_out


def _sample(folder: Path, cmake: str, common: Path) -> Program:
    """Return a sample with the commands that its CMakeLists.txt stands for."""
    sources = _EXECUTABLE.findall(cmake)[0].split()
    flags = [f"-I{common.resolve()}", "-Iinc", "-std=c++17", "-O2", "--extended-lambda", "--threads", "0"]
    flags += ["-rdc=true"] if re.search(r"CUDA_SEPARABLE_COMPILATION\s+ON", cmake) else []
    flags += ["-Xcompiler", "-fopenmp"] if "OpenMP" in cmake else []
    program = ("nvcc", _TARGET, "-lineinfo", *flags, *sources, "-o", "program", "-lcuda")
    return Program(folder.name, folder, (*_images(cmake), program))


def _images(cmake: str) -> Iterator[tuple[str, ...]]:
    """Yield the command that makes device code that the program loads from a file, if it does."""
    image, kernel = _IMAGE.search(cmake), _KERNEL.search(cmake)
    if image and kernel:
        kind = ("-arch=sm_90", "-ptx") if image[1] == "PTX" else (_TARGET, "-fatbin")
        yield ("nvcc", *kind, kernel[1], "-o", image[2])


def _outside(folder: Path) -> str:
    """Return why a sample is left out, empty if it is not."""
    if _SEVERAL_GPUS.search(folder.name):
        return "several GPUs"
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SOURCES:
            text = path.read_text(errors="replace")
            for pattern, reason in OUTSIDE.items():
                if re.search(pattern, text):
                    return reason
    return "" if _EXECUTABLE.search((folder / "CMakeLists.txt").read_text()) else "not a program of its own"
