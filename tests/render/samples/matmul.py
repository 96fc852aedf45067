"""A matrix product and what was predicted of it, made up."""

from __future__ import annotations

from pathlib import Path

from tests.render.samples.code import Assembler, load, number, r, store
from warpwatt.core.arguments import Buffer, DType, Scalar
from warpwatt.core.case import Case, Power, Timing
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.execution import (
    AccessPattern,
    Assumption,
    Execution,
    LoopTrips,
    Occupancy,
    Traffic,
    Workload,
)
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.core.program import (
    Address,
    Flow,
    Guard,
    Kernel,
    Level,
    Program,
    Resources,
    SourceLine,
    Space,
    Symbol,
    Unit,
)
from warpwatt.core.warps import Stall

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
