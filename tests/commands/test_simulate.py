"""``warpwatt simulate``: job lists, platforms, streams, and what is wrong with them."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from warpwatt.published.boughzala import simgrid

SCHEMA = json.loads(
    resources.files("warpwatt.render").joinpath("schema", "simulation-1.1.json").read_text(encoding="utf-8")
)
EXAMPLES = Path(__file__).parents[2] / "examples"
FIXED = """
[[job]]
name = "measured"
seconds = 2.0
watts = 300.0
count = 3
"""
SAXPY = f"""
[[job]]
name = "saxpy"
source = "{EXAMPLES / "saxpy.cu"}"
grid = 8192
block = 256
args = {{ n = 2097152 }}
repeats = 10
gpu = "t4"
"""
PLATFORM = """
[[node]]
name = "pair"
count = 2
gpus = { t4 = 2 }
host_w = 100.0
gpu_idle_w = 10.0
off_w = 5.0
"""


def test_a_list_on_a_platform(run, file):
    jobs, platform = file("jobs.toml", FIXED), file("platform.toml", PLATFORM)
    code, out, err = run("simulate", jobs, "--platform", platform, "--format", "json")
    assert code == 0, err
    jsonschema.validate(json.loads(out), SCHEMA)
    found = json.loads(out)["simulation"]
    assert found["time"]["value"] == 2.0
    assert found["energy_by"] == {"work": 1800.0, "idle_gpus": 20.0, "hosts": 400.0}
    assert [device["busy"] for device in found["devices"]] == [2.0, 2.0, 2.0, 0.0]


def test_kernels_are_predicted_as_by_predict(run, file):
    jobs = file("jobs.toml", SAXPY)
    options = ("--model", "roofline", "--gpu", "t4", "--format", "json")
    _, out, err = run("simulate", jobs, *options)
    found = json.loads(out)["simulation"]
    _, out, _ = run(
        "predict", EXAMPLES / "saxpy.cu", "--grid", "8192", "--block", "256", "--arg", "n=2097152", *options
    )
    alone = json.loads(out)["predictions"][0]
    assert found["time"]["value"] == pytest.approx(10 * alone["time"]["value"]), err
    assert found["energy"]["value"] == pytest.approx(10 * alone["energy"]["value"])
    assert found["time"]["low"] < found["time"]["value"] < found["time"]["high"]


def test_a_csv_list_is_the_same(run, file):
    table = (
        f"name,source,grid,block,arg:n,repeats,gpu\nsaxpy,{EXAMPLES / 'saxpy.cu'},8192,256,2097152,10,t4\n"
    )
    options = ("--model", "roofline", "--gpu", "t4", "--format", "json")
    one = json.loads(run("simulate", file("jobs.csv", table), *options)[1])["simulation"]
    other = json.loads(run("simulate", file("jobs.toml", SAXPY), *options)[1])["simulation"]
    assert one == other


def test_a_job_with_its_own_profile_and_model(run, file):
    file(
        "runs.csv",
        "grid,block,duration_us,power_w,idle_w\n1024,256,100,60,10\n4096,256,400,60,10\n65536,256,6400,60,10\n",
    )
    jobs = file("jobs.toml", SAXPY + 'profile = "runs.csv"\nmodel = "boughzala"\n')
    code, out, err = run("simulate", jobs, "--gpu", "t4", "--format", "json")
    assert code == 0, err
    found = json.loads(out)["simulation"]
    assert found["time"]["value"] == pytest.approx(8e-3)
    assert found["energy"]["value"] == pytest.approx(8e-3 * 60)


def test_the_platform_file_is_for_simgrid(run, file, tmp_path):
    jobs, platform, xml = file("jobs.toml", FIXED), file("platform.toml", PLATFORM), tmp_path / "p.xml"
    assert run("simulate", jobs, "--platform", platform, "--write-platform", xml)[0] == 0
    hosts = {host.get("id"): host for host in ET.parse(xml).getroot().iter("host")}
    assert len(hosts) == 6
    properties = {p.get("id"): p.get("value") for p in hosts["pair-0/gpu0"].iter("prop")}
    assert properties == {
        "wattage_per_state": "10:300", "wattage_off": "5", "gpu": "Tesla T4", "node": "pair-0"
    }  # fmt: skip
    code, _, err = run("simulate", jobs, "--platform", platform, "--write-platform", xml)
    assert (code, "--force" in err) == (1, True)


def test_what_was_written_simulates_to_the_same(run, file, tmp_path):
    jobs, platform = file("jobs.toml", FIXED), file("platform.toml", PLATFORM)
    xml, toml, again = tmp_path / "p.xml", tmp_path / "p.toml", tmp_path / "again.toml"
    words = ("simulate", jobs, "--platform", platform, "--format", "json")
    written = ("--write-jobs", again, "--write-platform")
    first = run(*words, *written, xml)[1]
    assert run(*words, "--write-platform", toml)[0] == 0
    for where in (xml, toml):
        code, out, err = run("simulate", again, "--platform", where, "--format", "json")
        assert code == 0, err
        assert json.loads(out)["simulation"] == json.loads(first)["simulation"]
    assert run(*words, *written, tmp_path / "new.xml")[0] == 1  # the jobs' file is there


def test_simgrid_beside_our_own(run, file):
    if simgrid.interpreter() is None:
        pytest.skip("SimGrid is not installed: " + simgrid.HOW)
    options = ("--platform", file("platform.toml", PLATFORM), "--engine", "simgrid", "--format", "json")
    found = json.loads(run("simulate", file("jobs.toml", FIXED), *options)[1])["simulation"]
    assert found["simgrid"]["time"] == pytest.approx(found["time"]["value"])
    assert found["simgrid"]["energy"] == pytest.approx(found["energy"]["value"])


def test_text_names_gpus_and_totals(run, file):
    code, out, _ = run("simulate", file("jobs.toml", FIXED), "--gpu", "h200,t4")
    assert code == 0
    assert "Makespan 4" in out
    assert "node/gpu1" in out
    assert "Tesla T4" in out


def test_a_clock_is_a_job_of_its_own(run, file, tmp_path):
    jobs = file("jobs.toml", SAXPY + SAXPY.replace('"saxpy"', '"slow"') + 'clock = "500"\n')
    xml = tmp_path / "p.xml"
    options = ("--gpu", "t4", "--model", "roofline", "--write-platform", xml, "--format", "json")
    code, out, err = run("simulate", jobs, *options)
    assert code == 0, err
    fast, slow = (job["costs"]["Tesla T4"] for job in json.loads(out)["simulation"]["jobs"])
    assert slow["time"]["value"] >= fast["time"]["value"]  # DRAM binds it
    assert slow["energy"]["value"] / slow["time"]["value"] < fast["energy"]["value"] / fast["time"]["value"]
    assert "slow at 500 MHz" in xml.read_text()
    speeds = ET.parse(xml).getroot().find(".//host").get("speed").split(",")
    assert len(speeds) == 2


def test_streams_share_a_gpu(run, file):
    step = f"""
[[step]]
name = "NAME"
stream = "NAME"
source = "{EXAMPLES / "saxpy.cu"}"
grid = 8
block = 256
args = {{ n = 2048 }}
repeats = 100
"""
    path = file("app.toml", step.replace("NAME", "a") + step.replace("NAME", "b"))
    code, out, err = run("simulate", path, "--gpu", "t4", "--model", "roofline", "--format", "json")
    assert code == 0, err
    jsonschema.validate(json.loads(out), SCHEMA)
    found = json.loads(out)["applications"][0]
    assert found["side_by_side"]["time"] == pytest.approx(found["one_at_a_time"]["time"] / 2)
    assert found["side_by_side"]["energy"] < found["one_at_a_time"]["energy"]
    for cost in (found["side_by_side"], found["one_at_a_time"]):
        assert 1.1 < cost["time_high"] / cost["time_low"] < 20
        assert cost["energy_low"] < cost["energy"] < cost["energy_high"]
    assert "Side by side" in run("simulate", path, "--gpu", "t4", "--model", "roofline")[1]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("jobs.toml", "", "no jobs"),
        ("jobs.toml", "[[job]\n", "not TOML"),
        ("jobs.toml", "[[job]]\nname = 'x'\n", "no work"),
        ("jobs.toml", "[[job]]\nseconds = 1\n", "without watts"),
        ("jobs.toml", "[[job]]\nseconds = 0\nwatts = 1\n", "seconds must be"),
        ("jobs.toml", "[[job]]\nseconds = nan\nwatts = 1\n", "seconds must be"),
        ("jobs.toml", "[[job]]\nseconds = 1\nwatts = 1\ncount = 0\n", "count must be"),
        ("jobs.toml", "[[job]]\nseconds = 1\nwatts = 1\narrival = -1\n", "arrival must be"),
        ("jobs.toml", "[[job]]\nseconds = 1\nwatts = 1\ngrid = 3\n", "does not go with"),
        ("jobs.toml", "[[job]]\nseconds = 1\nwatts = 1\nsource = 'x.cu'\n", "two kinds of work"),
        ("jobs.toml", "[[job]]\nseconds = 1\nwatts = 1\ngpu = 't4'\n", "may run it"),
        ("jobs.toml", "[[job]]\nseconds = 1\nwatts = 1\ncount = 1000000\n", "pieces of work"),
        ("jobs.toml", "jobs = 3\n", "unknown key"),
        ("jobs.csv", "seconds,watts\n", "no jobs"),
        ("jobs.csv", "seconds,watts\nsoon,3\n", "jobs.csv:2"),
        ("jobs.csv", "seconds,watts\n1,2,3\n", "more cells than columns"),
    ],
)
def test_bad_jobs_are_named(run, file, name, content, words):
    path = file(name, content)
    code, out, err = run("simulate", path)
    assert (code, out) == (1, "")
    assert words in err
    assert name in err or words == "may run it"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "no nodes"),
        ("[[node]]\n", "no GPUs"),
        ("[[node]]\ngpus = { t4 = 0 }\n", "whole number"),
        ("[[node]]\ngpus = ['t4']\nhost_w = -3\n", "number of watts"),
        ("[[node]]\ngpus = ['t4']\nwatts = 3\n", "unknown key"),
        ("[[node]]\ngpus = ['t4']\nname='a'\n[[node]]\ngpus = ['t4']\nname='a'\n", "two nodes"),
    ],
)
def test_bad_platforms_are_named(run, file, content, words):
    code, out, err = run("simulate", file("jobs.toml", FIXED), "--platform", file("platform.toml", content))
    assert (code, out) == (1, "")
    assert words in err


def test_unknown_gpus_end_with_3(run, file):
    assert run("simulate", file("jobs.toml", FIXED), "--gpu", "quantum9000")[0] == 3
    assert run("simulate", file("jobs.toml", FIXED + 'gpu = "quantum9000"\n'))[0] == 3


def test_no_html_here(run, file):
    assert run("simulate", file("jobs.toml", FIXED), "--format", "html")[0] == 2


def test_help_loads_nothing_heavy():
    check = (
        "import sys; from warpwatt.commands.main import app; "
        "app(['simulate', '--help'], standalone_mode=False); "
        "sys.exit('numpy' in sys.modules or 'warpwatt.compose' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, check=False).returncode == 0
