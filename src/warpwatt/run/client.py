"""The program's process: started with our runtime in reach, answered, bounded, and gone in the end."""

from __future__ import annotations

import array
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
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
GRACE = 10.0
"""Seconds that a program has to end once it has closed its end of the socket."""
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
) -> Ending:
    """Run a program to its end, its device being ours.

    What it writes to stdout passes through, or goes to ``output``. ``seen`` is told of every message, and how
    many seconds the program waited for the answer.

    Raises
    ------
    InputError
        If it cannot be started.
    ToolchainError
        If our runtime library was not built.
    """
    if not RUNTIME.is_dir():
        raise ToolchainError(f"our CUDA runtime is missing: {RUNTIME}", hint="in a clone: make native")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours:
        try:
            process = _start(command, theirs, output)
        finally:
            theirs.close()
        watch = _Watch(process, device, bounds)
        try:
            watch.start()
            _serve(process, _Messages(ours), device, bounds.launches, seen)
            return Ending(-signal.SIGKILL, watch.reason) if watch.reason else Ending(process.wait(GRACE))
        except StoppedError as stopped:
            return Ending(stopped.status, str(stopped))
        except KeyboardInterrupt:
            return Ending(-signal.SIGINT, "interrupted")
        except subprocess.TimeoutExpired:
            return Ending(-signal.SIGKILL, f"it went on for {GRACE:g} s after it had left its device")
        finally:
            watch.end()
            _end(process)


def _start(command: Sequence[str], end: socket.socket, output: IO[str] | None) -> subprocess.Popen[bytes]:
    """Start the program in a session of its own: what the terminal sends reaches us alone."""
    known = os.environ.get("LD_LIBRARY_PATH", "")
    added = {
        SOCKET_VARIABLE: str(end.fileno()),
        "LD_LIBRARY_PATH": f"{RUNTIME}:{known}" if known else str(RUNTIME),
    }
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None,
            stdout=output,
            env={**os.environ, **added},
            pass_fds=(end.fileno(),),
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - nothing but a system call
        )
    except OSError as error:
        raise InputError(f"{command[0]} cannot be run: {error.strerror or error}", file=command[0]) from None


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


def _serve(
    process: subprocess.Popen[bytes],
    messages: _Messages,
    device: Device,
    most: int | None,
    seen: Callable[[Header, bytes, float], None] | None,
) -> None:
    """Answer messages until the program closes its end, or has asked for as many launches as are wanted."""
    launches = 0
    while True:
        if not messages.wait(_POLL):
            if process.poll() is not None:
                return
            continue
        found = messages.receive()
        if found is None:
            return
        header, data = found
        record = RECORDS.get(header.type)
        if record is None:
            continue
        answer = device.handle(header, record.unpack(data))
        if seen is not None:
            seen(header, data, answer.waited if header.flags & HeaderFlag.WANTS_REPLY else 0.0)
        if header.flags & HeaderFlag.WANTS_REPLY:
            messages.reply(answer, device.flags)
        launches += header.type == Type.LAUNCH
        if launches == most:
            raise StoppedError(f"it has made {launches} launches (--launches)", status=0)


class _Messages:
    """Our end of the socket."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def wait(self, seconds: float) -> bool:
        """Wait for a message at most so long; whether there is one, or the end."""
        return bool(select.select([self._end], [], [], seconds)[0])

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
            sent = self._end.sendmsg([head], extra)
            self._end.sendall(head[sent:] + answer.data)

    def _read(self, size: int) -> bytes | None:
        parts, left = [], size
        while left:
            try:
                part = self._end.recv(min(left, 1 << 20))
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
