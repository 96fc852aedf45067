"""Every loader of files that users give, with real files to start from: :data:`LOADERS`."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

from tests.frontend.profiles.test_reading import NCU, NCU_RAW, NSYS, NVPROF, OWN
from tests.frontend.test_fatbin import archive, host, written
from tests.gpus.test_user_files import LAB
from tests.isa.ptx.test_ptx_robustness import SAMPLE
from warpwatt.budget import baseline
from warpwatt.budget.budgets import read_budgets
from warpwatt.choose.prices import read_prices
from warpwatt.core.arguments import Buffer, DType
from warpwatt.core.errors import WarpWattError
from warpwatt.core.toml import read_toml
from warpwatt.emulate import memory
from warpwatt.frontend.binary import extract
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.profiles import read_profiles
from warpwatt.gpus import find
from warpwatt.isa.ptx import entries, lower, parse
from warpwatt.jobs.platform import read_platform
from warpwatt.jobs.reading import read_jobs
from warpwatt.lab.learn.layout import layouts
from warpwatt.lab.learn.table import read_table
from warpwatt.lab.measure.corpus import load_program
from warpwatt.models.trained import file as trained
from warpwatt.request.applications import load_application
from warpwatt.request.directives import read_directives
from warpwatt.request.launch_text import from_table
from warpwatt.server.web.problems import Problem
from warpwatt.server.web.wire import parsed
from warpwatt.sweep.configurations import read_configurations

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
LAUNCH = b"""grid = [64, 2]
block = 256
shared = 1024
l2 = "warm"
args = { n = 1048576, x = "f32[n]", y = "f32[n]:zeros" }
loops = { 12 = 8.5 }
"""
BUDGET = b"""gpu = "h200"
baseline = "baseline.json"

[[budget]]
source = "saxpy.cu"
grid = 65536
block = 256
args = { n = 16777216, a = 2.5, x = "f32[n]", y = "f32[n]" }
max.time = "60 us"
max.energy = "+5 %"
min.occupancy = "75 %"
"""
BASELINE = b'{"kind": "%s", "version": %d, "predictions": {"saxpy": {"time": [1e-5, 9e-6, 1.1e-5]}}}'
CONFIGURATIONS = b"TILE,UNROLL,maxrregcount,grid,block\n16,4,64,(n/16),256\n32,,,64,128\n"
_COLUMNS = ("program", "kernel", "gpu", "convention", "power", *layouts()["features"].features)
TABLE = "\n".join(
    [",".join(_COLUMNS), *(",".join(["nn", "k", "K20", "published", *["1.5"] * 16]) for _ in "ab")]
)


FAT = written(b"machine code " * 20)


@dataclass(frozen=True, slots=True)
class Loader:
    """What reads a file with a suffix, files it reads well, and the errors it may raise."""

    name: str
    suffix: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], object]
    errors: tuple[type[Exception], ...] = (WarpWattError,)


def _gpu(path: Path) -> object:
    with mock.patch.dict(os.environ, WARPWATT_GPUS=str(path.parent)):
        return find("lab")


def _array(path: Path) -> object:
    return memory._read("x", Buffer(DType.F32, (64,), path=str(path)), None)


def _ptx(path: Path) -> object:
    module = parse(path.read_bytes().decode("utf-8", "replace"), str(path))
    return [lower(module, entry) for entry in entries(module)]


def _binary(path: Path) -> object:
    return [code.read() for code in extract(Source(path.name, path.read_bytes()))]


def _manifest(path: Path) -> object:
    for suffix in (".cu", ".py"):
        path.with_suffix(suffix).write_bytes(
            (ROOT / f"corpus/dense_linear_algebra/daxpy{suffix}").read_bytes()
        )
    return load_program(path)


def _directives(path: Path) -> object:
    return [text.read() for text in read_directives(path.read_bytes().decode("utf-8", "replace"), "x.cu")]


def _numpy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array))
    return stream.getvalue()


def _files(*paths: str) -> tuple[bytes, ...]:
    return tuple((ROOT / path).read_bytes() for path in paths)


def _sources(names: Sequence[str]) -> tuple[bytes, ...]:
    return _files(*(f"examples/{name}" for name in names))


LOADERS = (
    Loader("launch", ".toml", (LAUNCH,), lambda path: from_table(read_toml(path), path).read()),
    Loader("application", ".toml", _sources(["pipeline.toml"]), load_application),
    Loader("gpu", ".toml", (LAB.encode(),), _gpu),
    Loader("array", ".npy", (_numpy(np.ones(64, np.float32)), _numpy(np.ones((8, 8)))), _array),
    Loader("budget", ".toml", (BUDGET,), read_budgets),
    Loader("baseline", ".json", (BASELINE % (baseline.KIND.encode(), baseline.VERSION),), baseline.read),
    Loader("jobs", ".toml", _sources(["jobs.toml"]), read_jobs),
    Loader("platform", ".toml", _sources(["cluster.toml"]), read_platform),
    Loader("prices", ".toml", _sources(["prices.toml"]), read_prices),
    Loader("configurations", ".csv", (CONFIGURATIONS,), read_configurations),
    Loader(
        "profile", ".csv", tuple(text.encode() for text in (NVPROF, NSYS, NCU, NCU_RAW, OWN)),
        partial(read_profiles, gpu=find("t4")),
    ),
    Loader("table", ".csv", (TABLE.encode(),), read_table),
    Loader("model", ".json", _files("src/warpwatt/published/alavani/power/k20.json"), trained.read),
    Loader("manifest", ".toml", _files("corpus/dense_linear_algebra/daxpy.toml"), _manifest),
    Loader("directives", ".cu", _sources(["saxpy.cu", "matmul.cu"]), _directives),
    Loader("ptx", ".ptx", (SAMPLE.encode(),), _ptx),
    Loader("binary", ".fatbin", (FAT, host(FAT), archive(host(FAT))), _binary),
    Loader("request", ".json", (b'{"source": "x", "gpus": ["h200", {"a": [1.5, null]}]}',),
           lambda path: parsed(path.read_bytes()), (Problem,)),
)  # fmt: skip
