"""The public CUDA of a public suite (PolyBench-GPU), predicted at the sizes and in the type of its C twin.

Its kernels are launched as its host code launches them; a kernel in a loop of the host stands for all of its
launches at three of them. The files come from a checkout and are not changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.compose import predict
from warpwatt.core.arguments import Argument, Buffer, DType, Fill, Scalar
from warpwatt.core.launch import Dim3, L2State, Launch
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.models.overhead import launch_overhead

if TYPE_CHECKING:
    from pathlib import Path

    from warpwatt.core.gpu import Gpu
    from warpwatt.core.program import Kernel

SAMPLES = (1 / 6, 3 / 6, 5 / 6)


@dataclass(frozen=True, slots=True)
class PublicKernel:
    """A kernel, the sizes its grid covers along x and y, its block, and the host loop around it.

    ``loop`` names the size that the host counts through, ``turn`` the parameter that takes the count.
    """

    name: str
    x: str
    y: str = ""
    block: tuple[int, int] = (256, 1)
    loop: str = ""
    turn: str = ""


WIDE = (32, 8)
PUBLIC: Mapping[str, tuple[str, Mapping[str, str], tuple[PublicKernel, ...]]] = {
    "2mm": ("2MM/2mm.cu", {}, (
        PublicKernel("mm2_kernel1", "nj", "ni", WIDE), PublicKernel("mm2_kernel2", "nl", "ni", WIDE))),
    "3mm": ("3MM/3mm.cu", {}, (
        PublicKernel("mm3_kernel1", "nj", "ni", WIDE), PublicKernel("mm3_kernel2", "nl", "nj", WIDE),
        PublicKernel("mm3_kernel3", "nl", "ni", WIDE))),
    "atax": ("ATAX/atax.cu", {"nx": "m", "ny": "n"}, (
        PublicKernel("atax_kernel1", "nx"), PublicKernel("atax_kernel2", "ny"))),
    "bicg": ("BICG/bicg.cu", {"nx": "n", "ny": "m"}, (
        PublicKernel("bicg_kernel1", "ny"), PublicKernel("bicg_kernel2", "nx"))),
    "correlation": ("CORR/correlation.cu", {}, (
        PublicKernel("mean_kernel", "m"), PublicKernel("std_kernel", "m"),
        PublicKernel("reduce_kernel", "m", "n", WIDE), PublicKernel("corr_kernel", "m"))),
    "covariance": ("COVAR/covariance.cu", {}, (
        PublicKernel("mean_kernel", "m"), PublicKernel("reduce_kernel", "m", "n", WIDE),
        PublicKernel("covar_kernel", "m"))),
    "fdtd-2d": ("FDTD-2D/fdtd2d.cu", {}, tuple(
        PublicKernel(f"fdtd_step{n}_kernel", "ny", "nx", WIDE, "tmax", "t") for n in (1, 2, 3))),
    "gemm": ("GEMM/gemm.cu", {}, (PublicKernel("gemm_kernel", "ni", "nj", WIDE),)),
    "gemver": ("GEMVER/gemver.cu", {}, (
        PublicKernel("gemver_kernel1", "n", "n", WIDE), PublicKernel("gemver_kernel2", "n"),
        PublicKernel("gemver_kernel3", "n"))),
    "gesummv": ("GESUMMV/gesummv.cu", {}, (PublicKernel("gesummv_kernel", "n"),)),
    "gramschmidt": ("GRAMSCHM/gramschmidt.cu", {"ni": "m", "nj": "n"}, (
        PublicKernel("gramschmidt_kernel1", "", loop="nj", turn="k"),
        PublicKernel("gramschmidt_kernel2", "nj", loop="nj", turn="k"),
        PublicKernel("gramschmidt_kernel3", "nj", loop="nj", turn="k"))),
    "jacobi-1d": ("JACOBI1D/jacobi1D.cu", {}, (
        PublicKernel("runJacobiCUDA_kernel1", "n", loop="tsteps"),
        PublicKernel("runJacobiCUDA_kernel2", "n", loop="tsteps"))),
    "jacobi-2d": ("JACOBI2D/jacobi2D.cu", {}, (
        PublicKernel("runJacobiCUDA_kernel1", "n", "n", WIDE, "tsteps"),
        PublicKernel("runJacobiCUDA_kernel2", "n", "n", WIDE, "tsteps"))),
    "lu": ("LU/lu.cu", {}, (
        PublicKernel("lu_kernel1", "n", loop="n", turn="k"),
        PublicKernel("lu_kernel2", "n", "n", WIDE, "n", "k"))),
    "mvt": ("MVT/mvt.cu", {}, (PublicKernel("mvt_kernel1", "n"), PublicKernel("mvt_kernel2", "n"))),
    "syr2k": ("SYR2K/syr2k.cu", {"ni": "n", "nj": "m"}, (PublicKernel("syr2k_kernel", "ni", "ni", WIDE),)),
    "syrk": ("SYRK/syrk.cu", {"ni": "n", "nj": "m"}, (PublicKernel("syrk_kernel", "ni", "ni", WIDE),)),
}  # fmt: skip
"""By program: its file, its names of the sizes where they are others than the C's, its kernels."""


def public_seconds(name: str, folder: Path, sizes: Mapping[str, int], gpu: Gpu) -> float | None:
    """Return the predicted seconds of a public program's kernels and launches, None where there is none."""
    if name not in PUBLIC:
        return None
    file, renamed, kernels = PUBLIC[name]
    sizes = {**sizes, **{own: sizes[theirs] for own, theirs in renamed.items()}}
    options = CompileOptions(include=(str((folder / file).parent),))
    source = _with_sizes(folder / file, sizes)
    total = 0.0
    for one in kernels:
        kernel = load_kernel(source, gpu.target, options, one.name)
        assert kernel.ptx is not None
        turns = [int(share * sizes[one.loop]) for share in SAMPLES] if one.turn else [0]
        count = sizes[one.loop] if one.loop else 1
        most = max(sizes.values()) ** 2
        seconds = [_seconds(kernel, one, sizes, turn, most, gpu) for turn in turns]
        total += count * (sum(seconds) / len(seconds) + launch_overhead(gpu).value)
    return total


def _with_sizes(path: Path, sizes: Mapping[str, int]) -> Source:
    """Return a file with sizes and type given in front, after the headers that N would break."""
    headers = (
        "cuda.h",
        "stdio.h",
        "stdlib.h",
        "unistd.h",
        "sys/time.h",
        "math.h",
        "string.h",
        "time.h",
        "stdarg.h",
    )
    lines = [f"#include <{header}>" for header in headers]
    lines += [
        "#define cudaThreadSynchronize cudaDeviceSynchronize",
        "#define DATA_TYPE double",
        '#define DATA_PRINTF_MODIFIER "%0.2lf "',
        f"#define N {sizes.get('n', 1)}",
    ]
    lines += [f"#define {name.upper()} {value}" for name, value in sizes.items() if name != "n"]
    return Source(path.name, "\n".join([*lines, path.read_text(encoding="utf-8")]).encode())


def _seconds(
    kernel: Kernel, one: PublicKernel, sizes: Mapping[str, int], turn: int, most: int, gpu: Gpu
) -> float:
    assert kernel.ptx is not None
    arguments: dict[str, Argument] = {}
    for parameter in kernel.ptx.parameters:
        name = parameter.source_name or parameter.name
        if name in sizes:
            arguments[name] = Scalar(sizes[name])
        elif name == one.turn:
            arguments[name] = Scalar(turn)
        elif name in ("alpha", "beta"):
            arguments[name] = Scalar(1.25)
        else:
            arguments[name] = Buffer(DType.F64, (most,), Fill.RANDOM, assumed_fill=True)
    across = -(-sizes[one.x] // one.block[0]) if one.x else 1
    down = -(-sizes[one.y] // one.block[1]) if one.y else 1
    l2 = L2State.WARM if one.loop else L2State.COLD
    launch = Launch(Dim3(across, down), Dim3(*one.block), l2=l2, arguments=arguments)
    return predict(kernel, launch, gpu).time.value
