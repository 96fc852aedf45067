"""The loader of the released tables: every defect of the spreadsheets counted, none dropped silently."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))  # validation/ is not an installed package

from validation import ROOT
from validation.alavani import feature_checks, features, features_page
from validation.alavani import feature_tables as alavani_data

from warpwatt.published.alavani.features import Convention

TABLE = """\
Sr No.,Benchmark,Kernel Name,,grid_size,block_size,Total Threads,comp_inst_sim,avg_comp_lat,waves,sm_active
1,NN,euclid,,168,256,43008,38,33.05,13,
2,GRU,gru,,1,100,101,,#DIV/0!,sh_penalty,
3,,,,,,,,,,
"""


@pytest.fixture
def table(tmp_path: Path) -> alavani_data.DataSet:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return alavani_data.load(path, "k20_larger")


def test_rows_hold_numbers_or_none(table: alavani_data.DataSet) -> None:
    first, second = table.rows
    assert (first.line, first.kernel, first.values["comp_inst_sm"]) == (2, "euclid", 38)
    assert second.values["avg_comp_lat"] is None
    assert second.numbers(("grid_size", "comp_inst_sm")) is None
    assert first.numbers(("grid_size", "block_size")) == (168, 256)


def test_defects_are_counted(table: alavani_data.DataSet) -> None:
    defects = table.defects
    assert defects.blank_rows == 1
    assert defects.error == {"avg_comp_lat": 1}
    assert defects.error_rows == 1
    assert defects.stray == {"waves": 1}
    assert defects.blank == {"comp_inst_sm": 1}
    assert defects.empty == ("sm_active",)
    assert defects.unnamed == 1


def test_checks_count_only_rows_with_all_inputs(table: alavani_data.DataSet) -> None:
    shares = {(r.check.column, r.check.convention): (r.matching, r.rows) for r in features.run([table])}
    assert shares["total_threads", Convention.PUBLISHED] == (1, 2)
    assert shares["waves", Convention.PUBLISHED] == (1, 1)
    assert shares["waves", Convention.THESIS] == (0, 1)
    assert shares["sm_active", Convention.PUBLISHED] == (0, 0)


def test_page_names_every_column_and_both_conventions(table: alavani_data.DataSet) -> None:
    page = features_page.report([table], features.run([table]), ROOT)
    for check in feature_checks.checks():
        assert f"| {check.column} | {check.convention} |" in page
    assert (
        "| total_threads | k20_larger | grid_size · block_size | 50.00 % of 2 | gru 1 |" in page
    )  # the kernel behind the worst mismatch


def test_tolerance_is_the_wider_of_both() -> None:
    check = next(c for c in feature_checks.checks() if c.column == "total_threads")
    assert check.matches(100.4, 100)
    assert not check.matches(101, 100)


def test_promised_columns_that_fall_short_are_named(table: alavani_data.DataSet) -> None:
    short = features.broken_promises(features.run([table]))
    assert short == ()
    results = [r for r in features.run([table]) if r.check.column == "waves"]
    halved = [feature_checks.Result(r.check, r.data, 0, 1, "") for r in results]
    assert features.broken_promises(halved) == ("waves in k20_larger: 0.00 % of 1",)
