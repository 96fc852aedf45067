"""Which level is analysed, and what it takes for granted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from warpwatt.compose import Choice, predict
from warpwatt.core.arguments import Argument, Buffer, DType, Scalar
from warpwatt.core.errors import ArgumentError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Flow, Level
from warpwatt.emulate.analysis import PTX_INSTEAD, analyse_launch
from warpwatt.emulate.missing import complete
from warpwatt.emulate.workload import STAND_IN
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import find
from warpwatt.models.registry import DEFAULT_TIME
from warpwatt.program.binding import bind

if TYPE_CHECKING:
    from pathlib import Path

    from warpwatt.core.execution import Execution
    from warpwatt.core.program import Kernel
    from warpwatt.program.binding import BoundLaunch

pytestmark = pytest.mark.toolchain
LAUNCH = Launch(Dim3(8), Dim3(128), arguments={"x": Buffer(DType.F32, (1024,))})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "k.cu"
    file.write_text(
        'extern "C" __global__ void k(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }'
    )
    return file


def assumptions(kernel: Kernel) -> set[str]:
    return {assumption.parameter for assumption in analyse_launch(kernel, LAUNCH).assumptions}


def test_machine_code_comes_first(source: Path):
    assert analyse_launch(load_kernel(source, "sm_90"), LAUNCH).program.level is Level.SASS


@pytest.mark.parametrize(("target", "assumed"), [("sm_61", True), ("sm_75", False), ("sm_90", False)])
def test_only_a_relatives_machine_code_is_noted(source: Path, target: str, assumed: bool):
    assert (STAND_IN in assumptions(load_kernel(source, target))) == assumed


def test_machine_code_that_cannot_be_followed_is_noted(source: Path):
    kernel = load_kernel(source, "sm_90")
    assert kernel.sass is not None
    jump = replace(kernel.sass.instructions[1], opcode="BRX", flow=Flow.JUMP)
    code = (kernel.sass.instructions[0], jump, *kernel.sass.instructions[2:])
    without = replace(kernel, sass=replace(kernel.sass, instructions=code))
    assert (assumptions(kernel), assumptions(without)) == (set(), {PTX_INSTEAD})


def test_a_relatives_machine_code_widens_the_interval(source: Path):
    old, new = find("gtx 1080"), find("t4")
    widths = []
    for gpu in (old, new):
        time = predict(load_kernel(source, gpu.target), LAUNCH, gpu).time
        widths.append(time.high / time.low)
    assert widths[0] > 1.05 * widths[1]


def test_without_machine_code_the_default_model_says_what_the_roofline_says(source: Path):
    kernel, gpu = load_kernel(source, "sm_90"), find("h200")
    by_default = predict(kernel, LAUNCH, gpu, choice=Choice(level=Level.PTX))
    roofline = predict(kernel, LAUNCH, gpu, choice=Choice(time="roofline", level=Level.PTX))
    assert by_default.time.value == roofline.time.value
    assert by_default.timing.model == "roofline"
    assert any("roofline" in warning for warning in by_default.warnings)
    assert predict(kernel, LAUNCH, gpu).timing.model == DEFAULT_TIME


@pytest.mark.parametrize("left_out", ["x", "factor", "x factor"])
def test_what_decides_nothing_may_be_left_out(tmp_path: Path, left_out: str):
    file = tmp_path / "k.cu"
    file.write_text(
        "__global__ void k(double* x, float factor) { x[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }"
    )
    kernel = load_kernel(file, "sm_90")
    given: dict[str, Argument] = {"x": Buffer(DType.F64, (1024,)), "factor": Scalar(2.0)}
    whole = analyse_launch(kernel, replace(LAUNCH, arguments=given))
    some = {name: value for name, value in given.items() if name not in left_out.split()}
    found = analyse_launch(kernel, replace(LAUNCH, arguments=some))
    assert found.counts == whole.counts
    assert found.accesses == whole.accesses
    assert [a.message.partition(" not given")[0] for a in found.assumptions] == [
        {"x": "buffer x (f64) is", "factor": "factor is"}[name] for name in left_out.split()
    ]


def test_what_decides_a_branch_may_not_be_left_out(tmp_path: Path):
    file = tmp_path / "k.cu"
    file.write_text("__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }")
    with pytest.raises(ArgumentError, match="'n'"):
        analyse_launch(load_kernel(file, "sm_90"), replace(LAUNCH, arguments={}))


def test_what_the_program_never_names_needs_no_analysis(tmp_path: Path):
    """A parameter that nobody reads is any number; one that is read, if only to be stored, is looked into."""
    file = tmp_path / "k.cu"
    file.write_text("__global__ void k(float* x, float* unread, float value) { x[threadIdx.x] = value; }")
    program = load_kernel(file, "sm_90").ptx
    assert program is not None

    def counted() -> Execution:
        raise NotImplementedError

    def left_out(*names: str) -> BoundLaunch:
        given: dict[str, Argument] = {
            "x": Buffer(DType.F32, (128,)),
            "unread": Buffer(DType.F32, (128,)),
            "value": Scalar(1.0),
        }
        some = {name: value for name, value in given.items() if name not in names}
        return bind(program, replace(LAUNCH, arguments=some))

    launch, assumptions = complete(left_out("unread"), counted)
    assert launch.arguments["unread"] == Scalar(1)
    assert [a.message for a in assumptions] == [
        "unread is not given: 1 is taken; no branch and no address depends on it"
    ]
    for names in (("x",), ("value",), ("unread", "value")):
        with pytest.raises(NotImplementedError):
            complete(left_out(*names), counted)
