"""The front end of the simulated SM: instruction caches of the sub-cores and of the SM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.models.pipeline import layout as c
from warpwatt.models.pipeline.state import (
    S_FETCHES,
)  # fmt: skip

if TYPE_CHECKING:
    from warpwatt.models.pipeline.state import Inputs, State


def fetch(x: Inputs, s: State, w: int, previous: int, pc: int, earliest: int) -> int:
    """Return when instruction ``pc`` is in the buffer.

    At once from the sub-core's L0 cache, and from the SM's if it follows the last line (prefetched).
    """
    line = x.ints[pc, c.FETCH_LINE]
    if previous >= 0 and x.ints[previous, c.FETCH_LINE] == line:
        return 0
    sub = w % x.numbers[c.SUB_CORES]
    if s.subs[sub, S_FETCHES] - s.fetched[sub, line] < x.numbers[c.L0_LINES]:
        return 0
    s.fetched[sub, line] = s.subs[sub, S_FETCHES]
    s.subs[sub, S_FETCHES] += 1
    arrival = from_l1_5(x, s, line, earliest)
    if previous < 0 or previous + 1 == pc:
        return arrival
    return int(max(arrival, earliest + x.numbers[c.L0_MISS_CYCLES]))


def from_l1_5(x: Inputs, s: State, line: int, time: int) -> int:
    """Return when the SM's instruction cache has a line; on a miss L2 is asked for it and those behind it."""
    cache = x.numbers[c.SUB_CORES]  # its row, behind those of the sub-cores
    loaded = s.shared_free[c.SHARED_PIPES + 1]
    if loaded - s.fetched[cache, line] >= x.numbers[c.L1I_LINES]:
        s.fetched[cache, line] = loaded
        s.fetched[cache + 1, line] = time + x.numbers[c.L1I_MISS_CYCLES]
        loaded += 1
    for ahead in range(line + 1, min(line + 1 + x.numbers[c.L1I_AHEAD], s.fetched.shape[1])):
        if loaded - s.fetched[cache, ahead] >= x.numbers[c.L1I_LINES]:
            s.fetched[cache, ahead] = loaded
            s.fetched[cache + 1, ahead] = time + x.numbers[c.L1I_MISS_CYCLES]
            loaded += 1
    s.shared_free[c.SHARED_PIPES + 1] = loaded
    return int(s.fetched[cache + 1, line])
