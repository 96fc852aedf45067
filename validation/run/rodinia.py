"""The programs of Rodinia (CUDA), made by their makefiles, on inputs of the formats that they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from validation.run import inputs
from validation.run.program import Program

_MAKE = (
    "make",
    "CUDA_DIR=TOOLKIT",
    "CUDA_LIB_DIR=TOOLKIT/lib64 -lstdc++",
    "CUDA_LIB=-lcuda -lcudart -lstdc++",
    "OMP_LIB=-lgomp -lstdc++ -LTOOLKIT/lib64",
)
"""``-lstdc++``: some programs are linked by a C compiler, which what nvcc 13 makes of their kernels needs."""
_COMMON = ("common", "cuda/util")


_HELPERS = {
    "cuda/cfd/common/inc/helper_cuda.h": lambda: (
        b"""#include <cstdio>
#define checkCudaErrors(call) if (call) { puts("FAILED: " #call); exit(1); }
#define getLastCudaError(text) checkCudaErrors(cudaGetLastError())
"""
    ),
    "cuda/cfd/common/inc/helper_timer.h": lambda: (
        b"""struct StopWatchInterface {};
inline void sdkCreateTimer(StopWatchInterface **) {}
inline void sdkStartTimer(StopWatchInterface **) {}
inline void sdkStopTimer(StopWatchInterface **) {}
inline float sdkGetAverageTimerValue(StopWatchInterface **) { return 0; }
"""
    ),
}
"""What cfd takes from CUDA's samples, as far as it needs it."""
_GRAPHICS = {
    f"cuda/hybridsort/GL/{name}.h": lambda: b"typedef unsigned GLuint, GLenum;\n"
    for name in ("gl", "glew", "glut")
}
"""Headers that hybridsort includes and does not need."""


def rodinia(checkout: Path) -> tuple[list[Program], dict[str, str]]:
    """Return Rodinia's programs; none is left out."""

    def one(
        name: str,
        target: str,
        *arguments: str,
        folder: str = "",
        make: tuple[tuple[str, ...], ...] = (_MAKE,),
        files: Mapping[str, Callable[[], bytes]] | None = None,
        expects: tuple[str, ...] = (),
    ) -> Program:
        place = f"cuda/{folder or name}"
        top = "/".join(place.split("/")[:2])
        return Program(
            name,
            checkout,
            make,
            target,
            arguments,
            place,
            (*_COMMON, top),
            files or {},
            expects,
            bool(expects),
        )

    grid = partial(inputs.numbers, low=320.0, high=340.0)
    watts = partial(inputs.numbers, low=0.0, high=0.01)
    return [
        one("b+tree", "b+tree.out", "file", "../../data/keys.txt", "command", "../../data/command.txt",
            files={
            "data/keys.txt": partial(inputs.keys, 20000),
            "data/command.txt": lambda: b"j 3000 2000\nk 4000\n",
        }),
        one("backprop", "backprop", "16384"),
        one("bfs", "bfs.out", "../../data/graph.txt",
            files={"data/graph.txt": partial(inputs.graph, 20000, 6)}),
        one("cfd", "euler3d", "../../data/mesh", make=((*_MAKE, "SDK_DIR=.", "euler3d"),),
            files={"data/mesh": partial(inputs.mesh, 1920), **_HELPERS}),
        one("dwt2d", "dwt2d", "192.bmp", "-d", "192x192", "-f", "-5", "-l", "3",
            files={"data/dwt2d/192.bmp": partial(inputs.text, 192 * 192 * 3 + 54)}),
        one("gaussian", "gaussian", "-s", "128", "-q"),
        one("heartwall", "heartwall", "../../data/film.avi", "2",
            files={"data/film.avi": partial(inputs.film, 590, 609, 3)}),
        one("hotspot", "hotspot", "512", "2", "4", "../../data/temperature", "../../data/power", "output.out",
            files={"data/temperature": partial(grid, 512 * 512), "data/power": partial(watts, 512 * 512)}),
        one("hotspot3D", "3D", "512", "8", "10", "../../data/power", "../../data/temperature", "output.out",
            make=(("nvcc", "-O2", "3D.cu", "-o", "3D"),), expects=(r"Accuracy: [0-9.]+e-0[4-9]",),
            files={"data/temperature": partial(grid, 512**2 * 8), "data/power": partial(watts, 512**2 * 8)}),
        one("huffman", "pavle", "../../data/text", make=((*_MAKE, "CUDA_INCLUDEPATH=.", "TESTING=1"),),
            files={"data/text": partial(inputs.text, 1 << 18)}, expects=("PASS",)),
        one("hybridsort", "hybridsort", "r", make=((*_MAKE, "VERIFY=1", "CC_FLAGS=-I."),), files=_GRAPHICS,
            expects=("PASSED",)),
        one("kmeans", "kmeans", "-o", "-i", "../../data/points",
            files={"data/points": partial(inputs.features, 8192, 34)}),
        one("lavaMD", "lavaMD", "-boxes1d", "5"),
        one("leukocyte", "CUDA/leukocyte", "../../data/film.avi", "2",
            files={"data/film.avi": partial(inputs.film, 480, 640, 3)}),
        one("lud", "cuda/lud_cuda", "-s", "256", "-v", expects=(">>>Verify<<<",)),
        one("mummergpu", "bin/mummergpu", "../../data/reference.fna", "../../data/reads.fna",
            make=((*_MAKE, "LIB=-LTOOLKIT/lib64 -L../lib -lcuda -lcudart",
                "CXX=g++ -fopenmp -include unistd.h"),), files={
                "data/reference.fna": partial(inputs.genome, 50000, "reference"),
                "data/reads.fna": partial(inputs.reads, 50000, 2000, 25),
            }),
        one("myocyte", "myocyte.out", "100", "1", "0", files={
            "data/myocyte/y.txt": partial(inputs.numbers, 91, 0.1, 0.9),
            "data/myocyte/params.txt": partial(inputs.numbers, 18, 0.1, 0.9),
        }),
        one("nn", "nn", "filelist_4", "-r", "5", "-lat", "30", "-lng", "90",
            files={f"data/nn/cane4_{k}.db": partial(inputs.hurricanes, 5000) for k in range(4)}),
        one("nw", "needle", "1024", "10"),
        one("particlefilter_naive", "particlefilter_naive", "-x", "128", "-y", "128", "-z", "5",
            "-np", "1000", folder="particlefilter", make=((*_MAKE, "naive"),)),
        one("particlefilter_float", "particlefilter_float", "-x", "128", "-y", "128", "-z", "5",
            "-np", "1000", folder="particlefilter", make=((*_MAKE, "float"),)),
        one("pathfinder", "pathfinder", "20000", "100", "20"),
        one("srad_v1", "srad", "10", "0.5", "502", "458", folder="srad/srad_v1",
            files={"data/srad/image.pgm": partial(inputs.picture, 502, 458)}),
        one("srad_v2", "srad", "512", "512", "0", "127", "0", "127", "0.5", "2", folder="srad/srad_v2"),
        one("streamcluster", "sc_gpu", "10", "20", "64", "8192", "8192", "1000", "none", "output.txt", "1"),
    ], {}  # fmt: skip
