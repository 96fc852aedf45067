"""Calibration of a machine whose constants are known."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from tests.lab.measure import microbench_machine as machine
from warpwatt.commands.calibrate import calibrate as verb
from warpwatt.core.errors import InputError, OutputExistsError, ParseError
from warpwatt.gpus.calibrations import load_calibration
from warpwatt.lab.measure.calibration import calibrate, to_toml
from warpwatt.render.calibration import page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("results")
    machine.write(path)
    return path


@pytest.fixture(scope="module")
def found(folder):
    return calibrate(folder)


WANTED = {
    "latency.fp32_fma": 4.0, "latency.special_sin": 22.0, "latency.l1": 33.0, "latency.l2": 260.0,
    "latency.dram": 640.0, "latency.constant_l1": 28.0, "latency.constant_l2": 95.0,
    "throughput.fp32_fma": 128.0, "throughput.special_sin": 16.0, "barrier_block.base": 20.0,
    "barrier_block.per_warp": 2.5, "conflict.per_word": 1.0, "coalescing.per_word": 0.25,
    "coalescing.base": 0.77, "launch_batch.base": machine.LAUNCH_BASE,
    "launch_graph.per_block": machine.LAUNCH_PER_BLOCK, "upload_pageable.per_byte": 1 / machine.PCIE,
    "power.idle": machine.IDLE_W, "power.constant": machine.CONSTANT_W, "power.active_sm": machine.SM_W,
    "energy.fp32_fma": 6e-10, "energy.fp32_fma_zeros": 3e-10, "energy.special_sin": 2e-9,
    "bandwidth.dram_stream_cg_16B_16r0w": 3.0e12, "bandwidth.l2_stream_cg_16B_16r0w": 5.0e12,
}  # fmt: skip


@pytest.mark.parametrize("name", WANTED)
def test_known_constants_come_back(found, name):
    one = next(c for c in found.constants if c.name == name)
    assert one.value == pytest.approx(WANTED[name], rel=0.05, abs=4 * one.error)
    assert one.value == pytest.approx(WANTED[name], rel=0.2)
    assert one.points >= 1
    assert one.r2 is None or one.r2 > 0.9


def test_reach_and_peak_warps(found):
    by_name = {one.name: one.value for one in found.constants}
    assert by_name["reach.l1"] == pytest.approx(192 * 2**10, rel=0.25)
    assert by_name["reach.l2"] == pytest.approx(40 * 2**20, rel=0.25)
    assert by_name["peak_warps.fp32_fma_ilp1"] == 16  # 128 per cycle × 4 cycles / 32 lanes
    assert by_name["peak_warps.fp32_fma_ilp2"] == 8


def test_what_cannot_be_determined_is_said(found):
    assert any("upload_pinned" in text for text in found.missing)
    assert not any("l2" in text for text in found.missing)


def test_file_is_read_back(found, tmp_path):
    path = tmp_path / "gpu.toml"
    path.write_text(to_toml(found))
    back = load_calibration(path)
    assert (back.gpu, back.date, back.protocol) == (machine.INFO.name, "2026-01-02", "micro 1")
    assert set(back.constants) == {one.name for one in found.constants}
    for one in found.constants:
        assert back.constants[one.name] == pytest.approx((one.value, one.error), rel=1e-8)


def test_same_results_give_the_same_bytes(found, folder):
    again = calibrate(folder)
    assert to_toml(again) == to_toml(found)
    assert page(again) == page(found)


class _Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.pictures = [], 0

    def handle_starttag(self, tag, attrs):
        self.pictures += tag == "svg"
        assert not {"src", "href", "onload"} & dict(attrs).keys()
        if tag not in ("meta", "line", "polyline"):
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("line", "polyline"):
            assert self.stack.pop() == tag


def test_page_is_self_contained(found):
    text = page(found)
    parser = _Links()
    parser.feed(text)
    assert not parser.stack
    assert parser.pictures == len(found.plots) > 100
    assert not re.search(r"https?:|url\(|nan", text)


def test_verb_writes_both_and_keeps_what_is_there(folder, tmp_path):
    output = tmp_path / "gpu.toml"
    result = CliRunner().invoke(verb, [str(folder), "-o", str(output)])
    assert result.exit_code == 0, result.output
    assert "constants from" in result.output
    assert output.with_suffix(".html").is_file()
    assert load_calibration(output).gpu == machine.INFO.name
    again = CliRunner().invoke(verb, [str(folder), "-o", str(output)])
    assert isinstance(again.exception, OutputExistsError)
    assert CliRunner().invoke(verb, [str(folder), "-o", str(output), "--force"]).exit_code == 0


def test_results_that_are_none_are_refused(tmp_path):
    with pytest.raises(InputError, match="no results"):
        calibrate(tmp_path)
    for text, message in (("gpu = 1", "gpu"), ("gpu = [", "TOML"),
                          ('gpu="a"\ndate="b"\nprotocol="c"\n[a.b]\nvalue="x"', "numbers")):  # fmt: skip
        (tmp_path / "x.toml").write_text(text)
        with pytest.raises(ParseError, match=message):
            load_calibration(tmp_path / "x.toml")


def test_broken_rows_are_left_out(tmp_path):
    """A failed reading is counted and does not enter any fit."""
    machine.write(tmp_path)
    file = tmp_path / "micro.csv"
    lines = file.read_text().splitlines(keepends=True)
    wrecked = [re.sub(r",ok,", ",unsteady,", line) if "fp32_fma_ilp1,instruction,,latency" in line else line
               for line in lines]  # fmt: skip
    assert wrecked != lines
    file.write_text("".join(wrecked))
    found = calibrate(tmp_path)
    assert found.rows["unsteady"] == 1
    assert "latency.fp32_fma" not in {one.name for one in found.constants}
