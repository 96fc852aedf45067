"""Walls around a process that works on untrusted input: files, network, signals, memory, time.

Landlock (Linux 5.13 and later, no privileges needed) leaves it Python, the compilers and the system's
libraries to read, its own folder to write, and only named programs to start; everything it starts inherits
that. A filter (:mod:`~warpwatt.workers.seccomp`) refuses system calls that Landlock has no rules for. Where
the kernel has no Landlock, :func:`landlock_version` says so, and :mod:`warpwatt.frontend.untrusted` is
stricter in turn.

Numbers are those of the Linux headers ``landlock.h``, ``prctl.h`` and ``unistd.h`` (x86-64 and arm64 agree).
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.workers.seccomp import filters_system_calls, refuse_system_calls

if TYPE_CHECKING:
    from warpwatt.workers.limits import Limits

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIRECTORY, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_READ = _READ_FILE | _READ_DIRECTORY
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
# Version of the interface -> number of rights on files it knows.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_FILE_RIGHTS_NOW = 16
_ALL_NETWORK, _ALL_SCOPES = 0b11, 0b11
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6

SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/etc/ld.so.cache", "/etc/alternatives", "/proc/self")
"""What programs of the system need to start; of all processes its own, to find what it has started."""
LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1")
"""The system's loader of programs, which the kernel starts with each of them."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
OPEN_FILES = 256


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


@dataclass(frozen=True, slots=True)
class Walls:
    """What a process may reach: folders and files to read, the one folder to write, programs to start."""

    readable: tuple[Path, ...]
    writable: Path
    programs: tuple[Path, ...] = ()
    """What may be started, besides the loader of programs."""


def landlock_version() -> int:
    """Return the version of Landlock's interface, 0 where this system has none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)))


def missing_walls() -> tuple[str, ...]:
    """Return the walls that this system does not have: :func:`confine` does without them."""
    there = {"Landlock": landlock_version() > 0, "seccomp filters": filters_system_calls()}
    return tuple(name for name, is_there in there.items() if not is_there)


def confine(walls: Walls, limits: Limits, cpus: int) -> None:
    """Put the calling process behind its walls, for good; it must have a single thread.

    It is killed when the process that forked it ends, and leads a process group of its own.

    Raises
    ------
    OSError
        If the system has Landlock and refuses it.
    """
    os.setpgid(0, 0)
    _limit(limits, cpus)
    if sys.platform == "linux":
        libc = _libc()
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        _prefer_as_victim()
        _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _restrict_files(libc, walls)
        refuse_system_calls(libc)


def _limit(limits: Limits, cpus: int) -> None:
    seconds = int(limits.seconds * cpus) + 2
    for what, amount in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_AS, 2 * limits.buffers + limits.memory),
    ):
        resource.setrlimit(what, (amount, amount))


def _prefer_as_victim() -> None:
    """Let the system kill this process before any other where memory runs out."""
    try:
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    except OSError:
        return  # no /proc: the limit on memory stands alone


def _restrict_files(libc: ctypes.CDLL, walls: Walls) -> None:
    """Allow what the walls say and nothing else, with Landlock."""
    version = landlock_version()
    if not version:
        return
    every = (1 << _FILE_RIGHTS.get(version, _FILE_RIGHTS_NOW)) - 1
    rules = _Ruleset(
        every,
        _ALL_NETWORK if version >= _NETWORK_SINCE else 0,
        _ALL_SCOPES if version >= _SCOPES_SINCE else 0,
    )
    # The structure has grown with the interface: files, then network, then scopes.
    size = 8 + 8 * (version >= _NETWORK_SINCE) + 8 * (version >= _SCOPES_SINCE)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, ctypes.byref(rules), size, 0))
    try:
        _allow(libc, ruleset, walls.readable, _READ & every)
        _allow(libc, ruleset, (*walls.programs, *map(Path, LOADERS)), (_EXECUTE | _READ_FILE) & every)
        _allow(libc, ruleset, map(Path, DEVICES), (_READ_FILE | _WRITE_FILE) & every)
        _allow(libc, ruleset, (walls.writable,), every & ~_EXECUTE)
        _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, places: Iterable[Path], rights: int) -> None:
    """Allow rights beneath some places; those that do not exist are left out."""
    for place in places:
        try:
            handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            rule = _PathBeneath(rights if place.is_dir() else rights & _OF_FILES, handle)
            _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0))
        finally:
            os.close(handle)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result
