"""The program's process: started with our runtime in reach, answered, bounded, and gone in the end."""

from __future__ import annotations

import array
import ctypes
import math
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from warpwatt.core.errors import InputError, ToolchainError
from warpwatt.run.codes import HeaderFlag, ReplyFlag, Type
from warpwatt.run.protocol import RECORDS, SOCKET_VARIABLE, Header, Reply
from warpwatt.workers.family import kill_family, resident

if TYPE_CHECKING:
    from warpwatt.run.answer import Answer
    from warpwatt.run.device import Device

RUNTIME = Path(__file__).parents[1] / "native" / "runtime"
"""Folder of our ``libcudart`` and the names that programs look for."""
LARGEST_MESSAGE = 1 << 30
"""Bytes beyond which a message is a mistake."""
STARTUP = Path(__file__).with_name("startup")
"""Folder of what every Python process of the program runs first."""
_POLL = 0.5
_DEATH_SIGNAL = 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the program may take: seconds of wall time, bytes of memory, launches; None: all it likes."""

    seconds: float | None = None
    memory: int | None = None
    launches: int | None = None
    """Launches after which it is ended, its purpose served."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the program ended: its exit status (negative: the signal), and what ended it if we did."""

    status: int
    reason: str = ""


class StoppedError(Exception):
    """The program must end, for this reason; ``status`` says whether that is a failure."""

    def __init__(self, reason: str, status: int = -signal.SIGKILL) -> None:
        super().__init__(reason)
        self.status = status


def run_program(
    command: Sequence[str],
    device: Device,
    bounds: Bounds,
    output: IO[str] | None = None,
    seen: Callable[[Header, bytes, float], None] | None = None,
    another: Callable[[], Device] | None = None,
) -> Ending:
    """Run a program to its end, its device being ours.

    What it writes to stdout passes through, or goes to ``output``. ``seen`` is told of every message, and how
    many seconds the program waited for the answer. ``another`` makes the devices of further processes, each
    of which has memory of its own; None: those find no device.

    Raises
    ------
    InputError
        If it cannot be started.
    ToolchainError
        If our runtime library was not built.
    """
    if not RUNTIME.is_dir():
        raise ToolchainError(f"our CUDA runtime is missing: {RUNTIME}", hint="in a clone: make native")
    with TemporaryDirectory(prefix="warpwatt-") as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/device")  # only this user may look into the folder
        listener.listen()
        process = _start(command, f"{folder}/device", output)
        watch = _Watch(process, device, bounds)
        try:
            watch.start()
            _Server(listener, device, another, bounds.launches, seen).serve(process)
            return Ending(-signal.SIGKILL, watch.reason) if watch.reason else Ending(process.wait())
        except StoppedError as stopped:
            return Ending(stopped.status, str(stopped))
        except KeyboardInterrupt:
            return Ending(-signal.SIGINT, "interrupted")
        finally:
            watch.end()
            _end(process)


def _start(command: Sequence[str], path: str, output: IO[str] | None) -> subprocess.Popen[bytes]:
    """Start the program in a session of its own: what the terminal sends reaches us alone."""
    added = {
        SOCKET_VARIABLE: path,
        "LD_LIBRARY_PATH": _in_front(RUNTIME, "LD_LIBRARY_PATH"),
        "PYTHONPATH": _in_front(STARTUP, "PYTHONPATH"),
    }
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None,
            stdout=output,
            env={**os.environ, **added},
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - nothing but a system call
        )
    except OSError as error:
        raise InputError(f"{command[0]} cannot be run: {error.strerror or error}", file=command[0]) from None


def _in_front(folder: Path, variable: str) -> str:
    """Return a list of folders with ours in front of those that the environment names."""
    known = os.environ.get(variable, "")
    return f"{folder}:{known}" if known else str(folder)


_LIBC = ctypes.CDLL(None)


def _die_with_parent() -> None:
    """Let the kernel end the program if we are killed."""
    _LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL)


class _Watch(threading.Thread):
    """Ends the program beyond its bounds, whatever it or its device is doing."""

    def __init__(self, process: subprocess.Popen[bytes], device: Device, bounds: Bounds) -> None:
        super().__init__(daemon=True)
        self.reason = ""
        """Why it was ended, if it was."""
        self._process, self._device, self._bounds = process, device, bounds
        self._over = threading.Event()

    def run(self) -> None:
        """Look at time and memory until the program has ended."""
        begun = time.monotonic()
        while not self._over.wait(_POLL):
            self.reason = self._broken(time.monotonic() - begun)
            if self.reason:
                self._device.cancel()
                kill_family(self._process.pid)
                return

    def _broken(self, seconds: float) -> str:
        """Return which bound is broken, empty if none is."""
        bounds = self._bounds
        if bounds.seconds is not None and seconds > bounds.seconds:
            return f"{bounds.seconds:g} s of wall time are over (--timeout)"
        if bounds.memory is not None and resident(self._process.pid) > bounds.memory:
            return f"it holds more than {bounds.memory >> 20} MiB of memory (--memory)"
        return ""

    def end(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()


class _Server:
    """Answers the processes of a program, one message at a time."""

    def __init__(
        self,
        listener: socket.socket,
        device: Device,
        another: Callable[[], Device] | None,
        launches: int | None,
        seen: Callable[[Header, bytes, float], None] | None,
    ) -> None:
        self._listener, self._device, self._another, self._seen = listener, device, another, seen
        self._left = math.inf if launches is None else launches
        self._most = launches
        self._is_first = True

    def serve(self, process: subprocess.Popen[bytes]) -> None:
        """Answer messages until the program has ended, or asked for as many launches as are wanted."""
        end = os.pidfd_open(process.pid)
        with selectors.DefaultSelector() as self._selector:
            self._selector.register(end, selectors.EVENT_READ)
            self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
            while process.poll() is None:
                self._answer_all(None)
            self._answer_all(0.0)  # what it said before it ended
        os.close(end)

    def _answer_all(self, patience: float | None) -> None:
        """Answer what has come and what comes meanwhile; wait so long for the first, None: for ever."""
        while ready := [key.data for key, _ in self._selector.select(patience) if key.data is not None]:
            for act in ready:
                act()
            patience = 0.0

    def _accept(self) -> None:
        """Give a process its device; the first one has that which the caller knows."""
        end, _ = self._listener.accept()
        if not self._is_first and self._another is None:
            end.close()
            return
        device = self._device if self._is_first or self._another is None else self._another()
        self._is_first = False
        self._selector.register(end, selectors.EVENT_READ, partial(self._answer, _Messages(end), device))

    def _answer(self, messages: _Messages, device: Device) -> None:
        """Answer the next message; behind the last one, give our end up."""
        found = messages.receive()
        if found is None:
            self._selector.unregister(messages.end)
            messages.end.close()
            return
        header, data = found
        record = RECORDS.get(header.type)
        if record is None:
            return
        answer = device.handle(header, record.unpack(data))
        if self._seen is not None and device is self._device:
            self._seen(header, data, answer.waited if header.flags & HeaderFlag.WANTS_REPLY else 0.0)
        if header.flags & HeaderFlag.WANTS_REPLY:
            messages.reply(answer, device.flags)
        self._left -= header.type == Type.LAUNCH
        if not self._left:
            raise StoppedError(f"it has made {self._most} launches (--launches)", status=0)


class _Messages:
    """Our end of the socket."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end

    def receive(self) -> tuple[Header, bytes] | None:
        """Return the next message, None behind the last one."""
        head = self._read(Header.fixed_bytes())
        if head is None:
            return None
        header = Header.unpack(head)
        if header.bytes > LARGEST_MESSAGE:
            raise StoppedError("its messages make no sense")
        data = self._read(header.bytes)
        return None if data is None else (header, data)

    def reply(self, answer: Answer, flags: ReplyFlag) -> None:
        """Send an answer; a program that is gone needs none."""
        waited = round(answer.waited * 1e9)
        head = Reply(answer.error, flags, waited, len(answer.data)).pack()
        extra = []
        if answer.descriptor is not None:
            extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [answer.descriptor]))]
        with suppress(OSError):
            sent = self.end.sendmsg([head], extra)
            self.end.sendall(head[sent:] + answer.data)

    def _read(self, size: int) -> bytes | None:
        parts, left = [], size
        while left:
            try:
                part = self.end.recv(min(left, 1 << 20))
            except OSError:
                return None
            if not part:
                return None
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and all that it has started."""
    if process.poll() is None:
        kill_family(process.pid)
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
