"""Which bytes of a launch's parameters decide what it does; the others only end up in results."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.ir import Memory, Op, Operation, Routine
from warpwatt.emulate.layout import parameter_offsets
from warpwatt.emulate.slice import control_slice

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPACES = ("const", "param")


@lru_cache(maxsize=1024)
def deciding_bytes(routine: Routine) -> NDArray[np.uint8]:
    """Return 255 for each byte of the parameter block that control or addresses may depend on, else 0.

    An array that is read at computed places begins at the number that is added to them and ends where
    something else begins that the routine reads; where no number is added, all bytes count.
    """
    at, base = parameter_offsets(routine.program), routine.program.parameter_base
    found = np.zeros(max((at[p.name] + p.size for p in routine.program.parameters), default=0), np.uint8)
    begins = sorted({place for place, _ in _reads(routine) if place is not None})
    for place, size in _reads(control_slice(routine)):
        if place is None:
            found[:] = 255
            break
        after = bisect_right(begins, place)
        end = place + size if size else begins[after] if after < len(begins) else base + len(found)
        found[max(0, place - base) : max(0, end - base)] = 255
    return found


def _reads(routine: Routine) -> Iterator[tuple[int | None, int]]:
    """Yield where in bank 0 loads read and how much; size 0 for an array, None where it begins anywhere."""
    operations = [o for block in routine.blocks for o in block.operations]
    used = {v.index for o in operations for v in o.args} | {o.mask.index for o in operations if o.mask}
    used |= {v.index for b in routine.blocks for v in (b.end.condition, b.end.value) if v is not None}
    numbers: dict[int, int] = {}
    sums: dict[int, int] = {}
    for operation in operations:
        if operation.op is Op.CONST and isinstance(operation.data, int):
            numbers[operation.results[0].index] = operation.data
        elif operation.op is Op.ADD:
            _add(operation, numbers, sums)
        elif _reads_parameters(operation):
            place = operation.args[0].index
            if place not in numbers:
                if used & {result.index for result in operation.results}:
                    yield sums.get(place), 0
                continue
            each = operation.memory.element.bits // 8
            for k, result in enumerate(operation.results):
                if result.index in used:
                    yield numbers[place] + k * each, each


def _add(operation: Operation, numbers: dict[int, int], sums: dict[int, int]) -> None:
    """Note the numbers in a sum: all of it, or what is added to something."""
    args, result = [v.index for v in operation.args], operation.results[0].index
    known = [numbers.get(v, sums.get(v)) for v in args]
    if all(v in numbers for v in args):
        numbers[result] = sum(numbers[v] for v in args)
    elif any(known):
        sums[result] = sum(number for number in known if number is not None)


def _reads_parameters(operation: Operation) -> bool:
    memory = operation.data
    return (
        operation.op is Op.LOAD
        and isinstance(memory, Memory)
        and memory.space in _SPACES
        and memory.bank == 0
    )
