"""Heat maps: every pair of clocks in its place, the darkest the largest."""

from __future__ import annotations

import re

from tests.render.plots.test_sweep import written
from warpwatt.render.plots.heat import LEFT, RIGHT, WIDTH, heat_maps
from warpwatt.render.plots.sweep import TIME
from warpwatt.sweep.rows import Range, Row

CLOCKS = [(sm * 1e6, memory * 1e6) for memory in range(400, 1001, 100) for sm in range(400, 1001, 100)]


def plane(gpu: str = "GPU", first: int = 0) -> list[Row]:
    """Return 49 pairs: 1 ms at the fastest, time ∝ 1/(SM clock · √memory clock)."""
    rows = []
    for number, (sm, memory) in enumerate(CLOCKS, first):
        time = 1e-3 * (1e9 / sm) * (1e9 / memory) ** 0.5
        energy = time * (20 + sm * 1e-7)
        rows.append(
            Row(
                number, 0, gpu, kernel="k", sm_clock=sm, memory_clock=memory, clocks_fixed=True,
                time=Range(time, 0.9 * time, 1.1 * time), power=Range(energy / time, 1, 200),
                energy=Range(energy, 0.9 * energy, 1.1 * energy), limited_by="DRAM", occupancy=1.0,
            )
        )  # fmt: skip
    return rows


def test_a_plane_has_its_pairs_in_order_and_shades_by_size() -> None:
    (one,) = heat_maps(plane(), (TIME,))
    assert (one.unit, len(one.rows), len(one.columns)) == ("ms", 7, 7)
    assert (one.columns[0], one.columns[-1], one.lines[0], one.lines[-1]) == ("400", "1000", "1000", "400")
    flat = [cell for line in one.rows for cell in line]
    shades = [cell.shade for cell in sorted(flat, key=lambda cell: cell.value)]
    assert shades == sorted(shades)
    best = one.rows[0][-1]
    assert (best.label, best.shade, best.best) == ("1.00", 0.0, True)
    assert (one.rows[-1][0].shade, one.rows[-1][0].label) == (1.0, "3.95")
    assert sum(cell.best for cell in flat) == 1
    assert abs(one.rows[0][-1].x + one.rows[0][-1].width - (WIDTH - RIGHT)) < 0.5
    assert one.rows[0][0].x == LEFT


def test_the_text_shows_all_49_as_a_table_and_as_a_map() -> None:
    text = written("text", plane())
    table, _, maps = text.partition("Time over both clocks")
    assert len(re.findall(r"MHz +\d+ MHz", table)) == 49
    assert (
        len(re.findall(r"(?<![\d.])\d+(?:\.\d+)?(?![\d.])", maps.partition("Energy")[0].partition("MHz)")[2]))
        == 63
    )
    assert "not shown" not in text
    assert "★ 1.00" in maps


def test_the_page_draws_a_rectangle_for_each_pair() -> None:
    page = written("html", plane())
    assert page.count("<rect") == 4 * 49
    assert page.count("Energy over both clocks") == 3


def test_a_gap_or_a_single_line_is_no_plane() -> None:
    rows = plane()
    assert heat_maps(rows[:-1]) == ()
    assert heat_maps(rows[:7]) == ()
    assert heat_maps([row for row in rows if row.sm_clock in (4e8, 5e8)]) == ()
    assert "over both clocks" not in written("text", rows[:7])


def test_several_planes_say_which_they_are() -> None:
    maps = heat_maps([*plane(), *plane("other", 49)], (TIME,))
    assert [one.title for one in maps] == ["Time over both clocks, GPU", "Time over both clocks, other"]


def test_equal_values_have_one_shade() -> None:
    rows = [
        Row(n, 0, "GPU", sm_clock=sm, memory_clock=memory, clocks_fixed=True, time=Range(1.0, 1.0, 1.0))
        for n, (sm, memory) in enumerate(CLOCKS)
    ]
    assert {cell.shade for line in heat_maps(rows, (TIME,))[0].rows for cell in line} == {0.0}
