"""Whatever the bytes: profiles or a ParseError, never anything else."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.frontend.profiles.test_reading import NCU, NCU_RAW, NSYS, NVPROF, OWN
from warpwatt.core.errors import ParseError
from warpwatt.frontend.profiles import read_profiles
from warpwatt.frontend.profiles.cells import extent, frequency_unit, number, size_unit, time_unit
from warpwatt.frontend.profiles.columns import column
from warpwatt.gpus import find

WHOLE = [text.encode() for text in (NVPROF, NSYS, NCU, NCU_RAW, OWN)]
CELLS = ["", "n/a", "-", "1,234", "1.234,5", "1e400", "-3", "nan", "(1, 1, 1)", "us", '"', "x" * 50, "é", "0"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "run.csv"


def check(path, data: bytes) -> None:
    path.write_bytes(data)
    profiles, error = [], None
    try:
        profiles = list(read_profiles(path, find("t4")))
    except ParseError as caught:
        error = caught
    assert bool(profiles) != bool(error)
    if error is not None:
        assert (error.file, bool(error.line), bool(error.hint)) == (str(path), True, True)
    for profile in profiles:
        assert profile.time is not None
        assert 0 < profile.time < math.inf
        assert profile.launch is not None


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_bytes(place, data):
    check(place, data)


@settings(max_examples=150)
@given(st.sampled_from(WHOLE), st.data())
def test_real_files_cut_and_changed(place, whole, data):
    cells = whole.decode().split(",")
    for _ in range(data.draw(st.integers(0, 4))):
        cells[data.draw(st.integers(0, len(cells) - 1))] = data.draw(st.sampled_from(CELLS))
    text = ",".join(cells).encode()
    check(place, text[: data.draw(st.integers(0, len(text)))])


@settings(max_examples=100)
@given(st.text(max_size=40))
def test_cells_and_headers_never_fail_otherwise(text):
    value = number(text)
    assert value is None or math.isfinite(value)
    for unit in (time_unit(text), frequency_unit(text), size_unit(text)):
        assert unit is None or unit > 0
    assert column(text).name == column(text).name
    try:
        extent(text)
    except Exception as error:  # noqa: BLE001 - the point is which
        assert type(error).__name__ == "LaunchError"  # noqa: PT017


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_of_python_come_back(value):
    assert number(repr(value)) == value


@given(st.integers(1000, 10**12))
def test_thousands_by_comma_and_by_point(value):
    assert number(f"{value:,}.5") == value + 0.5
    assert number(f"{value:,}".replace(",", ".") + ",5") == value + 0.5
