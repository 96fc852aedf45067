"""The printed error figures follow from the printed times."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from validation.alavani.published_errors import (
    by_dwarf,
    mean_absolute_percentage_error,
    mean_percentage_error,
    printed_by_dwarf,
    table_4_2,
    table_4_8,
)


@pytest.mark.parametrize(
    ("column", "mpe", "mape"),
    [("K20", -8.88, 28.35), ("K4200", -5.66, 29.44), ("M60", -10.64, 47.76), ("GTX1050", -3.94, 28.47)],
)
def test_table_4_8(column, mpe, mape):
    rows = table_4_8(column)
    assert round(mean_percentage_error(rows), 2) == mpe
    assert round(mean_absolute_percentage_error(rows), 2) == mape


def test_table_4_2():
    assert round(mean_absolute_percentage_error(table_4_2()), 2) == 26.86


def test_table_4_9():
    rows = by_dwarf(table_4_8("K20"))
    for dwarf, printed in printed_by_dwarf("table_4_9.csv", "Tesla K20").items():
        assert mean_absolute_percentage_error(rows[dwarf]) == pytest.approx(printed, abs=0.02)
