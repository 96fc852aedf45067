"""Recommendations: the best allowed point, offered clocks only, savings from shared draws."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.sweep.sweeps import LAUNCH, small_sweep
from warpwatt.choose import margin as margins
from warpwatt.choose.margin import slowdown_margin
from warpwatt.choose.recommend import MOST_RISK, TIE, TOLERANCE, choices, recommend
from warpwatt.core.errors import InputError
from warpwatt.gpus import find, find_many
from warpwatt.sweep.clocks import Asked, candidates, offered_clocks, parse_range
from warpwatt.sweep.configurations import Configuration, configurations
from warpwatt.sweep.rows import objective
from warpwatt.sweep.run import run

LARGE = replace(LAUNCH, arg=("n=50000000", "x=f32[n]", "y=f32[n]:zeros"))
ONE = (Configuration((("WIDTH", "1"),)),)
A100 = find("a100-pcie-40gb")


@pytest.fixture(scope="module")
def clocks():
    """The choice among all clocks of one GPU, and its rows."""
    sweep = choices(small_sweep(configurations=ONE, clocks=(None,), gpus=(A100,), launches=(LARGE,)))
    return sweep, list(run(sweep))


@pytest.mark.toolchain
@pytest.mark.parametrize("goal", ["time", "energy", "edp"])
def test_nothing_allowed_is_better(clocks, goal):
    sweep, rows = clocks
    top = max((row.sm_clock, row.time.value) for row in rows)
    power = {"time": 0, "energy": 1, "edp": 2}[goal]
    margin = {row.number: slowdown_margin((row.sm_clock, row.time.value), top) for row in rows}

    def cost(row):
        return objective(row, goal) * margin[row.number] ** power

    for limit in (None, 0.0, 0.05, 0.5):
        (found,) = recommend(sweep, rows, goal, limit)
        assert found.baseline == rows[0]
        most_time = float("inf") if limit is None else rows[0].time.value * margin[0] * (1 + limit)
        allowed = [r for r in rows if r.time.value * margin[r.number] <= most_time * (1 + TOLERANCE)]
        most = min(map(cost, allowed)) * (1 + (0 if goal == "time" else TIE) + 1e-9)
        assert cost(found.chosen) <= most
        if goal != "time":
            ties = [row for row in allowed if cost(row) <= most]
            assert found.chosen.sm_clock == max(row.sm_clock for row in ties)
        if limit is not None:
            assert found.slowdown.value <= limit + 1e-6


@pytest.mark.toolchain
def test_a_kernel_bound_by_memory_may_slow_down_a_little_more_than_predicted(clocks, monkeypatch):
    """The clock advised wastes next to nothing if the prediction is right, and less than the least if not."""
    sweep, rows = clocks
    (found,) = recommend(sweep, rows, "energy")
    monkeypatch.setattr(margins, "MARGIN", 0.0)
    (trusting,) = recommend(sweep, rows, "energy")
    least = min(rows, key=lambda row: row.energy.value)
    top = rows[0].sm_clock

    def joules(row, exponent):
        return row.energy.value * (top / row.sm_clock) ** exponent

    assert found.chosen.sm_clock > trusting.chosen.sm_clock
    assert found.chosen.sm_clock > least.sm_clock
    assert joules(found.chosen, 0.0) < 1.06 * joules(least, 0.0)
    assert joules(found.chosen, 0.27) < joules(least, 0.27)


@pytest.mark.toolchain
def test_energy_is_saved_at_a_lower_offered_clock(clocks):
    sweep, rows = clocks
    (found,) = recommend(sweep, rows, "energy", 0.2)
    assert found.chosen.sm_clock < found.baseline.sm_clock
    assert found.chosen.sm_clock in offered_clocks(A100)
    assert found.commands == (
        f"nvidia-smi -lgc {found.chosen.sm_clock / 1e6:.0f},{found.chosen.sm_clock / 1e6:.0f}",
        "nvidia-smi -rgc",
    )
    saved = 1 - found.chosen.energy.value / found.baseline.energy.value
    assert found.energy_saving.value == pytest.approx(saved)
    assert found.energy_saving.low <= saved <= found.energy_saving.high


@pytest.mark.toolchain
def test_it_says_how_likely_a_loss_is(clocks):
    sweep, rows = clocks
    (found,) = recommend(sweep, rows, "energy", 0.2)
    assert found.voltage_read
    assert 0.0 <= found.loss < 0.2
    (none,) = recommend(sweep, rows[:1], "energy")
    assert none.loss == 0.0


@pytest.mark.toolchain
def test_where_voltages_were_not_read_only_clocks_that_surely_pay_are_advised(clocks):
    unread = replace(A100, die="GA1xx", arch="no such")
    sweep = choices(small_sweep(configurations=ONE, clocks=(None,), gpus=(unread,), launches=(LARGE,)))
    (careful,) = recommend(sweep, list(run(sweep)), "energy", 0.5)
    assert not careful.voltage_read
    assert careful.chosen == careful.baseline or careful.loss <= MOST_RISK


@pytest.mark.toolchain
def test_what_both_share_cancels(clocks):
    """The saving is surer than the energies: both have the same model errors, but for what the clock adds."""
    sweep, rows = clocks
    (found,) = recommend(sweep, rows, "energy", 0.2)
    alone = found.baseline.energy
    width = (alone.high - alone.low) / alone.value
    assert found.energy_saving.high - found.energy_saving.low < 0.7 * width


@pytest.mark.toolchain
def test_clocks_beyond_the_power_limit_are_no_choice():
    weak = replace(A100, power_limit=90.0)
    sweep = choices(small_sweep(configurations=ONE, clocks=(None,), gpus=(weak,), launches=(LARGE,)))
    rows = list(run(sweep))
    (found,) = recommend(sweep, rows, "time")
    assert any(row.clocks_fixed and row.at_power_limit for row in rows)
    assert not (found.chosen.clocks_fixed and found.chosen.at_power_limit)


@pytest.mark.toolchain
def test_configurations_and_gpus_are_ranked():
    sweep = choices(
        small_sweep(configurations=configurations(["WIDTH=2,1"], blocks=["32", "256"]), clocks=(None,))
    )
    assert sweep.clocks == (None,)
    rows = list(run(sweep))
    found = recommend(sweep, rows, "time")
    assert [one.baseline.number for one in sorted(found, key=lambda one: one.baseline.number)] == [0, 1]
    for one in found:
        own = [row for row in rows if row.gpu == one.chosen.gpu]
        assert one.chosen.time.value == pytest.approx(min(row.time.value for row in own))
        assert one.commands == ()
    assert found[0].chosen.time.value <= found[1].chosen.time.value


@pytest.mark.toolchain
def test_without_a_baseline_there_is_no_advice():
    sweep = choices(small_sweep(configurations=configurations(["WIDTH=3"]), clocks=(None,)))
    assert recommend(sweep, list(run(sweep)), "time") == ()


def test_candidates_are_the_offered_clocks_next_to_those_asked_for():
    offered = offered_clocks(A100)
    assert [asked.sm for asked in candidates(A100)] == list(offered)
    near = candidates(A100, [None, Asked(1.001e9), Asked(1.002e9), Asked(9e8, 1e9), Asked(9e9, ranged=True)])
    assert near == (Asked(1.005e9, only=A100.name), Asked(9e8, 1e9, only=A100.name))


def test_every_gpu_offers_clocks_up_to_its_boost_clock():
    for gpu in find_many("all"):
        offered = offered_clocks(gpu)
        assert offered[-1] == gpu.boost_clock
        assert list(offered) == sorted(set(offered))
        assert offered[0] > 0


@pytest.mark.parametrize(
    "text", ["", "x", "1:2", "500:400:10", "500:600:0", "500:600:-5", "20", "500,1", "1:2:3:4"]
)
def test_bad_clocks_are_refused(text):
    with pytest.raises(InputError):
        parse_range(text)
