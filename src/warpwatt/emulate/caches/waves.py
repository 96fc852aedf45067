"""L2 over time: what a wave of blocks shares, what later waves find, what must come from DRAM again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpwatt.core.launch import L2State, Launch
from warpwatt.core.reuse import Growth
from warpwatt.emulate.caches.curves import l2_miss, l2_store_miss, overlap_miss
from warpwatt.emulate.caches.footprint import footprint

PARTS = 16
"""Parts of a block's life over which a mean is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """The blocks of a launch, ``wave`` at a time, before an L2 of ``l2_bytes``."""

    launch: Launch
    wave: int
    l2_bytes: float
    growths: Sequence[Growth]

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.launch.grid.count

    def distinct(self, growth: Growth, blocks: float) -> float:
        """Return the distinct bytes of some blocks in a row; local memory is that of resident blocks."""
        if growth.private:
            return growth.block_bytes * min(blocks, self.wave)
        return footprint(growth, self.launch.grid, blocks)

    def used(self, blocks: float) -> float:
        """Return the distinct bytes of all buffers."""
        return sum(self.footprints(blocks).values())

    def footprints(self, blocks: float) -> dict[str, float]:
        """Return the distinct bytes of each buffer; reads and writes of one buffer meet."""
        totals: dict[str, dict[bool, float]] = {}
        limits = {g.buffer: g.limit for g in self.growths}
        for growth in self.growths:
            sides = totals.setdefault(growth.buffer, {False: 0.0, True: 0.0})
            sides[growth.written] += self.distinct(growth, blocks)
        return {
            name: min(max(sides.values()), limits[name] or max(sides.values()))
            for name, sides in totals.items()
        }

    def from_dram(self, growth: Growth, asked: float) -> tuple[float, float, float]:
        """Return DRAM bytes for ``asked`` bytes that no SM had: first touches, and capacity misses.

        The third are bytes that L2 has only asked for when SMs want them: what blocks of the first wave share
        and come to in step. They begin together; later blocks begin whenever one ends.

        What lies in several waves is lost between them along the published curve for overlaps; what blocks of
        one wave share, or a block writes again, along those for capacity misses of reads and stores. Where
        nobody knows which blocks share what they read, those far apart come to it at any time of their lives.
        """
        once = min(asked, self.distinct(growth, self.blocks))
        again = min(asked - once, self._lost_between_waves(growth))
        per_wave = self.distinct(growth, self.wave) * max(1.0, self.blocks / self.wave)
        shared = max(0.0, asked - max(per_wave, once + again))
        curve = l2_store_miss if growth.written else l2_miss
        lost = curve(self.used(self.wave) / self.l2_bytes)
        missed = shared * lost
        if growth.lags is None and not growth.written:
            far = max(0.0, shared - asked * (1.0 - growth.step))  # what is not a neighbour's
            missed += far * max(0.0, self._lost_apart(growth.apart) - lost)
        kept = 1.0 - self._resident_before(growth.buffer)
        in_step = 1.0 - growth.apart if growth.lags is None else 1.0
        awaited = (shared - missed) * in_step * min(1.0, self.wave / self.blocks)
        return (once + again) * kept, missed * kept, awaited * kept

    def _lost_between_waves(self, growth: Growth) -> float:
        """Return bytes that later waves touch again after L2 lost them.

        Where the offsets of accesses say which blocks meet, by what is used between; what a buffer's size or
        far samples say that blocks share besides, between neighbouring waves first, then pairs of them.
        """
        lost = 0.0
        lags = growth.lags or ()
        for lag in lags:
            apart = min(1.0, lag.blocks / self.wave)
            touches = growth.block_bytes * lag.times(self.blocks, self.blocks)
            lost += touches * apart * self.lost_after(max(lag.blocks, self.wave))
        size = float(self.wave)
        while size < self.blocks:
            parts = size, min(size, self.blocks - size)
            both = sum(parts)
            common = sum(self.distinct(growth, part) for part in parts) - self.distinct(growth, both)
            for lag in lags:
                known = lag.times(both, self.blocks) - sum(lag.times(part, self.blocks) for part in parts)
                common -= growth.block_bytes * known
            lost += max(0.0, common) * (self.blocks / both) * self.lost_after(both)
            size *= 2
        return lost

    def _lost_apart(self, apart: float) -> float:
        """Return the share that L2 has lost of what two blocks of a wave touch, ``apart`` in their lives.

        Between the two lies any part of all that the blocks of the wave ask for meanwhile.
        """
        asked = apart * self.wave * sum(g.block_bytes for g in self.growths if not g.private) / self.l2_bytes
        return sum(overlap_miss(asked * (part + 0.5) / PARTS) for part in range(PARTS)) / PARTS

    def lost_after(self, blocks: float) -> float:
        """Return the share of a block's data that L2 has lost so many blocks later."""
        return overlap_miss(self.used(blocks) / self.l2_bytes)

    def _resident_before(self, buffer: str) -> float:
        """Return the share of a buffer's data that is in L2 from before until it is touched again.

        That is what the caller knows of it or, of a warm L2, what the same launch before has left.
        Its whole footprint lies between, so what is larger than L2 is as good as gone: the published curve
        for what waves have in common, which the times of small kernels over growing arrays follow
        (gpu-benches, A40 and L40: half is lost at 1.2 times the size of L2, all at 1.7).
        """
        if self.launch.l2 is not L2State.WARM:
            return self.launch.in_l2.get(buffer, 0.0)
        return 1.0 - overlap_miss(self.used(self.blocks) / self.l2_bytes)
