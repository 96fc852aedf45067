"""The tools agents are offered; the protocol around them is the SDK's (``make mcp`` speaks it)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.commands.test_rank import COPY
from warpwatt.core.errors import WarpWattError
from warpwatt.server.mcp import tools

LAUNCH: Any = {"grid": "4096", "block": "256", "args": {"x": "f32[8388608]"}, "gpu": "a100"}


def test_a_prediction_is_brief():
    (found,) = json.loads(tools.predict(COPY.format(stride=4), **LAUNCH))["predictions"]
    assert found["gpu"] == "NVIDIA A100-SXM4-40GB"
    assert found["time_s"]["value"] > 0


def test_candidates_keep_their_names():
    sources = {'dense "1"': COPY.format(stride=4), "spread": COPY.format(stride=32)}
    (ranking,) = json.loads(tools.rank(sources, **LAUNCH))["rankings"]
    assert ranking["take"] == 'dense "1"'


def test_names_of_gpus_can_be_asked_for():
    assert "NVIDIA H200" in tools.gpus().splitlines()


def test_nonsense_is_a_typed_error():
    with pytest.raises(WarpWattError):
        tools.predict("nothing", **LAUNCH)
    with pytest.raises(WarpWattError):
        tools.rank({"a": "", "b": ""}, confidence=7.0)
