"""The process pool: the same rows as one process, also where a worker is killed."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.sweep.sweeps import small_sweep
from warpwatt.sweep.configurations import Configuration
from warpwatt.sweep.pool import run_pooled
from warpwatt.sweep.run import run
from warpwatt.sweep.units import DIED

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
