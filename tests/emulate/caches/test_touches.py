"""First touches of sectors, against plain dictionaries."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.reuse import READ, WRITE, LineStream
from warpwatt.emulate.caches.sets import WHOLE, touches

ROW = st.tuples(
    st.integers(0, 2), st.integers(0, 3), st.integers(0, 6), st.integers(1, 15), st.sampled_from((1, 2, 3))
)


def plain(rows, filled):
    """Return (block, sector) -> row of first readers, the same of writers, and sectors partly written."""
    uses, writes, read, total = {}, {}, set(), {}
    for number, (block, time, line, mask, kind) in enumerate(rows):
        for sector in (4 * line + k for k in range(4) if mask >> k & 1):
            key = (block, sector)
            uses[key] = min(uses.get(key, (99, 0, 0)), (time, number, kind))
            if kind & WRITE:
                writes[key] = min(writes.get(key, (99, 0)), (time, number))
                total[sector] = total.get(sector, 0.0) + filled[number]
            if kind & READ:
                read.add(sector)
    first = {key: number for key, (_, number, kind) in uses.items() if kind & READ}
    partly = sorted(s for s, t in total.items() if s not in read and t < WHOLE)
    return first, {key: number for key, (_, number) in writes.items()}, partly


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=60))
def test_first_touches_are_those_of_dictionaries(rows):
    rows = sorted(rows, key=lambda row: row[0])
    filled = [float(1 + 7 * k % 30) for k in range(len(rows))]
    block, time, line, mask, kind = (np.array(column) for column in zip(*rows, strict=True))
    number = np.arange(len(rows), dtype=np.int32)
    stream = LineStream(
        number, block.astype(np.int32), number, time, line, mask.astype(np.uint8), kind.astype(np.uint8)
    )
    read, written, partly = touches(stream, np.array(filled))
    found = [
        dict(zip(zip(t.block.tolist(), t.sector.tolist(), strict=True), t.instruction.tolist(), strict=True))
        for t in (read, written)
    ]
    assert (found[0], found[1], partly.tolist()) == plain(rows, filled)
