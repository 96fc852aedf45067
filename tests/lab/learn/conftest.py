"""A small table in the layout of the published power data, and what needs extras."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from warpwatt.lab.learn.layout import layout

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data"


@pytest.fixture
def header() -> list[str]:
    return ["Sr No.", "Benchmark", "Kernel Name", *layout("alavani_power").features, "Power"]


@pytest.fixture
def rows(header) -> list[list[str]]:
    """Return 60 rows of 6 programs; power is linear in two features, plus a program's own offset."""
    generator = np.random.default_rng(0)
    found = []
    for i in range(60):
        program = i % 6
        x = {name: float(v) for name, v in zip(header[3:-1], generator.integers(1, 100, 15), strict=True)}
        power = 40 + 0.5 * x["avg_comp_lat"] + 0.3 * x["reg_thread"] + 2 * program
        found.append([str(i), f"program {program}", f"kernel {i}", *map(str, x.values()), str(power)])
    return found


@pytest.fixture
def write(tmp_path, header):
    """Return a function that writes rows under the header and returns the file."""

    def written(lines, head=None, name="data.csv"):
        file = tmp_path / name
        with file.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([head or header, *lines])
        return file

    return written


@pytest.fixture
def table(write, rows) -> Path:
    return write(rows)


@pytest.fixture
def alavani() -> Path:
    folder = SHARED / "alavani_power"
    if not folder.exists():
        pytest.skip(f"the published data are not beside the checkout ({folder})")
    return folder


@pytest.fixture
def powerquant() -> Path:
    folder = SHARED / "alavani_powerquant"
    if not folder.exists():
        pytest.skip(f"the published data are not beside the checkout ({folder})")
    return folder
