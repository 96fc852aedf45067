"""The JSON API: answers, refusals with the command line's message and fix, pages of reports."""

from __future__ import annotations

import json
import re

import pytest
from jsonschema import Draft202012Validator

from warpwatt.render.json import SCHEMA
from warpwatt.server.web.openapi import document

pytestmark = pytest.mark.toolchain
LAUNCHED = "// warpwatt: --grid 4096 --block 256 --arg n=1048576 --arg a=2 --arg x=f32[n] --arg y=f32[n]\n"
SAXPY = LAUNCHED + (
    "__global__ void saxpy(int n, float a, const float *x, float *y) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] += a * x[i];\n"
    "}\n"
)
STRIDED = SAXPY.replace("= blockIdx.x * blockDim.x + threadIdx.x", "= threadIdx.x * gridDim.x + blockIdx.x")


def post(client, path, body, **headers):
    answer = client.post(f"/api/v1/{path}", json=body, headers=headers)
    operation = document()["paths"][f"/api/v1/{path}"]["post"]
    content = operation["responses"][str(answer.status_code)]["content"]
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in content
    if kind != "text/html":
        described = {**content[kind]["schema"], "components": document()["components"]}
        Draft202012Validator(described).validate(answer.json())
    return answer


@pytest.fixture(scope="module")
def predicted(client):
    answer = post(client, "predict", {"source": SAXPY, "gpus": ["h200", "t4"]})
    assert answer.status_code == 200, answer.text
    return answer


def test_a_prediction_is_what_the_command_line_writes(predicted):
    found = predicted.json()
    Draft202012Validator(SCHEMA.load()).validate(found)
    assert [p["gpu"] for p in found["predictions"]] == ["NVIDIA H200", "Tesla T4"]
    assert found["predictions"][0]["time"]["value"] < found["predictions"][1]["time"]["value"]
    assert any("a * x[i]" in line["text"] for line in found["predictions"][0]["lines"])


def test_its_report_is_a_page_of_its_own(client, predicted):
    link = re.match(r'<([^>]+)>; rel="alternate"; type="text/html"', predicted.headers["link"])
    page = client.get(link[1])
    assert page.headers["content-type"].startswith("text/html")
    assert "sandbox" in page.headers["content-security-policy"]
    assert "NVIDIA H200" in page.text
    assert client.get(link[1] + "x").status_code == 404


def test_who_asks_for_a_page_gets_it(client):
    answer = post(client, "predict", {"source": SAXPY, "advice": False}, accept="text/html")
    assert answer.text.lower().startswith("<!doctype html>")


def test_kernels_grow_a_form(client):
    found = post(client, "kernels", {"source": SAXPY}).json()
    (kernel,) = found["kernels"]
    told = [(p["name"], p["type"], p["pointer"], p["element"]) for p in kernel["parameters"]]
    assert told == [
        ("n", "int", False, None),
        ("a", "float", False, None),
        ("x", "float const*", True, "f32"),
        ("y", "float*", True, "f32"),
    ]
    assert found["launches"][0]["args"]["y"] == "f32[n]"


def test_ptx_is_a_source_too(client):
    ptx = client.post("/api/v1/kernels", json={"source": PTX, "name": "a.ptx"}).json()
    assert [p["name"] for p in ptx["kernels"][0]["parameters"]] == ["0"]
    launch = {"grid": 1, "block": 32, "args": {"0": "i32[64]"}}
    assert post(client, "predict", {"source": PTX, "launch": launch, "advice": False}).status_code == 200


PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 p) {
.reg .b64 %rd<3>; .reg .b32 %r<2>;
ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, 1; st.global.u32 [%rd2], %r1;
ret; }
"""


def test_two_kernels_and_what_changed(client):
    body = {"before": {"source": STRIDED}, "after": {"source": SAXPY}, "gpus": ["h200"], "advice": False}
    (change,) = post(client, "compare", body).json()["changes"]
    assert change["time"]["ratio"] < 0.8
    assert change["time"]["low"] <= change["time"]["ratio"] <= change["time"]["high"]
    broken = {**body, "after": {"source": SAXPY.replace("x[i]", "z[i]")}}
    problem = post(client, "compare", broken).json()
    assert (problem["side"], problem["line"]) == ("after", 4)


@pytest.mark.parametrize(
    ("change", "kind", "line"),
    [
        ({"source": SAXPY.replace("x[i]", "z[i]")}, "compile", 4),
        ({"source": SAXPY.replace("--grid 4096", "--gird 4096")}, "input", 1),
        ({"source": SAXPY.removeprefix(LAUNCHED)}, "usage", None),
        ({"source": "int main() {}"}, "input", None),
        ({"source": " \n"}, "input", None),
        ({"launch": {"args": {"x": "f32[q]"}}}, "argument", None),
        ({"launch": {"args": {"x": "f32[4]"}}}, "memory-fault", 4),
        ({"launch": {"args": {"x": "f32[n]:a.npy"}}}, "argument", None),
        ({"launch": {"block": 4096}}, "launch", None),
        ({"gpus": ["h2000"]}, "unknown-gpu", None),
        ({"model": ["nonsense"]}, "usage", None),
        ({"model": ["power=/etc/passwd"]}, "usage", None),
        ({"model": ["m.json"]}, "usage", None),
        ({"clock": "9"}, "input", None),
        ({"launch": {"kernel": "nonsense"}}, "kernel-selection", None),
    ],
)
def test_refusals_say_where_and_what_would_help(client, change, kind, line):
    answer = post(client, "predict", {"source": SAXPY, "advice": False, **change})
    problem = answer.json()
    assert (answer.status_code, problem["type"].rpartition(":")[2], problem["line"]) == (422, kind, line)
    assert problem["hint"] or kind in ("compile", "launch"), problem


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"source": SAXPY, "flags": ["-I/"]}, ""),
        ({"source": SAXPY, "name": "../a.cu"}, "/name"),
        ({"source": SAXPY, "name": "a.cu\n"}, "/name"),
        ({"source": SAXPY, "launch": {"grid": 0}}, "/launch/grid"),
        ({"source": SAXPY, "launch": {"args": {"x": None}}}, "/launch/args/x"),
        ({"source": SAXPY, "compilation": {"standard": "c++26"}}, "/compilation/standard"),
        ({"source": SAXPY, "gpus": []}, "/gpus"),
        ({"source": SAXPY, "gpus": ["all,h200"]}, "/gpus/0"),
        ([], ""),
    ],
)
def test_requests_keep_to_the_schema(client, body, pointer):
    answer = client.post("/api/v1/predict", json=body)
    assert (answer.status_code, answer.json()["pointer"]) == (422, pointer)


def test_lists(client):
    gpus = client.get("/api/v1/gpus").json()["gpus"]
    assert any(gpu["name"] == "NVIDIA H200" and "h200" in map(str.lower, gpu["aliases"]) for gpu in gpus)
    defaults = [m["kind"] for m in client.get("/api/v1/models").json()["models"] if m["default"]]
    assert defaults == ["time", "power"]
    assert client.get("/healthz").json()["status"] == "ok"


def test_every_example_compiles_and_says_its_launch(client):
    for example in client.get("/api/v1/examples").json()["examples"]:
        found = post(client, "kernels", {"source": example["source"], "name": example["name"]}).json()
        assert len(found["launches"]) == len(found["kernels"]) > 0, example["name"]
        assert found["warnings"] == [], example["name"]


def test_the_document_is_json_with_no_loose_ends():
    text = json.dumps(document())
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert names <= set(document()["components"]["schemas"])
    assert "$defs" not in text
