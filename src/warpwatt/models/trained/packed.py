"""Arrays and bytes inside JSON: compressed, as base 64, with type and shape."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

MOST_BYTES = 1 << 30
"""The largest array or booster that is unpacked."""
_TYPES = ("<f8", "<f4", "<i4", "<i8")


class ModelFileError(InputError):
    """A model file of another version, damaged or tampered with (exit code 1)."""


def pack(array: npt.NDArray[Any]) -> dict[str, Any]:
    """Return an array as JSON.

    >>> unpack(pack(np.array([[1.5, 2.5]]))).tolist()
    [[1.5, 2.5]]
    """
    little = array.astype(array.dtype.newbyteorder("<"))
    return {"type": little.dtype.str, "shape": list(little.shape), **pack_bytes(little.tobytes())}


def pack_bytes(data: bytes) -> dict[str, Any]:
    """Return bytes as JSON."""
    return {"bytes": len(data), "zlib": base64.b64encode(zlib.compress(data, 9)).decode("ascii")}


def unpack(packed: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Return a packed array.

    Raises
    ------
    ModelFileError
        If its type, shape and size disagree, or a number is not finite.
    """
    kind, shape = packed["type"], tuple(int(n) for n in packed["shape"])
    if kind not in _TYPES or any(n < 0 for n in shape):
        raise ModelFileError(f"an array of type {kind!r} and shape {shape}")
    data = unpack_bytes(packed)
    if len(data) != math.prod(shape) * np.dtype(kind).itemsize:
        raise ModelFileError(f"an array of {len(data)} bytes does not have shape {shape}")
    array = np.frombuffer(data, dtype=kind).reshape(shape)
    if not np.all(np.isfinite(array)):
        raise ModelFileError("an array holds numbers that are not finite")
    return array.astype(array.dtype.newbyteorder("="))


def unpack_bytes(packed: Mapping[str, Any]) -> bytes:
    """Return packed bytes.

    Raises
    ------
    ModelFileError
        If they are damaged or not as many as stated.
    """
    size = int(packed["bytes"])
    if not 0 <= size <= MOST_BYTES:
        raise ModelFileError(f"{size} packed bytes are more than a model has")
    try:
        data = zlib.decompressobj().decompress(base64.b64decode(packed["zlib"], validate=True), size + 1)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise ModelFileError(f"packed bytes are damaged: {error}") from error
    if len(data) != size:
        raise ModelFileError(f"packed bytes are not the {size} they should be")
    return data
