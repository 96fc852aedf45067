"""Whole launches of the examples, compiled for several targets, with streams written by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpwatt
from tests.models.pipeline.standin import streams
from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.program import Flow, Level, Program, Unit
from warpwatt.core.streams import WarpStreams
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import default_clocks, find
from warpwatt.models.pipeline import chip
from warpwatt.models.pipeline.chip import ChipLaunch, simulate_launch
from warpwatt.models.pipeline.codes import Operation, Pipe, SmPipe
from warpwatt.models.pipeline.machine import Machine, machine
from warpwatt.models.pipeline.model import chip_launch
from warpwatt.models.pipeline.reasons import bottleneck, utilisation, warp_states
from warpwatt.models.pipeline.table import instruction_table
from warpwatt.models.roofs import dram_bandwidth, dram_bytes

EXAMPLES = Path(__file__).parents[3] / "examples"
A6000, A100 = "RTX A6000", "A100-PCIE-40GB"


@lru_cache
def program(file: str, kernel: str, target: str) -> Program:
    """Return the machine code of an example."""
    options = CompileOptions(levels=frozenset({Level.SASS}))
    sass = load_kernel(EXAMPLES / file, target, options, kernel).sass
    assert sass is not None
    return sass


def sm(name: str) -> Machine:
    """Return an SM at default clocks with the bandwidths of the data sheet."""
    gpu = find(name)
    return machine(gpu, default_clocks(gpu), 0.9 * gpu.memory_bandwidth, 3 * gpu.memory_bandwidth)


def matmul(name: str, trips: int = 64, blocks: int = 4096, resident: int = 6) -> ChipLaunch:
    """Return tiled matrix multiplication whose loads hit L2."""
    board = sm(name)
    code = program("matmul.cu", "matmul_tiled", find(name).target)
    back = [i.index for i in code.instructions if i.flow is Flow.JUMP and i.guard][-1]
    table = instruction_table(code, board, {i.index: (1.0, 0.0) for i in code.instructions if i.memory})
    return ChipLaunch(code, table, streams(code, 8, {back: trips}), board, blocks, resident)


@pytest.mark.parametrize("name", [A6000, A100])
def test_tiled_matrix_multiplication_is_bound_by_shared_memory(name: str) -> None:
    """Its inner product reads more from shared memory than the load-store unit can give."""
    launched = matmul(name)
    result = simulate_launch(launched)
    busy = utilisation(result, launched)
    assert busy["lsu"] > 0.85
    assert max(busy, key=busy.__getitem__) == "lsu"
    assert sum(warp_states(result, launched).shares().values()) == pytest.approx(1)


@pytest.mark.parametrize("failing", [0, 1])
def test_what_a_simulation_among_several_fails_by_is_what_its_caller_sees(monkeypatch, failing: int) -> None:
    def simulate(number: int) -> int:
        if number == failing:
            raise UnsupportedGpuError("too large")
        return number

    launched: Any = SimpleNamespace(costs=())
    monkeypatch.setattr(chip, "_inputs", lambda _, streams, *rest, **more: streams)
    monkeypatch.setattr(chip, "simulate", simulate)
    wanted: Any = [(0, 1), (1, 1), (2, 1)]
    with pytest.raises(UnsupportedGpuError, match="too large"):
        chip._run_each(launched, wanted, 1, 1)
    found: Any = chip._run_each(launched, wanted[2:], 1, 1)
    assert found == [2]


def test_loops_cut_short_take_as_long_as_whole_ones() -> None:
    """Twice the iterations take twice the time, though both are simulated in part only."""
    once, twice = (simulate_launch(matmul(A6000, trips, 84 * 6)).cycles for trips in (400, 800))
    assert twice / once == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize(("name", "resident"), [(A6000, 6), (A6000, 2), (A100, 6), (A100, 2)])
def test_one_wave_of_loops_cut_short_stands_for_many_whole_ones(
    monkeypatch: pytest.MonkeyPatch, name: str, resident: int
) -> None:
    """Where blocks follow each other none ends alone, though the oldest is always served first."""
    launched = matmul(name, 60, 1000 * resident * 2, resident)
    work = resident * launched.streams.instructions_per_block
    monkeypatch.setattr(chip, "BUDGET", 16 * work)
    whole = simulate_launch(launched).cycles
    monkeypatch.setattr(chip, "BUDGET", work / 4)
    assert simulate_launch(launched).cycles == pytest.approx(whole, rel=0.07)


@pytest.mark.parametrize(
    ("name", "trips", "resident"), [(A6000, 8, 2), (A6000, 16, 6), (A100, 8, 6), (A100, 16, 2)]
)
def test_two_waves_of_whole_blocks_stand_for_ten(
    monkeypatch: pytest.MonkeyPatch, name: str, trips: int, resident: int
) -> None:
    """One wave with its loops cut says 4 to 20 % more: no block begins while another one ends."""
    launched = matmul(name, trips, 1000 * resident * 10, resident)
    work = resident * launched.streams.instructions_per_block
    monkeypatch.setattr(chip, "BUDGET", 16 * work)
    ten = simulate_launch(launched).cycles
    monkeypatch.setattr(chip, "BUDGET", 1.4 * work)
    assert simulate_launch(launched).cycles == pytest.approx(ten, rel=0.03)


def one_after_another(several: list[WarpStreams]) -> WarpStreams:
    """Return streams of blocks that were traced apart, in their order."""
    steps, starts, accesses = [], [np.zeros(1, np.int64)], 0
    for one in several:
        starts.append(one.starts[1:] + starts[-1][-1])
        steps.append(one.steps + np.array([0, 0, accesses]))
        accesses += len(one.access_instruction)
    columns = ("access_instruction", "lanes", "wavefronts", "sectors", "lines")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in several]) for name in columns
    }
    blocks = tuple(range(len(several)))
    return replace(
        several[0], blocks=blocks, starts=np.concatenate(starts), steps=np.concatenate(steps), **joined
    )


@pytest.mark.parametrize("middle", [4, 200, 396])
def test_blocks_of_unlike_length_take_as_long_as_their_mean(
    monkeypatch: pytest.MonkeyPatch, middle: int
) -> None:
    """Whichever of them stands in the middle of the sample, and few are simulated with their loops cut."""
    launched = matmul(A6000, 200, 84 * 8, 1)
    monkeypatch.setattr(chip, "BUDGET", 0.3 * launched.streams.instructions_per_block)
    equal = simulate_launch(launched).cycles
    trips = [4, 100, 396, 300, middle, 200, 300, 400 - middle, 100]
    code = launched.program
    back = [i.index for i in code.instructions if i.flow is Flow.JUMP and i.guard][-1]
    unlike = one_after_another([streams(code, 8, {back: count}) for count in trips])
    found = simulate_launch(replace(launched, streams=unlike)).cycles
    assert found == pytest.approx(equal, rel=0.1)


def test_no_unit_works_longer_than_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The difference of two short simulations alone would give the load-store unit over 100 % here."""
    launched = matmul(A6000, 200, 8000, 6)
    values = {**launched.machine.values, "jump_cycles": 0}
    table = launched.table.copy()
    table["issue_cycles"] = 1
    launched = replace(launched, machine=replace(launched.machine, values=values), table=table)
    monkeypatch.setattr(chip, "BUDGET", 0.1 * 6 * launched.streams.instructions_per_block)
    monkeypatch.setattr(chip, "SMALLER", 0.6)
    result = simulate_launch(launched)
    sub_cores = launched.machine.sub_cores
    counted = result.sm.counters
    busy = (counted.lsu_busy, counted.issued_instructions / sub_cores, *result.sm.pipe_busy / sub_cores)
    assert max(busy) == pytest.approx(counted.cycles)


def test_what_is_drawn_through_cut_loops_is_hardly_less_even_than_whole_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Warps meet in another order with every latency of L2: 0.3 % of whole loops, 0.8 % of half of them."""
    launched = matmul(A6000, 400, 84 * 6)
    cycles = []
    for more in range(8):
        table = launched.table.copy()
        table["l2_latency"] *= 1 + more / 100
        cycles.append([])
        for budget in (1e9, 1e5):
            monkeypatch.setattr(chip, "BUDGET", budget)
            cycles[-1].append(simulate_launch(replace(launched, table=table)).cycles)
    whole, cut = np.array(cycles).T
    assert np.sqrt(np.mean((cut / whole - 1) ** 2)) < 0.012


def test_waves_left_out_are_counted() -> None:
    """Ten times the blocks take ten times as long; a remainder costs part of a wave, give or take 3 %."""
    few, many, more = (
        simulate_launch(matmul(A6000, 4, 84 * 6 * waves + rest)).cycles
        for waves, rest in ((10, 0), (100, 0), (100, 84))
    )
    assert many / few == pytest.approx(10.0, rel=0.05)
    assert 0.97 * many < more < many + few / 3


def test_bank_conflicts_cost_time_and_what_would_be_without_them() -> None:
    """Four-way conflicts on every shared access."""
    plain = matmul(A6000)
    worse = replace(plain, streams=replace(plain.streams, wavefronts=4 * plain.streams.wavefronts))
    assert simulate_launch(worse).cycles > 2 * simulate_launch(plain).cycles


def test_warps_pass_a_barrier_one_after_the_other() -> None:
    """A P100 lets one pass in 11 cycles, later chips in 2."""
    code = program("matmul.cu", "matmul_tiled", "sm_80")
    barriers = [i.index for i in code.instructions if i.flow is Flow.BARRIER]
    for name, cycles in (("P100", 11), (A100, 2)):
        hits = {i.index: (0.0, 0.0) for i in code.instructions if i.memory}
        table = instruction_table(code, sm(name), hits)
        assert set(table["sm_pipe_cycles"][barriers]) == {cycles}


def test_before_volta_one_kind_of_core_takes_integers_and_multiplies_them_in_pieces() -> None:
    code = program("matmul.cu", "matmul_tiled", "sm_80")
    table = instruction_table(code, sm("P100"), {i.index: (0.0, 0.0) for i in code.instructions if i.memory})
    cycles = {
        i.opcode: table[i.index]["pipe_cycles"]
        for i in code.instructions
        if table[i.index]["pipe"] == Pipe.FMA
    }
    assert cycles["FFMA"] == cycles["IADD3"] == 1
    assert cycles["IMAD"] == 3
    assert cycles["IMAD.WIDE"] == 4


def test_conversions_from_and_to_64_bits_pass_the_special_functions_where_fp64_has_lanes_of_its_own() -> None:
    """16 a clock on V100, A100 and H200 (CUDA C++ Programming Guide), where DFMA runs at 32 or 64."""
    code = program("matmul.cu", "matmul_tiled", "sm_80")
    at = next(i.index for i in code.instructions if i.opcode == "FFMA")
    convert = replace(code.instructions[at], opcode="F2F.F64.F32", unit=Unit.SFU, throughput_class="cvt_64")
    changed = replace(code, instructions=(*code.instructions[:at], convert, *code.instructions[at + 1 :]))
    for name in ("V100 PCIe", A100, "H200"):
        row = instruction_table(changed, sm(name))[at]
        assert (row["pipe"], row["pipe_cycles"]) == (Pipe.XU, 8)
        assert row["operation"] == Operation.MIO_PIPE, "they wait in the memory queue"
    assert instruction_table(changed, sm(A6000))[at]["sm_pipe"] == SmPipe.FP64


def test_copies_are_bound_by_dram() -> None:
    """Saxpy that misses everything runs at the bandwidth."""
    board = sm(A100)
    code = program("saxpy.cu", "saxpy", "sm_80")
    table = instruction_table(code, board, {i.index: (1.0, 1.0) for i in code.instructions if i.memory})
    launched = ChipLaunch(code, table, streams(code, 8), board, 50_000, 8)
    result = simulate_launch(launched)
    bytes_per_cycle = 50_000 * 256 * 12 / result.cycles / board.sm_count
    assert bytes_per_cycle == pytest.approx(board.dram_bytes, rel=0.06)


def test_short_blocks_are_bound_by_their_dispatch() -> None:
    """A million blocks of one warp whose loads all hit; long ones do not notice."""
    board = sm(A100)
    code = program("saxpy.cu", "saxpy", "sm_80")
    table = instruction_table(code, board, {i.index: (0.0, 0.0) for i in code.instructions if i.memory})
    launched = ChipLaunch(code, table, streams(code, 1), board, 1_080_000, 32)
    result = simulate_launch(launched)
    busy = utilisation(result, launched)
    assert bottleneck(busy, {}) == "block dispatch"
    assert result.cycles == pytest.approx(10_000 * board.dispatch_cycles, rel=0.02)
    assert utilisation(simulate_launch(matmul(A100)), matmul(A100)).get("dispatch", 0.0) < 0.2


def test_the_warps_of_a_block_take_their_turn_too() -> None:
    """Blocks of 16 warps that do next to nothing start no faster than their warps (RTX 30)."""
    board = sm(A6000)
    code = program("saxpy.cu", "saxpy", "sm_86")
    table = instruction_table(code, board, {i.index: (0.0, 0.0) for i in code.instructions if i.memory})
    launched = ChipLaunch(code, table, streams(code, 16), board, 84 * 1000, 3)
    assert 16 * board.warp_dispatch_cycles > 2 * board.dispatch_cycles
    result = simulate_launch(launched)
    assert bottleneck(utilisation(result, launched), {}) == "block dispatch"
    assert result.cycles == pytest.approx(1000 * 16 * board.warp_dispatch_cycles, rel=0.02)


@pytest.mark.parametrize(("name", "cycles"), [("Tesla P100 PCIe 16GB", 11), ("GTX 980", 4), ("T4", 2)])
def test_barriers_of_older_gpus_let_fewer_warps_pass(name: str, cycles: int) -> None:
    """A P100 lets 0.091 warps a cycle pass, Turing 0.5: the unit is busy as long as all that come take."""
    launched = replace(matmul("T4", 40, 100, 1), machine=sm(name))
    table = instruction_table(launched.program, launched.machine)
    result = simulate_launch(replace(launched, table=table, blocks=launched.machine.sm_count))
    barriers = [i.index for i in launched.program.instructions if i.flow is Flow.BARRIER]
    steps = launched.streams.steps
    passed = sum(int(((steps[:, 0] <= at) & (at < steps[:, 1])).sum()) for at in barriers)
    assert result.sm.sm_pipe_busy[SmPipe.BARRIER] == cycles * passed


def test_units_of_both_amperes() -> None:
    """sm_86 has two FP32 paths per sub-core and half the load-store lanes of sm_80."""
    for name, paths, cycles in ((A6000, 2, 2.0), (A100, 1, 1.0)):
        launched = matmul(name)
        table, code = launched.table, launched.program.instructions
        fma = next(i.index for i in code if i.opcode == "FFMA")
        load = next(i.index for i in code if i.opcode == "LDS")
        assert (table["alternative_pipe"][fma] != Pipe.NONE) == (paths == 2)
        assert table["lsu_cycles"][load] == cycles
        assert table["shared_memory"][load]
        assert np.all(table["stall_count"] >= 0)


IN_STEP = """extern "C" __global__ void rows(const int *a, int *c) {
    extern __shared__ int room[];
    const int *from = a + (long)blockIdx.x * 65536 + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 16; ++k) {
        int v[16];
        #pragma unroll
        for (int j = 0; j < 16; ++j) v[j] = from[(k * 16 + j) * 256];
        #pragma unroll
        for (int j = 0; j < 16; ++j) sum += v[j];
    }
    float tail = sum;
    for (int k = 0; k < 1000; ++k) tail = tail * 1.1f + sum;
    c[(long)blockIdx.x * 256 + threadIdx.x] = (int)tail;
}
"""


@pytest.mark.toolchain
def test_two_blocks_that_load_and_then_compute_keep_dram_busy_in_turn() -> None:
    """In step, both would compute at one time: an eighth of it without loads."""
    found = warpwatt.predict(
        IN_STEP,
        gpu="h200",
        grid=6336,
        block=256,
        shared=100_000,
        args={"a": "i32[6336*65536]", "c": "i32[6336*256]"},
    )
    least = dram_bytes(found.case) / dram_bandwidth(found.case)[0]
    assert found.case.workload.occupancy.blocks_per_sm == 2
    assert least <= found.time.value < 1.06 * least


ONE_ROW = """extern "C" __global__ void row(const float *a, float *c) {
    extern __shared__ float room[];
    const long at = blockIdx.x * 256L + threadIdx.x;
    room[threadIdx.x] = a[at];
    __syncthreads();
    c[at] = room[255 - threadIdx.x];
}
"""


@pytest.mark.toolchain
def test_what_nothing_hides_of_one_row_blocks_shows() -> None:
    """Alone on its SM a block of one row takes its start, and the way to DRAM and back; seven hide it."""
    rounds = 40

    def cycles(shared: int) -> float:
        found = warpwatt.predict(
            ONE_ROW,
            gpu="h200",
            grid=132 * rounds,
            block=256,
            shared=shared,
            args={"a": f"f32[{132 * rounds * 256}]", "c": f"f32[{132 * rounds * 256}]"},
        )
        return simulate_launch(chip_launch(found.case)).cycles

    gpu = find("h200")
    board = machine(gpu, default_clocks(gpu), gpu.memory_bandwidth, gpu.memory_bandwidth)
    alone, together = cycles(200_000), cycles(30_000)
    apart = board.values["block_cycles"] + board.dram_latency
    assert rounds * apart < alone < 1.3 * rounds * apart
    assert together < 0.3 * alone


def test_gm204_hands_out_blocks_at_its_own_pace(tmp_path: Path) -> None:
    """Gaussian's 262,144 blocks took 0.973 ms on a GTX 980 at every SM clock from 700 to 1500 MHz."""
    source = tmp_path / "short.cu"
    source.write_text("__global__ void f(float *x) { if (blockIdx.x == 0) x[0] = 1; }")

    def seconds(gpu: str, clock: str) -> float:
        found = warpwatt.predict(source, gpu=gpu, clock=clock, grid=262_144, block=16, args={"x": "f32[32]"})
        return found.time.value

    slow, fast = (seconds("gtx980", f"{clock},3500") for clock in (700, 1300))
    assert slow == pytest.approx(fast, rel=0.03)
    assert fast == pytest.approx(0.973e-3, rel=0.03)
    assert seconds(A100, "705") > 1.5 * seconds(A100, "1410")
