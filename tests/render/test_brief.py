"""What agents read: short, whole and valid."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema

from warpwatt.core.execution import Assumption
from warpwatt.render import brief
from warpwatt.render.context import Context


def test_one_prediction_in_forty_lines(explained):
    for prediction in (explained, replace(explained, advice=explained.advice and explained.advice * 4)):
        text = brief.render([prediction], Context())
        assert len(text.splitlines()) <= 40
        jsonschema.Draft202012Validator.check_schema(brief.SCHEMA.load())
        jsonschema.validate(json.loads(text), brief.SCHEMA.load())


def test_it_says_what_the_prediction_says(saxpy, matmul):
    found = json.loads(brief.render([*saxpy, *matmul], Context()))["predictions"]
    for short, prediction in zip(found, (*saxpy, *matmul), strict=True):
        assert short["gpu"] == prediction.case.gpu.name
        assert abs(short["time_s"]["value"] / prediction.time.value - 1) < 1e-3
        assert short["limited_by"] == prediction.timing.bottleneck
        assert short["hot_lines"][0]["time_share"] >= short["hot_lines"][-1]["time_share"]


def test_what_is_left_out_is_counted(saxpy):
    many = tuple(Assumption(f"thing {i}", "p", 0.1) for i in range(9))
    (found,) = json.loads(brief.render([replace(saxpy[0], assumptions=many)], Context()))["predictions"]
    assert found["assumed"] == ["thing 0", "thing 1", "thing 2", "6 more: --format json"]
