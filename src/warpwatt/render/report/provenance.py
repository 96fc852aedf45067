"""Where the numbers come from: tool, models, compiler, counts, and the citations of the GPU's data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import Prediction
from warpwatt.core.units import si
from warpwatt.gpus import default_clocks
from warpwatt.render.console import plain
from warpwatt.render.figures import bounds, copies, count, quantity
from warpwatt.render.method import method_text
from warpwatt.render.roofline import memory_roofs, roof_origin

if TYPE_CHECKING:
    from warpwatt.render.context import Context


@dataclass(frozen=True, slots=True)
class Origin:
    """One number of the page: its value, its interval, whether measured, modelled or assumed, and by what."""

    name: str
    value: str
    interval: str
    source: str
    how: str


def origins(prediction: Prediction) -> tuple[Origin, ...]:
    """Return where each of the main numbers comes from."""
    return tuple(_origins(prediction))


def _origins(prediction: Prediction) -> Iterator[Origin]:
    case, timing = prediction.case, prediction.timing
    profile = f", corrected by a launch measured on {case.profile.gpu}" if case.profile else ""
    yield _of("Time", prediction.time, f"time model {timing.model}{profile}")
    held = ", cut off at the power limit" if prediction.limited_by_power else ""
    yield _of("Power", prediction.power, f"power model {prediction.power_result.model}{held}")
    yield _of("Energy", prediction.energy, "time by power, draw by draw")
    yield _of("Launch overhead", prediction.launch_overhead, "beside the time, not in it")
    how = "bytes of the described buffers over the bus, beside the time"
    yield Origin("Copies", copies(prediction.transfer), bounds(prediction.transfer),
                 str(prediction.transfer.source), how)  # fmt: skip
    resources = case.kernel.resources
    registers = "assumed" if resources.assumed else "compiled"
    by = f"compiler {case.kernel.toolkit}" if case.kernel.toolkit and not resources.assumed else ""
    yield Origin("Registers", f"{resources.registers} per thread", "", registers, by)
    yield Origin("SM clock", si(case.clocks.sm, "Hz"), "", *_clock(prediction))
    execution = case.workload.execution
    ran = "emulated" if execution.blocks_run else "analysed"
    instructions = f"{count(execution.warp_instructions)} by warps"
    yield Origin("Instructions", instructions, "", ran, method_text(execution))
    caches = "caches modelled on the addresses of those blocks"
    yield Origin("Bytes", f"{si(case.workload.dram.total, 'B')} of DRAM", "", "modelled", caches)
    for roof in memory_roofs(case):
        origin = roof_origin(case, roof.name)
        yield Origin(f"{roof.name} peak", si(roof.peak, "B/s"), "", origin, "at the predicted clocks")


def _of(name: str, estimate: Estimate, how: str) -> Origin:
    return Origin(name, quantity(estimate), bounds(estimate) or "exact", str(estimate.source), how)


def _clock(prediction: Prediction) -> tuple[str, str]:
    """Return the source of the SM clock and how it came about."""
    case = prediction.case
    if prediction.limited_by_power:
        return "modelled", "the highest that the power limit sustains"
    if case.clocks.spread:
        return "assumed", "where nothing holds the board back; boards of this name differ"
    if case.clocks.sm == default_clocks(case.gpu).sm:
        return "data sheet", "the board's default, which the power limit sustains"
    return "given", "as asked for"


def provenance(prediction: Prediction, context: Context) -> tuple[tuple[str, str], ...]:
    """Return what it takes to make the same prediction again."""
    case, kernel = prediction.case, prediction.case.kernel
    profile = f"measured on {case.profile.gpu}" if case.profile else "none"
    calibration, borrowed = case.gpu.calibration, case.gpu.memory.borrowed_from
    rows = (
        ("Tool", f"WarpWatt {context.version}"),
        ("Command", context.command),
        ("Time model", prediction.timing.model),
        ("Power model", prediction.power_result.model),
        ("Kernel symbol", kernel.name),
        ("Source file", kernel.source.as_posix() if kernel.source else ""),
        ("Compiled for", kernel.target),
        ("Compiler", kernel.toolkit),
        ("Toolkits", ", ".join(f"{name} {version}" for name, version in context.toolkits.items())),
        ("Analysed level", str(case.workload.execution.program.level).upper()),
        ("Counts", method_text(case.workload.execution)),
        ("Profile", profile),
        ("Calibration", f"{calibration.date}, {calibration.protocol}" if calibration else "none"),
        ("Memory timings", f"measured on {borrowed}" if borrowed else ""),
        ("Seed", str(context.seed)),
    )
    return tuple((name, plain(value)) for name, value in rows if value)


def sources(prediction: Prediction) -> tuple[tuple[str, str], ...]:
    """Return field and citation of every number of the GPU, its capability and its memory."""
    gpu = prediction.case.gpu
    cited = {**gpu.capability.sources, **gpu.memory.sources, **gpu.sources}
    return tuple(sorted(cited.items()))
