"""Texture and surface instructions as functions that CALL names: lanes' bits in, lanes' bits out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from warpwatt.emulate.textures import Texture, cube_face, fetch, gather, offsets, rows_touched

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bits = NDArray[np.uint64]
    Mask = NDArray[np.bool_]


class Textures(Protocol):
    """A device's texture and surface objects."""

    def texture(self, handle: int) -> Texture | None:
        """Return a texture or surface object by what kernels have of it; None if there is none."""
        ...

    def area(self, address: int) -> NDArray[np.uint8]:
        """Return memory from a global address on, to be read and written."""
        ...

    def undescribed(self, handle: int) -> Texture:
        """Return a texture that stands for one that nobody has described."""
        ...


_DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
_WORD = 4
GEOMETRIES = frozenset(_DIMENSIONS)
"""Geometries of PTX that are executed."""


def texture(caller: Textures, args: Bits, mask: Mask, constants: tuple[object, ...]) -> Bits:
    """Return four channels (``tex``, ``tld4``); 0 where the object is unknown.

    ``args``: the object, then coordinates as the instruction has them. ``constants``: geometry, type of the
    coordinates, type of the result, channel of ``tld4`` or -1.
    """
    geometry, given, kind, channel = (str(constants[0]), str(constants[1]), str(constants[2]), constants[3])
    result = np.zeros((4, len(mask)), np.uint64)
    for object_, lanes, area in _objects(caller, args[0], mask):
        where, layer = _place(args[:, lanes], geometry, given)
        if given != "f32":  # whole numbers name elements
            result[:, lanes] = _bits(_exactly(object_, area, where, layer), kind)
        elif isinstance(channel, int) and channel >= 0:
            result[:, lanes] = _bits(gather(object_, area, where, channel, layer), kind)
        else:
            result[:, lanes] = _bits(fetch(object_, area, where, layer), kind)
    return result


def texture_rows(caller: Textures, args: Bits, mask: Mask, constants: tuple[object, ...]) -> Bits:
    """Return the addresses of words that a fetch reads, one for each row; 0 for none.

    ``args`` as for :func:`texture`. ``constants``: geometry, type of the coordinates, most rows.
    """
    geometry, given, rows = str(constants[0]), str(constants[1]), int(str(constants[2]))
    result = np.zeros((rows, len(mask)), np.uint64)
    for handle in np.unique(args[0][mask]).tolist():
        object_ = caller.texture(handle) or caller.undescribed(handle)
        lanes = np.flatnonzero(mask & (args[0] == handle))
        where, layer = _place(args[:, lanes], geometry, given)
        if given != "f32":
            object_ = replace(object_, linear_filter=False, normalized_coordinates=False)
        for row, (at, reads) in enumerate(rows_touched(object_, where, layer)[:rows]):
            words = (object_.address + at) // _WORD * _WORD
            result[row, lanes] = np.where(reads, words, 0).astype(np.uint64)
    return result


def most_rows(geometry: str) -> int:
    """Return how many rows a fetch reads at most.

    >>> most_rows("1d"), most_rows("a2d"), most_rows("3d")
    (1, 2, 4)
    """
    return 2 if geometry.endswith("cube") else 2 ** (_DIMENSIONS[geometry] - 1)


def _place(
    args: Bits, geometry: str, given: str
) -> tuple[list[NDArray[np.float64]], NDArray[np.int64] | None]:
    """Return coordinates, and the layer or face, of a fetch's arguments."""
    layered = geometry.startswith("a")
    layer = args[1].astype(np.uint32).astype(np.int64) if layered else None
    where = [_coordinate(row, given) for row in args[1 + layered :][: _DIMENSIONS[geometry]]]
    if geometry.endswith("cube"):
        s, t, face = cube_face(*where)
        where, layer = [s, t], face if layer is None else 6 * layer + face
    return where, layer


def surface_load(caller: Textures, args: Bits, mask: Mask, constants: tuple[object, ...]) -> Bits:
    """Return elements (``suld.b``); 0 where there are none. ``constants``: geometry, bits, count."""
    geometry, bits, count = str(constants[0]), int(str(constants[1])), int(str(constants[2]))
    result = np.zeros((count, len(mask)), np.uint64)
    for lanes, place, area in _surfaces(caller, args, mask, geometry, bits // 8 * count):
        values = area[: area.size * 8 // bits * bits // 8].view(f"u{bits // 8}")
        for number in range(count):
            result[number, lanes] = values[place // (bits // 8) + number]
    return result


def surface_store(caller: Textures, args: Bits, mask: Mask, constants: tuple[object, ...]) -> Bits:
    """Write elements (``sust.b``), nothing where there are none; they are the last ``count`` arguments."""
    geometry, bits, count = str(constants[0]), int(str(constants[1])), int(str(constants[2]))
    for lanes, place, area in _surfaces(caller, args[:-count], mask, geometry, bits // 8 * count):
        values = area[: area.size * 8 // bits * bits // 8].view(f"u{bits // 8}")
        for number in range(count):
            values[place // (bits // 8) + number] = args[len(args) - count + number, lanes]
    return np.zeros((1, len(mask)), np.uint64)


def _objects(
    caller: Textures, handles: Bits, mask: Mask
) -> Iterator[tuple[Texture, NDArray[np.int64], NDArray[np.uint8]]]:
    """Yield each object, the lanes that name it, and memory from its address on."""
    for handle in np.unique(handles[mask]).tolist():
        found = caller.texture(handle)
        if found is not None:
            yield found, np.flatnonzero(mask & (handles == handle)), caller.area(found.address)


def _surfaces(
    caller: Textures, args: Bits, mask: Mask, geometry: str, size: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]]:
    """Yield lanes whose element is there, its bytes' offset, and memory; x is given in bytes."""
    layered = geometry.startswith("a")
    for surface, lanes, area in _objects(caller, args[0], mask):
        rows = args[1 + layered :, lanes][: _DIMENSIONS[geometry]].astype(np.uint32).view(np.uint32)
        at = [row.astype(np.int32).astype(np.int64) for row in rows]
        extents = (surface.width * surface.element_bytes, surface.height, surface.depth)
        inside = np.ones(len(lanes), np.bool_)
        for value, extent, step in zip(at, extents, (size, 1, 1), strict=False):
            inside &= (value >= 0) & (value + step <= max(1, extent))
        layer = args[1, lanes].astype(np.uint32).astype(np.int64) if layered else None
        place = at[0] + offsets(surface, [np.zeros_like(at[0]), *at[1:]], layer)
        inside &= place + size <= area.size
        yield lanes[inside], place[inside], area


def _coordinate(bits: Bits, kind: str) -> NDArray[np.float64]:
    words = bits.astype(np.uint32)
    return words.view(np.float32 if kind == "f32" else np.int32).astype(np.float64)


def _exactly(
    object_: Texture,
    area: NDArray[np.uint8],
    where: list[NDArray[np.float64]],
    layer: NDArray[np.int64] | None,
) -> NDArray[np.float64]:
    """Return the elements that whole numbers name; beyond the edge, 0."""
    inside = np.ones(len(where[0]), np.bool_)
    for x, extent in zip(where, (object_.width, object_.height, object_.depth), strict=False):
        inside &= (x >= 0) & (x < max(1, extent))
    plain = Texture(
        object_.address, object_.width, object_.height, object_.depth, object_.pitch, object_.slice_pitch,
        object_.channel_bits, object_.channel_kind, normalized_float=object_.normalized_float,
    )  # fmt: skip
    return np.where(inside, fetch(plain, area, where, layer), 0.0)


def _bits(values: NDArray[np.float64], kind: str) -> Bits:
    """Return values as the bits of f32, or of 32-bit integers."""
    if kind == "f32":
        return values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return values.astype(np.int64).astype(np.uint64) & np.uint64(0xFFFFFFFF)


TEXTURE_FUNCTIONS: dict[str, Callable[..., Bits]] = {
    "texture": texture,
    "texture_rows": texture_rows,
    "surface_load": surface_load,
    "surface_store": surface_store,
}
"""By the name that CALL gives them."""
