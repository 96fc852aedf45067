"""Whose numbers stand in for a GPU's own: every loan is named, across generations in the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warpwatt.core.gpu import MEASURED_ON
from warpwatt.gpus import default_clocks, find, find_many, missing
from warpwatt.gpus.describe import describe
from warpwatt.gpus.loans import foreign_loans, loans

if TYPE_CHECKING:
    from pathlib import Path

MINE = """
name = "My laptop"
inherits = "GeForce RTX 3060 Laptop"
[values]
power_limit_w = 115
boost_clock_mhz = 1702
"""


def test_every_borrowed_measurement_is_in_the_loan_of_its_lender() -> None:
    for gpu in find_many("all"):
        named = {field: loan.lender for loan in loans(gpu) for field in loan.fields}
        cited = {field: source for field, source in gpu.memory.sources.items() if MEASURED_ON in source}
        assert named.keys() == cited.keys()
        assert all(cited[field].endswith(f"measured on {lender}") for field, lender in named.items())


def test_another_generation_is_another_compute_capability() -> None:
    for gpu in find_many("h200,rtx 3080,rtx 2080,rtx 5070,gtx 1080"):
        versions = {find(loan.lender).capability.version for loan in foreign_loans(gpu)}
        assert gpu.capability.version not in versions
    assert foreign_loans(find("h200")) == foreign_loans(find("rtx 3080")) == ()
    said = "; ".join(map(str, foreign_loans(find("rtx 2080"))))
    assert said.startswith("DRAM latency: ")
    assert "measured on Tesla V100 PCIe 16GB, another generation (compute capability 7.0)" in said


def test_who_lends_is_told_without_reading_calibrations(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = find("rtx 2080")
    expected = foreign_loans(gpu)
    foreign_loans.cache_clear()
    monkeypatch.setattr("warpwatt.gpus.load.calibration_files", lambda name: pytest.fail(f"read for {name}"))
    assert foreign_loans(gpu) == expected


def test_gpus_show_names_the_lender_beside_the_value() -> None:
    shown = {field.name: field.shown for field in describe(find("rtx 2080")) if field.section == "memory"}
    assert shown["l2_latency"] == "236 cycles, of GeForce RTX 2070"
    assert shown["l2_bandwidth"].endswith(", of Tesla T4")
    assert {f.shown for f in describe(find("rtx 2070")) if f.name == "l2_latency"} == {"236 cycles"}


def test_a_board_in_five_lines_says_what_is_taken_over(user_gpus: Path) -> None:
    (user_gpus / "mine.toml").write_text(MINE)
    mine, parent = find("my laptop"), find("rtx 3060 laptop")
    assert (mine.power_limit, mine.boost_clock, mine.sm_count) == (115.0, 1.702e9, parent.sm_count)
    (loan,) = foreign_loans(mine)
    assert str(loan).startswith("SM count, base clock, memory clock")
    assert str(loan).endswith(": as on GeForce RTX 3060 Laptop")
    assert not {"power_limit", "boost_clock"} & set(loan.fields)
    shown = {field.name: field.shown for field in describe(mine)}
    assert (shown["sm_count"], shown["power_limit"]) == ("30, as on GeForce RTX 3060 Laptop", "115 W")


def test_what_a_file_of_ones_own_gives_is_not_taken_over_by_a_file_that_inherits_it(user_gpus: Path) -> None:
    (user_gpus / "mine.toml").write_text(MINE)
    (user_gpus / "cool.toml").write_text(
        'name = "Cool"\ninherits = "my laptop"\n[values]\npower_limit_w = 60\n'
    )
    cool = find("cool")
    assert (cool.inherits, cool.boost_clock) == ("GeForce RTX 3060 Laptop", 1.702e9)
    assert "boost_clock" not in cool.inherited


def test_a_board_that_inherits_stays_a_geforce(user_gpus: Path) -> None:
    (user_gpus / "mine.toml").write_text(MINE)
    assert find("my laptop").product == "GeForce RTX 3060 Laptop"
    assert default_clocks(find("my laptop")).spread == default_clocks(find("rtx 3060")).spread > 0


@pytest.mark.parametrize(
    ("given", "clocks"),
    [
        ("power_limit_w = 400", (2655e6, 10501e6)),
        ("boost_clock_mhz = 2000", (2000e6, 10501e6)),
        ("boost_clock_mhz = 2000\nobserved_clock_mhz = 2100", (2100e6, 10501e6)),
    ],
)
def test_a_clock_of_ones_own_is_not_overruled_by_one_that_was_observed(
    user_gpus: Path, given: str, clocks: tuple[float, float]
) -> None:
    (user_gpus / "mine.toml").write_text(f'name = "M"\ninherits = "rtx 4090"\n[values]\n{given}\n')
    found = default_clocks(find("M"))
    assert (found.sm, found.memory) == clocks


def test_no_bandwidth_is_taken_from_another_generation() -> None:
    """A share of a peak says nothing of another architecture: there the model's own constant counts."""
    for gpu in find_many("all"):
        for loan in loans(gpu):
            if any("bandwidth" in field for field in loan.fields):
                assert find(loan.lender).capability.arch.split()[0] == gpu.capability.arch.split()[0]
    assert find("rtx 5090").memory.l2_bandwidth is None


def test_a_copy_is_as_much_slower_than_reads_as_where_both_were_measured() -> None:
    mine, theirs = find("h800-pcie").memory, find("h200").memory
    shares = [(m.dram_copy_bandwidth or 0.0) / (m.dram_bandwidth or 1.0) for m in (mine, theirs)]
    assert shares[0] == pytest.approx(shares[1])
    volta = find("v100").memory  # 750 GB/s of one source, 867 and 809 of another
    assert (volta.dram_bandwidth or 0.0) / find("v100").memory_bandwidth == pytest.approx(867 / 897, rel=0.01)


def test_a_bandwidth_that_nobody_measured_refuses_no_board() -> None:
    assert find("rtx-5090").memory.l2_bandwidth is None
    asked = {field for gpu in find_many("all") for field in missing(gpu)}
    assert not {field for field in asked if "bandwidth" in field}
