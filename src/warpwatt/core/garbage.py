"""When Python looks for garbage, and when memory goes back to the system."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def collecting_later() -> Iterator[None]:
    """Let the collector of reference cycles wait until the body has ended.

    It looks at every object there is whenever a quarter as many are new: while a kernel of thousands of
    instructions is read that takes longer than reading it. What nobody refers to is freed all the same.

    >>> with collecting_later():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def give_back() -> None:
    """Free what only cycles hold, and return freed memory to the system where the C library can.

    Arrays of a few megabytes leave holes between what stays: a process that makes them again and again
    otherwise holds a multiple of what it uses.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # glibc has it
        ctypes.CDLL(None).malloc_trim(0)
