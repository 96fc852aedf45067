"""What a stretch of the program depends on: the files it read, heard from Python itself (PEP 578).

Nobody has to say what he reads, and a file that is read tomorrow is heard of as well. What compilers read
their callers tell (:func:`depends_on`); of any other process nobody knows.
"""
# ruff: noqa: PTH100, PTH109, PTH110, PTH113, PTH118, PTH120, PTH123
# Hundreds of files are heard of, and a Path each costs milliseconds.

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from warpwatt.core.folders import cache_directory, user_folder
from warpwatt.storage.inputs import ABSENT, PACKAGE, Identity, State, identity, state

_WRITING = os.O_WRONLY | os.O_RDWR
_NO_FILES = ("/proc/", "/dev/", "/sys/")
_PYTHON = os.path.dirname(os.__file__)  # its version says it all
_told = threading.local()


class Witness:
    """Files read, with their state before that, and files written.

    ``private`` are folders that do not count: what is kept there is found by what it depends on.
    """

    def __init__(self, *private: str) -> None:
        self._not = (*_NO_FILES, *(os.path.join(os.path.abspath(folder), "") for folder in private))
        self._here = os.getcwd()
        self.read: dict[str, State] = {}
        self.written: dict[str, None] = {}
        self._told: set[str] = set()
        self.blind = False
        """Whether something was done whose inputs nobody knows."""

    def depends_on(self, path: str) -> None:
        """Take a file that is read, or may be; its first state counts."""
        if path not in self.read and path not in self.written:
            self.read[path] = state(path)

    def inputs(self) -> dict[str, State]:
        """Return the files read and their states, without scratch files, which were there and are gone."""
        scratch = self._scratch()
        gone = {p for p, was in self.read.items() if p.startswith(scratch) and was != ABSENT}
        return {p: was for p, was in self.read.items() if p not in gone or os.path.exists(p)}

    def news(self) -> dict[str, Identity]:
        """Return the identities of files read since this was asked last, without the program's own.

        A file that has changed since it was read has an identity that nothing has.
        """
        new = {path: was for path, was in self.inputs().items() if path not in self._told}
        self._told |= new.keys()
        own = (str(PACKAGE), sys.prefix, sys.base_prefix, str(cache_directory()), str(user_folder("state")))
        files = [path for path in new if not path.startswith(own) and not os.path.isdir(path)]  # noqa: PTH112
        found = {path: identity(path) for path in files}
        return {path: now if now[:3] == new[path] else (-2, 0, 0, "") for path, now in found.items()}

    def outputs(self) -> dict[str, bytes] | None:
        """Return the files it left, None where it left what is not known."""
        scratch = self._scratch()
        found = {}
        for path in self.written:
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[path] = file.read()
            elif not path.startswith(scratch):
                return None
        return None if self.blind else found

    @staticmethod
    def _scratch() -> str:
        import tempfile

        return os.path.join(tempfile.gettempdir(), "")

    def _process(self, *_: Any) -> None:
        if not getattr(_told, "inputs", False):
            self.blind = True

    def _open(self, path: Any, _mode: str | None = None, flags: int = 0) -> None:
        name = self._name(path)
        if name is None or name.endswith(".pyc"):
            return
        if flags & _WRITING:
            self.written[name] = None
        else:
            self.depends_on(name)

    def _list(self, path: Any, *_: Any) -> None:
        name = self._name(path if path is not None else ".")
        if name is not None and name != self._here:  # where results are written
            self.depends_on(name)

    def _rename(self, _source: Any, target: Any, *_: Any) -> None:
        name = self._name(target)
        if name is not None and "__pycache__" not in name:
            self.written[name] = None

    def _name(self, path: Any) -> str | None:
        """Return a path in full; None where it is a descriptor, or does not count."""
        if not isinstance(path, str | bytes | os.PathLike):
            return None
        name = os.path.abspath(os.fsdecode(path))
        return None if name.startswith(self._not) or "__pycache__" in name else name


_WITNESSES: list[Witness] = []
_TAKEN: dict[str, Callable[..., None]] = {
    "open": Witness._open,
    "os.listdir": Witness._list,
    "os.scandir": Witness._list,
    "ctypes.dlopen": Witness._open,
    "os.rename": Witness._rename,
    "subprocess.Popen": Witness._process,
    "os.fork": Witness._process,
    "os.forkpty": Witness._process,
    "os.posix_spawn": Witness._process,
    "os.spawn": Witness._process,
    "os.system": Witness._process,
    "os.exec": Witness._process,
    "socket.connect": Witness._process,
}
"""What a witness takes of the thousands of audit events of a start, and how."""


@contextmanager
def witnessed(*private: str) -> Iterator[Witness]:
    """Yield what the body depends on; modules that it loads count when it has ended."""
    _listen()
    witness = Witness(*private)
    _WITNESSES.append(witness)
    try:
        yield witness
    finally:
        _WITNESSES.remove(witness)


@contextmanager
def inputs_told() -> Iterator[None]:
    """Let the body start processes: what they read is told by :func:`depends_on`."""
    before = getattr(_told, "inputs", False)
    _told.inputs = True
    try:
        yield
    finally:
        _told.inputs = before


def depends_on(*files: str) -> None:
    """Say that files are read that Python does not open itself."""
    for witness in _WITNESSES:
        for file in files:
            witness.depends_on(os.path.abspath(file))


def loaded_code() -> Iterator[str]:
    """Yield the files of the code that this process runs: every module of ours, of others the package."""
    for name, module in list(sys.modules.items()):
        file: str | None = getattr(module, "__file__", None)
        if file is None or not (name.startswith("warpwatt") or "." not in name):
            continue
        if "site-packages" in file or not file.startswith(_PYTHON):
            yield file


@cache
def _listen() -> None:
    """Hear audit events from now on; a hook stays as long as the process."""
    sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    take = _TAKEN.get(event)
    if take is not None:
        for witness in _WITNESSES:
            take(witness, *arguments)
