"""Fat binaries: machine code and PTX for several architectures, as nvcc embeds them in host files.

Only the architectures are read at first; what somebody asks for is decompressed then. Layout of the headers:
``fatbinary_section.h`` of the CUDA Toolkit, and what ``cuobjdump`` prints of files with known contents.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from warpwatt.core.errors import ParseError
from warpwatt.isa.sass.cubin import Cubin, read_cubin
from warpwatt.isa.sass.elf import MACHINE_CUDA, read_elf

FATBIN_MAGIC = b"\x50\xed\x55\xba"
ELF_MAGIC = b"\x7fELF"
ARCHIVE_MAGIC = b"!<arch>\n"
_HEADER = struct.Struct("<4sHHQ")
"""Magic number, version, bytes of this header, bytes behind it."""
_PART = struct.Struct("<HHIQII2HIIIQQQ")
"""Kind, version, bytes of this header, bytes behind it, bytes of what is compressed, ..., architecture, place
and length of a name, flags, zero, bytes of what is decompressed."""
_LZ4, _ZSTD = 0x2000, 0x8000
"""Flags."""
_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
"""Sections of host files: code that is device-linked or needs no linking, code that is not."""
_MEMBER = struct.Struct("<16s12s6s6s8s10s2s")
"""Header of a member of an archive; the sixth field is its size in decimal digits."""
_LARGEST = 1 << 32
"""Bytes of decompressed code beyond which a header is damaged."""


class Kind(IntEnum):
    """What a part of a fat binary holds; others are skipped, such as code for link-time optimisation."""

    PTX = 1
    CUBIN = 2


@dataclass(frozen=True, eq=False)
class Part:
    """Code for one architecture, ``number`` such as 90."""

    kind: Kind
    number: int
    stored: bytes
    """Its bytes as the file has them."""
    flags: int = 0
    size: int = 0
    """Bytes once decompressed."""

    @cached_property
    def data(self) -> bytes:
        """Its contents, decompressed.

        Raises
        ------
        ParseError
            If they are damaged.
        """
        if not self.flags & (_LZ4 | _ZSTD):
            return self.stored
        if self.size > _LARGEST:
            raise ParseError(f"damaged fat binary: code of {self.size} bytes")
        return _decompressed(self.stored, self.flags, self.size)

    @property
    def text(self) -> str:
        """Its PTX, without the zeros behind it."""
        return self.data.rstrip(b"\0").decode(errors="replace")

    @cached_property
    def cubin(self) -> Cubin:
        """Its machine code.

        Raises
        ------
        ParseError
            If it is damaged.
        """
        return read_cubin(self.data)


def _decompressed(data: bytes, flags: int, size: int) -> bytes:
    import lz4.block
    import zstandard

    try:
        if flags & _ZSTD:
            return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
        found: bytes = lz4.block.decompress(data, uncompressed_size=size)
    except (zstandard.ZstdError, lz4.block.LZ4BlockError) as error:
        raise ParseError(f"damaged fat binary: {error}") from None
    return found


def parts(data: bytes) -> tuple[Part, ...]:
    """Return the device code in a cubin, fat binaries, an ELF file of the host or an archive of such files.

    Raises
    ------
    ParseError
        If the file is truncated or damaged.
    """
    return tuple(_parts(data))


def _parts(data: bytes) -> Iterator[Part]:
    if data.startswith(ARCHIVE_MAGIC):
        for member in _members(data):
            if member.startswith(ELF_MAGIC):
                yield from _parts(member)
    elif data.startswith(ELF_MAGIC):
        elf = read_elf(data)
        if elf.machine == MACHINE_CUDA:
            cubin = read_cubin(data)
            yield Part(Kind.CUBIN, cubin.sm, data)
            return
        for section in elf.sections:
            if section.name in _SECTIONS:
                yield from _of_fat_binaries(section.data)
    else:
        yield from _of_fat_binaries(data)


def _of_fat_binaries(data: bytes) -> Iterator[Part]:
    """Yield the parts of fat binaries that stand one behind the other, with zeros between them."""
    at = 0
    while 0 <= (at := data.find(FATBIN_MAGIC, at)) <= len(data) - _HEADER.size:
        _, _, head, rest = _HEADER.unpack_from(data, at)
        if at + head + rest > len(data):
            raise ParseError(f"truncated fat binary: {at + head + rest} bytes expected, {len(data)} there")
        yield from _of_one(data, at + head, at + head + rest)
        at += head + rest


def _of_one(data: bytes, at: int, end: int) -> Iterator[Part]:
    """Yield the parts between two places of a file."""
    while at + _PART.size <= end:
        kind, _, head, rest, packed, _, _, _, number, _, _, flags, _, size = _PART.unpack_from(data, at)
        if head < _PART.size or at + head + rest > end:
            raise ParseError(f"damaged fat binary: the part at byte {at} ends behind it")
        if kind in iter(Kind):
            start = at + head
            yield Part(Kind(kind), number, data[start : start + (packed or rest)], flags, size)
        at += head + rest


def _members(data: bytes) -> Iterator[bytes]:
    """Yield the files in an archive."""
    at = len(ARCHIVE_MAGIC)
    while at + _MEMBER.size <= len(data):
        *_, digits, _ = _MEMBER.unpack_from(data, at)
        if not digits.strip().isdigit() or at + _MEMBER.size + int(digits) > len(data):
            raise ParseError(f"truncated or damaged archive: the member at byte {at}")
        start = at + _MEMBER.size
        yield data[start : start + int(digits)]
        at = start + int(digits) + int(digits) % 2
