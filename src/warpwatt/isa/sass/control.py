"""Control codes: the scheduling information that ptxas leaves in every 128-bit instruction word."""

from __future__ import annotations

from warpwatt.core.program import ControlCode

_NO_BARRIER = 7


def decode_control(word: int) -> ControlCode:
    """Return the control code of a 128-bit instruction word of Volta or later.

    ``word`` is the instruction as one little-endian integer. The code lies in bits 105 to 125: stall
    cycles in 4 bits, a yield bit (0 means yield), write and read barrier in 3 bits each (7 means none),
    a wait mask of 6 bits and 4 reuse flags (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture
    via Microbenchmarking", 2018, section 2.1).

    >>> decode_control(0x000FE20000000F00_0000000500007C02)
    ControlCode(stall=1, yields=False, write_barrier=None, read_barrier=None, wait_mask=0, reuse=0)
    """
    code = word >> 105
    return ControlCode(
        stall=code & 15,
        yields=not code >> 4 & 1,
        write_barrier=_barrier(code >> 5 & 7),
        read_barrier=_barrier(code >> 8 & 7),
        wait_mask=code >> 11 & 63,
        reuse=code >> 17 & 15,
    )


def _barrier(field: int) -> int | None:
    """Return a barrier's number, or None where the field says that none is set."""
    return None if field == _NO_BARRIER else field
