"""Load-store, atomics and barrier parts of the roofs, on kernels parsed from PTX."""

from dataclasses import replace

import pytest

from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.case import Case
from warpwatt.core.execution import AccessPattern, Traffic
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Access, Instruction, Kernel, MemoryAccess, Resources, Space, Unit
from warpwatt.emulate.workload import workload
from warpwatt.gpus import default_clocks, find
from warpwatt.isa import ptx
from warpwatt.models.roofs import (
    ATOMIC_CYCLES,
    L2_CLOCK_SHARE,
    SHARED_ATOMIC_CYCLES,
    SLICE_BYTES,
    atomic_cycles,
    dram_bandwidth,
    l1_bytes,
    load_store_cycles,
    roofs,
)
from warpwatt.program.counting import static_execution

HISTOGRAM = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 .ptr in, .param .u64 .ptr bins)
{
.reg .b32 %r<8>;
.reg .b64 %l<8>;
ld.param.u64 %l1, [in];
ld.param.u64 %l2, [bins];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3;
mul.wide.s32 %l3, %r4, 4;
add.s64 %l4, %l1, %l3;
ld.global.u32 %r5, [%l4];
mul.wide.s32 %l5, %r5, 4;
add.s64 %l6, %l2, %l5;
red.global.add.u32 [%l6], 1;
ret;
}
"""
SHARED = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry k()
{
.reg .b32 %r<8>;
.shared .align 4 .b8 tile[16384];
mov.u32 %r1, %tid.x;
mul.lo.s32 %r2, %r1, STRIDE;
mov.u32 %r3, tile;
add.s32 %r4, %r3, %r2;
st.shared.u32 [%r4], %r1;
BARRIER
ld.shared.u32 %r5, [%r4];
ret;
}
"""


def case(text, gpu, launch):
    module = ptx.parse(text)
    program = ptx.lower(module, "k")
    device, resources = find(gpu), Resources(16)
    kernel = Kernel("k", "k", program.target, resources, ptx=program)
    work = workload(static_execution(program, launch), device, resources)
    return Case(kernel, work, launch, device, default_clocks(device))


def histogram(fill, gpu="RTX 3060", elements=1 << 24):
    arguments = {"0": Buffer(DType.U32, (elements,), fill), "1": Buffer(DType.U32, (512,), Fill.ZEROS)}
    return case(HISTOGRAM, gpu, Launch(Dim3(elements // 256), Dim3(256), arguments=arguments))


def shared(stride, gpu, *, barrier=False):
    text = SHARED.replace("STRIDE", str(stride)).replace("BARRIER", "bar.sync 0;" if barrier else "")
    return case(text, gpu, Launch(Dim3(1000), Dim3(128)))


def seconds(made, name):
    return next((roof.seconds for roof in roofs(made) if roof.name == name), 0.0)


@pytest.mark.parametrize(
    ("gpu", "stride", "cycles"),
    [("a100", 4, 1), ("RTX A6000", 4, 2), ("a100", 8, 2), ("RTX A6000", 8, 2), ("RTX A6000", 16, 4)],
)
def test_two_way_conflicts_are_free_where_lanes_pass_in_two_cycles(gpu, stride, cycles):
    _, passes, _ = load_store_cycles(shared(stride, gpu))
    assert sum(passes) == 2 * 4000 * cycles  # a store and a load by every warp


def l2_clock(made):
    return made.clocks.sm * L2_CLOCK_SHARE


def test_zeros_meet_on_one_bin_and_l2_takes_one_per_clock():
    made = histogram(Fill.ZEROS)
    assert seconds(made, "atomics on one address") == pytest.approx((1 << 24) / l2_clock(made))
    assert not any("coalesced" in a.message for a in made.workload.assumptions)


def test_random_bins_are_hit_evenly_and_bound_by_the_slices_of_l2_that_hold_them():
    made = histogram(Fill.RANDOM)
    atomic = next(i for i in made.workload.execution.program.instructions if i.opcode.startswith("red"))
    pattern = made.workload.execution.accesses[atomic.index]
    requests = made.workload.execution.counts[atomic.index]
    slices = 512 * 4 / SLICE_BYTES
    expected = requests * pattern.sectors * ATOMIC_CYCLES / slices / l2_clock(made)
    assert seconds(made, "atomics on one address") == pytest.approx(expected)
    assert expected > (1 << 24) / 512 / l2_clock(made)  # what one per clock and address would allow
    assert any("coalesced" in a.message for a in made.workload.assumptions)


def test_requests_of_one_lane_take_a_clock_each():
    counted = Launch(Dim3(1 << 16), Dim3(1), arguments={
        "0": Buffer(DType.U32, (1 << 16,), Fill.ZEROS), "1": Buffer(DType.U32, (512,), Fill.ZEROS)
    })  # fmt: skip
    made = case(HISTOGRAM, "RTX 3060", counted)
    assert seconds(made, "atomics on one address") == pytest.approx((1 << 16) / l2_clock(made))


def test_floating_sums_on_one_address_take_two_clocks_each_and_a_rest_of_a_slice_relieves_none():
    whole, floating = (
        case(HISTOGRAM.replace("red.global.add.u32", f"red.global.add.{kind}"), "RTX 3060", Launch(
            Dim3(4096), Dim3(256), arguments={
                "0": Buffer(DType.U32, (1 << 20,), Fill.ZEROS), "1": Buffer(DType.U32, (88,), Fill.ZEROS),
            }))
        for kind in ("u32", "f32")
    )  # fmt: skip
    assert seconds(whole, "atomics on one address") == pytest.approx((1 << 20) / l2_clock(whole))
    assert seconds(floating, "atomics on one address") == pytest.approx(2 * (1 << 20) / l2_clock(whole))


def test_shared_atomics_on_one_address_take_turns_unless_they_are_counted():
    apart, together = pattern_with(collisions=1.0), pattern_with(collisions=32.0)
    add, count = atomic("ATOMS.ADD"), atomic("ATOMS.POPC.INC.32")
    assert atomic_cycles(add, together) == 32 * SHARED_ATOMIC_CYCLES == 64
    assert atomic_cycles(add, apart) == atomic_cycles(count, together) == SHARED_ATOMIC_CYCLES
    load = replace(add, memory=replace(add.memory, access=Access.LOAD))
    assert atomic_cycles(load, together) == 0


def pattern_with(collisions):
    return AccessPattern(0.0, 0.0, 1.0, 1.0, None, collisions=collisions)


def atomic(opcode):
    memory = MemoryAccess(Space.SHARED, Access.REDUCTION, 4)
    return Instruction(0, opcode, unit=Unit.LSU, memory=memory)


def test_scattered_reads_of_a_known_buffer_touch_no_more_than_it():
    made = histogram(Fill.RANDOM)
    elements = 4 * (1 << 24)
    assert elements < made.workload.dram.read < 1.25 * elements  # all of the input, few misses of the bins


def test_barriers_let_the_warps_of_a_block_queue():
    with_barrier, without = shared(64, "a100", barrier=True), shared(64, "a100")
    assert seconds(with_barrier, "latency") > seconds(without, "latency")
    slower = replace(with_barrier, clocks=replace(with_barrier.clocks, sm=with_barrier.clocks.sm / 2))
    assert seconds(slower, "latency") == pytest.approx(2 * seconds(with_barrier, "latency"))


@pytest.mark.parametrize(
    ("read", "written", "share"), [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 1.0), (2.0, 1.0, 2 / 3)]
)
def test_dram_loses_to_its_turnaround_what_a_copy_shows(read, written, share):
    """Reads alone reach the bandwidth measured for reads, a copy that for copies; two to one lies between."""
    made = shared(4, "h200")
    made = replace(made, workload=replace(made.workload, dram=Traffic(read * 1e9, written * 1e9)))
    memory = made.gpu.memory
    per_byte = (1 - share) / memory.dram_bandwidth + share / memory.dram_copy_bandwidth
    assert dram_bandwidth(made)[0] == pytest.approx(1 / per_byte)
    assert memory.dram_copy_bandwidth < 0.85 * memory.dram_bandwidth


@pytest.mark.parametrize(("gpu", "wide"), [("a40", 4), ("rtx4090", 4), ("v100", 4), ("t4", 512 / 58.8)])
def test_wide_loads_pass_l1_at_the_width_of_its_banks(gpu, wide):
    """16 bytes a lane: 512 bytes at 128 per cycle, on Turing 64, though 16 lanes load 64 bytes of 4 each."""
    assert 32 * 16 / l1_bytes(find(gpu)) == pytest.approx(wide, rel=0.05)
