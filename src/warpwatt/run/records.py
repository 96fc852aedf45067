"""Dataclasses that are packed as C structures: the annotation of a field says how wide it is.

>>> @dataclass(frozen=True)
... class Size(Record):
...     width: U32
...     sizes: U32x3
>>> Size(2, (3, 4, 5), data=b"!").pack().hex()
'0200000003000000040000000500000021'
>>> Size.unpack(bytes.fromhex("0200000003000000040000000500000021"))
Size(data=b'!', width=2, sizes=(3, 4, 5))
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, Any, ClassVar, Self, TypeAlias, get_args, get_type_hints

U32: TypeAlias = Annotated[int, "I"]
U64: TypeAlias = Annotated[int, "Q"]
I32: TypeAlias = Annotated[int, "i"]
I64: TypeAlias = Annotated[int, "q"]
F64: TypeAlias = Annotated[float, "d"]
U32x3: TypeAlias = Annotated[tuple[int, ...], "3I"]
U32x4: TypeAlias = Annotated[tuple[int, ...], "4I"]
F64x2: TypeAlias = Annotated[tuple[float, ...], "2d"]
F32x4: TypeAlias = Annotated[tuple[float, ...], "4f"]


@dataclass(frozen=True)
class Record:
    """A structure, little-endian and without padding, and the bytes that follow it."""

    data: bytes = field(default=b"", kw_only=True)
    _fields: ClassVar[tuple[tuple[str, str, Any], ...]] = ()
    _layout: ClassVar[struct.Struct] = struct.Struct("<")

    def __init_subclass__(cls) -> None:
        """Read the annotations: each field's name, its format and the type of its value."""
        hints = get_type_hints(cls, include_extras=True)
        cls._fields = tuple((name, *reversed(get_args(hints[name]))) for name in cls.__annotations__)
        cls._layout = struct.Struct("<" + "".join(form for _, form, _ in cls._fields))

    @classmethod
    def fixed_bytes(cls) -> int:
        """Return the bytes of the structure alone."""
        return cls._layout.size

    @classmethod
    def offsets(cls) -> dict[str, tuple[int, int]]:
        """Return the offset and bytes of each field."""
        offset = 0
        found: dict[str, tuple[int, int]] = {}
        for name, form, _ in cls._fields:
            found[name] = (offset, struct.calcsize(f"<{form}"))
            offset += found[name][1]
        return found

    def pack(self) -> bytes:
        """Return the structure and what follows it."""
        values: list[Any] = []
        for name, form, _ in self._fields:
            value = getattr(self, name)
            values.extend(value if len(form) > 1 else (value,))
        return self._layout.pack(*values) + self.data

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Return the record that bytes say.

        Raises
        ------
        ValueError
            If they are too few, or hold a number that its enumeration lacks.
        """
        if len(data) < cls._layout.size:
            raise ValueError(f"{cls.__name__} has {cls._layout.size} bytes, not {len(data)}")
        values = iter(cls._layout.unpack_from(data))
        found: dict[str, Any] = {"data": bytes(data[cls._layout.size :])}
        for name, form, convert in cls._fields:
            found[name] = tuple(islice(values, int(form[0]))) if len(form) > 1 else convert(next(values))
        return cls(**found)
