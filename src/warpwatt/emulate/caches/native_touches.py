"""Native module: which sectors blocks touch, who comes first, and how many bytes are written there."""

from __future__ import annotations

from warpwatt.emulate.native.pointers import bytes_at, f64_at, i64_at

GROUP_WORDS = 10
"""A line of a block: its number, the block, for each sector the rows that use and that write it first."""
MANY = 1e9
_HASH = 0x9E3779B97F4A7C1


def gather(  # noqa: PLR0913, PLR0917 - called through C with addresses of columns
    rows: int, line: int, block: int, time: int, sectors: int, uses: int, filled: int,
    keys: int, places: int, size: int, groups: int, sums: int,
) -> int:  # fmt: skip
    """Fill ``groups`` and ``sums`` with the lines of each block and return how many there are.

    Parameters
    ----------
    line, block, time
        ``int64`` of each row; those of a block stand together, of rows at one time the first comes first.
    sectors, uses
        A byte of each row: its sectors, and how it uses them: 1 reads, 2 writes.
    filled
        ``double`` of each row: bytes it would write in each sector.
    keys, places
        Room: ``size`` (a power of two, twice the rows of a block at least) ``int64``; ``places`` all -1.
    groups, sums
        Results: for each row at most one group of ``GROUP_WORDS`` ``int64``, rows -1 where there is none,
        and four doubles: bytes written in the sectors, :data:`MANY` where they are read too.
    """
    lines, blocks, times = i64_at(line, rows), i64_at(block, rows), i64_at(time, rows)
    masks, kinds, bytes_ = bytes_at(sectors, rows), bytes_at(uses, rows), f64_at(filled, rows)
    key_at, place_at = i64_at(keys, size), i64_at(places, size)
    count = 0
    base = 0
    for row in range(rows):
        if row > 0 and blocks[row] != blocks[row - 1]:
            base = count
        at = ((lines[row] * _HASH) >> 20) & (size - 1)
        while place_at[at] >= base and key_at[at] != lines[row]:
            at = (at + 1) & (size - 1)
        if place_at[at] < base:
            key_at[at], place_at[at] = lines[row], count
            fresh = i64_at(groups + count * GROUP_WORDS * 8, GROUP_WORDS)
            fresh[:] = -1
            fresh[0], fresh[1] = lines[row], blocks[row]
            f64_at(sums + count * 32, 4)[:] = 0.0
            count += 1
        group = i64_at(groups + place_at[at] * GROUP_WORDS * 8, GROUP_WORDS)
        total = f64_at(sums + place_at[at] * 32, 4)
        for sector in range(4):
            if (masks[row] >> sector) & 1:
                used, written = group[2 + sector], group[6 + sector]
                if used < 0 or times[row] < times[used]:
                    group[2 + sector] = row
                if kinds[row] & 1:
                    total[sector] += MANY
                if kinds[row] & 2:
                    total[sector] += bytes_[row]
                    if written < 0 or times[row] < times[written]:
                        group[6 + sector] = row
    return count
