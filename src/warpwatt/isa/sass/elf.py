"""A bounds-checked reader of the 64-bit little-endian ELF files that CUDA tools write.

pyelftools reads these files too and is the oracle of this module's tests. It is not used here because on
damaged files it raises exceptions of several unrelated types and allocates whatever size a section without
contents claims to have; here every read is checked against the length of the file, and the one exception
that leaves this module is :class:`~warpwatt.core.errors.ParseError`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from warpwatt.core.errors import ParseError

MACHINE_CUDA = 190
"""``EM_CUDA``, the machine number of a cubin (ELF gABI registry)."""
FLAGS_OFFSET = 48
"""Byte of a file at which the header's flags begin."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = {9: struct.Struct("<QQ"), 4: struct.Struct("<QQq")}
"""Rows of a relocation table by section type: SHT_REL, SHT_RELA."""

_TYPE_SYMTAB = 2
_WITHOUT_BYTES = (8, 0x70000007, 0x7000000A)
"""Types of sections that the file holds no bytes for: SHT_NOBITS, and in relocatable code variables that
start as zeros and shared memory."""


class Section(NamedTuple):
    """One section: ``size`` bytes, of which ``file`` may hold none (``.nv.shared.*``)."""

    name: str
    type: int
    flags: int
    size: int
    link: int
    info: int
    file: bytes
    offset: int = 0

    @property
    def data(self) -> bytes:
        """The bytes that the file holds for the section."""
        return b"" if self.type in (0, *_WITHOUT_BYTES) else self.file[self.offset : self.offset + self.size]


class Symbol(NamedTuple):
    """One symbol: ``section`` is an index into :attr:`Elf.sections`, ``kind`` 2 a function."""

    name: str
    kind: int
    section: int
    value: int
    size: int


class Relocation(NamedTuple):
    """A place (``offset`` into the section) that holds the address of ``symbol`` plus ``addend``.

    ``type`` is the machine's number for how. ``in_place``: the place itself holds the addend (SHT_REL).
    """

    offset: int
    symbol: int
    addend: int
    type: int = 0
    in_place: bool = False


@dataclass(frozen=True)
class Elf:
    """Contents of an ELF file; ``kind`` 1 is relocatable, 2 linked."""

    kind: int
    machine: int
    flags: int
    abi_version: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Number of the first section of each name."""
        return {s.name: i for i, s in reversed([*enumerate(self.sections)])}

    @cached_property
    def defined(self) -> Mapping[int, tuple[Symbol, ...]]:
        """The symbols in each section that has some, by its number."""
        found: dict[int, list[Symbol]] = {}
        for symbol in self.symbols:
            found.setdefault(symbol.section, []).append(symbol)
        return {section: tuple(symbols) for section, symbols in found.items()}

    def section(self, name: str) -> Section | None:
        """Return the first section of that name, or None."""
        at = self.index.get(name)
        return None if at is None else self.sections[at]

    def relocations(self, name: str) -> tuple[Relocation, ...]:
        """Return the relocations of section ``name`` in file order, from ``.rela`` or ``.rel`` + name."""
        table = self.section(".rela" + name) or self.section(".rel" + name)
        if table is None or table.type not in _RELOCATION:
            return ()
        row, data = _RELOCATION[table.type], table.data
        rows = row.iter_unpack(data[: len(data) // row.size * row.size])
        return tuple(
            Relocation(r[0], r[1] >> 32, r[2] if len(r) == 3 else 0, r[1] & 0xFFFFFFFF, len(r) == 2)
            for r in rows
        )


def read_elf(data: bytes) -> Elf:
    """Return the sections and symbols of an ELF file.

    Raises
    ------
    ParseError
        Not a 64-bit little-endian ELF file, truncated, or with tables that point outside of it.
    """
    if data[:4] != b"\x7fELF":
        raise ParseError("not an ELF file: the first four bytes are not 7f 45 4c 46")
    if len(data) < _HEADER.size:
        raise ParseError(f"truncated ELF header: {len(data)} of {_HEADER.size} bytes")
    header = _HEADER.unpack_from(data)
    ident, kind, machine, section_offset, flags = header[0], header[1], header[2], header[6], header[7]
    entry_size, count, names_index = header[11], header[12], header[13]
    if ident[4:6] != b"\x02\x01":
        raise ParseError("not a 64-bit little-endian ELF file")
    if entry_size != _SECTION.size or not count:
        raise ParseError("ELF file without a section table")
    _check(data, section_offset, count * entry_size, "section table")
    _check(data, header[5], header[9] * header[10], "segment table")
    rows = [_SECTION.unpack_from(data, section_offset + i * entry_size) for i in range(count)]
    names = _names(data, rows, names_index)
    sections = tuple(_section(data, row, names) for row in rows)
    return Elf(kind, machine, flags, ident[8], sections, _symbols(sections))


def _check(data: bytes, offset: int, size: int, what: str) -> None:
    """Raise ParseError unless ``size`` bytes at ``offset`` lie within the file."""
    if offset + size > len(data):
        raise ParseError(
            f"truncated or damaged ELF file: the {what} ends at byte {offset + size} of {len(data)}"
        )


def _names(data: bytes, rows: list[tuple[int, ...]], index: int) -> bytes:
    """Return the contents of the string table that holds the section names."""
    if index >= len(rows):
        raise ParseError("damaged ELF file: no section-name table")
    offset, size = rows[index][4], rows[index][5]
    _check(data, offset, size, "section-name table")
    return data[offset : offset + size]


def _section(data: bytes, row: tuple[int, ...], names: bytes) -> Section:
    """Return one section from its row of the section table."""
    name_offset, kind, flags, _, offset, size, link, info, _, _ = row
    name = _string(names, name_offset)
    if kind not in (0, *_WITHOUT_BYTES):
        _check(data, offset, size, f"section {name}")
    return Section(name, kind, flags, size, link, info, data, offset)


def _symbols(sections: tuple[Section, ...]) -> tuple[Symbol, ...]:
    """Return the rows of the first symbol table, in file order."""
    table = next((s for s in sections if s.type == _TYPE_SYMTAB), None)
    if table is None:
        return ()
    if table.link >= len(sections):
        raise ParseError("damaged ELF file: the symbol table has no names")
    names, data = sections[table.link].data, table.data
    rows = _SYMBOL.iter_unpack(data[: len(data) // _SYMBOL.size * _SYMBOL.size])
    return tuple(
        Symbol(_string(names, name), kind & 15, at, value, size) for name, kind, _, at, value, size in rows
    )


def _string(table: bytes, offset: int) -> str:
    """Return the zero-terminated string at ``offset``; bytes that are not UTF-8 become question marks."""
    end = table.find(b"\0", offset)
    return table[offset : end if end >= 0 else len(table)].decode(errors="replace")
