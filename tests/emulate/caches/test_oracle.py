"""Fast models against caches simulated access by access."""

from collections import OrderedDict

import numpy as np
import pytest

from tests.emulate.caches import kernels
from tests.emulate.caches.oracle import WHOLE_SECTOR, SectoredCache
from warpwatt.core.program import Access, Resources
from warpwatt.core.reuse import READ, WRITE
from warpwatt.emulate.caches.l1 import l1_profile
from warpwatt.emulate.workload import workload
from warpwatt.gpus import find


def interleaved(stream):
    """Return rows as resident warps take turns."""
    return np.lexsort((stream.warp, stream.block, stream.time))


@pytest.mark.parametrize("lines", [4, 16, 40, 100, 1000])
@pytest.mark.parametrize("kernel", [kernels.stencil(2, 3), kernels.matmul(2), kernels.table(6, 300, 90)])
def test_l1_hits_of_co_resident_blocks_are_those_of_the_simulated_cache(kernel, lines):
    stream = kernel.execution().reuse.stream
    blocks = int(stream.block.max()) + 1
    cache, hits, reads = SectoredCache(lines), {}, {}
    for row in interleaved(stream):
        index, mask = int(stream.instruction[row]), int(stream.sectors[row])
        if stream.kind[row] & WRITE:
            for sector in range(4):
                if mask >> sector & 1:
                    cache.write(int(stream.line[row]), sector, WHOLE_SECTOR)
        else:
            missed = cache.read(int(stream.line[row]), mask).bit_count()
            reads[index] = reads.get(index, 0) + mask.bit_count()
            hits[index] = hits.get(index, 0) + mask.bit_count() - missed
    shares = l1_profile(stream, blocks, 1).read_shares(lines)
    assert {i: f.hit for i, f in shares.items()} == pytest.approx({i: hits[i] / reads[i] for i in reads})


@pytest.mark.parametrize("lines", [4, 16, 47, 48, 100])
@pytest.mark.parametrize(
    "kernel", [kernels.rewriting(3, 8, 4), kernels.rewriting(1, 20, 3, 1), kernels.copy(4)]
)
def test_what_is_written_again_leaves_a_cache_as_often_as_the_simulated_one(kernel, lines):
    stream = kernel.execution().reuse.stream
    blocks = int(stream.block.max()) + 1
    cache, stored = SectoredCache(lines, write_back=True), 0
    for row in interleaved(stream):
        for sector in range(4):
            if stream.sectors[row] >> sector & 1 and stream.kind[row] & WRITE:
                cache.write(int(stream.line[row]), sector, WHOLE_SECTOR)
                stored += 1
        if stream.kind[row] & READ:
            cache.read(int(stream.line[row]), int(stream.sectors[row]))
    cache.flush()
    shares = l1_profile(stream, blocks, 1).writes.shares(lambda far, _: (far >= lines).astype(float))
    expected = sum(share.cold + share.lost for share in shares.values()) or 1.0
    assert expected == pytest.approx(cache.written_back / stored)


@pytest.mark.parametrize("capacity", [60, 100, 140, 200, 300])
@pytest.mark.parametrize("access", [Access.STORE, Access.LOAD])
def test_whole_lines_lie_between_two_uses_of_a_sector(capacity, access):
    """L2 fetches sectors, and gives them room by lines: each line is asked for in eight parts, far apart."""
    stream = kernels.corners(3, space=access).execution().reuse.stream
    held, lost, touches = OrderedDict(), 0, 0
    for row in interleaved(stream):
        line = int(stream.line[row])
        sectors = set(np.flatnonzero(stream.sectors[row] >> np.arange(4) & 1).tolist())
        there = held.pop(line, set())
        touches += len(sectors)
        lost += len(sectors - there)
        held[line] = there | sectors
        if len(held) > capacity:
            held.popitem(last=False)
    profile = l1_profile(stream, 3, 1)

    def gone(far, _):
        return (far >= capacity).astype(float)

    shares = profile.writes.shares(gone) if access is Access.STORE else profile.read_shares(0, 0.0, gone)
    assert sum(share.cold + share.lost for share in shares.values()) == pytest.approx(lost / touches)


def test_the_last_wave_has_the_caches_for_itself():
    """640 resident blocks of T4 write 4 times what L2 holds, and lose it every time; 40 more keep theirs."""
    kernel = kernels.rewriting(17 * 40, 103, 3)
    execution = kernel.execution(np.arange(0, 680, 40))
    work = workload(execution, find("t4"), Resources(registers=16))
    block = 2 * 103 * 128
    assert work.occupancy.blocks_per_sm == 16
    assert work.dram.written == pytest.approx(640 * 3 * block + 40 * block, rel=0.01)


@pytest.mark.parametrize("granule", [1, 2])
@pytest.mark.parametrize("kernel", [kernels.copy(60), kernels.strided(50, 64), kernels.stencil(5, 6)])
def test_dram_bytes_are_those_of_a_simulated_l2_that_holds_everything(kernel, granule):
    execution = kernel.execution()
    trace = kernel.trace(range(kernel.grid.count))
    cache = SectoredCache(1 << 20, write_back=True, granule_sectors=granule)
    of = np.repeat(trace.access_instruction, np.diff(trace.line_start)).tolist()
    for instruction, line in zip(of, trace.lines.tolist(), strict=True):
        store = kernel.instructions[instruction][2].startswith("st")
        if not store:
            cache.read(line >> 7, line & 15)
            continue
        for sector in range(4):
            if line >> sector & 1:
                cache.write(line >> 7, sector, WHOLE_SECTOR)
    cache.flush()
    gpu = find("rtx3090" if granule == 1 else "h200")
    work = workload(execution, gpu, Resources(registers=16))
    loads = [h for i, h in work.hits.items() if kernel.instructions[i][2].startswith("ld")]
    assert sum(h.dram.read for h in loads) == pytest.approx(32 * cache.fetched, rel=0.02)
    assert work.dram.written == pytest.approx(32 * cache.written_back, rel=0.02)


def test_lines_of_streaming_accesses_are_evicted_first():
    cache = SectoredCache(2)
    cache.read(1, 1)
    cache.read(2, 1, stream=True)
    cache.read(3, 1)
    assert cache.read(1, 1) == 0
    assert cache.read(2, 1) == 1


def test_partly_written_sectors_are_filled_when_they_are_evicted():
    cache = SectoredCache(4, write_back=True)
    cache.write(1, 0, 0xFF)
    cache.write(1, 1, WHOLE_SECTOR)
    cache.flush()
    assert (cache.written_back, cache.filled) == (2, 1)


def test_reads_are_marked():
    stream = kernels.copy(2).execution().reuse.stream
    assert set((stream.kind & (READ | WRITE)).tolist()) == {READ, WRITE}
