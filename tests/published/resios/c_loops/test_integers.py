"""The integer solver finds a solution exactly where enumeration does."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.published.resios.c_loops.integers import Affine, System, Unknown

NAMES = "ijkl"
forms = st.builds(
    Affine,
    st.integers(-12, 12),
    st.dictionaries(st.sampled_from(NAMES), st.integers(-5, 5).filter(bool), max_size=4),
)
boxes = st.fixed_dictionaries({n: st.tuples(st.integers(-3, 2), st.integers(2, 5)) for n in NAMES})


def points(box):
    return (
        dict(zip(box, p, strict=True)) for p in itertools.product(*(range(a, b + 1) for a, b in box.values()))
    )


def holds(system, point):
    return all(e.at(point) == 0 for e in system.equations) and all(
        i.at(point) >= 0 for i in system.inequalities
    )


@settings(max_examples=150, deadline=None)
@given(boxes, st.lists(forms, max_size=3), st.lists(forms, max_size=2))
def test_agrees_with_enumeration(box, equations, inequalities):
    system = System(box, equations, inequalities)
    found = system.solve()
    assert found is not Unknown.BUDGET
    if found is None:
        assert not any(holds(system, point) for point in points(box))
    else:
        assert set(found) == set(box)
        assert all(low <= found[n] <= high for n, (low, high) in box.items())
        assert holds(system, found)


def test_large_linearised_arrays_are_decided_at_once():
    box = dict.fromkeys(("y", "x", "v", "u"), (0, 9999))
    same = Affine(0, {"y": 10_000, "x": 1, "v": -10_000, "u": -1})
    assert System(box, [same], [Affine(-1, {"y": 1, "v": -1})]).solve() is None
    overlapping = Affine(0, {"y": 9_999, "x": 1, "v": -9_999, "u": -1})
    assert isinstance(System(box, [overlapping], [Affine(-1, {"y": 1, "v": -1})]).solve(), dict)


def test_a_spent_budget_is_no_answer():
    box = dict.fromkeys(NAMES, (0, 10**6))
    hard = Affine(-1, {"i": 6, "j": 10, "k": -15})
    assert System(box, [hard], []).solve(budget=1) is Unknown.BUDGET
