"""Cases built by hand: PTX text, counts and GPU, without emulator or compiler."""

from warpwatt import gpus
from warpwatt.core.case import Case
from warpwatt.core.execution import AccessPattern, Execution, Occupancy, Traffic, Workload
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Kernel, Resources
from warpwatt.isa import ptx

VECTOR_ADD = """
.version 7.0
.target sm_35
.address_size 64
.visible .entry vectorAdd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
.reg .pred %p<2>;
.reg .b32 %r<6>;
.reg .f32 %f<4>;
.reg .b64 %rd<11>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
ld.param.u64 %rd3, [c];
ld.param.u32 %r2, [n];
mov.u32 %r3, %ctaid.x;
mov.u32 %r4, %ntid.x;
mov.u32 %r5, %tid.x;
mad.lo.s32 %r1, %r4, %r3, %r5;
setp.ge.s32 %p1, %r1, %r2;
@%p1 bra DONE;
cvta.to.global.u64 %rd4, %rd1;
mul.wide.s32 %rd5, %r1, 4;
add.s64 %rd6, %rd4, %rd5;
cvta.to.global.u64 %rd7, %rd2;
add.s64 %rd8, %rd7, %rd5;
ld.global.f32 %f1, [%rd6];
ld.global.f32 %f2, [%rd8];
add.f32 %f3, %f1, %f2;
cvta.to.global.u64 %rd9, %rd3;
add.s64 %rd10, %rd9, %rd5;
st.global.f32 [%rd10], %f3;
DONE:
ret;
}
"""

TILE_SUM = """
.version 7.0
.target sm_35
.address_size 64
.visible .entry tileSum(.param .u64 a, .param .u32 n)
{
.reg .pred %p<2>;
.reg .b32 %r<8>;
.reg .f32 %f<4>;
.reg .b64 %rd<4>;
.shared .align 4 .b8 tile[1024];
ld.param.u64 %rd1, [a];
ld.param.u32 %r1, [n];
mov.u32 %r2, 0;
mov.u32 %r3, %tid.x;
mov.f32 %f1, 0f00000000;
LOOP:
ld.shared.f32 %f2, [tile];
add.f32 %f1, %f1, %f2;
add.s32 %r2, %r2, 1;
setp.lt.s32 %p1, %r2, %r1;
@%p1 bra LOOP;
st.global.f32 [%rd1], %f1;
ret;
}
"""


def case(
    text,
    *,
    gpu="Tesla K20",
    grid=13,
    block=256,
    trips=1.0,
    registers=16,
    pattern=None,
    level="ptx",
    program=None,
):
    """Every instruction once per warp; those between a label LOOP and the jump back ``trips`` times."""
    if program is None:
        module = ptx.parse(text)
        program = ptx.lower(module, ptx.entries(module)[0])
    launch = Launch(Dim3(grid), Dim3(block))
    start = program.labels.get("LOOP")
    jumps = [i.index for i in program.instructions if "LOOP" in i.targets]
    counts = tuple(
        launch.warps * (trips if start is not None and start <= i.index <= jumps[-1] else 1.0)
        for i in program.instructions
    )
    accesses = {i.index: pattern for i in program.instructions if i.memory} if pattern else {}
    execution = Execution(program, launch, counts, (32.0,) * len(counts), accesses=accesses)
    device = gpus.find(gpu)
    resources = Resources(registers)
    occupancy: Occupancy = gpus.occupancy(device, resources, launch)
    workload = Workload(
        execution,
        occupancy,
        active_sms=min(grid, device.sm_count),
        waves=grid / (occupancy.blocks_per_sm * device.sm_count),
        shared_wavefronts=0.0,
        l1=Traffic(),
        l2=Traffic(),
        dram=Traffic(),
    )
    kernel = Kernel(program.name, program.name, program.target, resources, ptx=program)
    return Case(kernel, workload, launch, device, gpus.default_clocks(device))


COALESCED = AccessPattern(sectors=4, lines=1, wavefronts=1, ideal=1, stride=4)
SCATTERED = AccessPattern(sectors=32, lines=32, wavefronts=32, ideal=1, stride=128)
