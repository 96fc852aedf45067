"""Bytes that are nearly right: a real file with a few things changed, the same for the same seed."""

from __future__ import annotations

import re
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


def mutated(seed: bytes, random_: random.Random) -> bytes:
    """Return a file with one to four tokens or bytes changed, or cut."""
    data = seed
    for _ in range(random_.randint(1, 4)):
        data = random_.choice((_token, _token, _token, _byte, _cut, _double))(data, random_)
    return data


def _token(data: bytes, random_: random.Random) -> bytes:
    tokens = list(TOKEN.finditer(data[:20_000]))
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
