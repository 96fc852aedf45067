"""Result files survive being cut anywhere, refuse doubles and strangers, and forget on demand."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.errors import InputError, ParseError
from warpwatt.lab.measure import results
from warpwatt.lab.measure.columns import FILES, Column
from warpwatt.lab.measure.protocol import VERSION, Status
from warpwatt.lab.measure.results import ResultFile, drop, read

COLUMNS = tuple(
    Column(name, kind, "")
    for name, kind in (
        ("version", int), ("program", str), ("size", str), ("data", str), ("rows", int), ("launch", int),
        ("status", str), ("time_s", float), ("note", str),
    )
)  # fmt: skip


def point(program, rows=1, status="ok", note=""):
    return [
        {
            "version": 1, "program": program, "size": "small", "data": "random", "rows": rows, "launch": i,
            "status": status, "time_s": 1e-6 / 3, "note": note,
        }
        for i in range(rows)
    ]  # fmt: skip


POINTS = [point("a"), point("b", 3), point("c", note='a "quoted", note\nof two lines'), point("d", 2)]


def write(path, points):
    with ResultFile(path, COLUMNS) as file:
        for rows in points:
            if (str(rows[0]["version"]), rows[0]["program"], "small", "random") not in file.done:
                file.append(rows)


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "whole.csv"
    write(path, POINTS)
    return path.read_bytes()


def test_rows_come_back_with_their_types(tmp_path):
    write(tmp_path / "a.csv", POINTS)
    rows = read(tmp_path / "a.csv", COLUMNS)
    assert len(rows) == 7
    assert rows[0]["time_s"] == pytest.approx(1e-6 / 3, rel=1e-8)
    assert rows[4]["note"] == 'a "quoted", note of two lines'
    assert (rows[1]["rows"], rows[3]["launch"]) == (3, 2)


def test_cut_at_every_byte_it_becomes_whole_again(tmp_path, whole, monkeypatch):
    path = tmp_path / "cut.csv"
    monkeypatch.setattr("os.fsync", lambda file: None)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        if b"\n" in whole[:length]:
            programs = [row["program"] for row in read(path, COLUMNS)]
            assert all(programs.count(rows[0]["program"]) in (0, len(rows)) for rows in POINTS)
        write(path, POINTS)
        assert path.read_bytes() == whole


def test_a_point_is_not_doubled_nor_split(tmp_path):
    with ResultFile(tmp_path / "a.csv", COLUMNS) as file:
        file.append(point("a"))
        with pytest.raises(InputError, match="there already"):
            file.append(point("a"))
        with pytest.raises(InputError, match="together"):
            file.append(point("b", 3)[:2])
        with pytest.raises(InputError, match="together"):
            file.append([*point("b"), *point("c")])
    assert len(read(tmp_path / "a.csv", COLUMNS)) == 1


def test_second_writer_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "LOCK_TRIES", 1)
    with ResultFile(tmp_path / "a.csv", COLUMNS), pytest.raises(InputError, match="another process"):
        ResultFile(tmp_path / "a.csv", COLUMNS)
    ResultFile(tmp_path / "a.csv", COLUMNS).close()


def test_damage_in_the_middle_names_the_line(tmp_path, whole):
    path = tmp_path / "a.csv"
    lines = whole.splitlines(keepends=True)
    for bad, line in (
        ([*lines[:2], b"1,b\n", *lines[2:]], 3),
        ([*lines[:3], *lines[4:]], 3),
        ([*lines, lines[1]], 9),
        ([b"x,y\n", *lines[1:]], 1),
        ([*lines[:2], b"\xff\n", *lines[2:]], 3),
    ):
        path.write_bytes(b"".join(bad))
        for opened in (lambda: ResultFile(path, COLUMNS), lambda: read(path, COLUMNS)):
            with pytest.raises(ParseError) as caught:
                opened()
            assert caught.value.line == line
    path.write_bytes(whole.replace(b"3.33333333e-07", b"fast"))
    with pytest.raises(ParseError, match="fast"):
        read(path, COLUMNS)


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=200))
def test_garbage_is_refused_or_empty(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("garbage") / "a.csv"
    path.write_bytes(data)
    with contextlib.suppress(ParseError):
        assert read(path, COLUMNS) == []


def test_points_of_a_status_are_dropped_whole(tmp_path):
    path = tmp_path / "a.csv"
    mixed = point("m", 2)
    mixed[1]["status"] = "wrong"
    write(path, [point("a"), mixed, point("f", status="failed")])
    assert drop(path, COLUMNS, ["wrong"]) == 1
    assert [row["program"] for row in read(path, COLUMNS)] == ["a", "f"]
    assert drop(path, COLUMNS, ["wrong"]) == 0


def test_every_file_has_the_columns_that_identify_a_point():
    for columns in FILES.values():
        names = [column.name for column in columns]
        assert {*results.KEY, "rows", "status", "note"} <= set(names)
        assert len(set(names)) == len(names)
        assert all(column.meaning for column in columns)


def test_the_readme_explains_every_column_and_status():
    text = (Path(__file__).parents[3] / "data" / "measured" / "README.md").read_text(encoding="utf-8")
    for columns in FILES.values():
        for column in columns:
            assert f"| `{column.name}` | {column.meaning} |" in text
    assert all(f"| `{status}` |" in text for status in Status)
    assert f"version {VERSION}\n" in text
