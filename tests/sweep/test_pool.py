"""The process pool: the same rows as one process, also where a worker is killed."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.sweep.sweeps import LAUNCH, small_sweep
from warpwatt.sweep import pool
from warpwatt.sweep.configurations import Configuration
from warpwatt.sweep.pool import run_pooled
from warpwatt.sweep.run import run
from warpwatt.sweep.units import DIED, units

pytestmark = pytest.mark.toolchain
PLAIN = Configuration((("WIDTH", "1"),))


@dataclass(frozen=True)
class Killing(Configuration):
    """Kills the process that wants to build it, once if a file is named, else always."""

    once: str = ""

    def request(self, text):
        if not self.once or not Path(self.once).exists():
            if self.once:
                Path(self.once).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().request(text)


def collected(sweep, done=()):
    return sorted((row for batch in run_pooled(sweep, done, 2) for row in batch), key=lambda row: row.number)


def test_two_processes_do_what_one_does_and_leave_out_what_is_done():
    sweep = small_sweep()
    rows = list(run(sweep))
    assert collected(sweep, {row.number for row in rows[3:9]}) == rows[:3] + rows[9:]


def test_a_worker_that_is_killed_costs_nothing(tmp_path):
    killing = Killing((("WIDTH", "2"),), once=str(tmp_path / "killed"))
    before = [replace(PLAIN, block=block) for block in ("32", "64", "96", "128", "160", "192")]
    sweep = small_sweep(configurations=(*before, killing, Configuration((("WIDTH", "2"),), block="64")))
    rows = collected(sweep)
    assert (tmp_path / "killed").exists()
    assert [row.number for row in rows] == list(range(len(sweep)))
    assert not any(row.error for row in rows)


def test_what_kills_every_worker_becomes_rows_that_say_so():
    sweep = small_sweep(configurations=(PLAIN, Killing((("WIDTH", "2"),))))
    rows = collected(sweep)
    assert [row.number for row in rows] == list(range(len(sweep)))
    assert {row.error for row in rows if row.defines == PLAIN.defines} == {""}
    assert {row.error for row in rows if row.defines != PLAIN.defines} == {DIED}


@dataclass(frozen=True)
class Interrupting(Configuration):
    """Presses Ctrl-C at the sweep's process before the second launch, and would go on for a minute."""

    process: int = 0

    def request(self, text):
        if "n=50000" in text.arg:
            os.kill(self.process, signal.SIGINT)
            time.sleep(60)
        return super().request(text)


@pytest.fixture
def interrupts():
    """Take Ctrl-C although a shell that runs tests in the background may ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def units_of_two_launches(monkeypatch):
    def together(sweep, done, _):
        todo = list(units(sweep, done, 2))
        return iter([(*todo[0], *todo[1]), *todo[2:]])

    monkeypatch.setattr(pool, "units", together)


@pytest.mark.usefixtures("units_of_two_launches", "interrupts")
def test_ctrl_c_ends_at_once_and_keeps_the_rows_of_the_unit_that_is_worked_on():
    slow = Interrupting((("WIDTH", "1"),), process=os.getpid())
    launches = tuple(replace(LAUNCH, arg=(f"n={n}", *LAUNCH.arg[1:])) for n in (100000, 50000))
    sweep = small_sweep(launches, configurations=(slow, PLAIN))
    kept, began = [], time.monotonic()

    def go() -> None:
        for batch in run_pooled(sweep, (), 2):
            kept.extend(batch)

    with pytest.raises(KeyboardInterrupt):
        go()
    assert {row.number for row in kept} >= {row.number for row in sweep.rows(next(sweep.groups()))}
    assert not any(row.error for row in kept)
    assert time.monotonic() - began < 50
