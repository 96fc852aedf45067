"""A process and all that it has started: how much memory they hold, and how to end them all."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from mmap import PAGESIZE
from pathlib import Path

_PROC = Path("/proc")


def family(pid: int) -> tuple[int, ...]:
    """Return a process and its descendants, compilers in sessions of their own included.

    Without descendants where the system has no ``/proc`` and psutil is not installed.

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
    """Kill a process and its descendants."""
    _stop(pid)
    _kill([pid, *_stopped_descendants(pid)])


def kill_descendants(pid: int) -> None:
    """Kill all that a process has started, but not the process."""
    _kill(_stopped_descendants(pid))


def _stopped_descendants(pid: int) -> list[int]:
    """Stop the descendants of a process and return them.

    A stopped process starts no more: looked for until no new one is found, none is left out.
    """
    stopped: list[int] = []
    while new := [member for member in family(pid)[1:] if member not in stopped]:
        for member in new:
            _stop(member)
        stopped += new
    return stopped


def _stop(pid: int) -> None:
    if hasattr(signal, "SIGSTOP"):
        with suppress(OSError):
            os.kill(pid, signal.SIGSTOP)


def _kill(processes: list[int]) -> None:
    for pid in processes:
        with suppress(OSError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def _children(pid: int) -> list[int]:
    # Not psutil's everywhere: it reads all of /proc, which the walls of :mod:`.confinement` keep away.
    if not _PROC.is_dir():
        return _children_elsewhere(pid)
    found: list[int] = []
    for task in _tasks(pid):
        with suppress(OSError):  # it ended meanwhile
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def _children_elsewhere(pid: int) -> list[int]:
    try:
        import psutil  # comes with the servers
    except ImportError:
        return []
    with suppress(psutil.Error):
        return [child.pid for child in psutil.Process(pid).children()]
    return []


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
    return (int(held) - int(shared)) * PAGESIZE
