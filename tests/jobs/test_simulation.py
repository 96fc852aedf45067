"""Job lists: first come first served against a simulation by the tick of a clock, energy by hand, SimGrid."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.jobs.conftest import HERE, no_kernels, platform_of
from warpwatt.core.errors import InputError, ToolchainError
from warpwatt.jobs.hosts import Host, State
from warpwatt.jobs.jobs import Fixed, Job
from warpwatt.jobs.schedule import Piece, Place, list_schedule
from warpwatt.jobs.simulation import hosts, simulate, tasks
from warpwatt.published.boughzala import Form, Sample, fit, simgrid
from warpwatt.published.boughzala.platform_file import block_state

KINDS = ("a", "b")
jobs_of_ticks = st.lists(
    st.tuples(
        st.integers(0, 20),  # arrival
        st.dictionaries(st.sampled_from(KINDS), st.integers(1, 9), min_size=1),  # ticks by kind
    ),
    min_size=1,
    max_size=8,
)


def by_the_clock(jobs, kinds):
    """Return (start, device) of each job: at every tick, jobs in order take a free GPU that may run them.

    Of several, the one that ends first, then the first named; what :class:`Place.START` says.
    """
    order = sorted(range(len(jobs)), key=lambda i: jobs[i][0])
    free_at, found, tick = [0] * len(kinds), {}, 0
    while len(found) < len(jobs):
        for i in order:
            arrival, ticks = jobs[i]
            if i in found or arrival > tick:
                continue
            free = [d for d, kind in enumerate(kinds) if kind in ticks and free_at[d] <= tick]
            if free:
                device = min(free, key=lambda d: (ticks[kinds[d]], d))
                found[i] = tick, device
                free_at[device] = tick + ticks[kinds[device]]
        tick += 1
    return [found[i] for i in order]


@given(jobs_of_ticks, st.lists(st.sampled_from(KINDS), max_size=3))
def test_first_come_first_served_is_what_a_clock_would_do(jobs, more):
    kinds = [*KINDS, *more]
    pieces = [Piece(i, float(arrival)) for i, (arrival, _) in enumerate(jobs)]
    seconds = [{kind: float(n) for kind, n in ticks.items()} for _, ticks in jobs]
    runs = list_schedule(pieces, seconds, seconds, kinds)
    assert [(run.start, run.device) for run in runs] == by_the_clock(jobs, kinds)


@given(jobs_of_ticks, st.sampled_from(Place))
def test_no_gpu_does_two_things_at_once_and_nothing_starts_before_it_arrives(jobs, place):
    pieces = [Piece(i, float(arrival)) for i, (arrival, _) in enumerate(jobs)]
    seconds = [{kind: float(n) for kind, n in ticks.items()} for _, ticks in jobs]
    runs = list_schedule(pieces, seconds, seconds, KINDS, place)
    assert all(run.start >= run.piece.arrival for run in runs)
    for device in range(len(KINDS)):
        own = sorted((run.start, run.end) for run in runs if run.device == device)
        assert all(end <= start for (_, end), (start, _) in pairwise(own))


def test_places_differ():
    seconds, joules = [{"a": 4.0, "b": 5.0}], [{"a": 9.0, "b": 1.0}]
    pieces = [Piece(0, 0.0)] * 2
    chosen = {p: [r.device for r in list_schedule(pieces, seconds, joules, "ab", p)] for p in Place}
    assert chosen == {Place.START: [0, 1], Place.FINISH: [0, 1], Place.ENERGY: [1, 1]}


def test_energy_by_hand():
    jobs = [Job("long", Fixed(10.0, 300.0)), Job("late", Fixed(2.0, 200.0), count=2, arrival=1.0, every=3.0)]
    found = simulate(jobs, platform_of("h200", "h200", host=100.0), no_kernels)
    assert found.time.value == 10.0
    assert found.energies.work == 3000.0 + 2 * 400.0
    assert found.energies.idle == pytest.approx(50.0 * (10.0 - 4.0))
    assert found.energies.hosts == 1000.0
    assert found.energy.value == pytest.approx(5100.0)
    assert found.waiting == 0.0
    assert [found.busy(device) for device in (0, 1)] == [10.0, 4.0]


def test_a_job_that_no_gpu_may_run_is_named():
    with pytest.raises(InputError, match="picky: no GPU") as caught:
        simulate([Job("picky", Fixed(1.0, 1.0), gpus=("Tesla T4",))], platform_of("h200"), no_kernels)
    assert "H200" in caught.value.hint


def test_the_constraint_holds():
    jobs = [Job("any", Fixed(1.0, 100.0), count=4), Job("t4", Fixed(1.0, 100.0), gpus=("Tesla T4",))]
    found = simulate(jobs, platform_of("h200", "t4"), no_kernels)
    assert {run.device for run in found.runs if run.piece.job == 1} == {1}


def test_figure_3_in_simgrid(needs_simgrid):
    found = simgrid.run([Host("GPU", (State(3413.0, 29.4, 153.65),), 10.0)], {"GPU": [(0.0, 0, 3413.0, 5)]})
    assert found.time == pytest.approx(5.0, rel=1e-9)
    assert found.energy == pytest.approx(768.25, rel=1e-9)


def test_rounds_in_simgrid_are_the_closed_form(needs_simgrid):
    runs = [Sample(14 * n, 0.3 * n, 153.65) for n in (1, 2, 10)]
    model = fit(runs, 14, 29.4, Form.ROUNDS)
    for blocks in (1, 14, 15, 1000):
        work = [(0.0, 0, 14.0 * 1024, model.rounds(blocks))]
        found = simgrid.run([Host("GPU", (block_state(model, 1024),))], {"GPU": work})
        assert found.time == pytest.approx(model.time(blocks), rel=1e-9)
        assert found.energy == pytest.approx(model.energy(blocks), rel=1e-9)


listed = st.lists(
    st.builds(
        Job,
        name=st.just("job"),
        work=st.builds(Fixed, st.floats(1e-3, 50), st.floats(10, 700)),
        count=st.integers(1, 3),
        arrival=st.floats(0, 20),
        every=st.floats(0, 5),
        gpus=st.sampled_from(((), (), ("Tesla T4",))),
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.skipif(not HERE, reason="SimGrid is not installed: " + simgrid.HOW)
@settings(max_examples=10)
@given(listed)
def test_simgrid_agrees_on_job_lists(jobs):
    ours = simulate(jobs, platform_of("h200", "t4", "t4", host=120.0, idle=33.0), no_kernels)
    found = simgrid.run(hosts(ours), tasks(ours))
    assert found.time == pytest.approx(ours.time.value, rel=1e-9)
    assert found.energy == pytest.approx(ours.energy.value, rel=1e-9)
    ends = sorted(end for ends in found.ends.values() for end in ends)
    assert ends == pytest.approx(sorted(run.end for run in ours.runs), rel=1e-9)


def test_without_simgrid_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(simgrid, "interpreter", lambda: None)
    with pytest.raises(ToolchainError) as caught:
        simgrid.run([], {})
    assert caught.value.exit_code == 3
    assert "apt-get install python3-simgrid" in caught.value.hint


def test_a_named_python_without_simgrid_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv(simgrid.VARIABLE, str(tmp_path / "nothing"))
    assert simgrid.interpreter.__wrapped__() is None
