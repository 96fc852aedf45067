"""A process and all that it has started: how much memory they hold, and how to end them all."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROC = Path("/proc")


def family(pid: int) -> tuple[int, ...]:
    """Return a process and its descendants, compilers in sessions of their own included.

    Empty descendants where the system has no ``/proc``.

    >>> family(os.getpid())[0] == os.getpid()
    True
    """
    found = [pid]
    for member in found:  # grows while it is read
        found += _children(member)
    return tuple(found)


def resident(pid: int) -> int:
    """Return the bytes of memory that a process and its descendants hold, files they map left out.

    >>> resident(os.getpid()) > 2**20
    True
    """
    return sum(map(_anonymous, family(pid)))


def kill_family(pid: int) -> None:
    """End a process and its descendants. It is stopped first, so that it starts no others meanwhile."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGSTOP)
    for member in reversed(family(pid)):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL)


def kill_descendants(pid: int) -> None:
    """End all that a process has started, but not the process."""
    for member in reversed(family(pid)[1:]):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in _tasks(pid):
        with suppress(OSError):  # it ended meanwhile
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def _tasks(pid: int) -> tuple[Path, ...]:
    try:
        return tuple((_PROC / str(pid) / "task").iterdir())
    except OSError:
        return ()


def _anonymous(pid: int) -> int:
    """Return resident bytes that are no file's."""
    try:
        _, held, shared, *_ = (_PROC / str(pid) / "statm").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 0
    return (int(held) - int(shared)) * _PAGE
