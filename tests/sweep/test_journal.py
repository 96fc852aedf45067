"""The journal: whatever byte a kill cuts it at, finished rows stay, and only of the same sweep."""

from __future__ import annotations

import pytest

from tests.sweep.sweeps import small_sweep
from warpwatt.compose import Choice
from warpwatt.core.errors import InputError, OutputExistsError
from warpwatt.frontend.options import CompileOptions
from warpwatt.sweep.configurations import configurations
from warpwatt.sweep.journal import Journal, append, fingerprint, partial
from warpwatt.sweep.rows import Range, Row

ROWS = [Row(n, 0, "GPU", time=Range(1.0, 1.0, 1.0), warnings=("a\nb",)) for n in range(4)]


@pytest.fixture
def result(tmp_path):
    return tmp_path / "out.csv"


def test_rows_come_back(result):
    sweep = small_sweep()
    with Journal(result, sweep) as journal:
        journal.add(ROWS[:3])
    with Journal(result, sweep) as journal:
        assert list(journal) == ROWS[:3]
        journal.add(ROWS[3:])
        assert list(journal) == ROWS
    with Journal(result, sweep) as journal:
        assert list(journal) == ROWS
        journal.remove()
    assert not partial(result).exists()


def test_a_cut_anywhere_loses_one_row_at_most(result):
    sweep = small_sweep()
    with Journal(result, sweep) as journal:
        journal.add(ROWS)
    whole = partial(result).read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in (*range(0, ends[0], 50), *range(ends[0], len(whole) + 1)):
        partial(result).write_bytes(whole[:cut])
        kept = max(0, sum(end <= cut for end in ends) - 1)
        with Journal(result, sweep) as journal:
            assert list(journal) == ROWS[:kept]
            journal.add(ROWS[kept:])
        assert partial(result).read_bytes() == whole


def test_rows_that_workers_append_are_there_once(result):
    with Journal(result, small_sweep()) as journal:
        append(journal.path, ROWS[2])
        append(journal.path, ROWS[0])
        assert journal.add(ROWS[2:3]) == 2
        assert journal.add(ROWS) == 2
        assert list(journal) == ROWS
    assert partial(result).read_bytes().count(b"\n") == 1 + len(ROWS)


def test_a_broken_line_costs_no_other(result):
    with Journal(result, small_sweep()) as journal:
        journal.add(ROWS[:2])
    with partial(result).open("ab") as file:
        file.write(b"[3, half a ro")
    append(partial(result), ROWS[2])
    append(partial(result), ROWS[3])
    with Journal(result, small_sweep()) as journal:
        assert list(journal) == [*ROWS[:2], ROWS[3]]
        journal.add(ROWS)
        assert list(journal) == ROWS


def test_a_file_of_something_else_is_left_alone(result):
    partial(result).write_bytes(b"my notes\n")
    with pytest.raises(OutputExistsError):
        Journal(result, small_sweep())
    assert partial(result).read_bytes() == b"my notes\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"choice": Choice(time="roofline")},
        {"configurations": configurations(["WIDTH=1"])},
        {"clocks": (None,)},
        {"options": CompileOptions(defines=("A",))},
    ],
)
def test_another_sweep_does_not_take_them_over(result, changes):
    with Journal(result, small_sweep()) as journal:
        journal.add(ROWS)
    other = small_sweep(**changes)
    assert fingerprint(other) != fingerprint(small_sweep())
    with pytest.raises(OutputExistsError, match="another"):
        Journal(result, other)
    with Journal(result, other, force=True) as journal:
        assert list(journal) == []


def test_the_fingerprint_is_the_same_in_another_process():
    assert fingerprint(small_sweep()) == fingerprint(small_sweep())


def test_two_sweeps_cannot_write_one_file(result):
    with Journal(result, small_sweep()), pytest.raises(InputError, match="another sweep is writing"):
        Journal(result, small_sweep())
