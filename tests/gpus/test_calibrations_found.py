"""A calibration beside the user's GPU files belongs to the GPU it names."""

from __future__ import annotations

import pytest

from warpwatt.core.errors import ParseError
from warpwatt.gpus import find
from warpwatt.gpus.describe import describe
from warpwatt.models.component.parameters import parameters

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


MINE = """
gpu = "Tesla V100 PCIe 16GB"
date = "2026-11-21"
protocol = "micro 1"

[latency.l2]
value = 200.0
error = 1.0

[component.dram]
value = 6e-11
error = 1e-12
"""


def test_a_users_calibration_keeps_what_the_package_knows_beyond_it(folder):
    packaged = find("v100 pcie 16gb").calibration
    assert packaged is not None
    (folder / "mine.toml").write_text(MINE, encoding="utf-8")
    gpu = find("v100 pcie 16gb")
    assert gpu.calibration is not None
    assert gpu.calibration.constants.keys() == {"latency.l2", "component.dram"}
    assert gpu.calibration.base == packaged
    shown = {field.name: field for field in describe(gpu) if field.section == "calibration"}
    assert shown["component.dram"].value == 6e-11
    assert "micro 1" in shown["component.dram"].source
    assert shown["component.board"].value == packaged.constants["component.board"][0]
    assert packaged.protocol in shown["component.board"].source


def test_power_coefficients_are_layered_too(folder):
    packaged = parameters(find("v100 pcie 16gb"))
    (folder / "mine.toml").write_text(MINE, encoding="utf-8")
    mine = parameters(find("v100 pcie 16gb"))
    assert mine.coefficients["dram"].value == 6e-11
    assert mine.coefficients["board"] == packaged.coefficients["board"]
    assert mine.voltage == packaged.voltage
    assert mine.residual == packaged.residual
