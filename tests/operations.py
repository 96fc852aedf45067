"""Count work instead of timing it: the number of Python lines executed is the same on every machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def lines_executed(action: Callable[[], object]) -> int:
    """Return how many lines of Python ``action`` executes, those of functions it calls included."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def grows_linearly(action: Callable[[int], object], small: int, factor: int) -> bool:
    """Return whether ``action`` executes lines about in proportion to its argument."""
    action(small)  # first use may import and fill caches
    few, many = lines_executed(lambda: action(small)), lines_executed(lambda: action(small * factor))
    return many <= 1.5 * factor * few
