"""A call of a closed library: its arguments, the memory that they point to, and what it comes to."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.run.protocol import ARENA_ADDRESS, Contents, LibraryCall, LibraryCallReply

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from warpwatt.run.memory import Arena

_WORD = struct.Struct("<Q")
_SIGNED = {"i": 32, "l": 64}


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the client sends it. ``contents`` are the first bytes of what host addresses point to."""

    name: str
    words: tuple[int, ...]
    floats: tuple[float, ...]
    contents: Mapping[int, bytes]

    @classmethod
    def of(cls, record: LibraryCall) -> Call:
        """Return the call of a message."""
        data, at = record.data, record.name_bytes
        name = data[:at].decode()
        words = struct.unpack_from(f"<{record.words}Q", data, at)
        at += _WORD.size * record.words
        contents = {}
        for _ in range(record.contents):
            head = Contents.unpack(data[at : at + Contents.fixed_bytes()])
            at += Contents.fixed_bytes()
            contents[head.address] = data[at : at + head.size]
            at += head.size
        return cls(name, words, record.floats, contents)

    def arguments(self, kinds: str) -> list[Any]:
        """Return the arguments by kind: ``i`` and ``l`` signed of 32 and 64 bits, ``p`` pointers and handles,
        ``f`` and ``d`` floating point.
        """  # noqa: D205 - one sentence
        words, floats = iter(self.words), iter(self.floats)
        found: list[Any] = []
        for kind in kinds:
            if kind == "d":
                found.append(next(floats))
            elif kind == "f":
                found.append(struct.unpack("<f4x", struct.pack("<d", next(floats)))[0])
            else:
                found.append(_integer(next(words), _SIGNED.get(kind)))
        return found


def _integer(word: int, signed_bits: int | None) -> int:
    """Return what a register holds; above an integer's own bits it may hold anything.

    >>> _integer(0xDEAD_FFFF_FFFE, 32), _integer(0x2000_0000_0000, None)
    (-2, 35184372088832)
    """
    if signed_bits is None:
        return word
    low = word & ((1 << signed_bits) - 1)
    return low - (1 << signed_bits) if low >> (signed_bits - 1) else low


@dataclass(slots=True)
class Memory:
    """The memory that a call sees: the device's, and what came with the call of the host's.

    ``catch_up`` brings the device's memory up to date; it is called before each access.
    """

    arena: Arena
    contents: Mapping[int, bytes] = field(default_factory=dict)
    written: list[Contents] = field(default_factory=list)
    """For the host's memory, when the call returns."""
    catch_up: Callable[[], None] = lambda: None

    def is_device(self, address: int) -> bool:
        """Whether an address lies in the arena: device, managed or pinned memory."""
        return ARENA_ADDRESS <= address < ARENA_ADDRESS + self.arena.size

    def array(self, address: int, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return elements of device memory; a view that can be written.

        Raises
        ------
        InputError
            If the address is not the device's.
        """
        if not self.is_device(address):
            raise InputError(f"{address:#x} is not an address of device memory")
        self.catch_up()
        size = count * np.dtype(dtype).itemsize
        return self.arena.bytes_at(address, size).view(dtype)

    def values(self, address: int, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return a few numbers that the host or the device holds."""
        if self.is_device(address):
            return self.array(address, count, dtype)
        data = self.contents.get(address, b"")
        return np.frombuffer(data, dtype, count)

    def value(self, address: int, dtype: DTypeLike) -> Any:
        """Return a number that the host or the device holds."""
        return self.values(address, 1, dtype)[0]

    def put(self, address: int, values: NDArray[Any]) -> None:
        """Write numbers to the host's or the device's memory."""
        if self.is_device(address):
            self.array(address, values.size, values.dtype)[:] = values.ravel()
        else:
            data = values.tobytes()
            self.written.append(Contents(address, len(data), data=data))

    def put_int(self, address: int, value: int, dtype: DTypeLike = np.int32) -> None:
        """Write a whole number."""
        self.put(address, np.array([value], dtype))


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of device memory from an address on."""

    address: int
    bytes: float


@dataclass(frozen=True, slots=True)
class Operation:
    """What a call asks of the GPU.

    Attributes
    ----------
    work
        Floating-point operations.
    unit
        Who does them: a row of the throughput table of :class:`~warpwatt.core.gpu.Capability`.
    reads, writes
        Memory that it needs at least.
    passes
        How often the data go to memory and back.
    results
        Rows, columns and number of the matrices that a product makes, which SMs share by tiles.
    compute
        Does it.
    to_host
        Whether the result goes to the host, which waits for it.
    """

    work: float
    unit: str
    reads: tuple[Span, ...]
    writes: tuple[Span, ...]
    compute: Callable[[], None]
    passes: float = 1.0
    results: tuple[int, int, int] | None = None
    kind: str = "stream"
    """What of ``costs.toml`` holds for it."""
    stream: int = 0
    to_host: bool = False
    on_host: bool = False
    """Whether the host does it, and the GPU nothing."""
    identity: tuple[object, ...] = ()
    """What the same call has on other descriptors; empty where arguments and contents say it."""

    @property
    def bytes(self) -> float:
        """Bytes that memory moves at least."""
        return self.passes * sum(span.bytes for span in (*self.reads, *self.writes))


@dataclass(slots=True)
class State:
    """What a program has created of closed libraries, by handle, and the memory of the call in progress."""

    memory: Memory
    objects: dict[int, Any] = field(default_factory=dict)
    board: Any = None
    """What NVML tells of (:class:`~warpwatt.run.libraries.board.Board`)."""
    _last: int = 0

    def add(self, thing: object) -> int:
        """Return the handle of something new: small numbers, which are no addresses."""
        self._last += 1
        self.objects[self._last] = thing
        return self._last

    def create(self, address: int, thing: object, dtype: DTypeLike = np.uint64) -> None:
        """Write the handle of something new to where the program wants it."""
        self.memory.put_int(address, self.add(thing), dtype)


Function = Callable[..., "Operation | int | None"]
"""Takes the state and the arguments; returns what to do, or a status."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A function of a library, the kinds of its arguments, and what it is called with besides."""

    function: Function
    kinds: str
    extra: tuple[object, ...] = ()

    def __call__(self, state: State, call: Call) -> Operation | int | None:
        """Decode the arguments and do it."""
        kinds = self.kinds.replace("i", "l") if call.name.endswith("_64") else self.kinds
        return self.function(state, *self.extra, *call.arguments(kinds))


TABLE: dict[str, Entry] = {}
"""Every function that there is, by name."""


def function(names: str | Sequence[str], kinds: str, **types: object) -> Callable[[Function], Function]:
    """Return a decorator that enters a function under names.

    ``types`` maps letters, which ``?`` in a name stands for, to what the function gets first.
    """

    def enter(body: Function) -> Function:
        for name in [names] if isinstance(names, str) else names:
            if "?" in name:
                for letter, kind in types.items():
                    TABLE[name.replace("?", letter)] = Entry(body, kinds, (kind,))
            else:
                TABLE[name] = Entry(body, kinds)
        return body

    return enter


def reply(
    result: int, written: Sequence[Contents] = (), *, missing: bool = False, captured: int = 0
) -> bytes:
    """Return the answer to a call; ``captured`` is the number of one that a graph will make."""
    data = b"".join(one.pack() for one in written)
    return LibraryCallReply(result, len(written), int(missing), captured, data=data).pack()
