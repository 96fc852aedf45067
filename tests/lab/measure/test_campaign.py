"""Campaigns: order, budget, failures, resuming, and twenty kills without a lost or doubled row."""

from __future__ import annotations

import csv
import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from dataclasses import replace

import pytest

from warpwatt.core.errors import DeviceError, InputError
from warpwatt.lab.measure.campaign import Campaign, plan
from warpwatt.lab.measure.choice import PointChoice
from warpwatt.lab.measure.columns import FILES
from warpwatt.lab.measure.corpus import Corpus
from warpwatt.lab.measure.device import DeviceLostError
from warpwatt.lab.measure.points import points
from warpwatt.lab.measure.protocol import Settings
from warpwatt.lab.measure.results import read
from warpwatt.lab.measure.runner import Options, run
from warpwatt.lab.measure.simulated import Behaviour
from warpwatt.lab.measure.supervisor import supervise
from warpwatt.lab.measure.supply import Order, Supply, scratch_folder

from .conftest import ADD, add_manifest, write_program

PROGRAMS = PointChoice(("time", "power"))
POINTS = 9 + 6 + 6
"""Three programs of three sizes: times; power without the tiny ones, with random data and with zeros."""


@pytest.fixture
def options(corpus_folder, tmp_path):
    return Options(corpus_folder, tmp_path / "out", behaviour=Behaviour(), choice=PROGRAMS)


def rows(options, name):
    file = options.output / "simulated-gpu" / f"{name}.csv"
    return read(file, FILES[name]) if file.exists() else []


def content(options):
    """All rows but their dates; floats rounded, since virtual time rounds by how late it is."""
    return {
        name: [
            {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in row.items() if k != "date"}
            for row in rows(options, name)
        ]
        for name in FILES
    }


def keys(options):
    return Counter(
        (name, row["program"], row["size"], row["data"], row["launch"])
        for name in FILES
        for row in rows(options, name)
    )


def test_everything_is_measured_once(options):
    outcome = run(options)
    assert (outcome.statuses, outcome.left, outcome.out_of_time) == (Counter(ok=POINTS), 0, False)
    assert len(rows(options, "time_cold")) == len(rows(options, "time_warm")) == 2 * 3 + 3 * 2
    assert len(rows(options, "power")) == 12
    assert set(keys(options).values()) == {1}
    again = run(options)
    assert (again.statuses.total(), again.left) == (0, 0)
    assert set(keys(options).values()) == {1}


def test_the_most_valuable_come_first_in_an_order_of_the_seed(corpus):
    planned = plan(points(corpus, 90), seed=3)
    values = [point.rank for point in planned]
    assert values == sorted(values)
    assert planned == plan(points(corpus, 90), seed=3) != plan(points(corpus, 90), seed=4)
    labels = [point.label for point in planned]
    assert sorted(labels) == sorted(point.label for point in plan(points(corpus, 90), seed=4))
    assert labels[0].startswith("time ")
    assert not labels[0].endswith("tiny")
    assert labels[-1].endswith("zeros")
    chosen = PointChoice(only=("time add*large", "power two/small"))
    taken = {point.label for point in points(corpus, 90) if chosen.takes(point.label)}
    assert taken == {"time add/large", "power two/small", "power two/small/zeros"}


def test_programs_beyond_the_target_are_left_out(corpus):
    newer = Corpus(replace(program, least_target="sm_90") for program in corpus)
    assert not points(newer, 80)
    assert points(newer, 90)


@pytest.mark.parametrize("budget", [0.0, 3.0, 17.0, 60.0])
def test_budget_is_not_overrun_and_the_rest_follows(options, budget):
    outcome = run(replace(options, budget=budget))
    assert outcome.seconds <= budget
    done = outcome.statuses.total()
    assert (done, outcome.out_of_time) == (POINTS - outcome.left, True)
    assert (done > 0) == (budget > 10)
    rest = run(options)
    assert rest.statuses.total() == outcome.left
    assert set(keys(options).values()) == {1}


def test_estimates_come_from_what_was_seen(make_bench, corpus, files):
    bench = make_bench(Behaviour(seconds=_slow))
    campaign = Campaign(bench, files, Supply(0))
    planned = [
        point for point in points(corpus, 90) if point.label.startswith("time") and "large" in point.label
    ]
    assert campaign.estimates.seconds(planned[0]) == pytest.approx(1.3 * planned[0].guess)
    campaign.run(planned[:1])
    assert campaign.estimates.seconds(planned[1]) > 10
    outcome = campaign.run(planned, budget=5.0)
    assert (outcome.statuses.total(), outcome.left) == (0, 2)


def _slow(kernel, launch):
    del kernel, launch
    return 0.2


def test_failures_are_rows_and_the_rest_goes_on(options):
    behaviour = Behaviour(refused=frozenset({"first"}), wrong=frozenset({"add"}))
    outcome = run(replace(options, behaviour=behaviour))
    assert outcome.statuses == Counter(ok=7, wrong=7, failed=7)
    by_program = {(row["program"], row["status"]) for row in rows(options, "time_warm")}
    assert by_program == {("add", "wrong"), ("set", "ok"), ("two", "failed")}
    failed = [row for row in rows(options, "time_warm") if row["status"] == "failed"]
    assert len(failed) == 6
    assert {(row["time_s"], row["note"]) for row in failed} == {(None, "launch of first refused")}
    redone = run(replace(options, redo=("failed",)))
    assert redone.statuses == Counter(ok=7)
    assert set(keys(options).values()) == {1}
    assert len(keys(options)) == 36


def test_broken_reference_is_a_failure(tmp_path):
    write_program(tmp_path / "c" / "map_reduce", "add", ADD, add_manifest(), "1 / 0")
    for workers in (0, 1):
        options = Options(
            tmp_path / "c",
            tmp_path / f"out{workers}",
            behaviour=Behaviour(),
            workers=workers,
            choice=PROGRAMS,
        )
        outcome = run(replace(options, choice=PointChoice(("time",), ("large",))))
        assert outcome.statuses == Counter(failed=1)
        assert "division by zero" in rows(options, "time_cold")[0]["note"]


def test_workers_make_the_same_jobs(corpus):
    orders = [
        Order(corpus.program(name), "small", data) for name in ("add", "two") for data in ("random", "zeros")
    ]
    with Supply(0) as alone, Supply(2) as many:
        here = dict(alone.jobs([*orders, None]))
        there = dict(many.jobs([*orders, None]))
    assert here.keys() == there.keys() == set(range(5))
    assert here[4] is there[4] is None
    for index in range(4):
        for part in ("inputs", "wanted"):
            first, second = getattr(here[index], part), getattr(there[index], part)
            assert first.keys() == second.keys()
            assert all((first[name] == second[name]).all() for name in first if name != "n")
        assert here[index].inputs["n"] == there[index].inputs["n"]
        assert type(there[index].inputs["n"]) is int


def test_left_folders_of_dead_processes_are_removed(monkeypatch, tmp_path):
    monkeypatch.setattr("warpwatt.lab.measure.supply.SHARED_MEMORY", tmp_path / "none")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead = multiprocessing.get_context("fork").Process(target=int)
    dead.start()
    dead.join()
    (tmp_path / f"warpwatt-measure-{dead.pid}-x").mkdir()
    (tmp_path / f"warpwatt-measure-{os.getppid()}-x").mkdir()
    with scratch_folder() as folder:
        left = sorted(path.name.split("-")[2] for path in tmp_path.iterdir())
        assert left == sorted([str(os.getppid()), str(os.getpid())])
    assert not os.path.exists(folder)  # noqa: PTH110 - a text


def test_lost_device_leaves_the_point_to_the_supervisor(options):
    with pytest.raises(DeviceLostError):
        run(
            replace(
                options, behaviour=Behaviour(lost=frozenset({"add"})), choice=PointChoice(("time",), ("add",))
            )
        )
    assert rows(options, "time_cold") == []


def test_supervisor_goes_on_behind_points_that_lose_the_device_or_hang(options):
    behaviour = Behaviour(lost=frozenset({"add"}), hanging=frozenset({"first"}))
    short = replace(
        options,
        behaviour=behaviour,
        choice=PointChoice(("time",), ("small",)),
        settings=Settings(hang=2.0, patience=0.0),
        redo=("failed",),
    )
    outcome = supervise(short)
    assert outcome.statuses == Counter(ok=1, failed=1, hung=1)
    assert outcome.left == 0
    seen = {row["program"]: row for row in rows(options, "time_warm")}
    assert (seen["add"]["status"], seen["add"]["note"]) == ("failed", "illegal address in add")
    assert (seen["two"]["status"], seen["set"]["status"]) == ("hung", "ok")
    assert set(keys_of(options, ("time_cold", "time_warm")).values()) == {1}


def keys_of(options, names):
    return Counter(
        (name, row["program"], row["size"], row["launch"]) for name in names for row in rows(options, name)
    )


def test_supervisor_passes_errors_on(options, tmp_path):
    with pytest.raises(InputError, match="no prepared"):
        supervise(replace(options, prepared=tmp_path / "nowhere"))


def test_supervisor_gives_up_where_everything_loses_the_device(options, monkeypatch):
    monkeypatch.setattr("warpwatt.lab.measure.supervisor.MAX_LOSSES", 2)
    behaviour = Behaviour(lost=frozenset({"add", "set", "first"}))
    with pytest.raises(DeviceError, match="2 points"):
        supervise(replace(options, behaviour=behaviour, choice=PointChoice(("time",))))


def test_twenty_kills_lose_and_double_nothing(options):
    """Kill a campaign at random moments; what is there in the end is what an undisturbed one leaves."""
    slow = replace(options, behaviour=Behaviour(real_seconds=0.03, noise=0.0))
    context = multiprocessing.get_context("fork")
    moments, kills, seen, patience = random.Random(7), 0, 0, 1.0
    while kills < 20:
        child = context.Process(target=run, args=(slow,))
        child.start()
        time.sleep(moments.uniform(0.01, 0.12) * patience)
        if child.is_alive():
            os.kill(child.pid, signal.SIGKILL)
            kills += 1
        child.join()
        counts = keys(options)
        assert set(counts.values()) <= {1}
        assert len(counts) >= seen
        patience *= 1.0 if counts else 1.3  # a busy machine gets nowhere in so short a time
        seen = len(counts)
    assert seen > 0
    run(slow)
    undisturbed = replace(slow, output=options.output.parent / "undisturbed")
    run(undisturbed)
    assert content(options) == content(undisturbed)
    assert set(keys(options).values()) == {1}
    with (options.output / "simulated-gpu" / "power.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 13
