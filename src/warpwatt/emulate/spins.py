"""Loops that wait in the streams of warps: one round, and how long the others take if a clock says so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.run import CLOCK_TICK
from warpwatt.program.waits import clock_loops, sleeping_polls

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.program import Program
    from warpwatt.core.streams import WarpStreams


def without_spins(streams: WarpStreams, program: Program) -> WarpStreams:
    """Return the streams with the last round only of each loop that does nothing but watch the clock.

    Emulation moves the clock by :data:`~warpwatt.emulate.run.CLOCK_TICK` with each instruction of a warp, so
    that the rounds left out are worth so many cycles, however long a round really takes.
    """
    loops = clock_loops(program)
    if not loops:
        return streams
    place = _loop_of_steps(streams, loops)
    warp = np.repeat(np.arange(len(streams.starts) - 1), np.diff(streams.starts))
    goes_on = (place[1:] >= 0) & (place[1:] == place[:-1]) & (warp[1:] == warp[:-1])
    kept = np.append(~goes_on, True)
    sizes = streams.steps[:, 1] - streams.steps[:, 0]
    before = np.concatenate(([0], np.cumsum(np.where(kept, 0, sizes))))
    lasts = np.flatnonzero(kept)
    left_out = before[lasts] - before[np.concatenate(([0], lasts[:-1] + 1))]
    stays = np.concatenate(([0], np.cumsum(kept)))
    return replace(
        streams,
        starts=stays[streams.starts],
        steps=streams.steps[kept],
        waits=_mean_waits(streams.steps[lasts, 1] - 1, CLOCK_TICK * left_out, place[lasts] >= 0),
        waited=float(before[-1]) / len(streams.blocks),
    )


def without_polls(streams: WarpStreams, program: Program) -> tuple[WarpStreams, dict[int, float]]:
    """Return the streams with the last round only of each wait for other threads of the block.

    Warps take long turns in emulation: how often they look means nothing. Beside the streams, by instruction
    of such loops, the share of its executions that is left.
    """
    loops = sleeping_polls(program)
    if not loops:
        return streams, {}
    place = _loop_of_steps(streams, loops)
    warp = np.repeat(np.arange(len(streams.starts) - 1), np.diff(streams.starts))
    wait = np.cumsum(np.diff(place, prepend=-1) != 0) + np.cumsum(np.diff(warp, prepend=0) != 0)
    header = np.array([min(loop) for loop in loops])[place]
    begins = np.flatnonzero((place >= 0) & (streams.steps[:, 0] == header))
    last = np.zeros(int(wait[-1]) + 1 if len(wait) else 1, np.int64)
    last[wait[begins]] = begins  # of each wait the last one stays
    kept = (place < 0) | (np.arange(len(place)) >= last[wait])
    left: dict[int, float] = {}
    for number, loop in enumerate(loops):
        inside, sizes = place == number, streams.steps[:, 1] - streams.steps[:, 0]
        if every := int(sizes[inside].sum()):
            left |= dict.fromkeys(loop, float(sizes[inside & kept].sum()) / every)
    stays = np.concatenate(([0], np.cumsum(kept)))
    return replace(streams, starts=stays[streams.starts], steps=streams.steps[kept]), left


def _loop_of_steps(streams: WarpStreams, loops: tuple[frozenset[int], ...]) -> NDArray[np.int64]:
    """Return which loop each step belongs to, -1 for none."""
    found = np.full(int(streams.steps[:, 1].max(initial=0)) + 1, -1, np.int64)
    for number, loop in enumerate(loops):
        found[[index for index in loop if index < len(found)]] = number
    return np.where(streams.steps[:, 0] >= 0, found[streams.steps[:, 0]], -1)


def _mean_waits(
    instruction: NDArray[np.int64], cycles: NDArray[np.int64], within: NDArray[np.bool_]
) -> dict[int, float]:
    """Return the mean cycles behind the last instruction of a round, by instruction."""
    times = np.bincount(instruction[within])
    totals = np.bincount(instruction[within], cycles[within])
    return {int(i): float(totals[i] / times[i]) for i in np.flatnonzero(totals)}
