"""Configurations: combinations, files, and the launches they make."""

from __future__ import annotations

import pytest

from warpwatt.core.errors import InputError
from warpwatt.core.launch import Dim3
from warpwatt.request.launch_text import LaunchText
from warpwatt.sweep.configurations import (
    Configuration,
    combined,
    configurations,
    parse_registers,
    read_configurations,
)


def test_every_combination_comes_once():
    found = configurations(["A=1,2", "B=x,y,z"], [32, 64], ["64", "128", "8,8"])
    assert len(found) == len(set(found)) == 2 * 3 * 2 * 3


def test_the_grid_follows_macros_arguments_and_block():
    text = LaunchText(grid="n/(TILE*bx),m/by", block="32,4", shared=16, arg=("n=1000", "m=64", "x=f32[n]"))
    launch = Configuration((("TILE", "4"),), block="16x8", shared="TILE*bx*4").request(text).launch
    assert (launch.grid, launch.block, launch.dynamic_shared) == (Dim3(16, 8), Dim3(16, 8), 256)


def test_without_expressions_a_launch_is_as_it_was():
    text = LaunchText(grid="7,5", block="16x2", shared=48)
    assert Configuration().request(text) == text.read()


def test_a_file_sets_macros_and_launch(tmp_path):
    file = tmp_path / "c.csv"
    file.write_text("TILE, maxrregcount ,block,UNROLL\n8,32,8 x 8,\n16,,,4\n")
    first, second = read_configurations(file)
    assert first == Configuration((("TILE", "8"),), 32, block="8 x 8")
    assert second == Configuration((("TILE", "16"), ("UNROLL", "4")))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no configuration"),
        ("TILE\n", "no configuration"),
        ("TILE\n8,9\n", "without a name"),
        ("maxrregcount\nmany\n", "no number"),
        ('TILE\n"8\n', "not CSV"),
        (b"\xff\xfe\x00", "cannot read"),
    ],
)
def test_a_bad_file_is_named(tmp_path, content, said):
    file = tmp_path / "c.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=said) as caught:
        read_configurations(file)
    assert caught.value.file == str(file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError):
        read_configurations(tmp_path / "no.csv")


def test_files_win_over_options():
    both = combined(configurations(["A=1", "B=1,2"]), (Configuration((("B", "9"),), 64),))
    assert [dict(c.defines) for c in both] == [{"A": "1", "B": "9"}] * 2
    assert {c.max_registers for c in both} == {64}


@pytest.mark.parametrize("text", ["", "8", "300", "64:32:8", "32:64:0", "1:2", "a,b"])
def test_bad_register_limits_are_refused(text):
    with pytest.raises(InputError):
        parse_registers(text)
