"""What L1, L2 and DRAM see of every off-chip memory instruction of an emulated launch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import occurring
from warpwatt.core.execution import AccessPattern, Execution, LevelHits, Occupancy, Traffic
from warpwatt.core.gpu import Gpu
from warpwatt.core.launch import L2State
from warpwatt.core.program import Access
from warpwatt.core.reuse import BYPASS, READ, WRITE, Growth, LineStream, Reuse
from warpwatt.emulate.caches.code import is_cold
from warpwatt.emulate.caches.curves import left_dirty, written_back
from warpwatt.emulate.caches.l1 import ReadShares, WriteShares, l1_profile
from warpwatt.emulate.caches.policy import LINE, buffer_size, l1_capacity, policy
from warpwatt.emulate.caches.sets import SECTOR, count_sectors, distinct
from warpwatt.emulate.caches.waves import Waves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.caches.l1 import Lost
    from warpwatt.emulate.caches.policy import Policy

_READS = frozenset({Access.LOAD, Access.COPY, Access.ATOMIC, Access.REDUCTION})
_WRITES = frozenset({Access.STORE, Access.ATOMIC, Access.REDUCTION})
ALL_NEW = WriteShares(cold=1.0)
"""Of an instruction whose lines are written once, as far as is known."""
SHORT_WAVE = 0.05
"""Share of a launch's blocks from which on those of a last wave that is not full are looked at apart."""
KEPT = 0.98
"""Share of what is used again from which on L1 and L2 are taken to keep it."""


@dataclass(slots=True)
class _Tally:
    """Bytes of one instruction while they are added up."""

    requested: float
    from_l1: float
    cached: bool
    reads: bool
    writes: bool
    first_touches: float
    """Bytes that no resident block of the SM had touched before."""
    first_writes: float
    """Bytes that no resident block of the SM had written before."""
    read: float = 0.0
    written: float = 0.0
    run: float = math.inf
    in_flight: float = 0.0
    """Share of what is requested that is on its way to L1 already."""
    lines: float = 1.0
    """Bytes of lines over bytes of the sectors that are touched in them."""
    awaited: float = 0.0
    """Bytes that are on their way to L2 already."""
    displaced: float = 0.0
    """Bytes written before the launch that L2 writes back for these."""


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
    reads, writes = _shares(reuse, gpu, residency, waves, resident)
    reads = _with_left_out(reads, reuse.stream, reuse.growths)
    tallies = {
        index: _tally(execution, index, pattern, reads.get(index), writes.get(index, ALL_NEW))
        for index, pattern in patterns.items()
    }
    for growth in reuse.growths:
        _distribute(growth, tallies, waves, rules)
    _begin_anew(tallies, waves, resident, reuse.stream, l1_capacity(gpu, residency))
    _add_unsampled(tallies, execution, patterns)
    if execution.launch.l2 is L2State.COLD:
        _keep_dirty(tallies, execution, rules)
    return {index: _hits(execution, index, patterns[index], tally) for index, tally in tallies.items()}


def _shares(
    reuse: Reuse, gpu: Gpu, residency: Occupancy, waves: Waves, resident: int
) -> tuple[dict[int, ReadShares], dict[int, WriteShares]]:
    """Return where each instruction finds what it reads through L1, and what it writes in L2.

    Blocks of the last wave have the caches for fewer of them: that matters where others lose lines.
    """
    if not (reuse.stream.kind & BYPASS == 0).any():
        return {}, {}
    lines = l1_capacity(gpu, residency) / LINE
    later = max(0.0, 1.0 - wave_share(waves))
    # Blocks go to the SMs in turn (Gilman et al., "Demystifying the placement policies of the NVIDIA GPU
    # thread block scheduler for concurrent kernels", 2020): neighbours meet on one SM in no wave.
    step = gpu.sm_count if reuse.whole_grid else 1
    profile = l1_profile(reuse.stream, resident, 2 if later else 1, step)
    lost = _lost(waves, resident, gpu.sm_count)
    reads, writes = profile.read_shares(lines, later, lost), profile.writes.shares(lost)
    rest, share = last_wave(waves.blocks / gpu.sm_count, resident)
    if not rest or not _loses(reads, writes):
        return reads, writes
    profile, lost = l1_profile(reuse.stream, rest, 2, step), _lost(waves, rest, gpu.sm_count)
    fewer = profile.read_shares(lines, 1.0, lost), profile.writes.shares(lost)
    return (
        {i: read.with_fewer_blocks(fewer[0].get(i, read), share) for i, read in reads.items()},
        {i: write.with_fewer_blocks(fewer[1].get(i, write), share) for i, write in writes.items()},
    )


def _with_left_out(
    reads: dict[int, ReadShares], stream: LineStream, growths: Sequence[Growth]
) -> dict[int, ReadShares]:
    """Return the shares with those of instructions that no line of the profile's sample is of.

    They are the mean of those that reach the same memory, else of all.
    """
    through_l1 = stream.kind & (READ | WRITE | BYPASS) == READ
    left_out = [i for i in occurring(stream.instruction[through_l1]) if i not in reads]
    if not left_out or not reads:
        return reads
    together = {
        i: growth.instructions for growth in growths if not growth.written for i in growth.instructions
    }
    found = dict(reads)
    for index in left_out:
        like = [reads[i] for i in together.get(index, ()) if i in reads] or list(reads.values())
        found[index] = ReadShares(*np.mean([astuple(share) for share in like], axis=0).tolist())
    return found


def last_wave(on_sm: float, resident: int) -> tuple[int, float]:
    """Return how many blocks an SM holds in the last wave, and their share; 0 where that is as many as ever.

    >>> last_wave(24.0, 16)
    (8, 0.3333333333333333)
    >>> last_wave(16.0, 16), last_wave(500.0, 16)
    ((0, 0.0), (0, 0.0))
    """
    rest = on_sm % resident
    share = rest / on_sm
    return (max(1, round(rest)), share) if on_sm > resident and share > SHORT_WAVE else (0, 0.0)


def _loses(reads: Mapping[int, ReadShares], writes: Mapping[int, WriteShares]) -> bool:
    """Whether lines are lost that are used again."""
    read_again = any(read.hit + read.cold < KEPT for read in reads.values())
    return read_again or any(write.lost > 1 - KEPT for write in writes.values())


def _lost(waves: Waves, resident: int, sms: int) -> Lost:
    """Return which share of lines L2 has lost at a distance among the blocks that an SM holds.

    What all SMs touch between two touches of an SM lies between, unless another SM touches the line as well:
    where the blocks of n SMs share what an instruction reaches, the line's last use is an n-th as far away.
    """
    wave = min(waves.blocks, resident * sms)
    wider = waves.used(wave) / max(1.0, waves.used(resident))
    own = _shared_use(waves, resident, wave)

    def lost(distance: NDArray[np.float64], instruction: NDArray[np.int32]) -> NDArray[np.float64]:
        share = own[np.minimum(instruction, len(own) - 1)]
        over = distance * share * (LINE * wider / waves.l2_bytes)
        return np.exp(-37.1 * np.exp(-3.2 * over))

    return lost


def _shared_use(waves: Waves, resident: int, wave: int) -> NDArray[np.float64]:
    """Return for each instruction one over the number of SMs that reach the same memory with it.

    1 behind the last, and for those that are nowhere the first to touch anything.
    """
    apart = max(1.0, wave / resident)
    found = np.ones(2 + max((i for g in waves.growths for i in g.instructions), default=0))
    known: dict[int, float] = {}
    for growth in waves.growths:
        grown = waves.distinct(growth, wave) / max(1.0, waves.distinct(growth, resident))
        for index in growth.instructions:
            known[index] = max(known.get(index, 0.0), min(1.0, grown / apart))
    found[list(known)] = list(known.values())
    return found


def wave_share(waves: Waves) -> float:
    """Return the share of the grid's blocks that are in the first wave."""
    return min(1.0, waves.wave / waves.blocks)


def _tally(
    execution: Execution, index: int, pattern: AccessPattern, shares: ReadShares | None, stored: WriteShares
) -> _Tally:
    memory = execution.program.instructions[index].memory
    assert memory is not None
    requested = pattern.sectors * SECTOR * execution.counts[index]
    cached = shares is not None and memory.access in (Access.LOAD, Access.COPY)
    reads, writes = memory.access in _READS, memory.access in _WRITES
    return _Tally(
        requested=requested,
        from_l1=requested * shares.hit if shares and cached else 0.0,
        cached=cached,
        reads=reads,
        writes=writes,
        first_touches=requested * shares.cold if shares and cached else requested,
        first_writes=requested * stored.cold,
        read=requested * shares.lost if shares and reads else 0.0,
        written=requested * stored.lost if writes else 0.0,
        in_flight=shares.in_flight if shares and cached else 0.0,
    )


def _distribute(growth: Growth, tallies: dict[int, _Tally], waves: Waves, rules: Policy) -> None:
    """Add the DRAM bytes of one footprint to the instructions that reach it."""
    members = [i for i in growth.instructions if i in tallies]
    requested = {
        i: growth.parts.get(i, 1.0)
        * (tallies[i].first_writes if growth.written else tallies[i].first_touches)
        for i in members
    }
    total = sum(requested.values())
    if not total:
        return
    first, missed, awaited = waves.from_dram(growth, total)
    wide = growth.granule if rules.dram_granule > SECTOR and not growth.written else 1.0
    for index in members:
        tallies[index].run = min(tallies[index].run, growth.run)
        tallies[index].lines = max(tallies[index].lines, growth.lines)
        part = first * growth.shares[index] + missed * requested[index] / total
        if growth.written:
            tallies[index].written += part
            tallies[index].read += first * growth.shares[index] * growth.partial * rules.partial_fill
        else:
            tallies[index].read += part * wide
            tallies[index].awaited += awaited * requested[index] / total


def _begin_anew(
    tallies: Mapping[int, _Tally], waves: Waves, resident: int, stream: LineStream, l1_bytes: float
) -> None:
    """Add what instructions touch again behind the end of a cut trace: all that blocks use lies between.

    L1 gives room by whole lines, however few of their sectors are used.
    """
    parts: dict[tuple[int, bool], float] = {}
    for growth in waves.growths:
        for index in growth.parts.keys() & tallies.keys():
            key = index, growth.written
            parts[key] = parts.get(key, 0.0) + growth.parts[index]
    used = waves.used(resident)
    kept = bool(parts) and used <= l1_bytes and used * _room_of_lines(stream) <= l1_bytes
    lost = waves.lost_after(waves.wave)
    for (index, written), part in parts.items():
        tally, again = tallies[index], max(0.0, 1.0 - part)
        if written:
            tally.written += tally.first_writes * again * lost
        elif tally.cached and kept:
            tally.from_l1 += tally.first_touches * again
        else:
            tally.read += tally.first_touches * again * lost


def _room_of_lines(stream: LineStream) -> float:
    """Return the bytes of the lines that a stream touches over those of their sectors that it touches."""
    return LINE * len(distinct(stream.line)) / max(1, SECTOR * count_sectors(stream.line, stream.sectors))


def _add_unsampled(
    tallies: dict[int, _Tally], execution: Execution, patterns: Mapping[int, AccessPattern]
) -> None:
    """Let caches keep of instructions that no traced access was of what they keep of those alike.

    Without any alike, their buffer comes once from DRAM; it comes no more than once where its size is known.
    """
    reuse = execution.reuse
    assert reuse is not None
    seen = set(occurring(reuse.stream.instruction))
    seen.update(i for growth in reuse.growths for i in growth.instructions)
    unsampled = {i: t for i, t in tallies.items() if i not in seen}
    for buffer in {patterns[i].buffer for i in unsampled}:
        own = [t for i, t in unsampled.items() if patterns[i].buffer == buffer]
        size = buffer_size(execution.launch, buffer)
        share = min(1.0, size / max(1.0, sum(t.requested for t in own)))
        for tally in own:
            does = tally.reads, tally.writes
            like = [t for i, t in tallies.items() if i in seen and (t.reads, t.writes) == does]
            _keep_alike(tally, like, share)


def _keep_alike(tally: _Tally, like: Sequence[_Tally], most: float) -> None:
    """Give an instruction the shares of others at each level, of DRAM at most ``most``."""
    total = sum(t.requested for t in like)
    parts = zip(*((t.from_l1, t.read, t.written) for t in like), strict=True)
    found, read, written = (sum(part) / total for part in parts) if total else (0.0, 1.0, 1.0)
    tally.cached = found > 0.0
    tally.from_l1 = tally.requested * found
    tally.read += tally.requested * min(most, read) if tally.reads else 0.0
    tally.written += tally.requested * min(most, written) if tally.writes else 0.0


def _keep_dirty(tallies: dict[int, _Tally], execution: Execution, rules: Policy) -> None:
    """Take out of the writes what L2 still holds when the launch ends; add what they and reads drive out."""
    if not rules.left_by_flush or not is_cold(execution):
        kept = left_dirty(sum(tally.read + tally.written for tally in tallies.values()), rules.dirty_bytes)
        for tally in tallies.values():
            tally.written *= 1.0 - kept
        return
    written = sum(tally.written * tally.lines for tally in tallies.values())
    moved = sum((tally.read + tally.written) * tally.lines for tally in tallies.values())
    back = written_back(written, moved, rules)
    for tally in tallies.values():
        tally.displaced = back.before * (tally.read + tally.written) * tally.lines / max(1.0, moved)
        tally.written *= back.own


def _hits(execution: Execution, index: int, pattern: AccessPattern, tally: _Tally) -> LevelHits:
    passed = tally.requested - tally.from_l1
    reads, writes = float(tally.reads), float(tally.writes)
    moved = tally.read if tally.reads else tally.written + tally.displaced
    l2_hits = min(1.0, max(0.0, 1 - moved / passed)) if passed > 0 else 1.0
    return LevelHits(
        buffer=pattern.buffer,
        requests=execution.counts[index],
        sectors=tally.requested / SECTOR,
        l1_hits=tally.from_l1 / tally.requested if tally.requested else 0.0,
        l2_hits=l2_hits,
        l1=Traffic(tally.requested * reads, tally.requested * writes),
        l2=Traffic(passed * reads, tally.requested * writes),
        dram=Traffic(tally.read, tally.written + tally.displaced),
        uniform=pattern.uniform,
        run=tally.run,
        in_flight=tally.in_flight,
        l2_in_flight=min(l2_hits, tally.awaited / passed) if passed > 0 else 0.0,
        displaced=tally.displaced,
    )
