"""Where the variables of a linked (SASS) program lie, and what its constant banks hold before the launch.

The counterpart of ``layout`` for machine code: the linker has placed everything within its section; only
where the module's global variables begin is ours to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.program import Program, Space

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_GLOBALS = 1 << 40
"""Slot 1 of device addresses."""
_CONSTANTS = 0xF3 << 40
"""Window of generic addresses for ``__constant__`` variables."""
_POINTER_BYTES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """A linked program's memory before the launch.

    Attributes
    ----------
    banks
        Contents of the constant banks but 0, addresses filled in.
    globals
        Contents of the module's global variables, from the start of slot 1.
    offsets
        Where each variable lies in slot 1 (global) or bank 3 (constant), by name.
    spaces
        Space of each variable.
    """

    banks: Mapping[int, bytes]
    globals: bytes
    offsets: Mapping[str, int]
    spaces: Mapping[str, Space]

    def address(self, name: str) -> int:
        """Return a variable's generic address.

        Raises
        ------
        KeyError
            If there is none of that name.
        """
        window = _GLOBALS if self.spaces[name] is Space.GLOBAL else _CONSTANTS
        return window + self.offsets[name]


@lru_cache(maxsize=64)
def linked(program: Program) -> Linked:
    """Return the memory that a SASS program's code expects."""
    variables = [v for v in program.variables if v.offset is not None]
    offsets = {v.name: v.offset for v in variables if v.offset is not None}
    spaces = {v.name: v.space for v in variables}
    contents = {bank: bytearray(data) for bank, data in program.constants.items()}
    module = [(offsets[v.name], v.size, v.initial) for v in variables if v.space is Space.GLOBAL]
    contents[-1] = _image(module)
    found = Linked({}, b"", offsets, spaces)
    for pointer in program.pointers:
        place = contents[-1 if pointer.bank is None else pointer.bank]
        value = (found.address(pointer.variable) + pointer.addend) % (1 << 64)
        place[pointer.offset : pointer.offset + _POINTER_BYTES] = value.to_bytes(_POINTER_BYTES, "little")
    banks = {bank: bytes(data) for bank, data in contents.items() if bank >= 0}
    return Linked(banks, bytes(contents[-1]), offsets, spaces)


def _image(variables: Iterable[tuple[int, int, bytes]]) -> bytearray:
    """Return memory from 0 that holds variables, each given by offset, size and initial bytes."""
    found = list(variables)
    image = bytearray(max((offset + size for offset, size, _ in found), default=0))
    for offset, _, initial in found:
        image[offset : offset + len(initial)] = initial
    return image
