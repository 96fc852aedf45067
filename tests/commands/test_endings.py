"""How the command line ends where it cannot go on: one line, the right exit code."""

from __future__ import annotations

import errno
import os

import pytest


@pytest.fixture(autouse=True)
def _answers_are_not_kept(monkeypatch):
    """Else what a test before asked is said again, and nothing fails."""
    monkeypatch.setenv("WARPWATT_KEEP_ANSWERS", "0")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_full_disk_is_one_line(run, monkeypatch, number):
    def write(*_):
        raise OSError(number, os.strerror(number), "out.csv")

    monkeypatch.setattr("warpwatt.commands.gpus.gpus.callback", write)
    code, _, err = run("gpus")
    assert (code, err.splitlines()[0]) == (1, f"error: out.csv: cannot write: {os.strerror(number).lower()}")


def test_ctrl_c_ends_with_its_own_code(run, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("warpwatt.commands.gpus.gpus.callback", interrupt)
    code, _, err = run("gpus")
    assert (code, err) == (130, "interrupted\n")
