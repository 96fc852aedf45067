"""What ``printf`` of a kernel writes (CUDA C++ Programming Guide, "Formatted Output").

The compiler passes a format and a buffer with the arguments one after the other, each aligned to its size:
integers of 4 or 8 bytes by the format's length modifiers, floats as doubles, strings as pointers.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

_DIRECTIVE = re.compile(r"%([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?(hh|h|ll|l|q|j|z|t|L)?([diouxXeEfFgGaAcspn%])")
_WIDE = frozenset({"l", "ll", "q", "j", "z", "t"})
_NARROW = {"hh": 8, "h": 16}


def formatted(template: str, read: Callable[[int, int], bytes], string: Callable[[int], str]) -> str:
    """Return what a format makes of arguments.

    Parameters
    ----------
    read
        Bytes of the buffer with the arguments, by offset and size.
    string
        The string that a pointer points to.

    >>> data = struct.pack("<iid", 7, -1, 2.5)
    >>> formatted("%d of %u: %6.2f%%", lambda offset, size: data[offset : offset + size], str)
    '7 of 4294967295:   2.50%'
    """
    return _Arguments(read, string).fill(template)


class _Arguments:
    """The buffer of arguments, read from its start."""

    def __init__(self, read: Callable[[int, int], bytes], string: Callable[[int], str]) -> None:
        self._read, self._string, self._offset = read, string, 0

    def fill(self, template: str) -> str:
        """Return the template with its directives replaced."""
        return _DIRECTIVE.sub(self._directive, template)

    def _take(self, size: int) -> int:
        """Return the next argument's bits."""
        start = -(-self._offset // size) * size
        self._offset = start + size
        return int.from_bytes(self._read(start, size), "little")

    def _number(self, text: str | None) -> str:
        """Return a width or a precision; a star stands for an argument."""
        return str(_signed(self._take(4), 32)) if text == "*" else text or ""

    def _directive(self, match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        width = self._number(width)
        if width.startswith("-"):
            flags, width = flags + "-", width[1:]
        if precision is not None:
            digits = self._number(precision) or "0"
            precision = None if digits.startswith("-") else digits
        how = f"%{flags}{width}" + (f".{precision}" if precision is not None else "")
        if kind in "eEfFgGaA":
            return _float(how, kind, struct.unpack("<d", self._take(8).to_bytes(8, "little"))[0])
        if kind == "s":
            return f"{how}s" % self._string(self._take(8))
        if kind == "c":
            return f"%{flags}{width}s" % chr(self._take(4) & 0xFF)
        if kind in "pn":
            pointer = self._take(8)
            return f"%{flags}{width}s" % f"{pointer:#x}" if kind == "p" else ""
        return _integer(how, kind, length or "", self._take(8 if length in _WIDE else 4))


def _integer(how: str, kind: str, length: str, bits: int) -> str:
    width = 64 if length in _WIDE else _NARROW.get(length, 32)
    bits &= (1 << width) - 1
    if kind in "di":
        return f"{how}d" % _signed(bits, width)
    if kind == "o" and "#" in how:  # where Python writes 0o10
        return f"{how.replace('#', '')}s" % f"0{bits:o}"
    return f"{how}{'d' if kind == 'u' else kind}" % bits


def _float(how: str, kind: str, value: float) -> str:
    """Return a number; Python's ``%`` knows no hexadecimal floats."""
    if kind in "aA":
        text = value.hex()
        return f"{how.partition('.')[0]}s" % (text.upper() if kind == "A" else text)
    return f"{how}{kind}" % value


def _signed(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) else bits
