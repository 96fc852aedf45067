"""Instructions of a kernel from its code alone, equal to what nvdisasm prints for the cubin."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace

from warpwatt.isa.sass.cubin import CubinKernel
from warpwatt.isa.sass.decoding.encodings import encodings
from warpwatt.isa.sass.listing import Line

_WORD = struct.Struct("<QQ")
_REUSE, _STAYS = 15 << 122, 1 << 109
"""The reuse flags, which are not printed of an instruction that yields; ptxas sets none there."""
_TO_FUNCTIONS = ("CALL.", "RET.")
"""Opcodes whose target is printed as the name of the function that begins there."""


def decode(kernel: CubinKernel, sm: int) -> tuple[Line, ...] | None:
    """Return the instructions of a kernel for architecture ``sm``, such as 90; number i lies at byte 16·i.

    None where the table lacks the form of a word, or a linker still has addresses to fill in.
    """
    table = encodings(sm)
    if table is None or kernel.relocated:
        return None
    functions = {hex(f.offset): f.name for f in kernel.functions} | {"0x0": kernel.name}
    lines = []
    for number, (low, high) in enumerate(_WORD.iter_unpack(kernel.code)):
        word = high << 64 | low
        form = table.form(word)
        if form is None or (word & _REUSE and not word & _STAYS):
            return None
        at = number * _WORD.size
        line = Line(form.opcode, form.operands.of(word, at), form.predicate.of(word, at))
        lines.append(_with_names(line, functions) if form.opcode.startswith(_TO_FUNCTIONS) else line)
    return tuple(lines)


def _with_names(line: Line, functions: Mapping[str, str]) -> Line:
    """Return a call or return with the name of the function it goes to, where one begins there."""
    before, comma, target = line.operands.rpartition(",")
    return replace(line, operands=before + comma + functions.get(target, target))
