"""The frame of a routine's steps: constants in front, behind them places that a block's values share.

Values are numbers until they are placed: from 0 on in the order in which they are made, below ``NONE`` those
of constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

VALUE_BYTES = 256
"""Of a value in the frame: 32 lanes of 64 bits."""
NONE = -1
"""For the place of a value: there is none."""
Row = tuple[int, int, int, int, int, int]
"""A step as ``Step`` has it: the function's address, the values of the result and of three arguments, a
number."""


class Constants:
    """The constants of a routine, each once: 32 lanes of bits, or a mask of lanes."""

    def __init__(self) -> None:
        self._values: dict[tuple[int, int] | str, int] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._values)

    def value(self, bits: int, data: int) -> int:
        """Return the value that is a constant of so many bits in all lanes."""
        return self._values.setdefault((bits, data), NONE - 1 - len(self))

    def lane_numbers(self) -> int:
        """Return the value that is the lanes' numbers."""
        return self._values.setdefault("lanes", NONE - 1 - len(self))

    def lanes(self) -> NDArray[np.uint8]:
        """Return all of them as they lie in a frame."""
        room = np.zeros((len(self), VALUE_BYTES), np.uint8)
        for row, key in zip(room, self._values, strict=True):
            if isinstance(key, str):
                row[:128] = np.arange(32, dtype=np.uint32).view(np.uint8)
            elif key[0] == 1:
                row[:4] = 0xFF * (key[1] & 1)
            else:
                row[: 4 * key[0]] = np.frombuffer(key[1].to_bytes(key[0] // 8, "little") * 32, np.uint8)
        return room.reshape(-1)


def place_values(rows: Sequence[Row], kept: Sequence[int]) -> tuple[list[Row], list[int], int]:
    """Return a block's rows and the values ``kept`` to its end, by their places, and the number of places.

    A place is free again for results after the last row that reads its value.
    """
    ending = _values_by_last_row(rows, kept)
    place, free, found, places = dict[int, int](), list[int](), list[Row](), 0
    for row, (execute, result, a, b, c, number) in enumerate(rows):
        if result >= 0:
            if not free:
                free.append(places)
                places += 1
            place[result] = free.pop()
        args = (place.get(a, a), place.get(b, b), place.get(c, c))
        found.append((execute, place.get(result, result), *args, number))
        free += [place[value] for value in ending[row]]
    return found, [place.get(value, value) for value in kept], places


def _values_by_last_row(rows: Sequence[Row], kept: Sequence[int]) -> list[list[int]]:
    """Return the values that each row is the last to make or read; at the end, those that are kept."""
    last: dict[int, int] = {}
    for row, (_, result, a, b, c, _number) in enumerate(rows):
        last[result] = last[a] = last[b] = last[c] = row
    last.update(dict.fromkeys(kept, len(rows)))
    ending = [list[int]() for _ in range(len(rows) + 1)]
    for value, row in last.items():
        if value >= 0:
            ending[row].append(value)
    return ending


def offsets(places: NDArray[np.int32], constants: int) -> NDArray[np.int32]:
    """Return where values lie in a frame that begins with so many constants, in bytes; NONE where none is.

    >>> offsets(np.array([0, -1, -2, -3], np.int32), 2).tolist()
    [512, -1, 0, 256]
    """
    found = np.where(places < NONE, NONE - 1 - places, places + constants) * VALUE_BYTES
    return np.where(places == NONE, NONE, found).astype(np.int32)
