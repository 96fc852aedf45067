"""Hand-made predictions with every field filled: a streaming kernel and a matrix product on two GPUs."""

from __future__ import annotations

from pathlib import Path

from warpwatt.core.arguments import Buffer, DType, Scalar
from warpwatt.core.case import Case, Power, Timing
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.execution import (
    AccessPattern,
    Assumption,
    Execution,
    LevelHits,
    LoopTrips,
    Occupancy,
    Traffic,
    Workload,
)
from warpwatt.core.gpu import Capability, Clocks, Gpu, MemoryTimings
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.prediction import ApplicationPrediction, LineCost, Prediction, Step
from warpwatt.core.program import (
    Access,
    Address,
    ControlCode,
    Flow,
    Guard,
    Immediate,
    Instruction,
    Kernel,
    Level,
    MemoryAccess,
    Program,
    Register,
    Resources,
    SourceLine,
    Space,
    Symbol,
    Unit,
)
from warpwatt.core.warps import Stall

N = 1 << 24
SAXPY_SOURCE = """\
// y <- a x + y, one element per thread
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
MATMUL_SOURCE = """\
#define TILE 16
template <typename T>
__global__ void matmul(const T* __restrict__ a, const T* __restrict__ b, T* c, int n)
{
    __shared__ T as[TILE][TILE];
    __shared__ T bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (int t = 0; t < n / TILE; ++t) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t * TILE + threadIdx.x];
        bs[threadIdx.x][threadIdx.y] = b[(t * TILE + threadIdx.y) + col * n];
        __syncthreads();
        for (int k = 0; k < TILE && k < n; ++k)
            sum += as[threadIdx.y][k] * bs[threadIdx.x][k];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
"""


def capability(version: str, arch: str, fp64: int) -> Capability:
    return Capability(
        version=version,
        arch=arch,
        warp_size=32,
        max_threads_per_block=1024,
        max_warps_per_sm=64,
        max_threads_per_sm=2048,
        max_blocks_per_sm=32,
        registers_per_sm=65536,
        max_registers_per_block=65536,
        max_registers_per_thread=255,
        register_allocation_granularity=256,
        warp_allocation_granularity=4,
        max_shared_per_sm=233472,
        max_shared_per_block=232448,
        static_shared_limit=49152,
        shared_allocation_granularity=128,
        reserved_shared_per_block=1024,
        shared_carveouts=(0, 8192, 16384, 32768, 65536, 102400, 135168, 167936, 200704, 233472),
        l1_shared_pool=262144,
        shared_banks=32,
        shared_bank_width=4,
        warp_schedulers=4,
        dispatch_units=4,
        fp32_lanes=2 * fp64,
        fp64_lanes=fp64,
        int32_lanes=64,
        sfu_lanes=16,
        lsu_lanes=32,
        tensor_cores=4,
        throughput={
            "fp32_add_mul_fma": 2.0 * fp64,
            "fp64_add_mul_fma": float(fp64),
            "tensor_fp16_fma": 16.0 * fp64,
        },
        sources={"arch": "CUDA C++ Programming Guide"},
    )


def h200() -> Gpu:
    return Gpu(
        name="NVIDIA H200",
        capability=capability("9.0", "Hopper", 64),
        sm_count=132,
        base_clock=1500e6,
        boost_clock=1980e6,
        memory_clock=3186e6,
        memory_bandwidth=4893.7e9,
        memory_type="HBM3e",
        memory_size=141 * 10**9,
        l2_size=62914560,
        l1_shared_per_sm=262144,
        l1_shared_unified=True,
        power_limit=700.0,
        idle_power=70.0,
        pcie_generation=5,
        memory=MemoryTimings(
            dram_latency=658.0,
            l2_bandwidth=7.5e12,
            borrowed_from="NVIDIA H100 PCIe",
            sources=dict.fromkeys(("dram_latency", "l2_bandwidth"), "a paper; measured on NVIDIA H100 PCIe"),
        ),
        aliases=("H200",),
        die="GH100",
        arch="Hopper",
        sources={"sm_count": "data sheet"},
    )


def a100() -> Gpu:
    return Gpu(
        name="NVIDIA A100-SXM4-40GB",
        capability=capability("8.0", "Ampere", 32),
        sm_count=108,
        base_clock=1095e6,
        boost_clock=1410e6,
        memory_clock=1215e6,
        memory_bandwidth=1555.2e9,
        memory_type="HBM2e",
        memory_size=40 * 10**9,
        l2_size=41943040,
        l1_shared_per_sm=196608,
        l1_shared_unified=True,
        power_limit=400.0,
        idle_power=55.0,
        pcie_generation=4,
        memory=MemoryTimings(dram_latency=572.0, l2_bandwidth=4.4e12),
        aliases=("A100",),
        die="GA100",
        arch="Ampere",
        sources={"sm_count": "data sheet"},
    )


class Assembler:
    """Collects instructions of one program."""

    def __init__(self, file: str, level: Level, target: str, name: str) -> None:
        self.file, self.level, self.target, self.name = file, level, target, name
        self.rows: list[Instruction] = []
        self.counts: list[float] = []
        self.lanes: list[float] = []

    def add(self, line: int, opcode: str, *operands, n=1.0, lanes=32.0, **fields) -> int:
        index = len(self.rows)
        if self.level is Level.SASS:
            fields.setdefault("control", ControlCode(4, False, None, None, 0, 0))
        where = SourceLine(self.file, line) if line else None
        self.rows.append(Instruction(index, opcode, tuple(operands), line=where, **fields))
        self.counts.append(n)
        self.lanes.append(lanes)
        return index

    def program(self, labels=None) -> Program:
        return Program(self.name, self.level, self.target, tuple(self.rows), labels or {})


def r(name: str) -> Register:
    return Register(name)


def number(value: int) -> Immediate:
    return Immediate(value, str(value))


def load(space: Space) -> MemoryAccess:
    return MemoryAccess(space, Access.LOAD, 4)


def store(space: Space) -> MemoryAccess:
    return MemoryAccess(space, Access.STORE, 4)


def saxpy_ptx(target: str, warps: float) -> Assembler:
    a = Assembler("saxpy.cu", Level.PTX, target, "_Z5saxpyifPKfPf")
    a.add(4, "mov.u32", r("%r3"), r("%ctaid.x"), n=warps)
    a.add(4, "mov.u32", r("%r4"), r("%ntid.x"), n=warps)
    a.add(4, "mad.lo.s32", r("%r1"), r("%r3"), r("%r4"), r("%tid.x"), n=warps, unit=Unit.INT)
    a.add(5, "setp.ge.s32", r("%p1"), r("%r1"), r("%r2"), n=warps, unit=Unit.INT)
    a.add(
        5,
        "bra",
        Symbol("$L__BB0_2"),
        n=warps,
        unit=Unit.CONTROL,
        flow=Flow.JUMP,
        targets=("$L__BB0_2",),
        guard=Guard("%p1"),
    )
    a.add(6, "mul.wide.s32", r("%rd5"), r("%r1"), number(4), n=warps, unit=Unit.INT)
    a.add(6, "ld.global.f32", r("%f2"), Address(r("%rd6")), n=warps, unit=Unit.LSU, memory=load(Space.GLOBAL))
    a.add(6, "ld.global.f32", r("%f3"), Address(r("%rd7")), n=warps, unit=Unit.LSU, memory=load(Space.GLOBAL))
    a.add(6, "fma.rn.f32", r("%f4"), r("%f1"), r("%f2"), r("%f3"), n=warps, unit=Unit.FP32, flops=2.0)
    a.add(
        6, "st.global.f32", Address(r("%rd7")), r("%f4"), n=warps, unit=Unit.LSU, memory=store(Space.GLOBAL)
    )
    a.add(7, "ret", n=warps, unit=Unit.CONTROL, flow=Flow.RETURN)
    return a


def saxpy_sass(target: str) -> Program:
    a = Assembler("saxpy.cu", Level.SASS, target, "_Z5saxpyifPKfPf")
    a.add(4, "S2R", r("R0"), r("SR_CTAID.X"))
    a.add(4, "IMAD", r("R0"), r("R0"), Symbol("c[0x0][0x0]"), r("R3"), unit=Unit.INT)
    a.add(5, "ISETP.GE.AND", r("P0"), r("R0"), Symbol("c[0x0][0x210]"), unit=Unit.INT)
    a.add(5, "EXIT", guard=Guard("P0"), flow=Flow.EXIT, unit=Unit.CONTROL)
    a.add(6, "LDG.E", r("R2"), Address(r("R2")), unit=Unit.LSU, memory=load(Space.GLOBAL))
    a.add(6, "LDG.E", r("R7"), Address(r("R4")), unit=Unit.LSU, memory=load(Space.GLOBAL))
    a.add(6, "FFMA", r("R7"), r("R2"), Symbol("c[0x0][0x214]"), r("R7"), unit=Unit.FP32, flops=2.0)
    a.add(6, "STG.E", Address(r("R4"), 0x10), r("R7"), unit=Unit.LSU, memory=store(Space.GLOBAL))
    a.add(7, "EXIT", flow=Flow.EXIT, unit=Unit.CONTROL)
    return a.program()


def pattern(buffer: str) -> AccessPattern:
    return AccessPattern(4.0, 1.0, 1.0, 4.0, 4, buffer, 4.0 * N)


def hits(buffer: str, warps: float, *, store: bool = False) -> LevelHits:
    moved = Traffic(0.0, 4.0 * N) if store else Traffic(4.0 * N, 0.0)
    return LevelHits(buffer, warps, 4 * warps, 0.0, 0.0, moved, moved, moved)


def saxpy(gpu: Gpu, seconds: float, watts: float, busy: float) -> Prediction:
    warps = N / 32
    assembled = saxpy_ptx(gpu.target, warps)
    program = assembled.program({"$L__BB0_2": 10})
    launch = Launch(
        Dim3(N // 256),
        Dim3(256),
        arguments={
            "n": Scalar(N),
            "a": Scalar(2.5),
            "x": Buffer(DType.F32, (N,), assumed_fill=True),
            "y": Buffer(DType.F32, (N,), assumed_fill=True),
        },
    )
    execution = Execution(
        program,
        launch,
        tuple(assembled.counts),
        tuple(assembled.lanes),
        (),
        {6: pattern("x"), 7: pattern("y"), 9: pattern("y")},
        blocks_run=24,
    )
    fill = Assumption(
        "buffers x and y hold random values (seed 0)", "data", 0.0, None, "--arg x=f32[n]:zeros"
    )
    workload = Workload(
        execution,
        Occupancy(
            8, 64, 64, "warps", {"warps": 8, "blocks": 32, "registers": 16, "shared memory": 32}, 1024, 4096
        ),
        gpu.sm_count,
        N / 256 / (8 * gpu.sm_count),
        0.0,
        Traffic(8.0 * N, 4.0 * N),
        Traffic(8.0 * N, 4.0 * N),
        Traffic(8.0 * N, 4.0 * N),
        (fill,),
        {6: hits("x", warps), 7: hits("y", warps), 9: hits("y", warps, store=True)},
    )
    kernel = Kernel(
        "_Z5saxpyifPKfPf",
        "saxpy(int, float, const float*, float*)",
        gpu.target,
        Resources(16, max_threads=1024),
        program,
        saxpy_sass(gpu.target),
        Path("saxpy.cu"),
        "13.5.37",
    )
    case = Case(kernel, workload, launch, gpu, Clocks(gpu.boost_clock, gpu.memory_clock))
    time = Estimate.spread(seconds, {"dram_bandwidth": 0.06}, "s")
    power = Estimate.spread(watts, {"power": 0.1}, "W")
    timing = Timing(
        "roofline",
        time,
        "DRAM bandwidth",
        {"DRAM": seconds, "L2": seconds * 0.4, "issue": seconds * 0.1},
        {"dram": busy, "l2": 0.38, "l1": 0.2, "fp32": 0.011, "lsu": 0.09, "int": 0.03, "issue": 0.06},
        {Stall.LONG_SCOREBOARD: 0.81, Stall.LG_THROTTLE: 0.09, Stall.WAIT: 0.05, Stall.SELECTED: 0.05},
        (0.0, 0.0, 0.01, 0.01, 0.01, 0.01, 0.32, 0.32, 0.01, 0.31, 0.0),
    )
    joules = seconds * watts
    lines = (
        LineCost(
            "saxpy.cu",
            4,
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
            0.01,
            0.02,
            3 * warps,
            0.0,
            0.0,
        ),
        LineCost("saxpy.cu", 5, "    if (i < n)", 0.02, 0.02, 2 * warps, 0.0, 0.0),
        LineCost(
            "saxpy.cu",
            6,
            "        y[i] = a * x[i] + y[i];",
            0.97,
            0.96,
            5 * warps,
            2.0 * N,
            12.0 * N,
            ((6, pattern("x")), (7, pattern("y")), (9, pattern("y"))),
        ),
    )
    return Prediction(
        case,
        timing,
        Power("component", power, {"constant": watts * 0.4, "dram": watts * 0.6}),
        time,
        power,
        time.combine(power, lambda t, p: t * p, "J"),
        Estimate.exact(2.5e-6, "s", Source.ASSUMED),
        Estimate.spread(7.1e-3, {"pcie": 0.1}, "s"),
        lines,
        (fill,),
        (),
        False,
        {"constant": joules * 0.4, "dram": joules * 0.45, "l2": joules * 0.1, "int": joules * 0.05},
    )


def matmul_ptx(target: str, warps: float, tiles: float) -> Assembler:
    a = Assembler("matmul.cu", Level.PTX, target, "_Z6matmulIfEvPKT_S2_PS0_i")
    inner = warps * tiles
    a.add(7, "mad.lo.s32", r("%r1"), r("%ctaid.y"), number(16), r("%tid.y"), n=warps, unit=Unit.INT)
    a.add(8, "mad.lo.s32", r("%r2"), r("%ctaid.x"), number(16), r("%tid.x"), n=warps, unit=Unit.INT)
    a.add(
        11,
        "ld.global.nc.f32",
        r("%f1"),
        Address(r("%rd1")),
        n=inner,
        unit=Unit.LSU,
        memory=load(Space.GLOBAL),
    )
    a.add(
        11, "st.shared.f32", Address(r("%r5")), r("%f1"), n=inner, unit=Unit.LSU, memory=store(Space.SHARED)
    )
    a.add(
        12,
        "ld.global.nc.f32",
        r("%f2"),
        Address(r("%rd2"), 64),
        n=inner,
        unit=Unit.LSU,
        memory=load(Space.GLOBAL),
    )
    a.add(
        12,
        "st.shared.f32",
        Address(r("%r6"), -4),
        r("%f2"),
        n=inner,
        unit=Unit.LSU,
        memory=store(Space.SHARED),
    )
    a.add(13, "bar.sync", number(0), n=inner, unit=Unit.CONTROL, flow=Flow.BARRIER)
    a.add(
        15,
        "ld.shared.f32",
        r("%f3"),
        Address(r("%r7")),
        n=16 * inner,
        unit=Unit.LSU,
        memory=load(Space.SHARED),
    )
    a.add(
        15,
        "ld.shared.f32",
        r("%f4"),
        Address(r("%r8")),
        n=16 * inner,
        unit=Unit.LSU,
        memory=load(Space.SHARED),
    )
    a.add(
        15,
        "fma.rn.f32",
        r("%f5"),
        r("%f3"),
        r("%f4"),
        r("%f5"),
        n=16 * inner,
        lanes=20.0,
        unit=Unit.FP32,
        flops=2.0,
    )
    a.add(
        14,
        "bra",
        Symbol("$L__BB0_3"),
        n=16 * inner,
        unit=Unit.CONTROL,
        flow=Flow.JUMP,
        targets=("$L__BB0_3",),
    )
    a.add(16, "bar.sync", number(0), n=inner, unit=Unit.CONTROL, flow=Flow.BARRIER)
    a.add(
        10,
        "bra",
        Symbol("$L__BB0_2"),
        n=inner,
        unit=Unit.CONTROL,
        flow=Flow.JUMP,
        targets=("$L__BB0_2",),
        guard=Guard("%p1", negated=True),
    )
    a.add(
        18, "st.global.f32", Address(r("%rd3")), r("%f5"), n=warps, unit=Unit.LSU, memory=store(Space.GLOBAL)
    )
    a.add(0, "mystery.op", n=warps, known=False)
    a.add(19, "ret", n=warps, unit=Unit.CONTROL, flow=Flow.RETURN)
    return a


def matmul_sass(target: str) -> Program:
    a = Assembler("matmul.cu", Level.SASS, target, "_Z6matmulIfEvPKT_S2_PS0_i")
    a.add(7, "IMAD", r("R1"), r("R2"), number(16), r("R3"), unit=Unit.INT)
    a.add(11, "LDG.E.CONSTANT", r("R8"), Address(r("R4")), unit=Unit.LSU, memory=load(Space.GLOBAL))
    a.add(11, "STS", Address(r("R5")), r("R8"), unit=Unit.LSU, memory=store(Space.SHARED))
    a.add(12, "LDG.E.CONSTANT", r("R9"), Address(r("R6"), 64), unit=Unit.LSU, memory=load(Space.GLOBAL))
    a.add(12, "STS", Address(r("R7")), r("R9"), unit=Unit.LSU, memory=store(Space.SHARED))
    a.add(13, "BAR.SYNC", number(0), unit=Unit.CONTROL, flow=Flow.BARRIER)
    for step in range(16):
        a.add(
            15,
            "LDS",
            r(f"R{20 + step}"),
            Address(r("R5"), 4 * step),
            unit=Unit.LSU,
            memory=load(Space.SHARED),
        )
        a.add(
            15, "FFMA", r("R10"), r(f"R{20 + step}"), r(f"R{40 + step}"), r("R10"), unit=Unit.FP32, flops=2.0
        )
    a.add(
        10, "BRA", Symbol(".L_x_2"), guard=Guard("P0"), unit=Unit.CONTROL, flow=Flow.JUMP, targets=(".L_x_2",)
    )
    a.add(18, "STG.E", Address(r("R12")), r("R10"), unit=Unit.LSU, memory=store(Space.GLOBAL))
    a.add(19, "EXIT", unit=Unit.CONTROL, flow=Flow.EXIT)
    return a.program({".L_x_2": 1})


def matmul(gpu: Gpu, seconds: float, watts: float, *, capped: bool) -> Prediction:
    n, tile = 2048, 16
    blocks, tiles = (n // tile) ** 2, n // tile
    warps = blocks * 8.0
    assembled = matmul_ptx(gpu.target, warps, tiles)
    program = assembled.program({"$L__BB0_2": 2, "$L__BB0_3": 7})
    launch = Launch(
        Dim3(n // tile, n // tile),
        Dim3(tile, tile),
        dynamic_shared=1024,
        repeats=10,
        arguments={"0": Buffer(DType.F32, (n, n)), "n": Scalar(n)},
    )
    good = AccessPattern(4.0, 2.0, 1.0, 4.0, 4, "a", 4.0 * n * n)
    bad = AccessPattern(32.0, 32.0, 1.0, 4.0, 8192, "b", 4.0 * n * n)
    conflict = AccessPattern(0.0, 0.0, 16.0, 1.0, 64, "bs")
    loops = (
        LoopTrips(2, 128.0, 128.0, True, "n / 16", SourceLine("matmul.cu", 10)),
        LoopTrips(7, 16.0, 10.5, False, "", SourceLine("matmul.cu", 14)),
    )
    taken = (
        Assumption(
            "16 iterations: the bound depends on data",
            "loop",
            0.3,
            SourceLine("matmul.cu", 14),
            "--loop 14=N",
        ),
        Assumption("b holds random values (seed 0)", "data", 0.0, None, "--arg b=f32[n,n]:zeros"),
    )
    execution = Execution(
        program,
        launch,
        tuple(assembled.counts),
        tuple(assembled.lanes),
        loops,
        {2: good, 4: bad, 5: conflict},
        taken[:1],
    )
    workload = Workload(
        execution,
        Occupancy(
            4,
            32,
            64,
            "registers",
            {"warps": 8, "blocks": 32, "registers": 4, "shared memory": 58},
            3072,
            16384,
        ),
        gpu.sm_count,
        3.4,
        2.2e9,
        Traffic(60e9, 16.8e6),
        Traffic(9e9, 16.8e6),
        Traffic(1.2e9, 16.8e6),
        taken,
    )
    kernel = Kernel(
        "_Z6matmulIfEvPKT_S2_PS0_i",
        "void matmul<float>(const float*, const float*, float*, int)",
        gpu.target,
        Resources(
            64,
            static_shared=2048,
            local=16,
            spill_stores=8,
            spill_loads=12,
            constant=376,
            barriers=1,
            assumed=capped,
        ),
        program,
        matmul_sass(gpu.target),
        Path("matmul.cu"),
        "13.5.37",
        ("line information is incomplete",),
    )
    sm = 1.245e9 if capped else gpu.boost_clock
    case = Case(kernel, workload, launch, gpu, Clocks(sm, gpu.memory_clock, sustained=capped))
    time = Estimate.spread(seconds, {"model": 0.15, "loop": 0.3}, "s", warnings=("one opcode is unknown",))
    power = Estimate.spread(watts, {"power": 0.05}, "W")
    timing = Timing(
        "pipeline",
        time,
        "Shared memory",
        {"shared": seconds * 0.8, "fp32": seconds * 0.2, "tail": seconds * 0.05},
        {
            "shared": 0.88,
            "l1": 0.61,
            "l2": 0.3,
            "dram": 0.09,
            "fp32": 0.42,
            "int": 0.2,
            "lsu": 0.88,
            "issue": 0.37,
        },
        {
            Stall.MIO_THROTTLE: 0.44,
            Stall.SHORT_SCOREBOARD: 0.22,
            Stall.BARRIER: 0.12,
            Stall.LONG_SCOREBOARD: 0.1,
            Stall.NOT_SELECTED: 0.07,
            Stall.SELECTED: 0.05,
        },
        (0.0, 0.0, 0.05, 0.04, 0.14, 0.12, 0.05, 0.2, 0.2, 0.12, 0.03, 0.03, 0.02, 0.0, 0.0, 0.0),
    )
    joules = seconds * watts
    text = MATMUL_SOURCE.splitlines()
    inner = warps * tiles

    def cost(line, time_share, energy_share, executed, flops=0.0, nbytes=0.0, accesses=()):
        return LineCost(
            "matmul.cu", line, text[line - 1], time_share, energy_share, executed, flops, nbytes, accesses
        )

    lines = (
        cost(7, 0.0, 0.001, warps),
        cost(8, 0.0, 0.001, warps),
        cost(10, 0.02, 0.02, inner),
        cost(11, 0.09, 0.1, 2 * inner, 0.0, inner * 256, ((2, good),)),
        cost(12, 0.26, 0.3, 2 * inner, 0.0, inner * 256, ((4, bad), (5, conflict))),
        cost(13, 0.05, 0.02, inner),
        cost(14, 0.03, 0.04, 16 * inner),
        cost(15, 0.52, 0.5, 48 * inner, 16 * inner * 40, inner * 4096),
        cost(16, 0.03, 0.019, inner),
        cost(18, 0.0, 0.0, warps, 0.0, warps * 128),
    )
    return Prediction(
        case,
        timing,
        Power("component", power, {"constant": 80.0, "shared": watts * 0.5, "fp32": watts * 0.3}),
        time,
        power,
        time.combine(power, lambda t, p: t * p, "J"),
        Estimate.exact(2.5e-6, "s", Source.ASSUMED),
        Estimate.spread(1.5e-3, {"pcie": 0.1}, "s"),
        lines,
        taken,
        ("only 2 blocks were emulated",),
        capped,
        {"constant": joules * 0.2, "shared": joules * 0.5, "fp32": joules * 0.3},
    )


def saxpy_pair() -> list[Prediction]:
    return [saxpy(h200(), 50.1e-6, 486.0, 0.82), saxpy(a100(), 149e-6, 251.0, 0.87)]


def matmul_pair() -> list[Prediction]:
    return [matmul(h200(), 2.31e-3, 672.0, capped=False), matmul(a100(), 5.72e-3, 399.0, capped=True)]


def application() -> ApplicationPrediction:
    product = matmul_pair()[0]

    def exact(value: float, unit: str) -> Estimate:
        return Estimate.spread(value, {"pcie": 0.1}, unit)

    steps = (
        Step("upload a", "copy", "default", 1, 0.0, exact(0.35e-3, "s"), exact(0.04, "J")),
        Step("upload b", "copy", "copies", 1, 0.0, exact(0.35e-3, "s"), exact(0.04, "J")),
        Step(
            "product",
            "kernel",
            "default",
            10,
            0.35e-3,
            product.time.scaled(10.0),
            product.energy.scaled(10.0),
            product,
        ),
        Step("wait", "idle", "default", 1, 23.45e-3, exact(1.0e-3, "s"), exact(0.07, "J")),
        Step("download c", "copy", "default", 1, 24.45e-3, exact(0.4e-3, "s"), exact(0.05, "J")),
    )
    return ApplicationPrediction(
        "train step",
        "NVIDIA H200",
        steps,
        exact(24.85e-3, "s"),
        exact(15.7, "J"),
        exact(0.07, "J"),
        ("pageable host memory: copies are slower",),
    )
