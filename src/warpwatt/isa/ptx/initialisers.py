"""What a variable holds before the program starts: initialisers to bytes (PTX ISA 5.4.4)."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from warpwatt.isa.ptx.constants import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.isa.ptx.constants import Number
    from warpwatt.isa.ptx.syntax import Variable

_FLOAT = {"f16": "<e", "f32": "<f", "f64": "<d"}
_PART = re.compile(r"[{},]")


def initial_bytes(variable: Variable, element: int) -> bytes:
    """Return the bytes of a variable's initialiser, little-endian; ``element`` is the size of one vector.

    An element that is no number (an address) is zero. Rows of nested braces that are shorter than their
    array dimension are filled with zeros, as PTX does.

    >>> from warpwatt.isa.ptx.syntax import Variable
    >>> table = Variable("x", "const", "u16", dimensions=(2, 2), initialiser="{{1}, {2, 3}}")
    >>> initial_bytes(table, 2).hex(" ", 2)
    '0100 0000 0200 0300'
    """
    text = variable.initialiser
    if not text or variable.type.endswith("ref"):
        return b""
    scalar = element // variable.vector
    strides = _strides(variable, element)
    found = bytearray()
    for depth, item in _items(text):
        if item is None:  # a row ends: what comes next begins at the next multiple of its size
            stride = strides[depth] if depth < len(strides) else scalar
            found += bytes(-len(found) % stride)
        else:
            found += _encode(item, variable.type, scalar)
    return bytes(found)


def _strides(variable: Variable, element: int) -> list[int]:
    """Return the size of what a brace at each depth holds; depth 0 is the whole initialiser."""
    sizes = [element]
    for extent in reversed(variable.dimensions[1:]):
        sizes.append(sizes[-1] * max(1, min(extent or 1, 1 << 20)))
    return [1, *reversed(sizes)]


def _items(text: str) -> Iterator[tuple[int, str | None]]:
    """Yield the elements with the number of braces around them; None where a brace closes."""
    depth = start = 0
    for match in _PART.finditer(text):
        item = text[start : match.start()].strip()
        if item:
            yield depth, item
        start = match.end()
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            yield depth, None
    if text[start:].strip():
        yield depth, text[start:].strip()


def _encode(item: str, type_: str, size: int) -> bytes:
    """Return one number in memory; zeros for what is none."""
    try:
        value = int(item) if item.isascii() and item.isdigit() and len(item) < 20 else evaluate(item)
        return _pack(value, item, type_, size)
    except (ValueError, OverflowError, struct.error):
        return bytes(size)


def _pack(value: Number, item: str, type_: str, size: int) -> bytes:
    """Return a number as its type stores it."""
    if item[:2] in {"0f", "0F", "0d", "0D"} and len(item) == 2 + 2 * size:
        return bytes.fromhex(item[2:])[::-1]  # the very bits, NaN payload included
    if type_ in _FLOAT:
        return struct.pack(_FLOAT[type_], value)
    if isinstance(value, float):
        return struct.pack("<f" if size == 4 else "<d", value)
    return (value & (1 << 8 * size) - 1).to_bytes(size, "little")
