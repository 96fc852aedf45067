"""Bytes that are nearly right: a real file with a few things changed, the same for the same seed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

TOKEN = re.compile(rb'"[^"\n]*"|[\w.+-]+|[\[\]{}(),=:\n]')
VALUES = (
    b"", b"0", b"-1", b"1e999", b"nan", b"inf", b"9" * 30, b"9" * 5000, b"1" * 400 + b".5", b'""',
    b"[]", b"{}", b"[[1], [2]]", b"[1, 2, 3, 4]", b"{ a = 1 }", b'{"a": 1}', b"null", b"true", b'"x"',
    b"'", b'"', b"\x00", b"\xff\xfe", b"[" * 3000, b"(" * 3000, b"1979-05-27", b"0x7fffffffffffffff",
    b"0x" + b"f" * 200, b"2**99999", b"%r32", "\u202e\ud7ff\U0001f600".encode(), b"-0.0", b"1_000",
    b"a" * 300, b"../" * 40, b"\\u0000",
)  # fmt: skip
VALUE = re.compile(rb'"[^"\n]*"|(?<![\w.])-?\d[\w.+-]*')
READABLE = (
    b"0", b"-1", b"1e300", b"1e-320", b"-0.0", b"9" * 30, b"9" * 5000, b"4294967296", b"0.1", b'""', b'"x"',
    b'"nan"', b'"1e999"', b'"-1"', b'"0"', b'"' + b"9" * 5000 + b'"', b'"n*n*n*n"', b'"((((1))))"',
    b'"/"', b'"../x"', b'"f32[n]:"', b"[]", b"[0, 0, 0, 0]", b'["a", 1]', b"[[1], [2]]", b"true",
)  # fmt: skip
"""Values that most formats read: what is behind the reader of the format hears of them."""


def mutated(seed: bytes, random_: random.Random) -> bytes:
    """Return a file with one to four tokens or bytes changed, or cut."""
    data = seed
    for _ in range(random_.choice((1, 1, 2, 4))):
        data = random_.choice((_value, _value, _value, _token, _token, _byte, _cut, _double))(data, random_)
    return data


def _value(data: bytes, random_: random.Random) -> bytes:
    values = _found(VALUE, data)
    if not values:
        return _token(data, random_)
    found = random_.choice(values)
    return data[: found.start()] + random_.choice(READABLE) + data[found.end() :]


@lru_cache(maxsize=64)
def _found(pattern: re.Pattern[bytes], data: bytes) -> tuple[re.Match[bytes], ...]:
    """Return the matches in a file's beginning."""
    return tuple(pattern.finditer(data[:20_000]))


def _token(data: bytes, random_: random.Random) -> bytes:
    tokens = _found(TOKEN, data)
    if not tokens:
        return data + random_.choice(VALUES)
    found = random_.choice(tokens)
    other = random_.choice((*VALUES, random_.choice(tokens)[0]))
    return data[: found.start()] + other + data[found.end() :]


def _byte(data: bytes, random_: random.Random) -> bytes:
    place = random_.randrange(max(1, len(data)))
    return data[:place] + bytes([random_.randrange(256)]) + data[place + 1 :]


def _cut(data: bytes, random_: random.Random) -> bytes:
    return data[: random_.randrange(len(data) + 1)]


def _double(data: bytes, random_: random.Random) -> bytes:
    lines = data.split(b"\n")
    place = random_.randrange(len(lines))
    return b"\n".join([*lines[:place], lines[place], *lines[place:]])
