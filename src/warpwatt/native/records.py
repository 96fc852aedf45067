"""The records of the native core, by the names that its tables say (``native/record_layout.h``).

>>> settings = record_types("sm_fields")["Settings"]
>>> settings["sub_cores"], settings["l2_bytes"]
(dtype('int32'), dtype('float64'))
>>> codes("sm_codes")["SmPipe"]
{'none': 0, 'fp64': 1, 'barrier': 2, 'tensor': 3}
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from warpwatt.core.errors import ToolchainError
from warpwatt.native import ADDRESS, function

if TYPE_CHECKING:
    Record = np.dtype[np.void]
Entry = TypeVar("Entry")


class _Table(dict[str, Entry]):
    """What a table of the library says by name; a name that is not there means an older library."""

    def __missing__(self, name: str) -> Entry:
        raise ToolchainError(f"the native core is out of date: no {name!r}", hint="make native")


class _Field(ctypes.Structure):
    _fields_ = [
        ("record", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_char),
        *((name, ctypes.c_int64) for name in ("offset", "element_bytes", "bytes")),
    ]


class _Code(ctypes.Structure):
    _fields_ = [("table", ctypes.c_char_p), ("name", ctypes.c_char_p), ("value", ctypes.c_int64)]


@cache
def record_types(table: str) -> Mapping[str, Record]:
    """Return NumPy's type of every record in a table that the library exports.

    Raises
    ------
    ToolchainError
        When a record is looked up that the library does not know, as in :func:`codes`.
    """
    rows = _rows(table, _Field)
    sizes = {row.record.decode(): row.bytes for row in rows if not row.name}
    fields: dict[str, list[Any]] = {name: [] for name in sizes}
    for row in rows:
        if row.name:
            fields[row.record.decode()].append(row)
    return _Table({name: _record(fields[name], size) for name, size in sizes.items()})


@cache
def codes(table: str) -> Mapping[str, Mapping[str, int]]:
    """Return the numbers in records, by table and name."""
    found = _Table[_Table[int]]()
    for row in _rows(table, _Code):
        found.setdefault(row.table.decode(), _Table())[row.name.decode()] = row.value
    return found


def _rows(table: str, kind: type[Any]) -> Sequence[Any]:
    """Return an exported table."""
    count = ctypes.c_int64()
    address = function(table, ADDRESS, ADDRESS)(ctypes.addressof(count))
    rows: Sequence[Any] = (kind * count.value).from_address(address)
    return rows


def _record(fields: list[Any], size: int) -> Record:
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
