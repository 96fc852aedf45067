"""The roofline's geometry: roofs and points lie where the axes say, labels do not hide each other."""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations, pairwise

from warpwatt.render.plots.axes import LogAxis
from warpwatt.render.plots.roofline import LABEL_HEIGHT, roofline_plot
from warpwatt.render.roofline import instruction_roofline, memory_roofs, roof_origin, roofline


def test_plot_places_points_and_roofs_where_the_axes_say(saxpy, matmul):
    for prediction in (*saxpy, *matmul):
        roof = roofline(prediction)
        plot = roofline_plot([("k", roof)])
        x, y = plot.x_axis, plot.y_axis
        assert x.low < roof.intensity < x.high
        assert y.low <= roof.low <= roof.high < y.high
        (mark,) = plot.marks
        points = {point.level: point for point in mark.points}
        assert mark.y == y(roof.performance)
        for level in roof.levels:
            point = points[level.roof.name]
            assert point.x == x(level.intensity)
            assert point.ceiling == y(min(roof.compute.peak, level.roof.peak * level.intensity))
        top = max(one.peak for one in roof.roofs if one.kind == "compute")
        for line in plot.lines:
            assert x.start <= line.x1 < line.x2 <= x.end
            assert y.end <= line.y2 <= line.y1 <= y.start
            if line.kind == "memory":
                assert math.isclose(line.x2, x(top / line.peak), abs_tol=0.11)
                assert line.y2 == y(top)


def test_figures_of_the_axis_have_room_on_a_telephone(saxpy):
    plot = roofline_plot([("k", roofline(saxpy[0]))]).narrow
    letter, longest = 6.7, "1.00 TFLOP/s"  # pixels of a letter of 12 pixels, about
    assert letter * len(longest) <= plot.left - 7


def test_every_roof_has_a_label_that_hides_no_other(saxpy, matmul):
    for prediction in (*saxpy, *matmul):
        roof = roofline(prediction)
        plot = roofline_plot([("k", roof)])
        assert sorted(", ".join(line.name for line in plot.lines).split(", ")) == sorted(
            r.name for r in roof.roofs
        )
        flat = sorted(line.label_y for line in plot.lines if line.kind == "compute")
        assert all(lower - upper >= LABEL_HEIGHT - 0.2 for upper, lower in pairwise(flat))
        sloping = [line for line in plot.lines if line.kind == "memory"]
        for one, other in combinations(sloping, 2):
            apart = math.hypot(
                one.label_x - other.label_x, one.label_y + one.rise - other.label_y - other.rise
            )
            assert apart >= LABEL_HEIGHT


def test_equal_compute_roofs_share_a_line(matmul):
    roof = roofline(matmul[0])
    twin = dataclasses.replace(roof.compute, name="TWIN")
    plot = roofline_plot([("k", dataclasses.replace(roof, roofs=(*roof.roofs, twin)))])
    assert f"{roof.compute.name}, TWIN" in [line.name for line in plot.lines]


def test_nearest_roof_is_where_the_largest_share_is_reached(saxpy, matmul):
    for prediction in (*saxpy, *matmul):
        roof = roofline(prediction)
        shares = {
            level.roof.name: roof.performance / min(roof.compute.peak, level.roof.peak * level.intensity)
            for level in roof.levels
        }
        nearest = max(shares, key=shares.__getitem__)
        assert roof.nearest.name in (nearest, roof.compute.name)


def test_kernels_of_one_gpu_share_roofs(saxpy, matmul):
    both = [("a", roofline(saxpy[0])), ("b", roofline(matmul[0]))]
    plot = roofline_plot(both)
    assert [mark.name for mark in plot.marks] == ["a", "b"]
    names = [line.name for line in plot.lines]
    assert len(names) == len(set(names))


def test_instructions_lie_under_the_issue_rate(saxpy):
    roof = instruction_roofline(saxpy[0])
    case = saxpy[0].case
    assert roof.compute.peak == case.gpu.sm_count * 4 * case.clocks.sm
    assert roof.performance < roof.compute.peak
    assert roof.levels[0].intensity == case.workload.execution.warp_instructions / case.workload.dram.total


def test_peaks_that_nobody_measured_are_called_assumed(saxpy):
    case = saxpy[0].case
    assert memory_roofs(case)[2].peak == 132 * 128 * case.clocks.sm
    origins = [roof_origin(case, name) for name in ("DRAM", "L2", "L1")]
    assert origins == ["data sheet", "from a relative", "assumed"]


def test_axis_decades():
    assert LogAxis(0.01, 10.0, 0.0, 3.0).decades == [0.01, 0.1, 1.0, 10.0]
