"""What ``warpwatt.predict`` returns: a prediction in every respect, which shows and saves itself."""

from __future__ import annotations

import csv
import dataclasses
import json
import pickle
from types import SimpleNamespace
from typing import Any

import pytest

import warpwatt
from tests.frontend.test_objects import FakeOverload
from warpwatt.core.errors import ArgumentError, CompileError, InputError
from warpwatt.core.prediction import Prediction
from warpwatt.results import Result, Results

pytestmark = pytest.mark.toolchain

FILL = """
__global__ void fill(float* x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }
"""
LAUNCH: dict[str, Any] = {"grid": 64, "block": 128, "args": {"x": "f32[8192]", "value": 1}}


@pytest.fixture(scope="module")
def both():
    return warpwatt.predict_all(FILL, gpu="a100,t4", **LAUNCH)


def test_a_result_is_a_prediction(both):
    assert isinstance(both, Results)
    assert isinstance(both, tuple)
    for result in both:
        assert isinstance(result, Result)
        assert isinstance(result, Prediction)
    changed = dataclasses.replace(both[0], warnings=("careful",))
    assert isinstance(changed, Result)
    assert pickle.loads(pickle.dumps(both))[1].time == both[1].time


def test_representations(both):
    assert repr(both[0]).startswith("<fill(float*, float) on NVIDIA A100")
    assert repr(both).splitlines() == [repr(both[0]), repr(both[1])]
    assert "x[blockIdx.x" in both[0]._repr_html_()
    assert both._repr_html_().count("<tr") == 3
    assert Results(both[:1])._repr_html_() == both[0]._repr_html_()


def test_files(both, tmp_path):
    assert json.loads(both.save(tmp_path / "a.json").read_text())["predictions"][1]["gpu"] == "Tesla T4"
    rows = list(csv.DictReader(both.save(tmp_path / "a.csv").read_text().splitlines()))
    assert [row["gpu"] for row in rows] == [p.case.gpu.name for p in both]
    assert [row["time_s"] for row in rows] == [str(row["time_s"]) for row in both.rows()]
    assert "x[blockIdx.x" in both[0].save(tmp_path / "a.html").read_text()
    assert "fill" in both[0].save(tmp_path / "a.txt").read_text()
    with pytest.raises(InputError, match=r"no format for '\.docx'"):
        both.save(tmp_path / "a.docx")
    with pytest.raises(InputError, match="cannot write"):
        both.save(tmp_path / "absent" / "a.csv")


def test_a_grid_may_follow_arguments_and_macros():
    result = warpwatt.predict(
        FILL,
        gpu="a100",
        grid=lambda p: p["items"] // p["TILE"],
        block=128,
        define={"TILE": 128, "items": 8192},
        args=LAUNCH["args"],
    )
    assert result.case.launch.grid.x == 64


def test_arrays_are_buffers():
    np = pytest.importorskip("numpy")
    result = warpwatt.predict(
        FILL, gpu="a100", grid=64, block=128, args={"x": np.zeros((64, 128), np.float32), "value": 1}
    )
    assert result.case.launch.arguments["x"].shape == (64, 128)
    with pytest.raises(ArgumentError, match="complex64"):
        warpwatt.predict(FILL, grid=64, block=128, args={"x": np.zeros(8, np.complex64), "value": 1})


def test_errors_carry_the_fix_as_notes():
    with pytest.raises(CompileError) as caught:
        warpwatt.predict(FILL.replace("value;", "nothing;"), gpu="a100", **LAUNCH)
    assert any("nothing" in note for note in caught.value.__notes__)
    with pytest.raises(ArgumentError) as missing:
        warpwatt.predict(FILL, gpu="a100", grid=64, block=128, args={"y": 3})
    assert missing.value.__notes__[-1].startswith("fix: ")


def test_what_is_no_kernel():
    with pytest.raises(InputError, match="int is no kernel"):
        warpwatt.predict(3, gpu="a100", grid=1)


def test_a_numba_dispatcher():
    """By its attributes alone, as tests/frontend/test_objects.py has them; arrays go by their fields."""

    def scale(x, factor):
        local = x[0] * factor
        x[0] = local

    overload = FakeOverload()
    dispatcher = SimpleNamespace(overloads={("array(float32, 1d, C)", "float32"): overload}, py_func=scale)
    args = {"x": "f32[n]", "x.shape0": 1024, "factor": 2.0}
    with pytest.raises(ArgumentError, match="no number is called 'n'"):
        warpwatt.predict(dispatcher, gpu="a100", grid=4, block=256, args=args)
    args["x"] = "f32[1024]"
    found = warpwatt.predict_all(dispatcher, gpu="a100,t4", grid=4, block=256, args=args)
    assert overload.asked[-2:] == [(8, 0), (7, 5)]  # compiled for each GPU's own target
    assert [p.case.launch.block.count for p in found] == [256, 256]
