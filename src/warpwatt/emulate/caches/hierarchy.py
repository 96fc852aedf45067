"""What L1, L2 and DRAM see of every off-chip memory instruction of an emulated launch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.execution import LevelHits, Traffic
from warpwatt.core.program import Access
from warpwatt.core.reuse import BYPASS
from warpwatt.emulate.caches.l1 import l1_profile
from warpwatt.emulate.caches.policy import LINE, buffer_size, l1_capacity, policy
from warpwatt.emulate.caches.sets import SECTOR
from warpwatt.emulate.caches.waves import Waves
from warpwatt.emulate.scaling import occurring

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from warpwatt.core.execution import AccessPattern, Execution, Occupancy
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.reuse import Growth, Reuse
    from warpwatt.emulate.caches.l1 import Fate
    from warpwatt.emulate.caches.policy import Policy

_READS = frozenset({Access.LOAD, Access.COPY, Access.ATOMIC, Access.REDUCTION})
_WRITES = frozenset({Access.STORE, Access.ATOMIC, Access.REDUCTION})


@dataclass(slots=True)
class _Tally:
    """Bytes of one instruction while they are added up."""

    asked: float
    from_l1: float
    reads: bool
    writes: bool
    unseen: float
    """Bytes that no resident block of the SM had touched before."""
    read: float = 0.0
    written: float = 0.0
    run: float = math.inf
    in_flight: float = 0.0
    """Share of what is asked for that is on its way to L1 already."""


def level_hits(
    execution: Execution, gpu: Gpu, residency: Occupancy, patterns: Mapping[int, AccessPattern]
) -> dict[int, LevelHits]:
    """Return what each level sees of each instruction of ``patterns``, over the whole grid.

    Reads that miss L1 are first touches of the SM's resident blocks, shared with other SMs and waves as the
    growth of footprints says, or lines that L1 has lost, which L2 has lost too where their distance, grown
    from an SM's blocks to a wave's, is beyond its size.
    """
    reuse = execution.reuse
    assert reuse is not None
    rules = policy(gpu)
    resident = max(1, min(residency.blocks_per_sm, -(-execution.launch.grid.count // gpu.sm_count)))
    wave = min(execution.launch.grid.count, resident * gpu.sm_count)
    waves = Waves(execution.launch, wave, rules.l2_bytes, reuse.growths)
    fates = _fates(reuse, gpu, residency, waves, resident)
    tallies = {
        index: _tally(execution, index, pattern, fates.get(index)) for index, pattern in patterns.items()
    }
    for index, tally in tallies.items():
        fate = fates.get(index)
        tally.read += tally.asked * fate.lost if fate and tally.reads else 0.0
    for growth in reuse.growths:
        _share_out(growth, tallies, waves, rules)
    _strays(tallies, execution, patterns)
    return {index: _hits(execution, index, patterns[index], tally) for index, tally in tallies.items()}


def _fates(reuse: Reuse, gpu: Gpu, residency: Occupancy, waves: Waves, resident: int) -> dict[int, Fate]:
    """Return what becomes of the cached reads of each instruction."""
    if not (reuse.stream.kind & BYPASS == 0).any():
        return {}
    later = max(0.0, 1.0 - wave_share(waves))
    profile = l1_profile(reuse.stream, resident, 2 if later else 1)
    wider = waves.used(waves.wave) / max(1.0, waves.used(resident))

    def lost(distance: NDArray[np.float64]) -> NDArray[np.float64]:
        over = distance * (LINE * wider / waves.l2_bytes)
        return np.exp(-37.1 * np.exp(-3.2 * over))

    return profile.fates(l1_capacity(gpu, residency) / LINE, later, lost)


def wave_share(waves: Waves) -> float:
    """Return the share of the grid's blocks that are in the first wave."""
    return min(1.0, waves.wave / waves.blocks)


def _tally(execution: Execution, index: int, pattern: AccessPattern, fate: Fate | None) -> _Tally:
    memory = execution.program.instructions[index].memory
    assert memory is not None
    asked = pattern.sectors * SECTOR * execution.counts[index]
    cached = fate is not None and memory.access in (Access.LOAD, Access.COPY)
    return _Tally(
        asked=asked,
        from_l1=asked * fate.hit if fate and cached else 0.0,
        reads=memory.access in _READS,
        writes=memory.access in _WRITES,
        unseen=asked * fate.cold if fate and cached else asked,
        in_flight=fate.in_flight if fate and cached else 0.0,
    )


def _share_out(growth: Growth, tallies: dict[int, _Tally], waves: Waves, rules: Policy) -> None:
    """Add the DRAM bytes of one footprint to the instructions that reach it."""
    members = [i for i in growth.instructions if i in tallies]
    asked = {i: tallies[i].asked if growth.written else tallies[i].unseen for i in members}
    total = sum(asked.values())
    if not total:
        return
    first, missed = waves.from_dram(growth, total)
    wide = growth.granule if rules.dram_granule > SECTOR and not growth.written else 1.0
    for index in members:
        tallies[index].run = min(tallies[index].run, growth.run)
        part = first * growth.shares[index] + missed * asked[index] / total
        if growth.written:
            tallies[index].written += part
            tallies[index].read += first * growth.shares[index] * growth.partial * rules.partial_fill
        else:
            tallies[index].read += part * wide


def _strays(tallies: dict[int, _Tally], execution: Execution, patterns: Mapping[int, AccessPattern]) -> None:
    """Give instructions that no sampled block reached their own bytes, their buffer's once from DRAM."""
    reuse = execution.reuse
    assert reuse is not None
    seen = set(occurring(reuse.stream.instruction))
    seen.update(i for growth in reuse.growths for i in growth.instructions)
    strays = {i: t for i, t in tallies.items() if i not in seen}
    for buffer in {patterns[i].buffer for i in strays}:
        own = [t for i, t in strays.items() if patterns[i].buffer == buffer]
        size = buffer_size(execution.launch, buffer)
        share = min(1.0, size / max(1.0, sum(t.asked for t in own)))
        for tally in own:
            tally.read += tally.unseen * share if tally.reads else 0.0
            tally.written += tally.asked * share if tally.writes else 0.0


def _hits(execution: Execution, index: int, pattern: AccessPattern, tally: _Tally) -> LevelHits:
    passed = tally.asked - tally.from_l1
    reads, writes = float(tally.reads), float(tally.writes)
    moved = tally.read if tally.reads else tally.written
    return LevelHits(
        buffer=pattern.buffer,
        requests=execution.counts[index],
        sectors=tally.asked / SECTOR,
        l1_hits=tally.from_l1 / tally.asked if tally.asked else 0.0,
        l2_hits=min(1.0, max(0.0, 1 - moved / passed)) if passed > 0 else 1.0,
        l1=Traffic(tally.asked * reads, tally.asked * writes),
        l2=Traffic(passed * reads, tally.asked * writes),
        dram=Traffic(tally.read, tally.written),
        uniform=pattern.uniform,
        run=tally.run,
        in_flight=tally.in_flight,
    )
