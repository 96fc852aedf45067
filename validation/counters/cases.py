"""The measured launches that ``compare_all.py`` looks at: from manifest and data sets to cases."""

from __future__ import annotations

import atexit
import csv
import gzip
import re
import shutil
import statistics
import tempfile
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from validation.counters.ours import DRAM_TOTAL
from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, L2State, Launch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MANIFEST = Path(__file__).with_name("counters.toml")
NVPROF = "nv_dvfs_benchmark_wsl"
RODINIA = "gpuperfpredict_rodinia"
NVPROF_FILES = {
    "gtx980_high_dvfs_real_small_workload_performance_power.csv": ("GeForce GTX 980", "small"),
    "titanx_dvfs_real_performance.csv": ("TITAN X (Pascal)", "large"),
    "p100_dvfs_real_performance_power.csv": ("Tesla P100 PCIe 16GB", "large"),
    "v100_dvfs_real_performance_power.csv": ("Tesla V100 PCIe 16GB", "large"),
}
RODINIA_GPUS = {
    "Tesla-K40": "Tesla K40m",
    "TitanX": "GeForce GTX TITAN X",
    "Tesla-P100": "Tesla P100 PCIe 16GB",
}
RODINIA_SIZES = 2
"""Problem sizes per kernel and GPU, evenly spread over those measured."""
RODINIA_COLUMNS = {
    "global_load_transactions": "gld_transactions",
    "global_store_transactions": "gst_transactions",
    "floating_point_operations_single_precision": "flop_count_sp",
    "floating_point_operations_double_precision": "flop_count_dp",
    "device_memory_read_transactions": "dram_read_transactions",
}
"""Names of that data set that differ from nvprof's."""
TILE = 16
READ_COLUMN, WRITE_COLUMN = "dram_read_transactions", "dram_write_transactions"


@dataclass(frozen=True, slots=True)
class Code:
    """One kernel of a source file, and how to compile it."""

    source: Path
    kernel: str
    include: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Counters measured on one GPU, by the profiler's names: averages over the launches of one kernel.

    ``launches`` are pairs of a launch and how often it was made.
    """

    data: str
    program: str
    gpu: str
    configuration: str
    code: Code
    launches: tuple[tuple[Launch, int], ...]
    measured: Mapping[str, float]


def manifest() -> dict[str, Any]:
    """Return the manifest."""
    return tomllib.loads(MANIFEST.read_text())


def nvprof_cases(data: Path, checkouts: Path) -> list[Case]:
    """Return the cases of the older GPUs; counters are medians over clocks, which they do not depend on."""
    found = []
    for file, (gpu, workload) in NVPROF_FILES.items():
        by_program = _grouped(_rows(data / NVPROF / file), "appName")
        for entry in manifest()["program"]:
            rows = by_program.get(entry["name"])
            if rows:
                grid, block = extents(rows[0]["blocks"])
                sizes = launch_sizes(entry, workload)
                launches = tuple((launch_of(entry, s, grid, block), s["times"]) for s in sizes)
                code, counters = _code(entry, checkouts), _medians(rows)
                found.append(Case(NVPROF, entry["name"], gpu, workload, code, launches, counters))
    return found


def launch_sizes(entry: Mapping[str, Any], workload: str) -> list[dict[str, int]]:
    """Return the sizes of each launch that the counters average over."""
    sizes: dict[str, int] = dict(entry.get(workload, {}))
    each = entry.get("each", {}).get(workload, [{}])
    return [{"times": 1, **sizes, **more} for more in each]


def rodinia_cases(data: Path, checkouts: Path) -> list[Case]:
    """Return cases of K40, Titan X (Maxwell) and P100: some sizes of every kernel, medians of repeats."""
    found = []
    rows = list(_rows(data / RODINIA / "nvprof_samples.csv.gz"))
    by_kernel = _grouped(rows, "source_kernel")
    for entry in manifest()["rodinia"]:
        for name, gpu in RODINIA_GPUS.items():
            chosen = [r for r in by_kernel[entry["name"]] if r["gpu_name"] == name]
            groups = {key: list(g) for key, g in groupby(sorted(chosen, key=_shape), key=_shape)}
            keys = _spread(sorted(groups), RODINIA_SIZES)
            found += [_rodinia_case(entry, gpu, groups[key], checkouts) for key in keys]
    return found


def _rodinia_case(
    entry: Mapping[str, Any], gpu: str, rows: Sequence[Mapping[str, str]], checkouts: Path
) -> Case:
    size, x, y, block_x, block_y = _shape(rows[0])
    sizes = {"size": size, "offset": size - (x + 1) * TILE}
    launch = launch_of(entry, sizes, Dim3(x, y), Dim3(block_x, block_y))
    measured = {RODINIA_COLUMNS.get(c, c): v for c, v in _medians(rows).items()}
    configuration = f"size {size}, grid {x}x{y}"
    return Case(RODINIA, entry["name"], gpu, configuration, _code(entry, checkouts), ((launch, 1),), measured)


def _shape(row: Mapping[str, str]) -> tuple[int, int, int, int, int]:
    columns = ("input_size_1", "grid_x", "grid_y", "block_x", "block_y")
    size, x, y, block_x, block_y = (int(row[c]) for c in columns)
    return size, x, y, block_x, block_y


def _spread(keys: Sequence[Any], count: int) -> list[Any]:
    """Return some of the keys, first and last included, evenly spread."""
    if len(keys) <= count:
        return list(keys)
    return [keys[round(k * (len(keys) - 1) / (count - 1))] for k in range(count)]


def _code(entry: Mapping[str, Any], checkouts: Path) -> Code:
    checkout, _, path = entry["source"].partition(":")
    include = ("cuda-samples/Common", "nv-dvfs/src/linux/common/inc")
    source, folders = checkouts / checkout / path, tuple(str(checkouts / i) for i in include)
    return Code(source, entry["kernel"], folders, flags=tuple(entry.get("flags", ())))


def launch_of(
    entry: Mapping[str, Any], sizes: Mapping[str, int], grid: Dim3, block: Dim3, l2: L2State = L2State.COLD
) -> Launch:
    """Return a launch of an entry of the manifest, with its sizes filled in."""
    values = {**sizes, "words": random_words(sizes["n"]) if "{words}" in str(entry["arguments"]) else ""}
    arguments = parse_arguments([text.format(**values) for text in entry["arguments"]])
    return Launch(grid, block, entry.get("dynamic_shared", 0), l2=l2, arguments=arguments)


@lru_cache(maxsize=8)
def random_words(count: int) -> str:
    """Return a temporary file of random 32-bit words; the package's own random integers have seven bits."""
    folder = Path(tempfile.mkdtemp(prefix="counters"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / f"words_{count}.npy"
    np.save(path, np.random.default_rng(0).integers(0, 2**32, count, np.uint32))
    return str(path)


def extents(text: str) -> tuple[Dim3, Dim3]:
    """Read ``(16 48 1) (32 8 1)``.

    >>> extents("(16 48 1) (32 8 1)")
    (Dim3(x=16, y=48, z=1), Dim3(x=32, y=8, z=1))
    """
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    return Dim3(*numbers[:3]), Dim3(*numbers[3:])


def _rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(newline="") as file:
        return list(csv.DictReader(file))


def _grouped(rows: Iterable[dict[str, str]], column: str) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        found[row[column]].append(row)
    return found


def _medians(rows: Sequence[Mapping[str, str]]) -> dict[str, float]:
    """Return the median of every column of numbers."""
    found = {}
    for column in rows[0]:
        try:
            found[column] = statistics.median(float(row[column]) for row in rows)
        except (TypeError, ValueError):
            continue
    if {READ_COLUMN, WRITE_COLUMN} <= found.keys():
        found[DRAM_TOTAL] = found[READ_COLUMN] + found[WRITE_COLUMN]
    return found
