"""The records that generated code, run time and Python share, as ``native/emulate/layout.cpp`` says.

Each is a NumPy type whose fields have the names they have in C++.

>>> MACHINE.fields["fault.reason"][0], WARP.fields["next"][0]
(dtype('int32'), dtype(('<i4', (32,))))
>>> CODES["space"]["shared"]
1
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.native import ADDRESS, function

if TYPE_CHECKING:
    from collections.abc import Sequence

    Record = np.dtype[np.void]


class _Field(ctypes.Structure):
    _fields_ = [
        ("record", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_char),
        *((name, ctypes.c_int64) for name in ("offset", "element_bytes", "bytes")),
    ]


class _Code(ctypes.Structure):
    _fields_ = [("table", ctypes.c_char_p), ("name", ctypes.c_char_p), ("value", ctypes.c_int64)]


def _table(name: str, kind: type[Any]) -> Sequence[Any]:
    """Return an exported table."""
    count = ctypes.c_int64()
    address = function(name, ADDRESS, ADDRESS)(ctypes.addressof(count))
    rows: Sequence[Any] = (kind * count.value).from_address(address)
    return rows


def _record(name: str) -> Record:
    """Return a record's type."""
    rows = [row for row in _table("emulator_fields", _Field) if row.record.decode() == name]
    (size,) = [row.bytes for row in rows if not row.name]
    fields = [row for row in rows if row.name]
    description: Any = {
        "names": [row.name.decode() for row in fields],
        "formats": [_format(row) for row in fields],
        "offsets": [row.offset for row in fields],
        "itemsize": size,
    }
    record: Record = np.dtype(description)
    return record


def _format(row: Any) -> Any:
    element, count = f"{row.kind.decode()}{row.element_bytes}", row.bytes // row.element_bytes
    return element if count == 1 else (element, (count,))


MACHINE, BLOCK, WARP = _record("Machine"), _record("Block"), _record("Warp")
SPECIAL_REGISTERS = _record("SpecialRegisters")
MEMORY_OPERATION = _record("MemoryOperation")
REQUEST_COUNTERS, REQUEST_SUMS = _record("RequestCounters"), _record("RequestSums")
TRACE_STEP, TRACE_REQUEST = _record("TraceStep"), _record("TraceRequest")

CODES: dict[str, dict[str, int]] = {}
"""Numbers in records, by table and name."""
for _row in _table("emulator_codes", _Code):
    CODES.setdefault(_row.table.decode(), {})[_row.name.decode()] = _row.value


def offset_of(record: Record, field: str) -> int:
    """Return where a field of a record lies, in bytes.

    >>> offset_of(WARP, "next") % 64
    0
    """
    assert record.fields is not None
    return int(record.fields[field][1])
