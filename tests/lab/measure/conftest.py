"""A small corpus, and a bench with a simulated device."""

from __future__ import annotations

import pytest

from warpwatt.lab.measure.bench import Bench
from warpwatt.lab.measure.columns import FILES
from warpwatt.lab.measure.corpus import Corpus
from warpwatt.lab.measure.prepared import Unprepared
from warpwatt.lab.measure.protocol import Settings
from warpwatt.lab.measure.results import Store
from warpwatt.lab.measure.simulated import Behaviour, SimulatedDevice, set_results
from warpwatt.lab.measure.timing import Stopwatch

ADD = 'extern "C" __global__ void add(int n, const float *__restrict__ x, float *y) { y[0] += x[0]; }\n'
TWO = """extern "C" __global__ void first(int n, const float *__restrict__ x, float *y) { y[0] = x[0]; }
extern "C" __global__ void second(int n, float a, const float *__restrict__ y, float *z) { z[0] = a * y[0]; }
"""
HEAD = """summary = "{name}"
family = "{name}"
split = "fit"
dwarf = "map reduce"
bound = "memory"
"""
ADD_SIZE = """[[size]]
name = "{size}"
args = {{ n = {n}, x = "f32[n]", y = "f32[n]:{fill}" }}
[[size.launch]]
kernel = "{kernel}"
grid = [{blocks}]
block = [64]
"""
TWO_SIZE = """[[size]]
name = "{size}"
args = {{ n = {n}, x = "f32[n]", y = "f32[n]:zeros", z = "f32[n]:zeros" }}
[[size.launch]]
kernel = "first"
grid = [{blocks}]
block = [64]
[[size.launch]]
kernel = "second"
grid = [{blocks}]
block = [64]
repeat = 3
pass = {{ a = 2.0 }}
"""
SIZES = {"tiny": 256, "small": 4096, "large": 65536}


def add_manifest(kernel="add", fill="ones"):
    sizes = (ADD_SIZE.format(size=s, n=n, blocks=n // 64, kernel=kernel, fill=fill) for s, n in SIZES.items())
    return HEAD.format(name=kernel) + "".join(sizes)


def two_manifest():
    sizes = (TWO_SIZE.format(size=s, n=n, blocks=n // 64) for s, n in SIZES.items())
    return HEAD.format(name="two") + "".join(sizes)


def write_program(folder, name, source, manifest, reference):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.cu").write_text(source, encoding="utf-8")
    (folder / f"{name}.toml").write_text(manifest, encoding="utf-8")
    (folder / f"{name}.py").write_text(f"def reference(a):\n    return {reference}\n", encoding="utf-8")


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory):
    """Three programs: ``add`` changes what it reads, ``set`` does not, ``two`` has two launches."""
    root = tmp_path_factory.mktemp("corpus")
    folder = root / "map_reduce"
    write_program(folder, "add", ADD, add_manifest(), "{'y': a['y'] + a['x']}")
    source = ADD.replace("add", "set").replace("+=", "=")
    write_program(folder, "set", source, add_manifest("set", "zeros"), "{'y': a['x']}")
    write_program(folder, "two", TWO, two_manifest(), "{'y': a['x'], 'z': 2 * a['x']}")
    return root


@pytest.fixture(scope="session")
def corpus(corpus_folder):
    return Corpus.load(corpus_folder)


@pytest.fixture
def make_bench():
    def make(behaviour=None, **settings):
        device = SimulatedDevice(behaviour or Behaviour())
        watch = Stopwatch(device)
        bench = Bench(device, Unprepared(), Settings(**settings), 0, watch, set_results)
        bench.measure_floor()
        return bench

    return make


@pytest.fixture
def files(tmp_path):
    with Store(tmp_path / "results", FILES) as store:
        yield store
