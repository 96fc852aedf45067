"""What is no longer used is freed when somebody asks for it."""

from __future__ import annotations

import gc
import weakref

from warpwatt.core.garbage import collecting_later, give_back


class Node:
    """Something that holds itself."""

    def __init__(self) -> None:
        self.own = self


def test_what_only_cycles_hold_is_given_back() -> None:
    with collecting_later():
        seen = weakref.ref(Node())
        assert seen() is not None
        give_back()
        assert seen() is None
    assert gc.isenabled()
