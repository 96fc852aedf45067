"""A real dask cluster of processes: the rows of one process, whoever dies, and refusals that say why."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from tests.sweep.sweeps import small_sweep
from tests.sweep.test_pool import PLAIN, Killing
from warpwatt.compose import Choice
from warpwatt.sweep import cluster
from warpwatt.sweep.clocks import Asked
from warpwatt.sweep.cluster import AHEAD, run_on_cluster
from warpwatt.sweep.configurations import Configuration, configurations
from warpwatt.sweep.journal import Journal
from warpwatt.sweep.pool import run_pooled
from warpwatt.sweep.remote import ClusterError, OtherVersionError
from warpwatt.sweep.run import run
from warpwatt.sweep.units import DIED, units

if TYPE_CHECKING:
    from collections.abc import Generator

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.toolchain
ROOFLINE = Choice(time="roofline")
"""Quick: who does the points is what is tested."""
SWEEP = small_sweep(
    configurations=configurations(["WIDTH=1,2"], blocks=["64", "128", "256"]),
    clocks=(None, Asked(0.9e9), Asked(1.2e9, 1.0e9)),
    choice=ROOFLINE,
)


@contextmanager
def two_workers():
    """Two worker processes with nannies, and their scheduler in this process."""
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs=50
        ) as started,
    ):
        yield started


@pytest.fixture(scope="module")
def local():
    """Workers that nobody kills, for all tests together."""
    with two_workers() as started:
        yield started


@pytest.fixture
def mortal():
    """Workers to be killed, for one test: on a busy machine their nannies may not bring them back."""
    with two_workers() as started:
        yield started


def in_order(batches):
    return sorted((row for batch in batches for row in batch), key=lambda row: row.number)


def pids(started):
    return [worker.pid for worker in started.workers.values()]


def test_the_rows_are_those_of_one_process_and_of_the_pool(local):
    sweep = small_sweep()
    wanted = list(run(sweep))
    assert in_order(run_on_cluster(sweep, (), local.scheduler_address)) == wanted
    assert in_order(run_pooled(sweep, (), 2)) == wanted


def test_whichever_worker_is_killed_nothing_is_lost_or_doubled(mortal, tmp_path):
    """One dies by the hand of a unit that it works on, the other one from outside, between two units."""
    killing = Killing((("WIDTH", "2"),), once=str(tmp_path / "killed"), block="64")
    sweep = small_sweep(configurations=(*SWEEP.configurations, killing), choice=ROOFLINE)
    found = []
    for number, batch in enumerate(run_on_cluster(sweep, (), mortal.scheduler_address)):
        found += batch
        if number == 1:
            os.kill(pids(mortal)[0], signal.SIGKILL)
    assert (tmp_path / "killed").exists()
    found.sort(key=lambda row: row.number)
    assert [row.number for row in found] == list(range(len(sweep)))
    assert not any(row.error for row in found)
    assert found == list(run(sweep))


def test_what_kills_every_worker_becomes_rows_that_say_so(mortal):
    sweep = small_sweep(configurations=(PLAIN, Killing((("WIDTH", "2"),)), Configuration((("WIDTH", "2"),))))
    rows = in_order(run_on_cluster(sweep, (), mortal.scheduler_address))
    assert [row.number for row in rows] == list(range(len(sweep)))
    assert [row.error for row in rows] == [""] * 6 + [DIED] * 6 + [""] * 6


def test_who_stops_in_the_middle_goes_on_where_it_was(local, tmp_path):
    with Journal(tmp_path / "out.csv", SWEEP) as journal:
        batches = run_on_cluster(SWEEP, journal.done, local.scheduler_address)
        journal.add(next(batches))
        cast("Generator[object]", batches).close()
    with Journal(tmp_path / "out.csv", SWEEP) as journal:
        before = len(journal)
        assert 0 < before < len(SWEEP)
        for batch in run_on_cluster(SWEEP, journal.done, local.scheduler_address):
            assert journal.add(batch) == len(batch)
        assert list(journal) == list(run(SWEEP))


def test_only_a_few_units_are_handed_out_at_a_time(local, monkeypatch):
    handed_out = 0

    def counted(*arguments):
        nonlocal handed_out
        for unit in units(*arguments):
            handed_out += 1
            yield unit

    monkeypatch.setattr(cluster, "units", counted)
    sweep = small_sweep(
        configurations=configurations(["WIDTH=1,2"], blocks=[f"{32 * i}" for i in range(1, 21)])
    )
    finished, most = 0, 0
    for _ in run_on_cluster(sweep, (), local.scheduler_address):
        most = max(most, handed_out - finished)
        finished += 1
    assert finished == handed_out > 2 * (1 + AHEAD)
    assert most <= 2 * (1 + AHEAD)


def test_nobody_there_is_an_error_that_says_what_to_start(monkeypatch):
    monkeypatch.setattr(cluster, "GREETING_SECONDS", 0.5)
    with pytest.raises(ClusterError, match="no dask scheduler answers") as error:
        list(run_on_cluster(SWEEP, (), "tcp://127.0.0.1:9"))
    assert "dask scheduler" in error.value.hint
    with pytest.raises(ClusterError, match="no dask scheduler answers"):
        list(run_on_cluster(SWEEP, (), "not an address"))


@pytest.fixture
def started(tmp_path):
    """Return a function that starts a dask scheduler or worker as a process; all end with the test."""
    processes = []

    def start(*words: str, path: str | None = None) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": path or os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
        log = (tmp_path / f"log{len(processes)}").open("wb")
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def scheduler(started, tmp_path) -> tuple[subprocess.Popen[bytes], str]:
    file = tmp_path / "scheduler.json"
    process = started(
        "dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(file),
    )
    while not file.exists():
        assert process.poll() is None
        time.sleep(0.05)
    return process, str(file)


def test_a_scheduler_that_is_lost_is_an_error_and_what_is_done_is_kept(started, tmp_path):
    process, file = scheduler(started, tmp_path)
    started(
        "dask_worker", "--scheduler-file", file, "--nthreads", "1", "--no-dashboard", "--death-timeout", "60"
    )
    batches = run_on_cluster(SWEEP, (), file)
    kept = next(batches)
    process.kill()
    begun = time.monotonic()
    with pytest.raises(ClusterError, match="is lost") as error:
        kept.extend(row for batch in batches for row in batch)
    assert time.monotonic() - begun < 90  # a scheduler that is waited for is waited for much longer
    assert "same command goes on" in error.value.hint
    assert 0 < len(kept) < len(SWEEP)
    done = {row.number for row in kept}
    assert in_order([kept, *run_pooled(SWEEP, done, 1)]) == list(run(SWEEP))


def test_another_warpwatt_on_a_worker_is_refused_also_when_it_comes_late(started, tmp_path, monkeypatch):
    package = Path(cluster.__file__).parents[1]
    other = tmp_path / "other" / "warpwatt"
    shutil.copytree(package, other, ignore=shutil.ignore_patterns("__pycache__"))
    rows = other / "sweep" / "rows.py"
    rows.write_text(rows.read_text() + "\n# not the same\n")
    _, file = scheduler(started, tmp_path)
    words = ("dask_worker", "--scheduler-file", file, "--nthreads", "1", "--no-dashboard", "--no-nanny")
    started(*words, path=os.pathsep.join([str(other.parent), *sys.path]))
    with pytest.raises(OtherVersionError, match="1 of 1 workers") as error:
        list(run_on_cluster(SWEEP, (), file))
    assert "install the same WarpWatt" in error.value.hint
    monkeypatch.setattr(cluster, "check_workers", lambda _: None)  # it was not there when we looked
    with pytest.raises(OtherVersionError, match="was asked by"):
        list(run_on_cluster(SWEEP, (), file))
