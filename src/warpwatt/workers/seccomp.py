"""A filter of system calls: what Landlock has no rules for, a worker cannot ask of the kernel at all.

Sockets of every family, changes of modes and owners, other processes' memory and administration fail with
``EPERM``; the list is ``system_calls.toml``. A compiler that is a library gets a stricter one: it is given
all texts and opens nothing (:func:`filter_of_files`). A filter is a program for the kernel's packet-filter
machine: "SECure COMPuting with filters", Linux Documentation/userspace-api/seccomp_filter.rst; the constants
are those of ``linux/filter.h``, ``linux/seccomp.h``, ``linux/audit.h`` and ``linux/prctl.h``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD_WORD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
"""Offsets in ``struct seccomp_data``."""
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_SECCOMP, _ACTION_IS_AVAILABLE = {"x86_64": 317, "aarch64": 277}, 2
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
"""Numbers from here on are x86-64's second interface, which nothing here uses."""


Word = tuple[int, int, int, int]
"""An instruction of a filter: code, instructions to skip if so and if not, operand."""


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32),
    )  # fmt: skip


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def filters_system_calls() -> bool:
    """Return whether :func:`refuse_system_calls` does anything here."""
    if sys.platform != "linux" or platform.machine() not in _AUDIT:
        return False
    libc, action = ctypes.CDLL(None, use_errno=True), ctypes.c_uint32(_REFUSE)
    number = _SECCOMP[platform.machine()]
    return not libc.syscall(number, _ACTION_IS_AVAILABLE, 0, ctypes.byref(action))


@lru_cache
def refused(machine: str) -> dict[str, int]:
    """Return name -> number of the system calls that are refused on an architecture.

    >>> refused("x86_64")["socket"], refused("aarch64")["socket"]
    (41, 198)
    """
    return {
        name: numbers[machine]
        for purpose, calls in _tables().items()
        if purpose != "files"
        for name, numbers in calls.items()
        if machine in numbers
    }


def filter_of_files() -> list[Word]:
    """Return the filter of a process that shall open, look for and start nothing; empty where there is none.

    To it no file exists: the calls fail with ``ENOENT``.
    """
    if not filters_system_calls():
        return []
    machine = platform.machine()
    calls = [numbers[machine] for numbers in _tables()["files"].values() if machine in numbers]
    return _filter(machine, calls, errno.ENOENT)


@lru_cache
def _tables() -> dict[str, dict[str, dict[str, int]]]:
    """Return purpose -> name of a call -> architecture -> number."""
    text = Path(__file__).with_name("system_calls.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def refuse_system_calls(libc: ctypes.CDLL) -> None:
    """Refuse them to the calling process and all that it starts, for good; it must have no new privileges.

    Raises
    ------
    OSError
        If the kernel refuses the filter.
    """
    if not filters_system_calls():
        return
    machine = platform.machine()
    words = _filter(machine, refused(machine).values(), errno.EPERM)
    instructions = (_Instruction * len(words))(*(_Instruction(*word) for word in words))
    program = _Program(len(words), instructions)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def _filter(machine: str, numbers: Iterable[int], error: int) -> list[Word]:
    """Return the program that refuses some calls with an error.

    Every comparison skips what lies between it and the answer to refuse, which is the last but none.
    """
    calls = sorted(numbers)
    return [
        (_LOAD_WORD, 0, 0, _ARCHITECTURE),
        (_JUMP_IF_EQUAL, 1, 0, _AUDIT[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD_WORD, 0, 0, _NUMBER),
        (_JUMP_IF_AT_LEAST, len(calls) + 1, 0, _X32),
        *((_JUMP_IF_EQUAL, len(calls) - place, 0, number) for place, number in enumerate(calls)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE | error),
    ]
