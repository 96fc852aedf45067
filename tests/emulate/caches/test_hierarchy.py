"""Bytes at every level of kernels whose traffic one can count by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

import warpwatt
from tests.emulate.caches import kernels
from warpwatt.core.case import Case
from warpwatt.core.gpu import Clocks
from warpwatt.core.launch import Dim3, L2State, Launch
from warpwatt.core.program import Access, Kernel, Resources
from warpwatt.core.reuse import BYPASS, READ, WRITE, Growth, Lag, LineStream
from warpwatt.emulate.caches.curves import written_back
from warpwatt.emulate.caches.growth import _only_begin_alike
from warpwatt.emulate.caches.hierarchy import _lost, _with_left_out
from warpwatt.emulate.caches.l1 import ReadShares, l1_profile
from warpwatt.emulate.caches.movement import steps_of
from warpwatt.emulate.caches.policy import policy
from warpwatt.emulate.caches.reuse import reuse_of
from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
from warpwatt.emulate.caches.totals import _stretch
from warpwatt.emulate.caches.waves import Waves
from warpwatt.emulate.sampling import sample_blocks
from warpwatt.emulate.workload import workload
from warpwatt.gpus import default_clocks, find
from warpwatt.models.dram import slowdown, visit_bytes
from warpwatt.models.pipeline.model import _slower

RESOURCES = Resources(registers=16)


def work_of(kernel, gpu="rtx3090", blocks=None):
    return workload(kernel.execution(blocks), find(gpu), RESOURCES)


def test_what_the_sample_of_lines_leaves_out_hits_as_others_do():
    rows = [(0, 5, READ), (0, 6, READ), (1, 7, READ), (2, 8, READ | WRITE), (3, 9, READ | BYPASS)]
    instruction, line, kind = (np.array(column) for column in zip(*rows, strict=True))
    block, time = np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int64)
    sectors = np.full(len(rows), 15, np.uint8)
    one = instruction.astype(np.int32)
    stream = LineStream(one, block, block, time, line, sectors, kind.astype(np.uint8))
    known = {0: ReadShares(hit=0.5, cold=0.5), 4: ReadShares(hit=1.0)}
    found = _with_left_out(known, stream, ())
    assert found == {**known, 1: ReadShares(hit=0.75, cold=0.25)}
    table = Growth("table", (1, 4), written=False, block_bytes=32, total=32)
    assert _with_left_out(known, stream, (table,)) == {**known, 1: known[4]}


def sampled(kernel):
    return sample_blocks(kernel.grid).numbers


@pytest.mark.parametrize("gpu", ["rtx3090", "h200", "v100"])
@pytest.mark.parametrize("blocks", [100, 3_000])
def test_a_copy_moves_its_footprint_once(gpu, blocks):
    kernel = kernels.copy(blocks)
    work = work_of(kernel, gpu, sampled(kernel))
    assert work.dram.read == pytest.approx(blocks * 512)
    assert work.dram.written == pytest.approx(blocks * 512)
    assert work.l2.read == pytest.approx(blocks * 512)
    assert work.hits[0].l1_hits == pytest.approx(0, abs=1e-12)


def test_a_copy_of_any_size_costs_the_same():
    kernel = kernels.copy(2**31 - 1)
    work = work_of(kernel, "rtx3090", sampled(kernel))
    assert work.dram.read == pytest.approx(512 * kernel.grid.count)


@pytest.mark.parametrize(
    ("blocks", "least", "most"), [(2_000, 0, 0.01), (8_000, 0.2, 0.8), (24_000, 0.99, 1)]
)
def test_repeats_find_what_is_smaller_than_l2_and_nothing_of_what_is_larger(blocks, least, most):
    kernel = kernels.copy(blocks)  # of 1 KiB per block; the RTX 3090's L2 has 6 MiB
    execution = kernel.execution(sampled(kernel))
    warm = replace(execution, launch=replace(execution.launch, l2=L2State.WARM))
    work = workload(warm, find("rtx3090"), RESOURCES)
    assert least <= work.dram.read / (blocks * 512) <= most


def test_whole_sectors_move_for_strided_access():
    kernel = kernels.strided(500, 32)
    work = work_of(kernel, "rtx3090", sampled(kernel))
    assert work.dram.read == pytest.approx(500 * 32 * 32)
    assert work_of(kernel, "a100-sxm4-40gb", sampled(kernel)).dram.read == pytest.approx(500 * 32 * 32)


def test_64_byte_fetches_double_what_one_sector_in_two_asks_for():
    kernel = kernels.strided(500, 64)
    small = work_of(kernel, "rtx3090", sampled(kernel)).dram.read
    assert small == pytest.approx(500 * 32 * 32)
    assert work_of(kernel, "h200", sampled(kernel)).dram.read == pytest.approx(2 * small)


def test_a_table_is_read_from_dram_once_and_stays_in_l1():
    kernel = kernels.table(2_000, entries=64, lookups=64)
    work = work_of(kernel, "rtx3090", sampled(kernel))
    assert work.hits[0].dram.read == pytest.approx(256, rel=0.1)
    assert work.hits[0].l1_hits > 0.98
    assert work.hits[0].l2_hits > 0.98


def test_tiled_matmul_reads_each_matrix_once_from_dram():
    kernel = kernels.matmul(10)
    work = work_of(kernel, "rtx3090", sampled(kernel))
    whole = 4 * 160 * 160
    assert work.hits[0].dram.read == pytest.approx(whole, rel=0.01)
    assert work.hits[1].dram.read == pytest.approx(whole, rel=0.01)
    assert work.dram.written == pytest.approx(whole)
    assert work.l1.read == pytest.approx(2 * 10 * whole)


def test_a_stencil_reads_its_halo_from_l2_only():
    kernel = kernels.stencil(16, 20)
    work = work_of(kernel, "rtx3090", sampled(kernel))
    once = kernels.exact_footprint(kernel, 2)
    assert work.dram.read == pytest.approx(once, rel=0.03)
    assert work.l2.read < 1.6 * once
    assert work.l1.read > 5 * once


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.copy(700),
        kernels.strided(300, 48),
        kernels.matmul(7),
        kernels.stencil(12, 10),
        kernels.interleaved(30, 20),
        kernels.byte_columns(1024, 32),
    ],
    ids=["copy", "strided", "matmul", "stencil", "interleaved", "byte columns"],
)
@pytest.mark.parametrize("known", [True, False], ids=["sizes known", "sizes unknown"])
def test_footprints_from_samples_are_those_of_the_whole_grid(kernel, known):
    sizes = {slot: (name, size if known else None) for slot, (name, size) in kernel.buffers.items()}
    reuse = kernel.replaced(buffers=sizes).execution(sampled(kernel)).reuse
    for slot, (name, _) in kernel.buffers.items():
        total = sum(g.total for g in reuse.growths if g.buffer == name)
        assert total == pytest.approx(kernels.exact_footprint(kernel, slot), rel=0.04), name


def test_sparse_hits_of_a_hash_table_are_not_taken_for_a_pattern():
    """A sample hits one sector in 5,000: what lies near another lies there by chance."""
    blocks, sectors = 20_000, (1 << 29) // 32
    kernel = kernels.scattered(blocks, 32 * sectors)
    reuse = kernel.execution(sampled(kernel)).reuse
    hit = -math.expm1(-128 * blocks / sectors) * sectors
    assert [g.total for g in reuse.growths] == pytest.approx([32 * hit] * 2, rel=0.1)


def test_neighbours_of_a_grid_that_is_run_whole_meet_on_no_sm():
    """Blocks 0 and 82 of the 144 share neither rows nor columns; 0 and 1 do."""
    kernel = kernels.matmul(12)
    execution = kernel.execution()
    alone = l1_profile(execution.reuse.stream, 1, 1).read_shares(1e6)
    hits = workload(execution, find("rtx3090"), RESOURCES).hits
    assert {i: hits[i].l1_hits for i in alone} == pytest.approx({i: f.hit for i, f in alone.items()})


def test_what_only_the_first_blocks_read_is_shared_as_theirs():
    """The second block leaves before its load, as on the diagonal of a blocked shortest path."""
    stream = LineStream(
        instruction=np.array([0, 1, 0], np.int32),
        block=np.array([0, 0, 1], np.int32),
        warp=np.array([0, 0, 1], np.int32),
        time=np.array([0, 1, 0]),
        line=np.array([0, 1, 9]),
        sectors=np.full(3, 15, np.uint8),
        kind=np.full(3, READ, np.uint8),
    )
    shares = l1_profile(stream, 1, 2).read_shares(100, 0.9)
    assert [shares[i].cold for i in (0, 1)] == pytest.approx([1, 1])


def test_scattered_blocks_fill_the_gaps_that_a_sample_leaves():
    """Each of 512 blocks writes one of every 512 sectors: a sample's gaps are not the grid's."""
    numbers = np.sort(np.random.default_rng(0).permutation(512)[:20])
    blocks = SampledBlocks(Dim3(512), numbers, np.ones(20))
    sets = [np.arange(64) * 512 + number * 7 % 512 for number in numbers]
    assert _stretch(np.sort(np.concatenate(sets)), sets, blocks) == pytest.approx(32 * 64 * 512, rel=0.15)
    every_other = [np.arange(64) * 2 + 128 * number for number in numbers]
    found = _stretch(np.concatenate(every_other), every_other, blocks)
    assert found == pytest.approx(32 * 64 * 512, rel=0.15)


def test_first_blocks_of_runs_do_not_speak_for_the_others():
    """Every other 64 blocks of a merge touch as many again behind them: nothing is touched twice."""
    firsts = np.arange(64, 2048, 128)
    numbers = np.concatenate([firsts, firsts[:4] + 1])
    blocks = SampledBlocks(Dim3(2048), numbers, np.ones(len(numbers)))
    assert steps_of(np.arange(16, dtype=np.int32), firsts * 64, blocks) == pytest.approx((64, 0, 0), abs=1e-6)
    first = np.concatenate([firsts * 64, firsts[:4] * 64 + 32])
    skipped = [base + np.arange(64) for base in first]
    assert steps_of(np.arange(20, dtype=np.int32), first, blocks, lambda: skipped) == ()


def test_neighbours_that_leave_their_first_sectors_out_are_neighbours():
    firsts = np.arange(64, 2048, 128)
    numbers = np.concatenate([firsts, firsts[:4] + 1])
    blocks = SampledBlocks(Dim3(2048), numbers, np.ones(len(numbers)))
    masked = [64 * number + np.arange(3 * (k >= 16), 64) for k, number in enumerate(numbers)]
    first = np.array([sectors[0] for sectors in masked])
    found = steps_of(np.arange(20, dtype=np.int32), first, blocks, lambda: masked)
    assert found == pytest.approx((64, 0, 0), abs=1e-6)
    assert steps_of(np.arange(20, dtype=np.int32), first, blocks) == ()


def test_what_all_sms_use_is_used_by_one_of_them_sooner():
    """68 SMs stream and look a table up: its lines' last use is a 68th as far away as that of an SM's own."""
    stream = Growth("x", (0,), written=False, block_bytes=4096, total=4096 * 68, lags=())
    table = Growth("table", (1,), written=False, block_bytes=8192, total=8192, lags=(Lag(1, 67 / 68),))
    waves = Waves(Launch(Dim3(68), Dim3(64)), 68, float(1 << 20), (stream, table))
    lost = _lost(waves, 1, 68)
    far = np.array([1e2, 1e3, 1e4])
    own, shared = (np.full(3, index, np.int32) for index in (0, 1))
    assert lost(68 * far, shared) == pytest.approx(lost(far, own))
    assert lost(far, own)[2] > 0.9
    assert lost(far, shared)[2] < 0.01


def masked_tiles(side: int) -> kernels.TracedKernel:
    """Tiles of 16 x 16 bytes: a thread writes where one random number is less than another."""
    at = np.random.default_rng(5).random(16 * side)

    def accesses(x, y, z):
        rows, columns = 16 * x + np.arange(16), 16 * y + np.arange(16)
        for two in range(8):
            row = rows[[2 * two, 2 * two + 1]]
            kept = at[row][:, None] < at[columns][None, :]
            addresses = (row[:, None] * 16 * side + columns[None, :])[kept]
            yield [(0, kernels.slot(2) + addresses)] if len(addresses) else []

    stores = ((Access.STORE, 1, "st.global.u8"),)
    return kernels.TracedKernel(Dim3(side, side), Dim3(256), stores, accesses, {2: ("y", None)})


def test_tiles_that_leave_some_of_their_rows_out_still_share_sectors_with_their_neighbours():
    kernel = masked_tiles(24)
    (growth,) = kernel.execution(sampled(kernel)).reuse.growths
    assert growth.lags is not None
    assert growth.total == pytest.approx(kernels.exact_footprint(kernel, 2), rel=0.1)


def test_tiles_fill_the_gaps_between_the_rows_of_their_neighbours():
    """Tiles of 16 rows and two sectors of an image 96 sectors wide, as a lens moves them."""
    numbers = sample_blocks(Dim3(48, 48)).numbers
    blocks = SampledBlocks(Dim3(48, 48), numbers, np.ones(len(numbers)))
    sets = [
        np.add.outer((16 * (n // 48) + np.arange(16)) * 96, 2 * (n % 48) + np.arange(2)).ravel()
        for n in numbers
    ]
    assert _stretch(np.unique(np.concatenate(sets)), sets, blocks) == pytest.approx(32 * 96 * 768, rel=0.15)


def test_more_cache_never_hurts():
    kernel = kernels.stencil(16, 16)
    profile_lines = np.arange(0, 3000, 50)
    profile = l1_profile(kernel.execution().reuse.stream, 4, 1)
    shares = [profile.read_shares(float(lines))[4].hit for lines in profile_lines]
    assert shares == sorted(shares)


def test_tiles_that_share_a_sector_with_every_other_neighbour():
    """Of three interleaved bytes a tile's row is a sector and a half; pairs of one kind are sampled."""
    kernel = kernels.interleaved(30, 20)
    pairs = sorted({first + step for first in range(0, 560, 34) for step in (0, 1, 30)})
    unknown = {slot: (name, None) for slot, (name, _) in kernel.buffers.items()}
    reuse = kernel.replaced(buffers=unknown).execution(pairs).reuse
    total = sum(g.total for g in reuse.growths if g.buffer == "x")
    assert total == pytest.approx(kernels.exact_footprint(kernel, 2), rel=0.04)


def rows_apart(blocks: int) -> kernels.TracedKernel:
    """Each thread walks its own row of 1 KiB, four bytes at a time."""

    def accesses(x, y, z):
        for warp in range(2):
            row = (x * 64 + warp * 32 + kernels.LANES) * 1024
            yield [(0, kernels.slot(2) + row + 4 * k) for k in range(256)]

    loads = ((Access.LOAD, 4, "ld.global.f32"),)
    return kernels.TracedKernel(Dim3(blocks), Dim3(64), loads, accesses, {2: ("x", blocks * 65536)})


@pytest.mark.parametrize(
    ("kernel", "index", "run"),
    [
        (kernels.copy(300), 0, math.inf),
        (kernels.interleaved(12, 10), 0, math.inf),
        (kernels.stencil(12, 10), 0, math.inf),
        (kernels.strided(300, 256), 0, 32.0),
        (kernels.strided(300, 64), 0, 128.0),
        (rows_apart(40), 0, 32.0),
    ],
    ids=["copy", "interleaved", "stencil", "strided", "in one piece", "rows apart"],
)
def test_what_lies_side_by_side_is_asked_for_together(kernel, index, run):
    """Endless where the next block goes on; a thread's own row is long, but asked for bit by bit."""
    assert work_of(kernel, "rtx3090").hits[index].run == run


def test_scattered_sectors_keep_dram_busy_with_opening_pages():
    gpu = find("rtx3070")
    clocks = default_clocks(gpu)
    visit = visit_bytes(gpu, clocks)
    assert 32 < visit < 128
    assert slowdown(32.0, visit) == pytest.approx(visit / 32)
    assert slowdown(math.inf, visit) == slowdown(128.0, visit) == 1.0
    assert visit_bytes(find("h200"), clocks) == 0.0  # its timings are not known


def test_a_channel_of_hbm2_moves_three_cycles_of_32_bytes_while_it_opens_a_page():
    """Half of what a transposition in tiles of 16 columns moves are stores of 64 bytes side by side."""
    visit = visit_bytes(find("v100 pcie 16gb"), Clocks(1380e6, 850e6))
    assert visit == pytest.approx(3 * 32, rel=1e-3)
    assert slowdown(64.0, visit) == pytest.approx(1.5, rel=1e-3)


@pytest.mark.parametrize(
    ("read", "written", "moved"),
    [
        (1.0, 0.0, 1.03),  # bfs: Kernel2
        (1.99, 0.0, 2.14),  # gmm: mstep_N
        (33.56, 0.0, 35.44),  # fpc: 35.31 and 35.65
        (419.8, 0.0, 421.4),  # spmv: mv_dense
        (100.67, 25.17, 126.0),  # a fifth of it written: none stays, net (atan2, ising)
        (0, 0.39, 0.03),  # cfd: initialize_buffer
        (0, 1.049, 0.524),  # particles: memSetK
        (0, 1.888, 1.12),  # jaccard: fill, 1.25 and 0.99
        (0, 14.75, 13.87),  # floydwarshall2: init1
        (0, 134.22, 133.28),  # heat: zero
        (6.42, 6.42, 12.02),  # channelShuffle: NCHW
        (8.36, 8.36, 16.26),  # recursiveGaussian: Transpose, 16.12 and 16.41
        (8.39, 8.39, 15.89),  # reaction: derivative_x2_zeroflux
        (80.0, 40.0, 159.63 - 40.0),  # swish: the gradient, one input less
    ],
)
def test_what_is_written_last_stays_in_l2_and_what_was_dirty_before_goes(read, written, moved):
    """MB by Nsight Compute on an RTX 3080 with caches flushed before (gpuFLOPBench)."""
    back = written_back(1e6 * written, 1e6 * (read + written), policy(find("rtx3080")))
    assert read + written * back.own + back.before / 1e6 == pytest.approx(moved, abs=0.45)


def test_what_reads_drive_out_is_dram_traffic_of_theirs():
    """12.8 MB read, nothing written: most of what a flush left dirty goes (lanczos: 1.70 and 1.74 MB)."""
    reading = kernels.copy(25_000).replaced(instructions=((Access.LOAD, 4, "ld.global.f32"),) * 2)
    launch = Launch(reading.grid, reading.block, l2=L2State.COLD)
    work = workload(reading.execution(sampled(reading), launch), find("rtx3080"), RESOURCES)
    assert sum(hits.displaced for hits in work.hits.values()) == pytest.approx(1.8e6, rel=0.1)
    assert work.dram.written == pytest.approx(sum(hits.displaced for hits in work.hits.values()))
    board = find("rtx3080")
    kernel = Kernel("traced", "traced", board.target, RESOURCES, ptx=reading.program)
    slower = _slower(Case(kernel, work, launch, board, default_clocks(board)))
    read = sum(hits.dram.read for hits in work.hits.values())
    assert list(slower.values()) == pytest.approx([1 + work.dram.written / read] * 2, rel=0.01)


def test_a_line_of_which_a_sector_is_dirty_takes_the_room_of_a_whole_one():
    """14825 sectors in lines of their own move 1.0 to 1.2 MB (gpuFLOPBench: frna), side by side nothing."""
    alone, together = kernels.strided(464, 128), kernels.strided(464, 32)
    moved = {}
    for name, kernel in (("alone", alone), ("together", together)):
        stores = ((Access.STORE, 4, "st.global.f32"),) * 2
        writing = kernel.replaced(instructions=stores)
        launch = Launch(writing.grid, writing.block, l2=L2State.COLD)
        moved[name] = workload(writing.execution(launch=launch), find("rtx3080"), RESOURCES).dram.total
    assert moved["alone"] == pytest.approx(1.05e6, rel=0.25)
    assert moved["together"] < 0.1e6


def test_writes_are_paid_after_other_data_and_not_where_they_stay():
    kernel = kernels.copy(1_000)
    found = {}
    for state in L2State:
        launch = Launch(kernel.grid, kernel.block, l2=state)
        execution = kernel.execution(sampled(kernel), launch)
        found[state] = workload(execution, find("rtx3090"), RESOURCES).dram
    assert found[L2State.PREVIOUS].written == pytest.approx(512_000)
    assert 0 < found[L2State.COLD].written < 0.5 * 512_000
    assert found[L2State.WARM].total == pytest.approx(0, abs=5_000)
    assert found[L2State.COLD].read == found[L2State.PREVIOUS].read == pytest.approx(512_000)


@pytest.mark.parametrize(("blocks", "times"), [(4, 1.0), (4_080, 2.0)])
def test_slots_taken_by_compare_and_swap_and_filled_later_are_written_twice_where_l2_is_full(blocks, times):
    """As linearprobing's inserts are on an RTX 3080: 67 MB for the keys and as much for the values."""
    slots = np.random.default_rng(0).permutation(blocks * 256)

    def accesses(x, y, z):
        for warp in range(8):
            own = slots[(x * 8 + warp) * 32 + kernels.LANES]
            yield [(0, kernels.slot(2) + 128 * own), (1, kernels.slot(2) + 128 * own + 4)]

    both = ((Access.ATOMIC, 4, "ATOMG.E.CAS.STRONG.GPU"), (Access.STORE, 4, "STG.E"))
    table = {2: ("t", blocks * 256 * 128)}
    kernel = kernels.TracedKernel(Dim3(blocks), Dim3(256), both, accesses, table)
    numbers = np.array([3, 0, 1, 2]) if blocks == 4 else sampled(kernel)
    assert work_of(kernel, "rtx3080", numbers).dram.written == pytest.approx(
        times * blocks * 256 * 32, rel=0.1
    )


def test_what_several_loads_reach_of_a_buffer_is_no_more_than_it():
    """One goes through it in order, the other looks here and there: together they cannot read it twice."""
    blocks = 4_000

    def accesses(x, y, z):
        there = np.random.default_rng(x).integers(0, blocks, 32)
        own = kernels.slot(2) + 4 * kernels.LANES
        yield [(0, own + 128 * x), (1, own + 128 * there.astype(kernels.LANES.dtype))]

    loads = ((Access.LOAD, 4, "ld.global.f32"),) * 2
    kernel = kernels.TracedKernel(Dim3(blocks), Dim3(32), loads, accesses, {2: ("x", blocks * 128)})
    assert work_of(kernel, blocks=sampled(kernel)).dram.read == pytest.approx(blocks * 128, rel=0.01)


def test_places_drawn_from_a_counter_are_written_once_each():
    """Blocks append 32 floats each, in the order in which they are run."""
    grid, numbers = Dim3(4_000), np.array([2_000, 0, 3_999, 17, 900, 3_000])
    place = {int(number): k for k, number in enumerate(numbers)}

    def accesses(x, y, z):
        yield [(0, kernels.slot(2) + 128 * place[x] + 4 * kernels.LANES)]

    kernel = kernels.TracedKernel(
        grid, Dim3(32), ((Access.STORE, 4, "st.global.f32"),), accesses, {2: ("out", 4_000 * 128)}
    )
    work = workload(kernel.execution(numbers), find("rtx3090"), RESOURCES)
    assert work.dram.written == pytest.approx(4_000 * 128)


def unrolled(blocks: int) -> kernels.TracedKernel:
    """Each thread reads 64 bytes of its own, a sector of them with each of two instructions."""

    def accesses(x, y, z):
        for warp in range(4):
            start = kernels.slot(2) + ((x * 4 + warp) * 32 + kernels.LANES) * 64
            yield [(0, start), (1, start + 32)]

    loads = ((Access.LOAD, 4, "ld.global.f32"),) * 2
    return kernels.TracedKernel(Dim3(blocks), Dim3(128), loads, accesses, {2: ("x", blocks * 8192)})


def test_what_threads_read_with_two_loads_lies_side_by_side():
    assert work_of(unrolled(300)).hits[0].run == math.inf


def wavelet(blocks: int) -> kernels.TracedKernel:
    """One instruction stores 32, 16, 8, ... values of a block, those of all blocks side by side each time."""

    def accesses(x, y, z):
        warp, start = [], 32 * blocks
        for level in range(6):
            stored = 32 >> level
            warp.append((0, kernels.slot(2) + (start + x * stored + np.arange(stored)) * 32))
            start //= 2
        yield warp

    stores = ((Access.STORE, 32, "st.global"),)
    return kernels.TracedKernel(Dim3(blocks), Dim3(32), stores, accesses, {2: ("y", 2048 * blocks)})


def test_levels_that_move_by_different_steps_are_told_apart():
    kernel = wavelet(4096)
    execution = kernel.execution(sampled(kernel))
    assert sum(g.total for g in execution.reuse.growths) == pytest.approx(63 * 32 * 4096, rel=0.02)
    assert sum(g.parts[0] for g in execution.reuse.growths) == pytest.approx(1)
    written = workload(execution, find("rtx3090"), RESOURCES).dram.written
    assert written == pytest.approx(63 * 32 * 4096, rel=0.02)


def test_gathers_by_the_table_of_a_mesh_share_what_rows_and_planes_do():
    """Nodes lie 129 in a row, cells 128: no block lies where its number says, but nearly."""
    kernel = kernels.corner_gathers(128)
    work = work_of(kernel, blocks=sampled(kernel))
    assert work.dram.read == pytest.approx(8 * 129**3 + 64 * 128**3, rel=0.06)


def test_gathers_that_follow_no_number_share_by_chance_alone():
    order = np.random.default_rng(0).permutation(65**3)
    kernel = kernels.corner_gathers(64, order)
    (gathered,) = (g for g in kernel.execution(sampled(kernel)).reuse.growths if g.buffer == "nodes")
    assert gathered.lags is None


def test_walks_that_begin_at_one_place_and_go_on_elsewhere_share_little():
    """Every block begins with the head of its list, in one sector, and follows a chain of its own."""
    numbers = np.sort(np.random.default_rng(0).permutation(2000)[:20])
    sets = [np.append(0, 1 + 40 * int(number) + np.arange(0, 40, 3)) for number in numbers]
    blocks = SampledBlocks(Dim3(2000), numbers, np.ones(20))
    assert _only_begin_alike(sets, (0.0, 0.0, 0.0), blocks)
    table = [np.arange(14)] * 20
    assert not _only_begin_alike(table, (0.0, 0.0, 0.0), blocks)
    assert not _only_begin_alike(sets, (40.0, 0.0, 0.0), blocks)


GUARDED = """
__global__ void step(int nx, int ny, int nz, const float* __restrict__ in, float* __restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int i = (z * ny + y) * nx + x;
    float c = in[i];
    if (x > 0 && y > 0 && z > 0 && x < nx - 1 && y < ny - 1 && z < nz - 1)
        c += in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny];
    out[i] = c;
}
"""


@pytest.mark.toolchain
def test_a_sample_of_a_guarded_stencil_in_space_is_not_taken_for_its_rim():
    """Of 27 places of a grid 26 lie at its rim, where guards leave sectors out; few blocks do."""
    size = 128 * 128 * 128
    args = {"nx": 128, "ny": 128, "nz": 128, "in": f"f32[{size}]", "out": f"f32[{size}]"}
    found = warpwatt.predict(GUARDED, gpu="rtx3080", grid=(4, 32, 64), block=(32, 4, 2), args=args)
    assert found.case.workload.dram.read == pytest.approx(4 * size, rel=0.02)


def test_what_a_trace_of_the_whole_grid_holds_no_more_of_is_touched_too():
    """Long blocks fill the room for traces early: what they go on to touch is as much more as they access."""
    kernel = replace(kernels.copy(10), buffers={2: ("x", 1 << 20), 3: ("y", 1 << 20)})
    blocks = SampledBlocks(kernel.grid, np.arange(10), np.ones(10))
    trace = kernel.trace(range(10))
    found = reuse_of(trace, kernel.program, blocks, kernel.buffers, scales={0: 4.0, 1: 4.0})
    assert [growth.total for growth in found.growths] == pytest.approx([4 * 10 * 4 * 128] * 2)
