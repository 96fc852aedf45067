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

from warpwatt.native.records import codes, record_types

if TYPE_CHECKING:
    from warpwatt.native.records import Record

_RECORDS = record_types("emulator_fields")
MACHINE, BLOCK, WARP = _RECORDS["Machine"], _RECORDS["Block"], _RECORDS["Warp"]
SPECIAL_REGISTERS = _RECORDS["SpecialRegisters"]
MEMORY_OPERATION, RANGE = _RECORDS["MemoryOperation"], _RECORDS["Range"]
STEP, STEP_BLOCK = _RECORDS["Step"], _RECORDS["StepBlock"]
TEXTURE = _RECORDS["Texture"]
REQUEST_COUNTERS, REQUEST_SUMS = _RECORDS["RequestCounters"], _RECORDS["RequestSums"]
HAZARD, SHARED_WORD = _RECORDS["Hazard"], _RECORDS["SharedWord"]
TRACE_STEP, TRACE_REQUEST = _RECORDS["TraceStep"], _RECORDS["TraceRequest"]


def record_at(address: int, record: Record) -> np.void:
    """Return the record at an address; it shares the memory."""
    room: Any = (ctypes.c_char * record.itemsize).from_address(address)
    found: np.void = np.frombuffer(room, record)[0]
    return found


CODES = codes("emulator_codes")
"""Numbers in records, by table and name."""


def offset_of(record: Record, field: str) -> int:
    """Return where a field of a record lies, in bytes.

    >>> offset_of(WARP, "next") % 64
    0
    """
    assert record.fields is not None
    return int(record.fields[field][1])
