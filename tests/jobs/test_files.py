"""Platform and job files: what is written reads back as the same."""

from __future__ import annotations

import pytest

from warpwatt.core.errors import InputError
from warpwatt.gpus import find
from warpwatt.jobs.hosts import Host, State
from warpwatt.jobs.platform import Device, Platform, read_platform
from warpwatt.jobs.reading import read_jobs
from warpwatt.jobs.simulation import hosts, simulate
from warpwatt.jobs.writing import jobs_toml, platform_toml
from warpwatt.models.specification import idle_watts
from warpwatt.published.boughzala.platform_file import platform_xml, read_hosts, read_platform_xml

from .conftest import no_kernels

PLATFORM = """
[[node]]
name = "fat"
count = 2
gpus = { h200 = 2, t4 = 1 }
host_w = 350.1
off_w = 7.5

[[node]]
name = "a <small> one"
gpus = ["v100"]
gpu_idle_w = 21.3
"""
JOBS = """
[[job]]
name = "measured \\"quickly\\""
seconds = 0.1
watts = 310.7
count = 7
every = 0.3
gpu = "h200,t4"

[[job]]
name = "kernel"
source = "k.cu"
kernel = "k"
grid = [64, 2]
block = 256
shared = 1024
args = { n = 1024, a = 2.5, "0" = 3, x = "f32[n]", y = "i32[4,n]:zeros" }
loops = { 14 = 100 }
repeats = 10
arrival = 1.5
clock = "1200,877"
model = ["boughzala", "power=component"]
profile = "runs.csv"

[[job]]
name = "application"
application = "app.toml"
"""
APPLICATION = """
name = "two and a copy"
idle = 0.25
[[step]]
name = "up"
copy = "h2d"
bytes = 4096
pinned = true
[[step]]
name = "work"
stream = "s"
after = ["up"]
source = "k.cu"
grid = 8
block = [16, 16]
[[step.child]]
source = "k.cu"
grid = 2
block = 32
[[step.child.child]]
source = "k.cu"
grid = 1
block = 32
repeats = 3
"""


def same(one: Platform, other: Platform) -> bool:
    pairs = zip(one.devices, other.devices, strict=True)
    facts = [
        (a.name, a.node, a.gpu.name, a.idle_watts, a.off_watts)
        == (b.name, b.node, b.gpu.name, b.idle_watts, b.off_watts)
        for a, b in pairs
    ]
    return all(facts) and dict(one.nodes) == dict(other.nodes)


@pytest.fixture
def platform(tmp_path):
    (tmp_path / "p.toml").write_text(PLATFORM)
    return read_platform(tmp_path / "p.toml")


def test_a_platform_reads_back_from_toml(platform, tmp_path):
    (tmp_path / "again.toml").write_text(platform_toml(platform))
    assert same(read_platform(tmp_path / "again.toml"), platform)


def test_a_platform_and_its_states_read_back_from_simgrids_file(platform, tmp_path):
    (tmp_path / "jobs.toml").write_text(JOBS[: JOBS.index("[[job]]", 10)])
    found = hosts(simulate(read_jobs(tmp_path / "jobs.toml"), platform, no_kernels))
    file = tmp_path / "p.xml"
    file.write_text(platform_xml(found))
    assert same(read_platform_xml(file), platform)
    read = read_hosts(file)
    assert [(h.name, h.off_watts, dict(h.properties)) for h in read] == [
        (h.name, h.off_watts, dict(h.properties)) for h in found
    ]
    numbers = [[(s.speed, s.idle_watts, s.busy_watts) for s in h.states] for h in (*read, *found)]
    assert numbers[: len(read)] == numbers[len(read) :]


def test_jobs_read_back_applications_and_all(tmp_path):
    for name, text in (("jobs.toml", JOBS), ("app.toml", APPLICATION), ("k.cu", "")):
        (tmp_path / name).write_text(text)
    jobs = read_jobs(tmp_path / "jobs.toml")
    again = tmp_path / "again.toml"
    for file, text in jobs_toml(jobs, again).items():
        file.write_text(text)
    assert read_jobs(again) == jobs
    assert jobs_toml(read_jobs(again), again) == jobs_toml(jobs, again)


def test_gpus_of_a_node_that_differ_are_refused():
    gpu = find("t4")
    platform = Platform((Device("a", "n", gpu, 5.0), Device("b", "n", gpu, idle_watts(gpu))), {"n": 0.0})
    with pytest.raises(InputError, match="differ in idle power"):
        platform_toml(platform)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<platform><host id='g'", "not XML"),
        ("<platform/>", "no hosts"),
        ("<!DOCTYPE p [<!ENTITY a 'b'>]><p/>", "entities"),
        ("<p><host id='g' speed='1f'/></p>", "wattage_per_state"),
        (platform_xml([Host("g", (State(1.0, 2.0, 3.0),))]), "neither a GPU nor a node"),
        (platform_xml([Host("g", (State(1.0, 2.0, 3.0),), properties={"node": "n"})]), "no GPUs"),
    ],
)
def test_bad_platform_files_are_named(tmp_path, text, words):
    (tmp_path / "p.xml").write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        read_platform_xml(tmp_path / "p.xml")
    assert str(caught.value.file).endswith("p.xml")
