"""``roofline-vendor`` and ``roofline-fitted``: P = min(π, I·β) with β of the data sheet, or a measured one.

Appendix B of Alavani's thesis (2023), "Efficacy of Global Memory Throughput Model", pages 206-208, after
Williams, Waterman and Patterson (2009). As printed, I is computing over memory instructions: what the lanes
ask for, without caches. An instruction counts once per active lane, and moves its own width, so that I·β is
in instructions per second. π is one instruction per FP32 lane and cycle.
"""

from __future__ import annotations

from warpwatt.core.case import Case, Timing
from warpwatt.core.errors import LaunchError, UnsupportedGpuError
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.program import Level
from warpwatt.core.units import si
from warpwatt.published.alavani.opclass import InstructionType, classify, executed, rates
from warpwatt.published.alavani.parameters import parameters

MODEL_SPREAD = 1.37
"""As that of :mod:`warpwatt.published.volkov.model`: two roofs without caches are far from most kernels."""
CALIBRATED = "bandwidth.dram"
"""Constants of a calibration whose names begin so are DRAM bandwidths in bytes per second."""


class RooflineVendor:
    """The thesis' roofline with the theoretical bandwidth of the data sheet."""

    name = "roofline-vendor"
    document = "Alavani 2023, appendix B"
    summary = "two roofs, data-sheet bandwidth, no caches (Alavani 2023, appendix B); every GPU"
    levels = (Level.PTX, Level.SASS)

    def predict(self, case: Case) -> Timing:
        """Return the timing; needs nothing beyond the specification."""
        scale = case.clocks.memory / case.gpu.memory_clock
        return _timing(self.name, case, case.gpu.memory_bandwidth * scale, "data sheet")


class RooflineFitted:
    """The same with a bandwidth that was measured on this GPU."""

    name = "roofline-fitted"
    document = "Alavani 2023, appendix B"
    summary = "the same with a measured bandwidth: calibration, the thesis' fit or a published stream figure"
    levels = (Level.PTX, Level.SASS)

    def predict(self, case: Case) -> Timing:
        """Return the timing.

        Raises
        ------
        UnsupportedGpuError
            If nobody has measured the bandwidth of this very GPU.
        """
        return _timing(self.name, case, *fitted_bandwidth(case))


def fitted_bandwidth(case: Case) -> tuple[float, str]:
    """Return β in bytes per second at the case's memory clock, and where it comes from.

    In this order: the ``Calibration`` of the GPU, the growth curve of Table 4.5 of the thesis at the
    launch's memory requests (one per warp and global instruction), a published stream benchmark.

    Raises
    ------
    UnsupportedGpuError
        If there is none of the three for this GPU; figures of relatives do not count.
    """
    gpu = case.gpu
    scale = case.clocks.memory / gpu.memory_clock
    constants = gpu.calibration.constants if gpu.calibration else {}
    measured = [value for name, (value, _) in constants.items() if name.startswith(CALIBRATED)]
    if measured:
        return max(measured) * scale, f"calibration of {gpu.name}"
    if gpu.memory.dram_latency is not None:
        published = parameters(gpu)
        if "global_throughput" not in published.borrowed_from:
            return published.global_throughput.at(_requests(case)) * scale, "Alavani 2023, Table 4.5"
    if gpu.memory.dram_bandwidth is not None and not gpu.memory.borrowed("dram_bandwidth"):
        return gpu.memory.dram_bandwidth * scale, gpu.memory.sources.get("dram_bandwidth", "published")
    raise UnsupportedGpuError(
        f"model roofline-fitted needs a bandwidth measured on {gpu.name}",
        hint="run `warpwatt measure` and `warpwatt calibrate` on one, or use --model time=roofline-vendor",
    )


def operations_and_bytes(case: Case) -> tuple[float, float]:
    """Return compute instructions (one per active lane) and bytes that lanes ask of global memory."""
    execution, operations, asked = case.workload.execution, 0.0, 0.0
    columns = zip(execution.program.instructions, execution.counts, execution.lanes, strict=True)
    for instruction, count, lanes in columns:
        kind = classify(instruction).type
        if kind is InstructionType.COMPUTE:
            operations += count * lanes
        elif kind is InstructionType.GLOBAL and instruction.memory is not None:
            asked += count * lanes * instruction.memory.bytes
    return operations, asked


def _requests(case: Case) -> float:
    """Return the global memory requests of the grid: warp executions of global memory instructions."""
    return executed(case)["global memory"]


def _timing(model: str, case: Case, bandwidth: float, source: str) -> Timing:
    """Return the longer of the two roofs."""
    operations, asked = operations_and_bytes(case)
    peak = case.gpu.capability.fp32_lanes * case.gpu.sm_count * case.clocks.sm
    found = {"FP32 pipe": operations / peak, "DRAM bandwidth": asked / bandwidth}
    binding, seconds = max(found.items(), key=lambda item: item[1])
    if seconds <= 0:
        raise LaunchError(f"model {model} finds no work", hint="use --model time=roofline")
    return Timing(
        model=model,
        time=Estimate.spread(seconds, {f"model:{model}": MODEL_SPREAD}, "s", Source.MODELLED),
        bottleneck=binding,
        breakdown=found,
        utilisation={"fp32": operations / peak / seconds, "dram": asked / bandwidth / seconds},
        warnings=(f"{model}: β is {si(bandwidth, 'B/s')}, from {source}",),
        instructions_per_cycle=rates(case, seconds),
    )
