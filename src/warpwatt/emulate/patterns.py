"""Access patterns and footprints as models and renderers read them, from what an emulated grid did."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING

from warpwatt.core.execution import AccessPattern, ConstantReads, Footprint
from warpwatt.core.program import Access, Program
from warpwatt.core.reuse import Reuse
from warpwatt.emulate.caches.stream import SECTOR, busiest_piece, sectors_of

if TYPE_CHECKING:
    from warpwatt.emulate.scaling import AccessSums, GridRun

_CONST = 3
_SHARED = 1


def access_patterns(
    grid: GridRun, program: Program, buffers: Mapping[int, tuple[str, float | None]], reuse: Reuse
) -> dict[int, AccessPattern]:
    """Return the pattern of every access to global, shared and local memory; averages per execution.

    An execution whose lanes are all off counts as one that touches nothing, so that the average times
    the executions is what moves.
    """
    totals: dict[int, float] = {}
    for growth in reuse.growths:
        for index in growth.instructions:
            totals[index] = max(totals.get(index, 0.0), growth.total)
    atomics = _reach_of_atomics(program, reuse)
    totals.update(atomics)
    busiest = {i: busiest_piece(reuse.stream, i, whole=reuse.whole_grid) for i in atomics}
    return {
        index: _pattern(access, float(grid.executions[index]), buffers, totals.get(index), busiest.get(index))
        for index, access in grid.accesses.items()
        if access.spaces != {_CONST} and grid.executions[index] > 0 and program.instructions[index].memory
    }


def constant_reads(grid: GridRun) -> dict[int, ConstantReads]:
    """Return what keeps constants waiting: reads that miss, or of several addresses at once."""
    found = {}
    for index, access in grid.accesses.items():
        executions, sums = float(grid.executions[index]), access.sums
        several = sums["wavefronts"] > sums["requests"]
        if access.spaces == {_CONST} and executions > 0 and (several or sums["constant_misses"]):
            found[index] = ConstantReads(
                sums["wavefronts"] / executions,
                sums["constant_misses"] / executions,
                sums["constant_far_misses"] / executions,
            )
    return found


def _reach_of_atomics(program: Program, reuse: Reuse) -> dict[int, float]:
    """Return the bytes that each atomic reaches itself.

    Others of its group may reach more: the store that clears all counters before a few are counted up. Its
    part of the group's is the same in the grid as in the sample.
    """
    found = {}
    touched = cache(partial(sectors_of, reuse.stream))  # by several of a group
    for i in program.instructions:
        if i.memory is None or i.memory.access not in (Access.ATOMIC, Access.REDUCTION):
            continue
        own = touched((i.index,))
        groups = [g for g in reuse.growths if i.index in g.instructions]
        wholes = [g.total * own / max(1, touched(g.instructions)) for g in groups]
        if own:
            found[i.index] = max([*wholes, float(SECTOR * own)])
    return found


def _pattern(
    access: AccessSums,
    executions: float,
    buffers: Mapping[int, tuple[str, float | None]],
    footprint: float | None,
    busiest: float | None,
) -> AccessPattern:
    sums, requests = access.sums, max(1.0, access.sums["requests"])
    return AccessPattern(
        sectors=sums["sectors"] / executions,
        lines=sums["lines"] / executions,
        wavefronts=sums["wavefronts"] / executions,
        ideal=sums["ideal"] / executions,
        stride=access.stride,
        buffer=buffers.get(access.slot, ("", None))[0] if access.slot is not None else "",
        footprint=footprint,
        collisions=max(1.0, sums["collisions"] / requests),
        l1_passes=sums["l1_passes"] / executions,
        uniform=sums["uniform"] / requests,
        requests=sums["requests"] / executions,
        busiest=busiest,
    )


def footprints(reuse: Reuse) -> tuple[Footprint, ...]:
    """Return the footprints of a launch as far as instructions are the first to touch them."""
    return tuple(
        Footprint(g.buffer, g.instructions, g.total, g.block_bytes, g.limit)
        for g in reuse.growths
        if not g.private
    )
