"""Rows: through JSON and back, and the Pareto front against its definition."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from warpwatt.sweep.rows import Range, Row, objective, pareto

VALUES = st.integers(1, 6).map(float)


def row(number: int, launch: int, time: float, energy: float) -> Row:
    return Row(number, launch, "GPU", time=Range(time, time, time), energy=Range(energy, energy, energy))


@given(st.lists(st.tuples(st.integers(0, 1), VALUES, VALUES), max_size=12))
def test_the_front_is_what_nothing_dominates(points: list[tuple[int, float, float]]) -> None:
    rows = [row(number, *point) for number, point in enumerate(points)]

    def beaten(mine: tuple[int, float, float]) -> bool:
        return any(
            other[0] == mine[0] and other[1] <= mine[1] and other[2] <= mine[2] and other != mine
            for other in points
        )

    assert pareto(rows) == {number for number, point in enumerate(points) if not beaten(point)}


def test_rows_without_result_are_on_no_front_and_never_best():
    failed = Row(0, 0, "GPU", error="no")
    assert pareto([failed, row(1, 0, 1.0, 1.0)]) == {1}
    assert objective(failed, "edp") == float("inf")


def test_a_row_survives_json():
    full = Row(
        7, 1, "GPU", "k", (("A", "1"),), 64, "1,1,1", "32,1,1", 8, 1e9, 2e9, True,
        Range(1.0, 0.5, 2.0), Range(3.0, 2.0, 4.0), Range(3.0, 1.0, 8.0), "D", True, 0.5, 40, 8, ("w",), "",
    )  # fmt: skip
    assert Row.from_json(json.loads(json.dumps(full.to_json()))) == full
