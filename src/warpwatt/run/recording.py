"""A run on file: what the program asked for and, where it matters, what memory held, to predict it again.

A zip archive: ``format`` (its version), ``messages`` (each with the seconds that the program waited for the
answer), and ``memory/N``, the pages that differ before launch N from those before the last one that is kept.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.run.protocol import RECORDS, Header

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.run.device import Device
    from warpwatt.run.memory import Allocations, Arena

FORMAT = "warpwatt run 1"
PAGE = 4096
MOST_MEMORY = 1 << 30
"""Bytes of all kept pages together; launches behind them are predicted from older contents."""
_WAITED = struct.Struct("<d")


@dataclass(slots=True)
class Recorder:
    """Keeps what a run consists of."""

    _messages: bytearray = field(default_factory=bytearray)
    _memory: dict[int, bytes] = field(default_factory=dict)
    _pages: dict[int, int] = field(default_factory=dict)
    """Check sum of each page as kept last, by its number in the arena."""
    _kept: int = 0
    left_out: int = 0
    """Launches whose memory was not kept."""

    def message(self, header: Header, data: bytes, waited: float) -> None:
        """Keep a message and how long the program waited for the answer, in s."""
        self._messages += header.pack() + data + _WAITED.pack(waited)

    def memory(self, launch: int, arena: Arena, allocations: Allocations) -> None:
        """Keep the pages of all allocations that have changed."""
        changed: list[tuple[int, bytes]] = []
        for start, data in _pages(arena, allocations):
            total = zlib.adler32(data)
            if self._pages.get(start) != total and (start in self._pages or any(data)):
                self._pages[start] = total
                changed.append((start, data))
        self._kept += len(changed) * PAGE
        if self._kept > MOST_MEMORY:
            self.left_out += 1
            return
        numbers = np.array([start for start, _ in changed], "<u8").tobytes()
        self._memory[launch] = numbers + b"".join(data for _, data in changed)

    def save(self, path: Path) -> None:
        """Write the file."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("format", json.dumps({"format": FORMAT}))
            archive.writestr("messages", bytes(self._messages))
            for launch, data in self._memory.items():
                archive.writestr(f"memory/{launch}", data)


def _pages(arena: Arena, allocations: Allocations) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of the pages that allocations lie in."""
    seen = -1
    for allocation in allocations.table().rows:
        first = arena.offset(allocation.address) // PAGE
        last = (arena.offset(allocation.address) + max(1, allocation.bytes) - 1) // PAGE
        for page in range(max(first, seen + 1), last + 1):
            yield page, arena.shared[page * PAGE : (page + 1) * PAGE].tobytes()
        seen = max(seen, last)


def is_recording(path: Path) -> bool:
    """Whether a file is a run on file."""
    return path.is_file() and zipfile.is_zipfile(path) and _format(path) == FORMAT


def _format(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            found: str = json.loads(archive.read("format"))["format"]
            return found
    except (KeyError, ValueError, zipfile.BadZipFile):
        return ""


class Recording:
    """A run on file, opened; ``data`` are the file's bytes where they have been read.

    Raises
    ------
    InputError
        If it is damaged.
    """

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        self._path = path
        try:
            self._archive = zipfile.ZipFile(path if data is None else io.BytesIO(data))
            self._data = self._archive.read("messages")
        except (OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError(f"not a saved run: {error}", file=path) from None

    def restore(self, launch: int, area: NDArray[np.uint8]) -> None:
        """Write what memory held before a launch to the arena, as far as it was kept."""
        name = f"memory/{launch}"
        if name not in self._archive.namelist():
            return
        data = self._archive.read(name)
        count = len(data) // (PAGE + 8)
        numbers = np.frombuffer(data, "<u8", count)
        pages = np.frombuffer(data, np.uint8, offset=8 * count).reshape(count, PAGE)
        for number, page in zip(numbers.tolist(), pages, strict=True):
            area[number * PAGE : (number + 1) * PAGE] = page

    def replay(self, device: Device) -> None:
        """Let a device see all messages again, at the times at which they would come there."""
        shift = 0
        for header, data, waited in self._messages():
            record = RECORDS[header.type]
            moved = replace(header, host_time_ns=max(0, header.host_time_ns + shift))
            answer = device.handle(moved, record.unpack(data))
            shift += round((answer.waited - waited) * 1e9)

    def _messages(self) -> Iterator[tuple[Header, bytes, float]]:
        at, size = 0, Header.fixed_bytes()
        while at < len(self._data):
            try:
                header = Header.unpack(self._data[at : at + size])
                at += size
                data = self._data[at : at + header.bytes]
                (waited,) = _WAITED.unpack_from(self._data, at + header.bytes)
            except (ValueError, struct.error):
                raise InputError("the saved run is damaged", file=self._path) from None
            at += header.bytes + _WAITED.size
            yield header, data, waited
