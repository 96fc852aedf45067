"""A calibration beside the user's GPU files belongs to the GPU it names."""

from __future__ import annotations

import pytest

from warpwatt.core.errors import ParseError
from warpwatt.gpus import find
from warpwatt.gpus.describe import describe

TEXT = """
gpu = "nvidia h200"
date = "2026-11-21"
protocol = "3"

[latency.l2]
value = 281.5
error = 0.4
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPWATT_GPUS", str(tmp_path))
    (tmp_path / "calibrations").mkdir()
    return tmp_path / "calibrations"


def test_the_gpu_it_names_carries_it_and_no_other(folder):
    (folder / "mine.toml").write_text(TEXT, encoding="utf-8")
    calibration = find("h200").calibration
    assert calibration is not None
    assert calibration.constants["latency.l2"] == (281.5, 0.4)
    assert find("h100").calibration is None
    assert find("h200") is find("NVIDIA H200")


def test_it_is_shown_with_its_source(folder):
    (folder / "mine.toml").write_text(TEXT, encoding="utf-8")
    field = next(f for f in describe(find("h200")) if f.section == "calibration")
    assert field.shown == "281.5 ± 0.4"
    assert "2026-11-21" in field.source


def test_a_broken_file_is_named(folder):
    (folder / "bad.toml").write_text("gpu = 3", encoding="utf-8")
    with pytest.raises(ParseError, match=r"bad\.toml"):
        find("h200")


def test_nothing_is_found_without_files(folder):
    assert find("h200").calibration is None
