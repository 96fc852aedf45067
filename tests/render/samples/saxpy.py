"""A streaming kernel and what was predicted of it, made up."""

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
    LevelHits,
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
