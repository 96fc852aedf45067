"""Which line of a new source is which line of an old one.

Lines that :mod:`difflib` aligns are the same. Of the rest, equal texts that stand once on either side have
moved, and similar texts in one place have changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from warpwatt.core.comparison import LineStatus

SIMILAR = 0.5
"""Likeness (difflib's ratio) from which a line counts as changed instead of replaced."""
MOST_PAIRS = 2500
"""A passage with more pairs of lines than this has been rewritten: nothing in it is looked for."""

Match = tuple[int, int, LineStatus]
"""Old line, new line (from 1), what became of it."""


def match_lines(old: Sequence[str], new: Sequence[str]) -> tuple[Match, ...]:
    """Return the lines that are on both sides, by old number; blanks at the ends of lines do not count.

    >>> for match in match_lines(["a = 1;", "b = 2;", "c = 3;"], ["c = 3;", "a = 1;", "b = 20;"]):
    ...     print(*match)
    1 2 same
    2 3 changed
    3 1 moved
    """
    before, after = [line.strip() for line in old], [line.strip() for line in new]
    blocks = SequenceMatcher(None, before, after).get_opcodes()
    found: list[Match] = []
    rest: list[tuple[range, range]] = []
    for tag, start, end, new_start, new_end in blocks:
        if tag == "equal":
            found += [(start + k + 1, new_start + k + 1, LineStatus.SAME) for k in range(end - start)]
        else:
            rest.append((range(start, end), range(new_start, new_end)))
    moved = _moved(before, after, rest)
    gone, come = {i for i, _ in moved}, {j for _, j in moved}
    found += [(i + 1, j + 1, LineStatus.MOVED) for i, j in moved]
    for olds, news in rest:
        left = [i for i in olds if i not in gone and before[i]]
        right = [j for j in news if j not in come and after[j]]
        for i, j in _alike(before, after, left, right):
            found.append((i + 1, j + 1, LineStatus.SAME if before[i] == after[j] else LineStatus.CHANGED))
    return tuple(sorted(found))


def _moved(
    before: Sequence[str], after: Sequence[str], rest: Iterable[tuple[range, range]]
) -> list[tuple[int, int]]:
    """Return lines whose text is left over exactly once on either side; brackets alone say nothing."""
    olds, news = defaultdict(list), defaultdict(list)
    for old_range, new_range in rest:
        for i in old_range:
            olds[before[i]].append(i)
        for j in new_range:
            news[after[j]].append(j)
    return [
        (found[0], news[text][0])
        for text, found in olds.items()
        if len(found) == 1 and len(news.get(text, ())) == 1 and any(map(str.isalnum, text))
    ]


def _alike(
    before: Sequence[str], after: Sequence[str], olds: Sequence[int], news: Sequence[int]
) -> list[tuple[int, int]]:
    """Return pairs of lines in one place that are alike, in order, the most alike first served."""
    if len(olds) * len(news) > MOST_PAIRS:
        return []
    likeness = [
        (ratio, i, j) for i in olds for j in news if (ratio := _ratio(before[i], after[j])) >= SIMILAR
    ]
    chosen: list[tuple[int, int]] = []
    for _, i, j in sorted(likeness, key=lambda one: (-one[0], one[1], one[2])):
        if all((i - a) * (j - b) > 0 for a, b in chosen):
            chosen.append((i, j))
    return chosen


def _ratio(old: str, new: str) -> float:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= SIMILAR else 0.0
