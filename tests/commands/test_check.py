"""``warpwatt check`` as CI runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from warpwatt.render.check.json import SCHEMA

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = str(EXAMPLES / "saxpy.cu")


@pytest.fixture
def budget(file):
    """Write a budget of saxpy with these limits."""

    def write(limits: str, top: str = "") -> Path:
        return file("budget.toml", f'{top}\n[[budget]]\nname = "cheap"\nsource = "{SAXPY}"\n{limits}\n')

    return write


def test_a_budget_that_is_held(run, budget):
    code, out, err = run("check", budget('max.time = "1 ms"\nmin.occupancy = "50 %"\nmax.spills = 0'))
    assert (code, err) == (0, "")
    assert "0 of 3 limits exceeded" in " ".join(out.split())


def test_an_exceeded_budget_is_named_with_its_lines(run, budget):
    path = budget('max.time = "1 us"\nmax.power = "1 kW"')
    code, out, err = run("check", path)
    assert code == 4
    assert re.search(r"✗ time .*at most 1.00 µs .*budget.toml:5", out)
    assert re.search(r"costs most: .*saxpy.cu:7: .* of the time", out)
    assert "1 of 2 limits exceeded" in " ".join(err.split())


def test_formats_for_machines_name_everything_too(run, budget):
    path = budget('max.energy = "1 uJ"')
    code, out, err = run("check", path, "--format", "github")
    assert code == 4
    first = out.splitlines()[0]
    assert re.match(r"::error file=\S*saxpy.cu,line=7,title=cheap%3A energy over budget::", first)
    assert f"{path}:5" in first
    assert "saxpy(int" in err
    code, out, _ = run("check", path, "--format", "json")
    document = json.loads(out)
    jsonschema.Draft202012Validator.check_schema(SCHEMA.load())
    jsonschema.validate(document, SCHEMA.load())
    assert document["$schema"] == SCHEMA.url
    verdict = document["verdicts"][0]
    assert (verdict["line"], verdict["hottest"]["line"], verdict["exceeded"]) == (5, 7, True)


JUNIT = {
    "testsuites": ({"name", "time", "tests", "failures", "disabled", "errors"}, ["testsuite"]),
    "testsuite": (
        {"name", "tests", "failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id"},
        ["properties", "testcase", "system-out", "system-err"],
    ),
    "testcase": (
        {"name", "assertions", "time", "classname", "status"},
        ["skipped", "error", "failure", "system-out", "system-err"],
    ),
    "failure": ({"type", "message"}, []),
    "error": ({"type", "message"}, []),
    "system-out": (set(), []),
}
"""Element to its attributes and children: the schema that Jenkins and most others follow."""


def follows_junit(element):
    attributes, children = JUNIT[element.tag]
    assert set(element.attrib) <= attributes
    order = [children.index(child.tag) for child in element]
    assert order == sorted(order)
    if element.tag == "testsuite":
        assert {"name", "tests", "failures", "errors"} <= set(element.attrib)
        assert int(element.get("tests")) == len(element.findall("testcase"))
        assert int(element.get("failures")) == len(element.findall("testcase/failure"))
    for child in element:
        follows_junit(child)


def test_junit_has_the_shape_all_servers_read(run, budget, tmp_path):
    name = 'bad \\"<name>\\" & \\u0007'
    path = tmp_path / "junit.toml"
    path.write_text(
        f'[[budget]]\nname = "{name}"\nsource = "{SAXPY}"\nmax.time = "1 us"\nmax.registers = 255\n'
        '[[budget]]\nsource = "nothing.cu"\nmax.time = 1\n'
    )
    output = tmp_path / "out.xml"
    code, _, err = run("check", path, "-o", output)
    assert code == 1
    assert "nothing.cu" in err
    root = ET.fromstring(output.read_text(encoding="utf-8"))
    follows_junit(root)
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    assert root.find("testsuite").get("name") == 'bad "<name>" & \ufffd'


def test_a_baseline_is_recorded_and_held(run, budget, tmp_path):
    top = 'baseline = "base.json"'
    path = budget('max.energy = "+1 %"\nmax.registers = "+0 %"', top)
    code, _, err = run("check", path)
    assert code == 1
    assert "no baseline yet" in err
    assert "--record" in err
    assert run("check", path, "--record")[0] == 0
    assert run("check", path)[0] == 0
    recorded = json.loads((tmp_path / "base.json").read_text())
    values = next(iter(recorded["predictions"].values()))
    values["energy"] = [value * 0.9 for value in values["energy"]]
    (tmp_path / "base.json").write_text(json.dumps(recorded))
    code, out, _ = run("check", path)
    assert code == 4
    assert "(+1 % from" in out
    budget('max.energy = "+1 %"\ngrid = 64', top)
    code, _, err = run("check", path)
    assert code == 1
    assert "the baseline does not know" in err


def test_the_worst_end_of_the_interval(run, budget):
    code, out, _ = run("check", budget('max.time = "60 us"', 'quantile = "worst"'))
    assert code == 4
    assert "judged at" in out


def test_a_failing_budget_does_not_hide_the_others(run, file):
    path = file(
        "two.toml",
        f'[[budget]]\nsource = "{SAXPY}"\ngpu = "nonesuch"\nmax.time = 1\n'
        f'[[budget]]\nsource = "{SAXPY}"\nmax.time = "1 us"\n',
    )
    code, out, err = run("check", path)
    assert code == 3
    assert "nonesuch" in err
    assert "✗ time" in out
