"""What texture and surface instructions read and write (CUDA C++ Programming Guide, "Texture Fetching").

A texture is memory in rows and slices, as :class:`Texture` says. Functions take coordinates of all lanes of a
warp, one row of an array for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

_FRACTION = 256
"""Steps of the weights of linear filtering: 8 bits of fraction (same appendix, "Linear Filtering")."""
_CUBE_FACES = 6


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

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of a channel.

        >>> Texture(0, 8, channel_bits=(8, 8), channel_kind=ChannelKind.UNSIGNED).dtype
        dtype('uint8')
        """
        return np.dtype(f"{'iuf'[self.channel_kind]}{self.channel_bits[0] // 8}")

    @property
    def element_bytes(self) -> int:
        """Bytes from element to element."""
        return len(self.channel_bits) * self.dtype.itemsize


def fetch(
    texture: Texture, area: NDArray[np.uint8], where: Sequence[Floats], layer: Integers | None = None
) -> Floats:
    """Return what is read at coordinates, four channels of each lane.

    Parameters
    ----------
    area
        Memory from the texture's address on.
    where
        Coordinates x, y and z, as many as the texture has dimensions.
    layer
        The layer or face of each lane.

    >>> texture = Texture(0, 4, linear_filter=True)
    >>> area = np.array([0, 10, 20, 30], np.float32).view(np.uint8)
    >>> fetch(texture, area, [np.array([0.5, 1.0, 2.25, 9.0])])[0].tolist()
    [0.0, 5.0, 17.5, 30.0]
    """
    extents = (texture.width, texture.height, texture.depth)[: len(where)]
    scaled = [
        np.nan_to_num(x, posinf=1e9, neginf=-1e9) * (n if texture.normalized_coordinates else 1)
        for x, n in zip(where, extents, strict=True)
    ]
    if not texture.linear_filter:
        return _elements(texture, area, [np.floor(x).astype(np.int64) for x in scaled], layer)
    moved = [x - 0.5 for x in scaled]
    lowest = [np.floor(x).astype(np.int64) for x in moved]
    weights = [np.rint((x - i) * _FRACTION) / _FRACTION for x, i in zip(moved, lowest, strict=True)]
    total = np.zeros((4, len(lowest[0])))
    for corner in product((0, 1), repeat=len(where)):
        share = np.ones(len(lowest[0]))
        for step, weight in zip(corner, weights, strict=True):
            share = share * (weight if step else 1 - weight)
        at = [i + step for i, step in zip(lowest, corner, strict=True)]
        total += share * _elements(texture, area, at, layer)
    return total


def gather(
    texture: Texture, area: NDArray[np.uint8], where: Sequence[Floats], channel: int, layer: Integers | None
) -> Floats:
    """Return one channel of the four elements that linear filtering weighs (PTX ISA, ``tld4``).

    Their order is lower left, lower right, upper right, upper left; y grows downwards.
    """
    extents = (texture.width, texture.height)
    scaled = [x * (n if texture.normalized_coordinates else 1) for x, n in zip(where, extents, strict=True)]
    x, y = (np.floor(value - 0.5).astype(np.int64) for value in scaled)
    corners = ((0, 1), (1, 1), (1, 0), (0, 0))
    return np.stack([_elements(texture, area, [x + i, y + j], layer)[channel] for i, j in corners])


def cube_face(x: Floats, y: Floats, z: Floats) -> tuple[Floats, Floats, Integers]:
    """Return normalised coordinates on a cube's face, and the face (same guide, "Cubemap Textures").

    >>> [float(v[0]) for v in cube_face(np.array([2.0]), np.array([1.0]), np.array([0.0]))]
    [0.5, 0.25, 0.0]
    """
    sizes = np.abs(np.stack([x, y, z]))
    axis = sizes.argmax(axis=0)
    size = np.maximum(sizes.max(axis=0), np.finfo(np.float32).tiny)
    negative = np.choose(axis, [x, y, z]) < 0
    s = np.choose(axis, [np.where(negative, z, -z), x, np.where(negative, -x, x)])
    t = np.choose(axis, [-y, np.where(negative, -z, z), -y])
    return (s / size + 1) / 2, (t / size + 1) / 2, 2 * axis + negative


def offsets(texture: Texture, at: Sequence[Integers], layer: Integers | None = None) -> Integers:
    """Return the bytes from a texture's address to elements; ``at`` are x, y and z."""
    where = at[0] * texture.element_bytes
    if len(at) > 1:
        where = where + at[1] * texture.pitch
    if len(at) > 2:
        where = where + at[2] * texture.slice_pitch
    if layer is not None:
        where = where + np.clip(layer, 0, max(0, texture.depth - 1)) * texture.slice_pitch
    return where


def rows_touched(
    texture: Texture, where: Sequence[Floats], layer: Integers | None = None
) -> list[tuple[Integers, NDArray[np.bool_]]]:
    """Return what a fetch reads: for each row, bytes from the texture's address on, and which lanes read it.

    Rows lie as :class:`Texture` says. Linear filtering reads the next row too where there is one; of the two
    neighbours within a row the first stands for both.

    >>> texture = Texture(0, 4, 4, pitch=16, linear_filter=True)
    >>> [(at.tolist(), on.tolist()) for at, on in rows_touched(texture, [np.array([1.5]), np.array([3.9])])]
    [([52], [True]), ([52], [False])]
    """
    extents = (texture.width, texture.height, texture.depth)
    lowest, steps = [], []
    for axis, x in enumerate(where):
        scaled = np.nan_to_num(x, posinf=1e9, neginf=-1e9)
        scaled = scaled * (extents[axis] if texture.normalized_coordinates else 1)
        lowest.append(np.floor(scaled - 0.5 * texture.linear_filter).astype(np.int64))
        steps.append((0, 1) if axis and texture.linear_filter else (0,))
    found: list[tuple[Integers, NDArray[np.bool_]]] = []
    for corner in product(*steps):
        places, inside = [], np.ones(len(lowest[0]), np.bool_)
        for axis, (index, step) in enumerate(zip(lowest, corner, strict=True)):
            mode = texture.address_modes[axis]
            extent = max(1, extents[axis])
            place, good = _within(index + step, extent, mode, normalized=texture.normalized_coordinates)
            places.append(place)
            inside &= good
        at = offsets(texture, places, layer)
        fresh = np.logical_and.reduce([at != other for other, _ in found]) if found else inside
        found.append((at, inside & fresh))
    return found


def _elements(
    texture: Texture, area: NDArray[np.uint8], at: Sequence[Integers], layer: Integers | None
) -> Floats:
    """Return four channels of elements by their indices, which may lie beyond the edge."""
    extents = (texture.width, texture.height, texture.depth)
    inside = np.ones(len(at[0]), np.bool_)
    places = []
    for index, extent, mode in zip(at, extents, texture.address_modes, strict=False):
        place, good = _within(index, max(1, extent), mode, normalized=texture.normalized_coordinates)
        places.append(place)
        inside &= good
    size = texture.dtype.itemsize
    values = area[: area.size // size * size].view(texture.dtype)
    first = offsets(texture, places, layer) // size
    inside &= (first >= 0) & (first + len(texture.channel_bits) <= values.size)
    found = np.zeros((4, len(inside)))
    for channel in range(4):
        if channel < len(texture.channel_bits):
            found[channel] = _read(texture, values[np.where(inside, first + channel, 0)])
        found[channel] = np.where(inside, found[channel], texture.border[channel])
    return found


def _within(
    index: Integers, extent: int, mode: AddressMode, *, normalized: bool
) -> tuple[Integers, NDArray[np.bool_]]:
    """Return indices moved to within the extent, and which elements are there at all."""
    everywhere = np.ones(len(index), np.bool_)
    if mode is AddressMode.BORDER:
        return np.clip(index, 0, extent - 1), (index >= 0) & (index < extent)
    if mode is AddressMode.WRAP and normalized:
        return index % extent, everywhere
    if mode is AddressMode.MIRROR and normalized:
        folded = index % (2 * extent)
        return np.minimum(folded, 2 * extent - 1 - folded), everywhere
    return np.clip(index, 0, extent - 1), everywhere


def _read(texture: Texture, values: NDArray[Any]) -> Floats:
    """Return elements as they are read: integers as numbers or as parts of the greatest one."""
    numbers: Floats = values.astype(np.float64)
    if not texture.normalized_float or texture.channel_kind is ChannelKind.FLOAT:
        return numbers
    return np.maximum(numbers / np.iinfo(texture.dtype).max, -1.0)
