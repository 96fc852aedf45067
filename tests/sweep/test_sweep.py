"""A sweep says what ``predict`` says, point by point, and gives reasons where it cannot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.sweep.sweeps import LAUNCH, SOURCE, small_sweep
from warpwatt.compose import Choice, predict
from warpwatt.core.gpu import Clocks
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find_many
from warpwatt.sweep.clocks import Asked
from warpwatt.sweep.configurations import configurations
from warpwatt.sweep.rows import Range
from warpwatt.sweep.run import run

pytestmark = pytest.mark.toolchain


@pytest.mark.parametrize("model", ["pipeline", "roofline"])
def test_every_row_is_what_predict_says(model):
    sweep = small_sweep(choice=Choice(time=model))
    rows = list(run(sweep))
    assert [row.number for row in rows] == sorted({row.number for row in rows})
    assert len(rows) == len(sweep) == 2 * 2 * 2 * 3
    wanted = iter(rows)
    for configuration in sweep.configurations:
        defines = tuple(f"{name}={value}" for name, value in configuration.defines)
        kernel = load_kernel(SOURCE, "sm_80", CompileOptions(defines=defines))
        launch = configuration.request(LAUNCH).launch
        for gpu in sweep.gpus:
            for asked in sweep.clocks:
                clocks = Clocks(asked.sm, asked.memory or gpu.memory_clock) if asked is not None else None
                found = predict(kernel, launch, gpu, clocks=clocks, choice=sweep.choice)
                row = next(wanted)
                assert (row.gpu, row.defines, row.block) == (
                    gpu.name,
                    configuration.defines,
                    str(launch.block),
                )
                assert (row.sm_clock, row.memory_clock) == (found.case.clocks.sm, found.case.clocks.memory)
                assert row.time == Range.of(found.time)
                assert row.power == Range.of(found.power)
                assert row.energy == Range.of(found.energy)
                assert row.limited_by == found.timing.bottleneck
                assert row.registers == kernel.resources.registers


def test_rows_that_are_done_are_not_done_again():
    sweep = small_sweep()
    first = list(run(sweep))
    done = {row.number for row in first[::2]}
    assert list(run(sweep, done)) == first[1::2]


def test_a_configuration_that_fails_says_why_and_the_others_go_on():
    sweep = small_sweep(configurations=configurations(["WIDTH=3,1"], blocks=["256", "2048", "0", "bx*q"]))
    rows = list(run(sweep))
    assert len(rows) == len(sweep)
    by_block = {(dict(row.defines)["WIDTH"], row.block.split(",")[0]): row for row in rows}
    assert "too wide" in by_block["3", "256"].error
    assert "2048 threads" in by_block["1", "2048"].error
    assert "at least 1" in by_block["1", "0"].error
    assert "no number is called" in by_block["1", "bx*q"].error
    assert by_block["1", "256"].error == ""


def test_a_model_that_breaks_is_an_internal_error_of_its_rows(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("warpwatt.sweep.run.LaunchModels.settle", broken)
    rows = list(run(small_sweep()))
    assert {row.error for row in rows} == {"internal error: ZeroDivisionError('oops')"}


def test_ranges_end_at_each_boost_clock():
    gpus = find_many("h200,a100-pcie-40gb")
    sweep = small_sweep(gpus=gpus, clocks=tuple(Asked(m * 1e6, ranged=True) for m in (1200, 1410, 1800)))
    rows = [row for group in sweep.groups() for row in sweep.rows(group)]
    assert len(rows) == len(sweep)
    assert {row.sm_clock for row in rows if row.gpu == gpus[1].name} == {1.2e9, 1.41e9}
    assert len({row.number for row in rows}) == len(rows)


def test_a_clock_the_power_limit_will_not_let_stand_is_marked(monkeypatch):
    (gpu,) = find_many("a100-pcie-40gb")
    weak = replace(gpu, power_limit=60.0)
    sweep = small_sweep(gpus=(weak,), clocks=(Asked(1.41e9), Asked(0.3e9)))
    rows = list(run(sweep))
    assert [row.at_power_limit for row in rows[:2]] == [True, False] or rows[1].at_power_limit
    assert rows[0].at_power_limit
