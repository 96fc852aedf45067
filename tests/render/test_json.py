import dataclasses
import json
import math

import jsonschema
import pytest

from warpwatt.core.estimate import Estimate
from warpwatt.render import application as application_renderer
from warpwatt.render import json as json_renderer
from warpwatt.render.context import Context


def refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


def load(text):
    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def documents(saxpy, matmul, explained, application):
    context = Context(command="warpwatt predict saxpy.cu", toolkits={"nvcc": "13.5.37"})
    return [
        load(json_renderer.render(saxpy, context)),
        load(json_renderer.render(matmul, context)),
        load(application_renderer.render_json([application], context)),
        load(json_renderer.render([], context)),
        load(json_renderer.render([explained], context)),
    ]


def test_documents_follow_the_shipped_schema(documents):
    schema = json_renderer.SCHEMA.load()
    jsonschema.Draft202012Validator.check_schema(schema)
    for document in documents:
        jsonschema.Draft202012Validator(schema).validate(document)


def test_schema_and_documents_name_the_same_address_and_version(documents):
    schema = json_renderer.SCHEMA.load()
    assert documents[0]["$schema"] == schema["$id"]
    assert schema["$id"].endswith(json_renderer.SCHEMA.file)


def test_schema_refuses_a_prediction_without_time(documents):
    broken = json.loads(json.dumps(documents[0]))
    del broken["predictions"][0]["time"]
    with pytest.raises(jsonschema.ValidationError, match="time"):
        jsonschema.validate(broken, json_renderer.SCHEMA.load())


def described(value, schema, root, path="$"):
    """Yield every key of ``value`` that the schema does not describe by name or by its map's value."""
    if "$ref" in schema:
        target = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        yield from described(value, target, root, path)
    elif "anyOf" in schema:
        options = [list(described(value, option, root, path)) for option in schema["anyOf"]]
        yield from min(options, key=len) if value is not None else []
    elif isinstance(value, dict):
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key)
            if inner is None and isinstance(schema.get("additionalProperties"), dict):
                inner = schema["additionalProperties"]
            if inner is None or not inner.get("description", root["$defs"]):
                yield f"{path}.{key}"
            else:
                yield from described(item, inner, root, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from described(item, schema.get("items", {}), root, f"{path}[]")


def test_every_emitted_key_is_described(documents):
    schema = json_renderer.SCHEMA.load()
    assert [key for document in documents for key in described(document, schema, schema)] == []


def test_an_undescribed_key_is_found(documents):
    schema = json_renderer.SCHEMA.load()
    extra = {**documents[0], "predictions": [{**documents[0]["predictions"][0], "surprise": 1}]}
    assert list(described(extra, schema, schema)) == ["$.predictions[].surprise"]


def test_paths_scripts_rely_on(documents, saxpy):
    first = documents[0]["predictions"][0]
    assert first["gpu"] == "NVIDIA H200"
    assert first["kernel"] == "saxpy(int, float, const float*, float*)"
    assert first["time"]["value"] == saxpy[0].time.value
    assert first["time"]["low"] < first["time"]["value"] < first["time"]["high"]
    assert (first["time"]["unit"], first["power"]["unit"], first["energy"]["unit"]) == ("s", "W", "J")
    assert first["launch"]["grid"] == [65536, 1, 1]
    assert first["models"] == {"time": "roofline", "power": "component"}
    assert first["lines"][2]["accesses"][0]["opcode"] == "ld.global.f32"
    assert first["workload"]["dram"] == {"read": 8.0 * 2**24, "written": 4.0 * 2**24}
    assert documents[0]["tool"]["toolkits"] == {"nvcc": "13.5.37"}


def test_what_emulation_found_stands_per_line_and_buffer(documents):
    first = documents[0]["predictions"][0]
    assert first["analysis"]["level"] == "ptx"
    assert first["analysis"]["method"] == "emulated"
    assert (first["analysis"]["blocks_run"], first["analysis"]["blocks"]) == (24, 65536)
    line = first["lines"][2]
    assert line["active_lanes"] == 32
    assert [(b["buffer"], b["access"]) for b in line["buffers"]] == [
        ("x", "read"),
        ("y", "read"),
        ("y", "write"),
    ]
    assert {(b["sectors"], b["ideal"], b["stride"], b["l1_hits"]) for b in line["buffers"]} == {(4, 4, 4, 0)}
    moved = [b["dram"] for b in line["buffers"]]
    assert sum(t["read"] for t in moved) == first["workload"]["dram"]["read"]
    assert sum(t["written"] for t in moved) == first["workload"]["dram"]["written"]
    assert line["accesses"][0]["executions"] == 2**19


def test_numbers_json_cannot_hold_become_null(saxpy):
    broken = dataclasses.replace(saxpy[0], transfer=Estimate.exact(math.inf, "s"))
    document = load(json_renderer.render([broken], Context()))
    assert document["predictions"][0]["transfer"]["value"] is None
    jsonschema.validate(document, json_renderer.SCHEMA.load())


def test_same_input_same_bytes(matmul):
    assert json_renderer.render(matmul, Context()) == json_renderer.render(matmul, Context())


def test_applications_refer_to_their_predictions(documents):
    document = documents[2]
    steps = document["applications"][0]["steps"]
    assert [s["prediction"] for s in steps] == [None, None, 0, None]
    assert document["predictions"][0]["kernel"].startswith("void matmul<float>")
    assert document["applications"][0]["busy"]["copy"] == pytest.approx(1.1e-3)


def test_advice_and_stalls_are_there_where_the_model_knows_them(documents):
    known, unknown = documents[4]["predictions"][0], documents[1]["predictions"][0]
    assert [a["kind"] for a in known["advice"]] == ["bank conflicts", "occupancy", "together"]
    assert known["advice"][0]["line"] == {"file": "matmul.cu", "line": 12}
    assert known["advice"][0]["time_saved_share"] == pytest.approx(0.58)
    line = next(line for line in known["lines"] if line["line"] == 12)
    assert line["stalls"]["Long Scoreboard"] == 0.2
    assert line["waits"][0]["producer"] == {"file": "matmul.cu", "line": 11}
    shares = [sum(i["stalls"].values()) for i in known["instructions"]]
    assert sum(shares) == pytest.approx(1.0)
    assert sum(known["warp_states"]["cycles_per_issue"].values()) == pytest.approx(25600 / 1600)
    assert unknown["advice"] is None
    assert unknown["warp_states"] is None
    assert unknown["instructions"] == []
