"""Typed errors. Each carries its exit code and, where known, the file, the line and the fix.

Exit codes: 0 good; 1 bad input or impossible values; 2 command-line syntax; 3 unknown or unsupported
GPU, missing toolchain or device; 4 a budget is exceeded.
"""

from __future__ import annotations

from pathlib import Path


class WarpWattError(Exception):
    """Base of every expected failure.

    Parameters
    ----------
    message
        What is wrong, in one sentence.
    hint
        What the user can do about it: a flag, a command, a value that would work.
    file, line
        Where it is wrong, if it is in a file. Lines count from 1.
    details
        Further lines to show as they are, such as the compiler's own messages.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        file: Path | str | None = None,
        line: int | None = None,
        details: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.file = str(file) if file is not None else None
        self.line = line
        self.details = details

    def __str__(self) -> str:
        """Return the message behind its location.

        >>> str(WarpWattError("no kernel", file="a.cu", line=3))
        'a.cu:3: no kernel'
        """
        if self.file is None:
            return self.message
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.message}"


class InputError(WarpWattError):
    """Bad input or an impossible value (exit code 1)."""


class ParseError(InputError):
    """Text or bytes that are not what they claim to be (exit code 1)."""


class CompileError(InputError):
    """The compiler refused the source; ``details`` holds its own lines (exit code 1)."""


class KernelSelectionError(InputError):
    """No kernel, or no unambiguous kernel, matches; ``details`` lists the candidates (exit code 1)."""


class ArgumentError(InputError):
    """A kernel argument is missing, malformed or of the wrong type (exit code 1)."""


class LaunchError(InputError):
    """A launch the GPU would refuse: a dimension or a resource beyond its limit (exit code 1)."""


class MemoryFaultError(InputError):
    """A thread of the kernel touches memory that is not there, or traps (exit code 1).

    ``missed``: of a load beside a buffer, its name, the byte and the buffer's size.
    """

    missed: tuple[str, int, int] | None = None


class DeadlockError(InputError):
    """Threads of the kernel wait for others that never come (exit code 1)."""


class EndlessLoopError(InputError):
    """The kernel did not end within the budget of emulation (exit code 1)."""


class UndecidedError(InputError):
    """What a launch does depends on data that nobody described; ``hint`` names it (exit code 1)."""


class OutputExistsError(InputError):
    """The output file exists and ``--force`` was not given (exit code 1)."""


class UsageError(WarpWattError):
    """The command line itself is malformed (exit code 2)."""

    exit_code = 2


class UnknownGpuError(WarpWattError):
    """No GPU of that name; ``hint`` names the nearest (exit code 3)."""

    exit_code = 3


class UnsupportedGpuError(WarpWattError):
    """The GPU is known, but this piece does not cover it (exit code 3)."""

    exit_code = 3


class ToolchainError(WarpWattError):
    """A compiler or tool is missing or broken; ``hint`` is the command that repairs it (exit code 3)."""

    exit_code = 3


class DeviceError(WarpWattError):
    """No GPU, driver or sensor to measure with, or one of them failed (exit code 3)."""

    exit_code = 3


class BudgetExceededError(WarpWattError):
    """A budget of ``warpwatt check`` is exceeded (exit code 4)."""

    exit_code = 4


class InterruptedProgramError(WarpWattError):
    """Ctrl-C ended the program that ``warpwatt run`` ran (exit code 130, as shells have it)."""

    exit_code = 130


def reason(error: Exception) -> str:
    """Return why something failed and what to do about it, in one line.

    >>> reason(WarpWattError("no kernel", hint="name one")), reason(KeyError(1))
    ('no kernel; fix: name one', 'internal error: KeyError(1)')
    """
    if isinstance(error, WarpWattError):
        first = next(iter(error.details.splitlines()), "")
        parts = [str(error), first, f"fix: {error.hint}" if error.hint else ""]
        return " ".join("; ".join(part for part in parts if part).split())
    return f"internal error: {error!r}"
