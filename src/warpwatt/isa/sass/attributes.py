"""The ``.nv.info`` sections of a cubin: attributes of the whole file and of each kernel."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum


class Attribute(IntEnum):
    """Attribute numbers that we read; names and values as NVIDIA's cuobjdump prints them (13.5)."""

    MAX_THREADS = 0x05
    PARAM_CBANK = 0x0A
    REQNTID = 0x10
    FRAME_SIZE = 0x11
    MIN_STACK_SIZE = 0x12
    KPARAM_INFO = 0x17
    REGCOUNT = 0x2F
    INDIRECT_BRANCH_TARGETS = 0x34
    KPARAM_INFO_V2 = 0x45
    NUM_BARRIERS = 0x4C


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """Where one kernel parameter lies in the parameter block: ``offset`` and ``size`` in bytes."""

    ordinal: int
    offset: int
    size: int


_NO_VALUE, _BYTE_VALUE, _HALF_VALUE, _SIZED_VALUE = 1, 2, 3, 4


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    r"""Yield (attribute number, value bytes) of an ``.nv.info`` section; stops at the first damaged entry.

    >>> list(attributes(bytes([4, 0x2F, 8, 0, 6, 0, 0, 0, 32, 0, 0, 0])))
    [(47, b'\x06\x00\x00\x00 \x00\x00\x00')]
    """
    at = 0
    while at + 4 <= len(data):
        form, number, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form in (_NO_VALUE, _BYTE_VALUE, _HALF_VALUE):
            yield number, data[at - 2 : at]
        elif form == _SIZED_VALUE and at + size <= len(data):
            yield number, data[at : at + size]
            at += size
        else:
            return


def words(value: bytes) -> tuple[int, ...]:
    """Return a value as unsigned little-endian 32-bit words; a rest of fewer than 4 bytes is dropped."""
    count = len(value) // 4
    return struct.unpack_from(f"<{count}I", value)


def per_symbol(data: bytes) -> dict[tuple[int, int], int]:
    """Return the attributes of the file that are numbers of a symbol, such as ``REGCOUNT``, by both."""
    pairs = ((attribute, words(value)) for attribute, value in attributes(data))
    return {(attribute, pair[0]): pair[1] for attribute, pair in pairs if len(pair) == 2}


def number(data: bytes, attribute: Attribute) -> int | None:
    """Return the value of a one-number attribute of a kernel, or None where it is absent."""
    found = (value for key, value in attributes(data) if key == attribute)
    return next((int.from_bytes(value[:4], "little") for value in found), None)


def kernel_parameters(data: bytes) -> tuple[KernelParameter, ...]:
    """Return a kernel's parameters by ordinal, from ``KPARAM_INFO``: offset, flags, size.

    The size stands in bits 18 and above of the third word; a parameter of 16 KiB or more uses
    ``KPARAM_INFO_V2``, whose third word is the size.
    """
    found = []
    for key, value in attributes(data):
        fields = words(value)
        if key == Attribute.KPARAM_INFO and len(fields) == 3:
            found.append(KernelParameter(fields[1] & 0xFFFF, fields[1] >> 16, fields[2] >> 18))
        elif key == Attribute.KPARAM_INFO_V2 and len(fields) >= 3:
            found.append(KernelParameter(fields[1] & 0xFFFF, fields[1] >> 16, fields[2]))
    return tuple(sorted(found, key=lambda p: p.ordinal))


def indirect_targets(data: bytes) -> dict[int, tuple[int, ...]]:
    """Return offset of each indirect branch -> the offsets it may go to (``INDIRECT_BRANCH_TARGETS``)."""
    found: dict[int, tuple[int, ...]] = {}
    for key, value in attributes(data):
        if key == Attribute.INDIRECT_BRANCH_TARGETS:
            found.update(_branches(words(value)))
    return found


def _branches(fields: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield (offset, targets) from records of offset, flags, count, targets."""
    at = 0
    while at + 3 <= len(fields):
        count = fields[at + 2]
        targets = fields[at + 3 : at + 3 + count]
        if len(targets) < count:
            return
        yield fields[at], targets
        at += 3 + count
