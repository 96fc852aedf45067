"""Code written by hand, instruction after instruction."""

from __future__ import annotations

from warpwatt.core.program import (
    Access,
    ControlCode,
    Immediate,
    Instruction,
    Level,
    MemoryAccess,
    Program,
    Register,
    SourceLine,
    Space,
)


class Assembler:
    """Collects instructions of one program."""

    def __init__(self, file: str, level: Level, target: str, name: str) -> None:
        self.file, self.level, self.target, self.name = file, level, target, name
        self.rows: list[Instruction] = []
        self.counts: list[float] = []
        self.lanes: list[float] = []

    def add(self, line: int, opcode: str, *operands, n=1.0, lanes=32.0, **fields) -> int:
        index = len(self.rows)
        if self.level is Level.SASS:
            fields.setdefault("control", ControlCode(4, False, None, None, 0, 0))
        where = SourceLine(self.file, line) if line else None
        self.rows.append(Instruction(index, opcode, tuple(operands), line=where, **fields))
        self.counts.append(n)
        self.lanes.append(lanes)
        return index

    def program(self, labels=None) -> Program:
        return Program(self.name, self.level, self.target, tuple(self.rows), labels or {})


def r(name: str) -> Register:
    return Register(name)


def number(value: int) -> Immediate:
    return Immediate(value, str(value))


def load(space: Space) -> MemoryAccess:
    return MemoryAccess(space, Access.LOAD, 4)


def store(space: Space) -> MemoryAccess:
    return MemoryAccess(space, Access.STORE, 4)
