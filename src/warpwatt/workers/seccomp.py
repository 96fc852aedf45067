"""A filter of system calls: what Landlock has no rules for, a worker cannot ask of the kernel at all.

Sockets of every family, changes of modes and owners, other processes' memory and administration fail with
``EPERM``; the list is ``system_calls.toml``. The filter is a program for the kernel's packet-filter machine:
"SECure COMPuting with filters", Linux Documentation/userspace-api/seccomp_filter.rst; the constants are those
of ``linux/filter.h``, ``linux/seccomp.h``, ``linux/audit.h`` and ``linux/prctl.h``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
import tomllib
from functools import lru_cache
from pathlib import Path

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD_WORD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
"""Offsets in ``struct seccomp_data``."""
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
"""Numbers from here on are x86-64's second interface, which nothing here uses."""


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
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return True
    return "\nSeccomp:" in status


@lru_cache
def refused(machine: str) -> dict[str, int]:
    """Return name -> number of the system calls that are refused on an architecture.

    >>> refused("x86_64")["socket"], refused("aarch64")["socket"]
    (41, 198)
    """
    tables = tomllib.loads(Path(__file__).with_name("system_calls.toml").read_text(encoding="utf-8"))
    calls = {name: numbers for table in tables.values() for name, numbers in table.items()}
    return {name: numbers[machine] for name, numbers in calls.items() if machine in numbers}


def refuse_system_calls(libc: ctypes.CDLL) -> None:
    """Refuse them to the calling process and all that it starts, for good; it must have no new privileges.

    Raises
    ------
    OSError
        If the kernel refuses the filter.
    """
    if not filters_system_calls():
        return
    words = _filter(platform.machine())
    instructions = (_Instruction * len(words))(*(_Instruction(*word) for word in words))
    program = _Program(len(words), instructions)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def _filter(machine: str) -> list[tuple[int, int, int, int]]:
    """Return the program: code, instructions to skip if so and if not, operand.

    Every comparison skips what lies between it and the answer to refuse, which is the last but none.
    """
    calls = sorted(refused(machine).values())
    return [
        (_LOAD_WORD, 0, 0, _ARCHITECTURE),
        (_JUMP_IF_EQUAL, 1, 0, _AUDIT[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD_WORD, 0, 0, _NUMBER),
        (_JUMP_IF_AT_LEAST, len(calls) + 1, 0, _X32),
        *((_JUMP_IF_EQUAL, len(calls) - place, 0, number) for place, number in enumerate(calls)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
