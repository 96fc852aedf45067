"""The SM that ends last where blocks were seen to do unequal work: no launch ends before it.

Blocks of one wave all start at once: no other SM takes over what one has too much. Of later waves a block
may start late, but none ends before the longest one alone could.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.models.pipeline.chip import IN_PART, simulate_launch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.blocks import BlockClasses
    from warpwatt.core.streams import WarpStreams
    from warpwatt.models.pipeline.chip import ChipLaunch, ChipSimulation

ALIKE = 1.1
"""Work of the longest block over the mean from which on blocks are unequal."""
_SEED = 0


def simulate_until_last(launched: ChipLaunch) -> ChipSimulation:
    """Return the cycles of the SM that ends last."""
    work = launched.streams.work_of_blocks
    mean = float(np.average(work, weights=launched.streams.weights or None))
    if launched.scale > IN_PART or work.max() <= ALIKE * mean:
        return simulate_launch(launched)
    on_sm = math.ceil(launched.blocks / launched.machine.sm_count)
    waves = on_sm / launched.resident
    seen = launched if waves > 1 else _only(launched, blocks_of_fullest_sm(launched, on_sm), work, mean)
    found = simulate_launch(seen)
    longest = int(np.argmax(work))
    if on_sm == 1 or work[longest] <= mean * waves:
        return found
    alone = simulate_launch(replace(_only(launched, [longest], work, mean), blocks=1))
    return found if found.cycles >= alone.cycles else replace(found, cycles=alone.cycles)


def simulate_one_wave(launched: ChipLaunch, classes: BlockClasses) -> ChipSimulation | None:
    """Return the cycles of the SM with the most work where all blocks start at once, several on each SM.

    None where they do not, or the class of some block is not known or was not traced. Of L2 and DRAM, which
    all share, it gets as much more as it has more to do.
    """
    sms, blocks = launched.machine.sm_count, launched.blocks
    traced: dict[int, list[int]] = {}
    for place, block in enumerate(launched.streams.blocks):
        traced.setdefault(classes.of_block.get(block, -1), []).append(place)
    if not sms < blocks <= sms * launched.resident or launched.scale > IN_PART:
        return None
    if classes.counts.sum() != blocks or not set(classes.order.tolist()) <= set(traced):
        return None
    of_blocks = np.repeat(classes.order, classes.counts.astype(np.int64))
    does = np.array(classes.instructions)[of_blocks]
    fullest = max(range(sms), key=lambda first: float(does[first::sms].sum()))
    places = [traced[k][turn % len(traced[k])] for turn, k in enumerate(of_blocks[fullest::sms].tolist())]
    more = float(does[fullest::sms].sum()) * sms / float(does.sum())
    machine = launched.machine
    fed = replace(machine, l2_bytes=machine.l2_bytes * more, dram_bytes=machine.dram_bytes * more)
    alone = _only(launched, places, launched.streams.work_of_blocks, float(does.mean()))
    return simulate_launch(replace(alone, machine=fed, classes=None))


def blocks_of_fullest_sm(launched: ChipLaunch, on_sm: int) -> list[int]:
    """Return the places in the streams of the blocks that the SM with the most work gets in one wave.

    Blocks go round all SMs; where not all were traced, those that were are drawn as often as they stand for.
    """
    streams, sms = launched.streams, launched.machine.sm_count
    work = streams.work_of_blocks
    if len(streams.blocks) == launched.blocks:
        dealt = np.argsort(streams.blocks)
        on_each = [dealt[first::sms] for first in range(min(sms, launched.blocks))]
    else:
        weights = np.array(streams.weights or (1.0,) * len(work))
        draw = np.random.default_rng(_SEED)
        on_each = list(draw.choice(len(work), (sms, on_sm), p=weights / weights.sum()))
    fullest: list[int] = max(on_each, key=lambda places: float(work[places].sum())).tolist()
    return fullest


def _only(launched: ChipLaunch, places: list[int], work: NDArray[np.float64], mean: float) -> ChipLaunch:
    """Return the launch of which every SM gets the blocks in some places of the streams."""
    done = launched.instructions and launched.instructions * float(work[places].mean()) / mean
    return replace(launched, streams=_streams_of(launched.streams, tuple(sorted(places))), instructions=done)


@lru_cache(maxsize=32)
def _streams_of(streams: WarpStreams, places: tuple[int, ...]) -> WarpStreams:
    """Return the streams in some places; always the same ones, so that what is found in them is kept."""
    different, times = np.unique(places, return_counts=True)
    return replace(streams.only(different.tolist()), weights=tuple(times.astype(float).tolist()))
