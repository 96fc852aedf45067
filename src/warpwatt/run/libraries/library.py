"""All closed libraries together: what a call is, which of them are there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.run.libraries import blas, board, fft, lt, matrices, random, solver, sparse, spectra, systems
from warpwatt.run.libraries.calls import TABLE, Call, Memory, Operation, State, reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.run.memory import Arena

ROOMS = (blas, matrices, lt, fft, random, solver, spectra, systems, sparse, board)
"""Modules that enter functions in the table."""
NOT_SUPPORTED = {"cublas": 15, "cufft": 16, "curand": 104, "cusolver": 9, "cusparse": 10, "nvml": 3}
"""What libraries say of a function that is not there (``CUBLAS_STATUS_NOT_SUPPORTED`` and the like)."""
INVALID_VALUE = {"cublas": 7, "cufft": 4, "curand": 103, "cusolver": 3, "cusparse": 3, "nvml": 2}
"""What they say of wrong arguments."""
_WRONG = (InputError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError)


class Libraries:
    """What a program does with closed libraries.

    Parameters
    ----------
    arena
        The device's memory.
    notify
        Is told what is wrong with a call.
    catch_up
        Brings the device's memory up to date.
    shown
        What NVML tells of.
    """

    def __init__(
        self,
        arena: Arena,
        notify: Callable[[str], None],
        catch_up: Callable[[], None] = lambda: None,
        shown: board.Board | None = None,
    ) -> None:
        self._state = State(Memory(arena, catch_up=catch_up), board=shown)
        self._notify = notify
        self._captured: list[tuple[Call, Operation]] = []

    def asked(self, call: Call) -> Operation | bytes:
        """Return what a call asks of the GPU, or the answer where that is nothing."""
        entry = TABLE.get(call.name)
        if entry is None:
            return reply(_status(NOT_SUPPORTED, call.name), missing=True)
        memory = self._state.memory = replace(self._state.memory, contents=call.contents, written=[])
        try:
            found = entry(self._state, call)
        except _WRONG as error:
            return self._refused(call, error)
        return found if isinstance(found, Operation) else reply(found or 0, memory.written)

    def done(self, call: Call, operation: Operation, run: Callable[[Callable[[], None]], None]) -> bytes:
        """Let ``run`` do what was asked for; return the answer."""
        memory = self._state.memory
        try:
            run(operation.compute)
        except _WRONG as error:
            return self._refused(call, error)
        written, memory.written = memory.written, []
        return reply(0, written)

    def capture(self, call: Call, operation: Operation) -> bytes:
        """Keep what a graph will ask for; return the answer, with its number."""
        self._captured.append((call, operation))
        return reply(0, captured=len(self._captured))

    def captured(self, number: int) -> tuple[Call, Operation]:
        """Return what a graph asks for."""
        return self._captured[number - 1]

    def _refused(self, call: Call, error: Exception) -> bytes:
        self._notify(f"{call.name}: {error}")
        return reply(_status(INVALID_VALUE, call.name))


def repeatable(call: Call, operation: Operation) -> bool:
    """Whether the same call on the same contents does the same again: all that it reads is known."""
    if operation.identity:
        return True
    spans = {span.address for span in (*operation.reads, *operation.writes)}
    device = {word for word in call.words if word >> 40 == 0x20}
    return operation.kind != "random" and not operation.to_host and device <= spans


def _status(codes: dict[str, int], name: str) -> int:
    return next((code for library, code in codes.items() if name.startswith(library)), 1)
