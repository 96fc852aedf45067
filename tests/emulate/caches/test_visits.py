"""Which blocks come to the same lines and sectors, against plain dictionaries."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.reuse import READ, LineStream
from warpwatt.emulate.caches.visits import sectors_by_block, shared_visits

BLOCKS, WANTED = 5, [0, 2]
ROW = st.tuples(
    st.integers(0, BLOCKS - 1), st.integers(0, 9), st.integers(-3, 8), st.integers(1, 15), st.integers(0, 3)
)
Row = tuple[int, int, int, int, int]


def stream_of(rows: list[Row]) -> LineStream:
    """Return a stream of rows of block, time, line, mask of sectors and instruction."""
    block, time, line, mask, instruction = np.array(rows, np.int64).reshape(-1, 5).T
    return LineStream(
        instruction.astype(np.int32),
        block.astype(np.int32),
        block.astype(np.int32),
        time,
        line,
        mask.astype(np.uint8),
        np.full(len(rows), READ, np.uint8),
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, max_size=80))
def test_sectors_are_those_of_a_set(rows):
    rows.sort(key=lambda row: row[0])
    block, sector = sectors_by_block(stream_of(rows), WANTED)
    touched = {
        (4 * line + k, b) for b, _, line, mask, i in rows if i in WANTED for k in range(4) if mask >> k & 1
    }
    assert list(zip(sector.tolist(), block.tolist(), strict=True)) == sorted(touched)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, max_size=80))
def test_lines_that_blocks_share_are_first_visited_when_a_dictionary_says(rows):
    rows.sort(key=lambda row: row[0])
    first: dict[tuple[int, int], int] = {}
    for block, time, line, _, instruction in rows:
        if instruction in WANTED:
            first[line, block] = min(time, first.get((line, block), time))
    visited = [line for line, _ in first]
    shared = sorted((line, block, time) for (line, block), time in first.items() if visited.count(line) > 1)
    lines, times, blocks = shared_visits(stream_of(rows), WANTED)
    assert list(zip(lines.tolist(), blocks.tolist(), times.tolist(), strict=True)) == shared
