"""Which of a warp's accesses belong to which of its steps, for :mod:`~warpwatt.emulate.native.aot`."""

from __future__ import annotations

from warpwatt.emulate.native.pointers import i64_at


def number_accesses(
    warps: int, starts: int, steps: int, accesses: int, instruction: int, memory: int, instructions: int
) -> int:
    """Write the number of each step's first access into the third column of ``steps`` (rows of 3 ``int64``).

    All are addresses of ``int64``. ``starts``, ``accesses``: first step and access of each warp and behind
    the last; ``instruction``: of each access; ``memory``: for each instruction the next memory instruction
    at or behind it, ``instructions`` where there is none. An access is missing where no lane was on.
    """
    step_at, access_at = i64_at(starts, warps + 1), i64_at(accesses, warps + 1)
    rows, of = i64_at(steps, 3 * step_at[warps]), i64_at(instruction, access_at[warps])
    following = i64_at(memory, instructions + 1)
    for warp in range(warps):
        cursor, end = access_at[warp], access_at[warp + 1]
        for step in range(step_at[warp], step_at[warp + 1]):
            rows[3 * step + 2] = cursor
            at, stop = following[rows[3 * step]], rows[3 * step + 1]
            while at < stop:
                if cursor < end and of[cursor] == at:
                    cursor += 1
                at = following[at + 1]
    return 0
