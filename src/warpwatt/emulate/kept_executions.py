"""What launches do, kept on disk: found out once, by processes that come later too.

An execution depends on the programs, the launch, iterations that the user gave, files with contents of
buffers, and the code of the rooms that find it out. All of that is its key; nothing else is looked at.
``WARPWATT_KEEP_EXECUTIONS=0`` says no.
"""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.program import Instruction
from warpwatt.storage.cache import digest as digest_of
from warpwatt.storage.cache import execution_cache
from warpwatt.storage.inputs import State, package_files, package_state
from warpwatt.storage.witness import depends_on

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.execution import Execution
    from warpwatt.core.launch import Launch
    from warpwatt.core.program import Program

WORTH_SECONDS = 0.03
"""Processor time from which on an execution is kept: to find a shorter one out again takes no longer."""
MOST_BYTES = 32 * 2**20
"""Larger ones are not kept."""
ROOMS = ("core", "emulate", "isa", "native", "program")
"""Rooms of the package that find out what a launch does."""

Contents = tuple[tuple[str, State], ...]
"""Files that hold contents of buffers, each with its state."""


def kept_or(
    find_out: Callable[[], Execution],
    programs: tuple[Program, ...],
    launch: Launch,
    loop_counts: tuple[tuple[int, float], ...],
    contents: Contents,
) -> Execution:
    """Return what ``find_out`` would, from disk if it is there; else keep what it returns."""
    texts = "\n".join(_text(program) for program in programs)
    places = [(str(Path(path).resolve()), *told) for path, *told in contents]
    code = package_state(*ROOMS) + np.__version__
    facts = (code, texts, repr(launch), repr(loop_counts), repr(places))
    key = digest_of(*(fact.encode() for fact in facts))
    payload = execution_cache().get(key)
    if payload is not None:
        depends_on(*package_files(*ROOMS), *(path for path, *_ in contents))
        kept: Execution = _loaded(payload, programs)
        return kept
    begun = time.process_time()
    found = find_out()
    if time.process_time() - begun >= WORTH_SECONDS:
        with suppress(pickle.PicklingError, TypeError, AttributeError):
            payload = _dumped(found, programs)
            if len(payload) <= MOST_BYTES:
                execution_cache().put(key, payload)
    return found


class _Pickler(pickle.Pickler):
    """Writes arrays of small numbers in narrow types, and leaves out instructions that readers have.

    A trace is millions of numbers below 32,768, and a program thousands of instructions.
    """

    def __init__(self, file: io.BytesIO, known: Sequence[Instruction]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._known = {id(instruction): number for number, instruction in enumerate(known)}

    def persistent_id(self, value: object) -> int | None:
        """Return the number of an instruction that readers have, None for anything else."""
        return self._known.get(id(value)) if type(value) is Instruction else None

    def reducer_override(self, value: object) -> Any:
        """Return how an array is made from a narrower one of the same numbers."""
        if type(value) is np.ndarray:
            for narrow in _NARROWER.get(value.dtype, ()):
                if _fits(value.reshape(-1)[:GLANCE], narrow) and _fits(value, narrow):
                    return np.ndarray.astype, (value.astype(narrow), value.dtype)
        return NotImplemented


GLANCE = 1000
"""Numbers looked at before all are: what does not fit in a narrow type mostly does not from the start."""
_NARROWER: dict[np.dtype[Any], tuple[type[np.number], ...]] = {
    np.dtype(np.int64): (np.int8, np.int16, np.int32),
    np.dtype(np.int32): (np.int8, np.int16),
    np.dtype(np.float64): (np.int8, np.float32),
}


def _fits(value: NDArray[Any], narrow: type[np.number]) -> bool:
    """Whether an array of a type is the same to the bit when it comes back from a narrower one."""
    with np.errstate(over="ignore", invalid="ignore"):
        held = value.astype(narrow)
    if not np.array_equal(held, value):
        return False
    return held.dtype.kind == value.dtype.kind or not np.signbit(value[value == 0]).any()


class _Unpickler(pickle.Unpickler):
    """Reads what :class:`_Pickler` wrote."""

    def __init__(self, file: io.BytesIO, known: Sequence[Instruction]) -> None:
        super().__init__(file)
        self._known = known

    def persistent_load(self, number: int) -> Instruction:
        """Return an instruction by its number."""
        return self._known[number]


def _dumped(found: object, programs: Iterable[Program] = ()) -> bytes:
    """Return what :func:`_loaded` makes the same of, with the same programs."""
    written = io.BytesIO()
    _Pickler(written, list(_instructions(programs))).dump(found)
    return written.getvalue()


def _loaded(payload: bytes, programs: Iterable[Program] = ()) -> Any:
    return _Unpickler(io.BytesIO(payload), list(_instructions(programs))).load()


def _instructions(programs: Iterable[Program]) -> Iterator[Instruction]:
    """Yield the instructions of programs and of all that they call, of each once: some call themselves."""
    left, seen = list(programs), set[int]()
    for program in left:
        if id(program) not in seen:
            seen.add(id(program))
            yield from program.instructions
            left.extend(program.functions.values())


@lru_cache(maxsize=64)
def _text(program: Program) -> str:
    """Return all that a program is."""
    return repr(program)
