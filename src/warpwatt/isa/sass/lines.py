"""The ``.debug_line`` section of a cubin: source line, and chain of inlined calls, of every instruction.

The format is the line-number program of DWARF 2 to 4 with one extended opcode of NVIDIA's: 0x90 states
that the rows after it were inlined, by the number of the row that stands for the call site (counted from 1
within the sequence; 0 ends it) and the offset of the function's name in ``.debug_str``.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from dataclasses import dataclass, field

from warpwatt.core.program import SourceLine
from warpwatt.isa.sass.elf import Elf


@dataclass(frozen=True, slots=True)
class LineTable:
    """Source lines of one code section: ``lines[i]`` holds from byte ``offsets[i]`` to the next."""

    offsets: tuple[int, ...] = ()
    lines: tuple[SourceLine | None, ...] = ()

    def at(self, offset: int) -> SourceLine | None:
        """Return the source line of the instruction at ``offset``, or None where nothing is known."""
        position = bisect_right(self.offsets, offset) - 1
        return self.lines[position] if position >= 0 else None


@dataclass(slots=True)
class _Reader:
    """A cursor over bytes; reading past the end raises ``IndexError`` or ``struct.error``."""

    data: bytes
    at: int = 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self, form: str) -> int:
        value: int = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def uleb(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def sleb(self) -> int:
        start = self.at
        value = self.uleb()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if self.data[self.at - 1] & 64 else value

    def string(self) -> str:
        end = self.data.index(b"\0", self.at)
        text = self.data[self.at : end].decode(errors="replace")
        self.at = end + 1
        return text


@dataclass(frozen=True, slots=True)
class _Header:
    """The parts of a line-number program's header that its rows depend on."""

    minimum_step: int
    line_base: int
    line_range: int
    operand_counts: tuple[int, ...]
    files: tuple[str, ...]


@dataclass(slots=True)
class _State:
    """Registers of the line-number state machine (DWARF 3, section 6.2.2)."""

    section: int = -1
    address: int = 0
    file: int = 1
    line: int = 1
    context: int = 0


@dataclass(slots=True)
class _Rows:
    """Rows of one program in order, and per section the (offset, line) pairs they amount to."""

    files: tuple[str, ...]
    lines: list[SourceLine | None] = field(default_factory=list)
    tables: dict[int, dict[int, SourceLine | None]] = field(default_factory=dict)

    def add(self, state: _State, *, end: bool = False) -> None:
        """Append the row that ``state`` describes; a row that ends a sequence says nothing about a line."""
        line = None
        if not end and 0 < state.file <= len(self.files):
            called = 0 < state.context <= len(self.lines)
            caller = self.lines[state.context - 1] if called else None
            line = SourceLine(self.files[state.file - 1], state.line, caller)
        self.lines.append(line)
        if end:
            self.lines.clear()
        self.tables.setdefault(state.section, {})[state.address] = line


def line_tables(elf: Elf) -> dict[int, LineTable]:
    """Return the line table of each code section that has one, by section index.

    A damaged table ends where the damage begins; without ``-lineinfo`` the result is empty.
    """
    section = elf.section(".debug_line")
    if section is None:
        return {}
    symbols = elf.symbols
    addresses = {
        r.offset: (symbols[r.symbol].section, symbols[r.symbol].value + r.addend)
        for r in elf.relocations(".debug_line")
        if r.symbol < len(symbols)
    }
    merged: dict[int, dict[int, SourceLine | None]] = {}
    for rows in _programs(section.data, addresses):
        for index, table in rows.tables.items():
            merged.setdefault(index, {}).update(table)
    return {
        index: LineTable(tuple(sorted(rows)), tuple(rows[offset] for offset in sorted(rows)))
        for index, rows in merged.items()
        if index >= 0
    }


def _programs(data: bytes, addresses: dict[int, tuple[int, int]]) -> list[_Rows]:
    """Return the rows of every line-number program in the section.

    ``addresses`` maps the place of each relocated address to (section index, offset in that section).
    """
    found = []
    reader = _Reader(data)
    while reader.at + 4 <= len(data):
        end = reader.number("I") + reader.at
        rows = _Rows(())
        try:
            header = _header(reader)
            rows.files = header.files
            _run(reader, min(end, len(data)), header, rows, addresses)
        except (IndexError, ValueError, struct.error, ZeroDivisionError):
            end = len(data)  # damaged: what was read so far still stands
        found.append(rows)
        reader.at = end
    return found


def _header(reader: _Reader) -> _Header:
    """Read a program's header and leave the reader at its first opcode."""
    version = reader.number("H")
    if not 2 <= version <= 4:
        raise ValueError(version)
    size = reader.number("I")
    first = reader.at + size
    minimum_step = reader.byte()
    reader.at += 1 if version < 4 else 2
    line_base, line_range, opcode_base = reader.number("b"), reader.byte(), reader.byte()
    counts = tuple(reader.byte() for _ in range(opcode_base - 1))
    files = _files(reader)
    reader.at = first
    return _Header(minimum_step, line_base, line_range, counts, files)


def _files(reader: _Reader) -> tuple[str, ...]:
    """Read the directories and the files of a header; return the files' paths."""
    directories = [""]
    while name := reader.string():
        directories.append(name)
    files = []
    while name := reader.string():
        directory, _, _ = reader.uleb(), reader.uleb(), reader.uleb()
        absolute = name.startswith("/") or not 0 < directory < len(directories)
        files.append(name if absolute else f"{directories[directory]}/{name}")
    return tuple(files)


def _run(
    reader: _Reader, end: int, header: _Header, rows: _Rows, addresses: dict[int, tuple[int, int]]
) -> None:
    """Execute a program's opcodes up to byte ``end`` and collect its rows."""
    state = _State()
    base = len(header.operand_counts) + 1
    while reader.at < end:
        opcode = reader.byte()
        if opcode >= base:
            step, advance = divmod(opcode - base, header.line_range)
            state.address += step * header.minimum_step
            state.line += header.line_base + advance
            rows.add(state)
        elif opcode:
            _standard(opcode, reader, header, rows, state)
        else:
            state = _extended(reader, rows, state, addresses)


def _standard(opcode: int, reader: _Reader, header: _Header, rows: _Rows, state: _State) -> None:
    """Execute a standard opcode (DWARF 3, section 6.2.5.2)."""
    match opcode:
        case 1:
            rows.add(state)
        case 2:
            state.address += reader.uleb() * header.minimum_step
        case 3:
            state.line += reader.sleb()
        case 4:
            state.file = reader.uleb()
        case 8:
            state.address += (254 - len(header.operand_counts)) // header.line_range * header.minimum_step
        case 9:
            state.address += reader.number("H")
        case _:
            for _ in range(header.operand_counts[opcode - 1]):
                reader.uleb()


def _extended(reader: _Reader, rows: _Rows, state: _State, addresses: dict[int, tuple[int, int]]) -> _State:
    """Execute an extended opcode (DWARF 3, section 6.2.5.3, and NVIDIA's); return the state after it."""
    after = reader.uleb() + reader.at
    match reader.byte():
        case 1:
            rows.add(state, end=True)
            state = _State()
        case 2:
            state.section, state.address = addresses.get(reader.at, (-1, 0))
        case 0x90:
            state.context = reader.uleb()
    reader.at = after
    return state
