"""Several inputs and applications in one sweep, and the pieces that workers take."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sweep.sweeps import LAUNCH, SOURCE, STREAM, small_sweep
from warpwatt.choose.memory import buffer_bytes
from warpwatt.compose import Choice, predict
from warpwatt.core.gpu import Clocks
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find_many
from warpwatt.jobs.application import predict_application
from warpwatt.request.applications import load_application
from warpwatt.sweep.clocks import Asked
from warpwatt.sweep.configurations import Configuration, configurations
from warpwatt.sweep.rows import Range
from warpwatt.sweep.run import run
from warpwatt.sweep.tasks import Task, application_task, kernel_tasks
from warpwatt.sweep.units import MOST_GROUPS, size, units

APPLICATION = """
name = "two"
[[step]]
copy = "h2d"
bytes = 400000
[[step]]
name = "go"
source = "stream.cu"
grid = 391
block = 256
repeats = 3
args = { n = 100000, x = "f32[n]", y = "f32[n]:zeros" }
"""


@pytest.fixture
def application(tmp_path):
    (tmp_path / "stream.cu").write_text(STREAM)
    file = tmp_path / "app.toml"
    file.write_text(APPLICATION)
    return file


@pytest.mark.toolchain
def test_an_applications_row_is_what_predict_says(application):
    task = application_task(application)
    sweep = small_sweep(configurations=(Configuration(),), choice=Choice(time="roofline"))
    sweep = replace(sweep, tasks=(*sweep.tasks, task))
    (application.parent / "stream.cu").unlink()  # the sweep holds what it needs
    rows = [row for row in run(sweep) if row.kernel == "two"]
    assert len(rows) == 2 * 3
    kernel = load_kernel(SOURCE, "sm_80", CompileOptions())
    application.parent.joinpath("stream.cu").write_text(STREAM)
    gpus = {gpu.name: gpu for gpu in sweep.gpus}
    for row, asked in zip(rows, sweep.clocks * 2, strict=True):
        assert row.error == ""
        clocks = None
        if asked is not None:
            clocks = Clocks(asked.sm, asked.memory or gpus[row.gpu].memory_clock)
        whole = predict_application(
            load_application(application),
            gpus[row.gpu],
            lambda node, gpu, clocks=clocks: predict(
                kernel, node.launch, gpu, clocks=clocks, choice=sweep.choice
            ),
        )
        assert row.time == Range.of(whole.time)
        assert row.energy == Range.of(whole.energy)
        assert row.power.value == pytest.approx(whole.energy.value / whole.time.value)
        assert row.limited_by.startswith("go: ") or row.limited_by == "step 1"


def test_buffers_of_one_launch_count_together(application):
    assert buffer_bytes(application_task(application)) == 2 * 400_000
    assert buffer_bytes(Task(SOURCE, LAUNCH)) == 2 * 400_000
    assert buffer_bytes(Task(SOURCE, replace(LAUNCH, arg=("x=f32[n]",)))) == 0  # its row says what is wrong


def test_every_value_is_a_task_and_its_scalars_are_said():
    tasks = kernel_tasks(SOURCE, (replace(LAUNCH, arg=("n=8/16", "a=0.5", "x=f32[n]")),))
    assert [task.scalars for task in tasks] == [(("n", "8"), ("a", "0.5")), (("n", "16"), ("a", "0.5"))]


@settings(max_examples=30)
@given(
    launches=st.integers(1, 40),
    clocks=st.integers(1, 5),
    workers=st.integers(1, 9),
    done=st.sets(st.integers(0, 200)),
)
def test_units_are_every_point_that_is_left_once(launches, clocks, workers, done):
    sweep = small_sweep(
        launches=(replace(LAUNCH, arg=("n=" + "/".join(map(str, range(1, launches + 1))),)),),
        gpus=find_many("a100-pcie-40gb,a30,t4"),
        configurations=configurations(["WIDTH=1,2"]),
        clocks=tuple(Asked(1e9 + i) for i in range(clocks)),
    )
    found = list(units(sweep, done, workers))
    numbers = [number for unit in found for part in unit for number in part.numbers]
    assert sorted(numbers) == sorted(set(range(sweep.numbers)) - done)
    assert len(numbers) == sum(map(size, found))
    for unit in found:
        assert len(unit) <= MOST_GROUPS
        assert len({(part.group.configuration, part.group.target) for part in unit}) == 1
