"""Run a compiler with a time and a memory limit, and leave no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwatt.core.errors import ToolchainError
from warpwatt.frontend.options import MEMORY_BYTES, TIMEOUT_SECONDS
from warpwatt.frontend.toolchain import environment
from warpwatt.storage.witness import inputs_told


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a process left: its exit status and its two streams."""

    status: int
    stdout: bytes
    stderr: bytes

    @property
    def messages(self) -> str:
        """Both streams as text, errors first."""
        return (self.stderr + self.stdout).decode("utf-8", "replace")


TOO_LONG = "a template or an unrolled loop may be too large; split the file or lower #pragma unroll"
"""What helps where a compiler does not finish."""


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    stdin: bytes = b"",
    timeout: float = TIMEOUT_SECONDS,
    memory: int = MEMORY_BYTES,
    extra_environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a command in the compilers' scrubbed environment and return its outcome, whatever its status.

    Parameters
    ----------
    timeout
        Seconds after which the process and its children are killed.
    memory
        Address space each process may use, in bytes.

    Raises
    ------
    ToolchainError
        If it cannot start or runs out of time.
    """
    name = os.path.basename(str(command[0]))  # noqa: PTH119 - a command may be a bare word, not a path
    try:
        with inputs_told():
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=cwd,
                env={**environment(), **(extra_environment or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
    except OSError as error:
        raise ToolchainError(f"{name} does not start: {error.strerror or error}") from error
    try:
        limit_memory(process.pid, memory)
        stdout, stderr = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ToolchainError(f"{name} did not finish within {timeout:g} s", hint=TOO_LONG) from None
    finally:
        end_group(process)
    return Outcome(process.returncode, stdout, stderr)


def limit_memory(pid: int, memory: int) -> None:
    """Limit the address space of a process and of the children it is going to start (Linux only)."""
    try:
        import resource  # absent on Windows

        resource.prlimit(pid, resource.RLIMIT_AS, (memory, memory))
    except (ImportError, AttributeError, ProcessLookupError, ValueError, PermissionError):
        return  # no such limits here, a stricter one is in force, or the process has ended


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the process group; a finished process leaves nothing to kill."""
    if process.poll() is not None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended meanwhile
    finally:
        process.communicate()
