"""Texture and surface objects: memory in rows and slices, and how it is read.

Fetches are ``native/emulate/texture.cpp`` (CUDA C++ Programming Guide, "Texture Fetching").
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class AddressMode(IntEnum):
    """What lies beyond the edge (``cudaTextureAddressMode``)."""

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3


class ChannelKind(IntEnum):
    """What an element's channels are (``cudaChannelFormatKind``)."""

    SIGNED = 0
    UNSIGNED = 1
    FLOAT = 2


@dataclass(frozen=True, slots=True)
class Texture:
    """A texture or surface object: where its elements lie, and how they are read.

    Attributes
    ----------
    address
        Device address of the first element.
    width, height, depth
        In elements; ``depth`` counts slices of a volume, layers or faces. 0 or 1 where there are none.
    pitch, slice_pitch
        Bytes from row to row, and from slice to slice.
    channel_bits
        Of the one to four channels of an element.
    address_modes
        Of x, y and z.
    border
        What is read beyond the edge in mode ``BORDER``.
    normalized_coordinates
        Coordinates run from 0 to 1.
    linear_filter
        Neighbours are weighed by their distance; else the nearest element is read.
    normalized_float
        Integer elements are read as 0 to 1 (signed: -1 to 1).
    """

    address: int
    width: int
    height: int = 1
    depth: int = 1
    pitch: int = 0
    slice_pitch: int = 0
    channel_bits: tuple[int, ...] = (32,)
    channel_kind: ChannelKind = ChannelKind.FLOAT
    address_modes: tuple[AddressMode, ...] = (AddressMode.CLAMP,) * 3
    border: tuple[float, ...] = (0.0,) * 4
    normalized_coordinates: bool = False
    linear_filter: bool = False
    normalized_float: bool = False
