"""Applications: schedules against a second implementation, totals against hand computation."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.application import Application, CopyKind, CopyNode, KernelNode
from warpwatt.core.errors import InputError
from warpwatt.core.estimate import Estimate
from warpwatt.core.launch import Dim3, Launch
from warpwatt.gpus import find
from warpwatt.jobs.application import _Job, predict_application, schedule
from warpwatt.request.applications import load_application

LAUNCH = Launch(Dim3(1), Dim3(32))


def kernel(name, stream="default", after=(), repeats=1, children=()):
    return KernelNode(name, Path("k.cu"), None, LAUNCH, (), stream, repeats, tuple(after), tuple(children))


def fake_predictor(seconds, joules):
    def predictor(node, gpu):
        return SimpleNamespace(time=Estimate.exact(seconds, "s"), energy=Estimate.exact(joules, "J"))

    return predictor


def longest_path(jobs, durations):
    """Makespan by relaxation over all precedence edges, until nothing changes."""
    n = len(jobs)
    start = [0.0] * n
    for _ in range(n):
        for j in range(n):
            for i in range(j):
                ordered = (
                    jobs[i].node.stream == jobs[j].node.stream
                    or jobs[i].engine == jobs[j].engine
                    or jobs[i].node.name in jobs[j].node.after
                )
                if ordered:
                    start[j] = max(start[j], start[i] + durations[i])
    return max(s + d for s, d in zip(start, durations, strict=True))


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from(["device", "h2d", "d2h"]),
            st.floats(0.1, 5),
            st.integers(0, 7),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_schedule_is_the_longest_path(rows):
    jobs, durations = [], []
    for i, (stream, engine, duration, back) in enumerate(rows):
        after = (f"n{i - 1 - back}",) if i - 1 - back >= 0 else ()
        nothing = Estimate.exact(0.0, "J")
        jobs.append(_Job(kernel(f"n{i}", stream, after), engine, nothing, nothing, None, nothing))
        durations.append(duration)
    assert schedule(jobs, durations)[1] == pytest.approx(longest_path(jobs, durations))


def test_copies_overlap_kernels_of_other_streams():
    gpu = find("h200")
    nodes = (kernel("work", "a"), CopyNode("up", CopyKind.HOST_TO_DEVICE, 10**9, stream="b"))
    result = predict_application(Application("x", nodes), gpu, fake_predictor(1.0, 5.0))
    assert result.time.value == pytest.approx(1.0)
    assert [step.start for step in result.steps] == [0.0, 0.0]


def test_energy_is_kernels_plus_idle():
    gpu = find("h200")
    nodes = (kernel("work", repeats=3),)
    result = predict_application(Application("x", nodes, idle=2.0), gpu, fake_predictor(1.0, 5.0))
    assert result.time.value == pytest.approx(5.0)
    assert result.energy.value == pytest.approx(15.0 + result.idle_energy.value)
    assert result.idle_energy.value > 0


def test_children_run_inside_every_parent():
    child = kernel("child", repeats=2)
    nodes = (kernel("parent", repeats=10, children=[child]),)
    result = predict_application(Application("x", nodes), find("h200"), fake_predictor(1.0, 1.0))
    assert result.time.value == pytest.approx(30.0, rel=1e-3)
    assert result.energy.value == pytest.approx(30.0, rel=1e-3)


def test_short_kernels_wait_for_their_launches():
    nodes = (kernel("tiny", repeats=1000),)
    result = predict_application(Application("x", nodes), find("h200"), fake_predictor(1e-9, 1e-9))
    assert 0.5e-3 < result.time.value < 10e-3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "step = 3",
        "[[step]]\nname = 'a'",
        "[[step]]\ncopy = 'sideways'\nbytes = 1",
        "[[step]]\ncopy = 'h2d'",
        "[[step]]\ncopy = 'h2d'\nbytes = -1",
        "[[step]]\nsource = 'a.cu'\ngrid = 1\nblock = 0",
        "[[step]]\nsource = 'a.cu'\ngrid = 1\nblock = 1\nrepeats = 0",
        "[[step]]\nsource = 'a.cu'\ngrid = 1\nblock = 1\nafter = ['later']",
        "[[step]]\nname='a'\ncopy='h2d'\nbytes=1\n[[step]]\nname='a'\ncopy='h2d'\nbytes=1",
        "idle = -1\n[[step]]\ncopy='h2d'\nbytes=1",
        "colour = 1\n[[step]]\ncopy='h2d'\nbytes=1",
        "[[step]]\ncopy='h2d'\nbytes=1\nsize=2",
    ],
)
def test_impossible_applications_are_refused(tmp_path, text):
    path = tmp_path / "app.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        load_application(path)


def test_the_shipped_application_loads():
    application = load_application(Path(__file__).parents[2] / "examples" / "pipeline.toml")
    assert [node.name for node in application.nodes][:2] == ["upload A", "upload B"]
