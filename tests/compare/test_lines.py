"""Lines matched: properties for any two texts, and the cases people mean."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from warpwatt.compare.lines import match_lines
from warpwatt.core.comparison import LineStatus

LINES = st.lists(st.sampled_from(["{", "}", "", "a = b;", "a = c;", "x += y * z;", "return;"]), max_size=25)


@given(LINES, LINES)
def test_no_line_is_matched_twice_and_fates_say_the_truth(old, new):
    found = match_lines(old, new)
    assert len({i for i, _, _ in found}) == len({j for _, j, _ in found}) == len(found)
    for i, j, status in found:
        equal = old[i - 1].strip() == new[j - 1].strip()
        assert equal == (status in (LineStatus.SAME, LineStatus.MOVED))
    in_order = [j for _, j, status in found if status is not LineStatus.MOVED]
    assert in_order == sorted(in_order)


@given(LINES)
def test_a_text_is_the_same_as_itself(text):
    assert match_lines(text, text) == tuple((n, n, LineStatus.SAME) for n in range(1, len(text) + 1))


@given(LINES, st.integers(0, 25))
def test_an_inserted_line_shifts_the_rest(text, place):
    place = min(place, len(text))
    new = [*text[:place], "int inserted_here = 42;", *text[place:]]
    found = {i: j for i, j, _ in match_lines(text, new)}
    assert [found[i] for i in range(1, len(text) + 1)] == [
        n for n in range(1, len(new) + 1) if n != place + 1
    ]


def test_a_line_that_was_moved_up_is_recognised():
    old = ["load();", "a();", "b();", "c();", "store();"]
    new = ["load();", "store();", "a();", "b();", "c();"]
    assert (5, 2, LineStatus.MOVED) in match_lines(old, new)


def test_a_replaced_line_is_no_change_of_another():
    old, new = ["keep();", "float x = in[i];"], ["keep();", "__syncwarp();"]
    assert match_lines(old, new) == ((1, 1, LineStatus.SAME),)


def test_a_long_rewritten_passage_is_not_searched():
    old = [f"a[{i}] = f({i});" for i in range(3000)]
    new = [f"b[{i}] = g({i});" for i in range(3000)]
    assert match_lines(["first();", *old, "last();"], ["first();", *new, "last();"]) == (
        (1, 1, LineStatus.SAME),
        (3002, 3002, LineStatus.SAME),
    )
