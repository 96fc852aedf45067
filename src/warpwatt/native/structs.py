"""The structs of the native core by the names of their fields: C++ says where each lies.

>>> settings = structs("sm_layout")["Settings"]
>>> settings["sub_cores"], settings.fields["l2_bytes"][0]
(dtype('int32'), dtype('float64'))
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.native import function

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Field(ctypes.Structure):
    """``FieldLayout`` of ``native/struct_layout.h``."""

    _fields_ = (("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("offset", ctypes.c_int64))


@dataclass(frozen=True)
class Layout:
    """What a table of the library says."""

    structs: dict[str, np.dtype[Any]]
    """NumPy's record type of every struct."""
    enumerators: dict[str, dict[str, int]]
    """Names and values of every enumeration."""


@cache
def layout(table: str) -> Layout:
    """Return what the table says that an exported function returns."""
    rows = list(_rows(table))
    sizes = {name: offset for name, _, offset in rows if "." not in name}
    fields: dict[str, list[tuple[str, str, int]]] = {name: [] for name in sizes}
    enumerators: dict[str, dict[str, int]] = {}
    for name, kind, offset in rows:
        owner, _, member = name.partition(".")
        if kind:
            fields[owner].append((member, kind, offset))
        elif member:
            enumerators.setdefault(owner, {})[member] = offset
    return Layout({name: _dtype(fields[name], size) for name, size in sizes.items()}, enumerators)


def structs(table: str) -> dict[str, np.dtype[Any]]:
    """Return NumPy's record type of every struct in a table."""
    return layout(table).structs


def _dtype(fields: list[tuple[str, str, int]], size: int) -> np.dtype[Any]:
    names, formats, offsets = zip(*fields, strict=True)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def _rows(table: str) -> Iterator[tuple[str, str, int]]:
    first = function(table, ctypes.POINTER(_Field))()
    number = 0
    while (row := first[number]).name is not None:
        yield row.name.decode(), row.type.decode(), row.offset
        number += 1
