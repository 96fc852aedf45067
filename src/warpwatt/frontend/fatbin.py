"""Fat binaries: the device code in a file, for several architectures, compressed or not.

A fat binary is a header and entries: one code for one architecture each, or the codes of several,
compressed as one. Object files, executables and libraries hold fat binaries in a section, archives hold
object files. The toolkit's ``fatbinary_section.h`` names the outer layout. Eiling's
cuda-fatbin-decompression (https://github.com/n-eiling/cuda-fatbin-decompression) documents the entries; what
it lacks (zstd, flags of architectures, several codes in one entry) is from fat binaries that nvcc 13.5
writes with all its options for them (``tests/frontend/test_fatbin.py``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, partial

from warpwatt.core.errors import ParseError
from warpwatt.isa.sass.elf import read_elf

MAGIC = b"\x50\xed\x55\xba"
ARCHIVE = b"!<arch>\n"
ELF = b"\x7fELF"
SECTIONS = (".nv_fatbin", "__nv_relfatbin")
"""Sections of a host's file: of linked code, of code that a device linker has still to link."""
_HEADER = struct.Struct("<4sHHQ")
"""Magic number, version, bytes of the header, bytes behind it."""
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_MEMBER = struct.Struct("<16s12s6s6s8s10s2s")
_PAIR = struct.Struct("<II")
"""Behind the entry of several codes: how many, bytes. In front of options: where they begin, bytes."""
_LZ4, _ZSTD, _ARCHITECTURE_ONLY, _FAMILY = 0x2000, 0x8000, 0x100000, 0x200000
_LARGEST = 1 << 31
"""Bytes that an entry may have decompressed: more is damage."""


class Kind(IntEnum):
    """What an entry holds; others, such as NVVM for the device linker, are left out."""

    PTX = 1
    CUBIN = 2
    SEVERAL = 256


@dataclass(frozen=True, slots=True)
class Code:
    """Device code of one kind for one architecture, such as 90; decompressed when :attr:`read` is called.

    ``exact``: for this architecture only (``sm_90a``); ``family``: for those of its family (``sm_100f``).
    """

    kind: Kind
    architecture: int
    read: Callable[[], bytes]
    exact: bool = False
    family: bool = False

    @property
    def target(self) -> str:
        """What it is for, such as ``sm_90a`` or ``PTX of compute_90``."""
        name = f"{self.architecture}{'a' * self.exact}{'f' * self.family}"
        return f"sm_{name}" if self.kind is Kind.CUBIN else f"PTX of compute_{name}"

    @property
    def text(self) -> str:
        """The text of PTX."""
        return self.read().rstrip(b"\0").decode("utf-8", "replace")

    def runs_on(self, number: int) -> bool:
        """Whether an architecture runs it as it is: machine code of the same major version, not newer."""
        same = self.architecture // 10 == number // 10
        return self.kind is Kind.CUBIN and same and self._reaches(number)

    def compiles_for(self, number: int) -> bool:
        """Whether it is PTX that the driver compiles for an architecture."""
        same = self.architecture // 10 == number // 10 or not self.family
        return self.kind is Kind.PTX and same and self._reaches(number)

    def _reaches(self, number: int) -> bool:
        return self.architecture == number or (self.architecture < number and not self.exact)


def codes(data: bytes) -> Iterator[Code]:
    """Yield the device code of a fat binary, of several in a row, or of a host's ELF file or archive.

    Raises
    ------
    ParseError
        If the data are truncated or damaged.
    """
    if data.startswith(ELF):
        elf = read_elf(data)
        for section in filter(None, map(elf.section, SECTIONS)):
            yield from codes(section.data)
    elif data.startswith(ARCHIVE):
        for member in _members(data):
            yield from codes(member) if member.startswith(ELF) else ()
    else:
        at = 0
        while at < len(data):
            if data.startswith(MAGIC, at):
                begin, at = at, _end(data, at)
                yield from _entries(data, begin, at)
            elif any(data[at : at + 8]):
                raise ParseError(f"no fat binary begins at byte {at}")
            else:  # between two of them: zeros
                at += 8


def _end(data: bytes, at: int) -> int:
    """Return where the fat binary at a place ends."""
    if at + _HEADER.size > len(data):
        raise ParseError("the header of a fat binary is cut off")
    _, _, head, rest = _HEADER.unpack_from(data, at)
    if head < _HEADER.size or at + head + rest > len(data):
        raise ParseError(f"a fat binary ends at byte {at + head + rest} of {len(data)}")
    return int(at + head + rest)


def _members(data: bytes) -> Iterator[bytes]:
    """Yield the contents of an archive's members."""
    at = len(ARCHIVE)
    while at + _MEMBER.size <= len(data):
        *_, size, end = _MEMBER.unpack_from(data, at)
        at += _MEMBER.size
        if end != b"`\n" or not size.strip().isdigit() or at + int(size) > len(data):
            raise ParseError(f"the archive's member at byte {at} is damaged")
        yield data[at : at + int(size)]
        at += int(size) + int(size) % 2


def _entries(data: bytes, begin: int, end: int) -> Iterator[Code]:
    """Yield the codes of the fat binary between two places."""
    at = begin + _HEADER.unpack_from(data, begin)[2]
    while at < end:
        if at + _ENTRY.size > end:
            raise ParseError("an entry of a fat binary is cut off")
        kind, _, head, size, compressed, *_, flags, _, whole = _ENTRY.unpack_from(data, at)
        start, at = at + head, at + head + size
        if head < _ENTRY.size or compressed > size or at > end:
            raise ParseError(f"an entry of a fat binary ends at byte {at} of {end}")
        read = partial(_contents, data[start : start + (compressed or size)], flags, whole)
        if kind == Kind.SEVERAL:
            yield from _several(data[start - head : start], cache(read))
        elif kind in (Kind.PTX, Kind.CUBIN):
            yield _code(data[start - head : start], read)


def _code(entry: bytes, read: Callable[[], bytes]) -> Code:
    """Return the code that an entry describes."""
    kind, *_, architecture, _, _, flags, _, _ = _ENTRY.unpack_from(entry)
    return Code(Kind(kind), architecture, read, bool(flags & _ARCHITECTURE_ONLY), bool(flags & _FAMILY))


def _several(entry: bytes, read: Callable[[], bytes]) -> Iterator[Code]:
    """Yield the codes of an entry that holds several: where each lies stands for the bytes of its head."""
    try:
        (count, _), at = _PAIR.unpack_from(entry, _ENTRY.size), _ENTRY.size + _PAIR.size
        for _ in range(count):
            kind, _, begin, size, *_ = _ENTRY.unpack_from(entry, at)
            if kind in (Kind.PTX, Kind.CUBIN):
                yield _code(entry[at:], partial(_part, read, begin, begin + size))
            at += _extent(entry[at:])
    except struct.error as error:
        raise ParseError("the list of an entry's codes is cut off") from error


def _extent(entry: bytes) -> int:
    """Return the bytes of the entry at the start, the name and the compiler's options behind it included."""
    *_, options, _, _, _, name, length, _, _, _ = _ENTRY.unpack_from(entry)
    end = sum(_PAIR.unpack_from(entry, options)) if options else 0
    return -(-int(max(_ENTRY.size, name + length, end)) // 8) * 8


def _part(read: Callable[[], bytes], begin: int, end: int) -> bytes:
    return read()[begin:end]


def _contents(data: bytes, flags: int, size: int) -> bytes:
    """Return the contents of an entry, ``size`` bytes when decompressed."""
    if not flags & (_LZ4 | _ZSTD):
        return data
    try:
        found = _decompressed(data, flags, size) if size <= _LARGEST else b""
    except (ValueError, RuntimeError) as error:
        raise ParseError(f"compressed code is damaged: {error}") from error
    if len(found) != size:
        raise ParseError(f"compressed code has {len(found)} bytes, not {size}")
    return found


def _decompressed(data: bytes, flags: int, size: int) -> bytes:
    if flags & _ZSTD:
        import zstandard

        try:
            if zstandard.frame_content_size(data) > size:
                raise ValueError("its size is another")
            return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
    import lz4.block

    return bytes(lz4.block.decompress(data, uncompressed_size=size))
