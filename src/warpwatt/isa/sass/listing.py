"""Instructions before they are understood: what nvdisasm prints, and the control code of each word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpwatt.core.errors import ToolchainError
from warpwatt.core.program import ControlCode

_NO_BARRIER = 7


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction as printed: ``predicate`` such as ``@!P0`` or empty, ``operands`` comma-separated."""

    opcode: str
    operands: str = ""
    predicate: str = ""


def read_listing(text: str | bytes) -> Mapping[str, tuple[Line, ...]]:
    """Return the instructions of each code section by kernel name; number i lies at byte 16·i.

    ``text`` is what ``nvdisasm -json`` prints for a cubin; raises ``ToolchainError`` if it is not.
    """
    try:
        functions = json.loads(text)[1]
        return {_text(f, "function-name"): _lines(f["sass-instructions"]) for f in functions}
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ToolchainError(f"nvdisasm printed JSON of an unknown form: {error!r}") from error


def _lines(rows: list[dict[str, Any]]) -> tuple[Line, ...]:
    """Return the instructions of one function of the JSON."""
    return tuple(
        Line(_text(r, "opcode"), str(r.get("operands", "")), str(r.get("predicate", ""))) for r in rows
    )


def _text(row: dict[str, Any], key: str) -> str:
    """Return a field that must be a string; raises ``TypeError`` if it is not."""
    value = row[key]
    if not isinstance(value, str):
        raise TypeError(key)
    return value


def decode_control(word: int) -> ControlCode:
    """Return the control code (ptxas's scheduling information) of an instruction word of Volta or later.

    ``word`` is the instruction as one little-endian integer. The code lies in bits 105 to 125: stall
    cycles in 4 bits, a yield bit (0 means yield), write and read barrier in 3 bits each (7 means none),
    a wait mask of 6 bits and 4 reuse flags (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture
    via Microbenchmarking", 2018, section 2.1).

    >>> decode_control(0x000FE20000000F00_0000000500007C02)
    ControlCode(stall=1, yields=False, write_barrier=None, read_barrier=None, wait_mask=0, reuse=0)
    """
    code = word >> 105
    return ControlCode(
        stall=code & 15,
        yields=not code >> 4 & 1,
        write_barrier=_barrier(code >> 5 & 7),
        read_barrier=_barrier(code >> 8 & 7),
        wait_mask=code >> 11 & 63,
        reuse=code >> 17 & 15,
    )


def _barrier(field: int) -> int | None:
    """Return a barrier's number, or None where the field says that none is set."""
    return None if field == _NO_BARRIER else field
