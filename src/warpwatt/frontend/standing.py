"""A compiler's process that stays for the next configuration: a line with a request in, a line out.

To start it takes as long as to compile a small kernel. It has the limits of
:mod:`~warpwatt.frontend.process`, its memory counting for all that it answers, and goes when one is not met,
after :data:`MOST` requests, or with this process.
"""

from __future__ import annotations

import atexit
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from warpwatt.core.errors import ToolchainError
from warpwatt.frontend.process import TOO_LONG, Outcome, end_group, limit_memory
from warpwatt.frontend.toolchain import environment
from warpwatt.storage.witness import inputs_told

MOST = 100
"""Requests after which a process is ended: what a compiler forgets to free adds up."""
_CHUNK = 1 << 16

_IDLE: dict[tuple[object, ...], list[Standing]] = {}
os.register_at_fork(after_in_child=_IDLE.clear)  # a pipe that two processes read would mix their answers


class Standing:
    """One such process; used by one thread at a time."""

    def __init__(
        self, command: Sequence[str | Path], memory: int, extra_environment: Mapping[str, str]
    ) -> None:
        self.answered = 0
        self._folder = tempfile.TemporaryDirectory(prefix="warpwatt-")
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self.name = Path(command[0]).name
        with inputs_told():
            self._process = subprocess.Popen(
                [str(part) for part in command],
                cwd=self._folder.name,
                env={**environment(), **extra_environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._messages,
                start_new_session=True,
            )
        limit_memory(self._process.pid, memory)

    def answer(self, request: bytes, timeout: float) -> Outcome:
        """Return what it answers to a line; without a line feed at its end, it has ended.

        Raises
        ------
        ToolchainError
            If that takes too long; the process is ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.answered += 1
        said, until, pipe = bytearray(), time.monotonic() + timeout, self._process.stdout.fileno()
        try:
            self._process.stdin.write(request + b"\n")
            self._process.stdin.flush()
            while not said.endswith(b"\n") and (part := self._read(pipe, until)):
                said += part
        except TimeoutError:
            self.end()
            raise ToolchainError(f"{self.name} did not finish within {timeout:g} s", hint=TOO_LONG) from None
        except BrokenPipeError:
            pass  # it has ended; its messages say why
        except BaseException:
            self.end()
            raise
        if said.endswith(b"\n"):
            return Outcome(0, bytes(said), b"")
        self.end()
        self._messages.seek(0)
        return Outcome(self._process.returncode, bytes(said), self._messages.read())

    @staticmethod
    def _read(pipe: int, until: float) -> bytes:
        left = until - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            raise TimeoutError
        return os.read(pipe, _CHUNK)

    def end(self) -> None:
        """End the process."""
        end_group(self._process)
        self._folder.cleanup()


@atexit.register
def end_all() -> None:
    """End the processes that stand."""
    for idle in _IDLE.values():
        while idle:
            idle.pop().end()


def ask(
    command: Sequence[str | Path],
    request: bytes,
    *,
    timeout: float,
    memory: int,
    extra_environment: Mapping[str, str],
) -> Outcome:
    """Return what a process that stands, or is started, answers to a line.

    Raises
    ------
    ToolchainError
        As :meth:`Standing.answer` raises it.
    """
    idle = _IDLE.setdefault((*command, memory, *extra_environment.items()), [])
    try:
        one = idle.pop()
    except IndexError:
        one = Standing(command, memory, extra_environment)
    outcome = one.answer(request, timeout)
    if outcome.status == 0 and one.answered < MOST:
        idle.append(one)
    elif outcome.status == 0:
        one.end()
    return outcome
