from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.lab.learn.errors import (
    DataError,
    MissingColumnError,
    SingleProgramError,
    TooFewRowsError,
    UnknownLayoutError,
)
from warpwatt.lab.learn.layout import Target, layouts, user_layout
from warpwatt.lab.learn.samples import load
from warpwatt.lab.learn.table import kind_of, number_of, read_table


def test_every_row_of_a_sound_table_is_kept(table):
    samples = load(table)
    assert len(samples) == 60
    assert samples.features == layouts()["alavani_power"].features
    assert set(samples.programs) == {f"program {i}" for i in range(6)}
    assert not samples.left_out
    assert not samples.defects
    assert samples.unit == "W"
    assert samples.lines[0] == 2


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("#VALUE!", "avg_comp_lat: #VALUE!"),
        ("#DIV/0!", "avg_comp_lat: #DIV/0!"),
        (" NaN", "avg_comp_lat: NaN"),
        ("-inf", "avg_comp_lat: infinity"),
        ("", "avg_comp_lat: empty cell"),
        ("many", "avg_comp_lat: text"),
    ],
)
def test_a_feature_without_a_number_leaves_its_row_out_and_is_named(write, rows, header, cell, reason):
    rows[7][header.index("avg_comp_lat")] = cell
    samples = load(write(rows))
    assert len(samples) == 59
    assert 9 not in samples.lines
    assert samples.left_out == {reason: 1}
    assert samples.defects == (reason.replace(": ", ": 1 × "),)


@pytest.mark.parametrize(("cell", "reason"), [("-3", "power not positive"), ("0", "power not positive")])
def test_impossible_power_is_refused(write, rows, cell, reason):
    rows[0][-1] = cell
    assert load(write(rows)).left_out == {reason: 1}


def test_overflowed_counts_are_no_numbers(write, rows, header):
    rows[0][header.index("inst_issue_cycles")] = "-5"
    assert load(write(rows)).left_out == {"inst_issue_cycles: negative count (overflow)": 1}


def test_repeated_rows_are_left_out_whatever_their_serial_number(write, rows):
    again = ["999", *rows[3][1:]]
    samples = load(write([*rows, again]))
    assert len(samples) == 60
    assert samples.defects == ("1 repeated rows left out",)
    assert len(load(write([*rows, again]), keep_repeated=True)) == 61


def test_blank_rows_are_counted(write, rows):
    blank = ["61", *[""] * (len(rows[0]) - 1)]
    assert load(write([*rows, blank])).defects == ("1 blank rows left out",)


def test_a_missing_column_is_named(write, rows, header):
    place = header.index("reg_thread")
    renamed = [*header[:place], "registers", *header[place + 1 :]]
    with pytest.raises(UnknownLayoutError) as caught:
        load(write(rows, renamed))
    assert "registers" in caught.value.hint
    with pytest.raises(MissingColumnError, match="no column wings"):
        load(write(rows), features=["branch", "wings"])


def test_a_target_that_was_not_measured_is_refused(table):
    with pytest.raises(MissingColumnError, match="no measured time"):
        load(table, "time")


def test_an_unknown_target_is_refused(table):
    with pytest.raises(DataError, match="no target 'speed'"):
        load(table, "speed")


def test_nothing_usable_says_why(write, rows):
    with pytest.raises(DataError, match="no usable row") as caught:
        load(write([[*row[:-1], "-1"] for row in rows]))
    assert "60 × power not positive" in caught.value.hint


def test_fewer_rows_than_folds(write, rows):
    samples = load(write(rows[:3]))
    with pytest.raises(TooFewRowsError, match="3 usable rows are fewer than 5 folds"):
        samples.check(5)


def test_one_program_cannot_be_split_by_program(write, rows):
    samples = load(write(rows[::6]))
    samples.check(5)
    with pytest.raises(SingleProgramError, match="every row is of one program"):
        samples.check(5, by_program=True)


def test_fewer_programs_than_folds(table):
    with pytest.raises(SingleProgramError, match="6 programs are fewer than 7 folds"):
        load(table).check(7, by_program=True)


def test_energy_is_power_times_time(write):
    lines = [["a", "1", "100", "2e9"], ["b", "2", "50", "3e9"]]
    layout = user_layout("name", {"power": Target("p", 1.0, "W"), "time": Target("t", 1e-9, "s")}, ["x"])
    samples = load(write(lines, ["name", "x", "p", "t"]), "energy", layout=layout)
    assert samples.y.tolist() == pytest.approx([200.0, 150.0])
    assert samples.unit == "J"


def test_files_that_are_no_tables(tmp_path):
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DataError, match="the file is empty"):
        read_table(tmp_path / "empty.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not a readable CSV file"):
        read_table(tmp_path / "binary.csv")


def test_a_row_with_too_many_cells_is_named(write, rows):
    rows[4].append("7")
    with pytest.raises(DataError) as caught:
        load(write(rows))
    assert caught.value.line == 6


@given(st.text(max_size=12))
def test_every_cell_is_a_finite_number_or_has_a_kind(text):
    value = number_of(text)
    assert (value is not None and np.isfinite(value)) or kind_of(text)


def test_the_published_tables_load_with_their_known_defects(alavani):
    counts = {}
    for name in ("k20_smaller", "k20_larger", "maxwell", "v100"):
        samples = load(alavani / f"power_model_inputs_{name}.csv", keep_repeated=True)
        counts[name] = (len(samples), sum(samples.left_out.values()))
    # rows with error cells as the data's own description counts them; blank cells of learned features beside
    assert counts == {
        "k20_smaller": (980, 14),
        "k20_larger": (1798, 9),
        "maxwell": (766, 1),
        "v100": (621, 6),
    }


def test_spellings_of_one_program_are_one_program(alavani):
    programs = set(load(alavani / "power_model_inputs_k20_larger.csv").programs)
    assert {"bfs", "saxpy", "sum", "clock"} <= programs
    assert not programs & {"BFS", "breadth first search", "saxpy2a", "SUM", "Clock"}


def test_shared_memory_latency_is_zero_without_shared_memory(powerquant):
    samples = load(powerquant / "powerquant_k80.csv")
    place = samples.features.index("avg_shar_lat")
    assert (samples.x[:, place] == 0).sum() > 2000
    assert "214 repeated rows left out" in samples.defects
