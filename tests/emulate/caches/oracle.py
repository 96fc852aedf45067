"""Exact small caches, access by access: slow, plain, and what the fast models are tested against."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Line:
    """What a cache holds of a line: bit masks of readable sectors and, per sector, of written bytes."""

    readable: int = 0
    written: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    stream: bool = False


WHOLE_SECTOR = (1 << 32) - 1


class SectoredCache:
    """A set-associative cache of 128-byte lines with 32-byte sectors and LRU replacement.

    A first-level cache writes through and allocates lines for writes, without fetching what was not
    written ("lazy fetch on read"; Khairy, Shen, Aamodt and Rogers, "Accel-Sim", ISCA 2020). A second-level
    cache (``write_back``) keeps masks of written bytes and writes sectors back when their line is evicted.
    Lines brought in by ``stream`` accesses (evict first) are evicted before others.

    ``fetched`` counts sectors asked of the level below in whole ``granule``s, ``written_back`` sectors sent
    to it, ``filled`` sectors that a partial write made the level below read and modify.
    """

    def __init__(
        self,
        lines: int,
        ways: int | None = None,
        *,
        write_back: bool = False,
        granule_sectors: int = 1,
    ) -> None:
        self.ways = ways or lines
        self.sets: list[OrderedDict[int, _Line]] = [OrderedDict() for _ in range(max(1, lines // self.ways))]
        self.write_back = write_back
        self.granule_sectors = granule_sectors
        self.hits = self.misses = self.fetched = self.written_back = self.filled = 0

    def read(self, line: int, sectors: int, *, stream: bool = False) -> int:
        """Read sectors (a mask) of a line; return the mask of those that missed."""
        entry = self._touch(line, stream=stream)
        readable = entry.readable | sum(1 << s for s in range(4) if entry.written[s] == WHOLE_SECTOR)
        missing = sectors & ~readable
        self.hits += (sectors & readable).bit_count()
        self.misses += missing.bit_count()
        fetched = self._granules(missing) & ~entry.readable
        self.fetched += fetched.bit_count()
        entry.readable |= fetched
        return missing

    def write(self, line: int, sector: int, mask: int, *, stream: bool = False) -> None:
        """Write bytes of a sector, named by a mask of 32 bits."""
        entry = self._touch(line, stream=stream)
        entry.written[sector] |= mask
        if not self.write_back:
            self.written_back += 1
            if mask == WHOLE_SECTOR:
                entry.readable |= 1 << sector
            entry.written[sector] = 0

    def flush(self) -> None:
        """Evict everything."""
        for entries in self.sets:
            while entries:
                self._evict(entries.popitem(last=False)[1])

    def _touch(self, line: int, *, stream: bool) -> _Line:
        entries = self.sets[line % len(self.sets)]
        entry = entries.pop(line, None)
        if entry is None:
            if len(entries) >= self.ways:
                victim = next((k for k, e in entries.items() if e.stream), next(iter(entries)))
                self._evict(entries.pop(victim))
            entry = _Line(stream=stream)
        entry.stream = entry.stream and stream
        entries[line] = entry
        return entry

    def _granules(self, sectors: int) -> int:
        if self.granule_sectors == 1:
            return sectors
        low, high = sectors & 3, sectors >> 2
        return (3 if low else 0) | (12 if high else 0)

    def _evict(self, entry: _Line) -> None:
        for sector, mask in enumerate(entry.written):
            if mask:
                self.written_back += 1
                self.filled += mask != WHOLE_SECTOR and not entry.readable >> sector & 1
