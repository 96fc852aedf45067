"""What a comparison says must follow from the two predictions alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.render import samples
from warpwatt.compare.compare import compare, compare_all
from warpwatt.core.comparison import LineStatus, Topic
from warpwatt.core.estimate import Estimate
from warpwatt.core.program import Resources


@pytest.fixture(scope="module")
def pair():
    return samples.saxpy_pair()


def with_time(prediction, factor):
    time = prediction.time.scaled(factor)
    energy = time.combine(prediction.power, lambda t, p: t * p, "J")
    return replace(prediction, time=time, energy=energy)


def test_nothing_changes_against_itself(pair):
    same = compare(pair[0], pair[0])
    assert not same.figures
    for change in same.changes:
        assert (change.difference.low, change.difference.high, change.ratio.value) == (0.0, 0.0, 1.0)
        assert not change.clear
    assert all(line.status is LineStatus.SAME and line.time.value == 0 for line in same.lines)


def test_what_both_sides_share_cancels(pair):
    change = compare(pair[0], with_time(pair[0], 1.2)).time
    assert change.ratio.value == pytest.approx(1.2)
    assert change.ratio.low == pytest.approx(1.2)
    assert change.ratio.high == pytest.approx(1.2)
    assert change.difference.high - change.difference.low < 0.5 * (change.new.high - change.new.low)


def test_what_they_do_not_share_does_not(pair):
    other = Estimate.spread(pair[0].time.value * 1.02, {"something else": 0.2}, "s")
    change = compare(pair[0], replace(pair[0], time=other)).time
    assert change.ratio.low < 1 < change.ratio.high
    assert not change.clear


def test_turned_round_the_signs_turn(pair):
    there, back = compare(*pair), compare(*reversed(pair))
    for one, other in zip(there.changes, back.changes, strict=True):
        assert one.difference.value == pytest.approx(-other.difference.value)
        assert one.ratio.value == pytest.approx(1 / other.ratio.value)


def test_lines_add_up_to_the_difference(pair):
    compared = compare(*pair)
    shares = [sum(line.time_share for line in p.lines) for p in pair]
    explained = pair[1].time.value * shares[1] - pair[0].time.value * shares[0]
    assert sum(line.time.value for line in compared.lines) == pytest.approx(explained)
    assert [abs(line.time.value) for line in compared.lines] == sorted(
        (abs(line.time.value) for line in compared.lines), reverse=True
    )


def test_registers_occupancy_and_stalls_are_told(pair):
    old = pair[0]
    kernel = replace(old.case.kernel, resources=Resources(64, spill_stores=16))
    stalls = {**old.timing.stalls, next(iter(old.timing.stalls)): 0.3}
    new = replace(old, case=replace(old.case, kernel=kernel), timing=replace(old.timing, stalls=stalls))
    told = {(figure.topic, figure.name): figure for figure in compare(old, new).figures}
    assert told[Topic.RESOURCES, "registers per thread"].new == 64
    assert told[Topic.RESOURCES, "spills per thread"].old == 0
    assert told[Topic.STALLS, "Long Scoreboard"].new == 0.3
    assert len(told) == 3


def test_kernels_are_matched_by_name_and_the_rest_is_listed(pair):
    saxpy, matmul = samples.saxpy_pair()[0], samples.matmul_pair()[0]
    renamed = replace(matmul.case.kernel, name="_Z4newk", demangled="newk(int)")
    third = replace(matmul, case=replace(matmul.case, kernel=renamed))
    found = compare_all("a", "b", [matmul, saxpy], [saxpy, third])
    assert [one.old is saxpy for one in found.comparisons] == [True]
    assert found.removed == (matmul,)
    assert found.added == (third,)


def test_another_type_of_parameter_is_still_the_kernel(pair):
    saxpy, matmul = samples.saxpy_pair()[0], samples.matmul_pair()[0]
    kernel = replace(saxpy.case.kernel, demangled="saxpy(int, double, const double*, double*)")
    new = replace(saxpy, case=replace(saxpy.case, kernel=kernel))
    found = compare_all("a", "b", [saxpy, matmul], [matmul, new])
    assert [(one.old, one.new) for one in found.comparisons] == [(matmul, matmul), (saxpy, new)]


def test_lines_follow_the_source_text(pair, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
    text = samples.SAXPY_SOURCE
    (old / "saxpy.cu").write_text(text)
    (new / "saxpy.cu").write_text("// one line more\n" + text.replace("a * x[i] + y[i]", "a * x[i]"))
    sides = []
    for folder, change in ((old, 0), (new, 1)):
        lines = tuple(
            replace(line, file=str(folder / "saxpy.cu"), line=line.line + change) for line in pair[0].lines
        )
        sides.append(replace(pair[0], lines=lines))
    changes = {(line.old_line, line.new_line): line.status for line in compare(*sides).lines}
    assert changes == {(4, 5): LineStatus.SAME, (5, 6): LineStatus.SAME, (6, 7): LineStatus.CHANGED}
