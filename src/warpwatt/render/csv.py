"""CSV (RFC 4180): one row per prediction, stable columns with units in their names."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpwatt.core.estimate import Estimate
from warpwatt.core.execution import Workload
from warpwatt.core.prediction import Prediction
from warpwatt.render.method import method
from warpwatt.render.reach import reaches
from warpwatt.render.warned import all_warnings

if TYPE_CHECKING:
    from warpwatt.render.context import Context
    from warpwatt.render.reach import Reach

Cell = str | int | float | None

_FORMULA = ("=", "+", "-", "@")
"""First characters that spreadsheets take for a formula."""


def render(predictions: Sequence[Prediction], context: Context) -> str:
    """Return a header line and one line per prediction, CRLF line ends as RFC 4180 asks."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({k: cell(v) for k, v in row(p, context).items()} for p in predictions)
    return buffer.getvalue()


def row(prediction: Prediction, context: Context) -> dict[str, Cell]:
    """Return one prediction as column to value; columns are added at the end, never renamed."""
    return {**_what(prediction), **_quantities(prediction), **_why(prediction, context)}


def _what(prediction: Prediction) -> dict[str, Cell]:
    case, launch = prediction.case, prediction.case.launch
    return {
        "kernel": case.kernel.display_name,
        "gpu": case.gpu.name,
        "target": case.kernel.target,
        "grid": str(launch.grid),
        "block": str(launch.block),
        "dynamic_shared_bytes": launch.dynamic_shared,
        "sm_clock_hz": case.clocks.sm,
        "memory_clock_hz": case.clocks.memory,
        "limited_by_power": int(prediction.limited_by_power),
    }


def _quantities(prediction: Prediction) -> dict[str, Cell]:
    return {
        **_quantity("time", "s", prediction.time),
        **_quantity("power", "w", prediction.power),
        **_quantity("energy", "j", prediction.energy),
        "launch_overhead_s": prediction.launch_overhead.value,
        "transfer_s": prediction.transfer.value,
    }


def _quantity(name: str, unit: str, estimate: Estimate) -> dict[str, Cell]:
    return {
        f"{name}_{unit}": estimate.value,
        f"{name}_low_{unit}": estimate.low,
        f"{name}_high_{unit}": estimate.high,
        f"{name}_source": str(estimate.source),
    }


def _why(prediction: Prediction, context: Context) -> dict[str, Cell]:
    workload, resources = prediction.case.workload, prediction.case.kernel.resources
    execution, held = workload.execution, workload.occupancy
    return {
        "bottleneck": prediction.timing.bottleneck,
        "time_model": prediction.timing.model,
        "power_model": prediction.power_result.model,
        "occupancy": held.theoretical,
        "occupancy_limiter": held.limiter,
        "registers_per_thread": resources.registers,
        "spill_bytes_per_thread": resources.spill_stores + resources.spill_loads,
        "waves": workload.waves,
        "warp_instructions": execution.warp_instructions,
        "flop": execution.flops,
        "l1_bytes": workload.l1.total,
        "l2_bytes": workload.l2.total,
        "dram_bytes": workload.dram.total,
        "unknown_instructions": execution.program.unknown,
        "assumptions": len(prediction.assumptions),
        "warnings": "; ".join(all_warnings(prediction)),
        "toolkit": prediction.case.kernel.toolkit,
        "warpwatt_version": context.version,
        "seed": context.seed,
        **_analysis(workload),
    }


def _analysis(workload: Workload) -> dict[str, Cell]:
    """Return how the launch was analysed, and what emulation found per source line."""
    execution = workload.execution
    return {
        "level": str(execution.program.level),
        "method": method(execution),
        "blocks_run": execution.blocks_run,
        "dram_read_bytes": workload.dram.read,
        "dram_written_bytes": workload.dram.written,
        "accesses": "; ".join(_access(reach) for line in reaches(workload).values() for reach in line),
    }


def _access(reach: Reach) -> str:
    """Return ``16 A read: requests=... lanes=... sectors=2/1 stride=4 l1=0.87 l2=0.98 dram=4194304``."""
    facts = {
        "requests": f"{reach.requests:.6g}",
        "lanes": f"{reach.lanes:.4g}",
        reach.measure: f"{reach.seen:.4g}/{reach.ideal:.4g}",
        "stride": None if reach.stride is None else str(reach.stride),
        "l1": None if reach.l1_hits is None else f"{reach.l1_hits:.4g}",
        "l2": None if reach.l2_hits is None else f"{reach.l2_hits:.4g}",
        "dram": None if reach.dram is None else f"{reach.dram.total:.6g}",
    }
    listed = " ".join(f"{name}={value}" for name, value in facts.items() if value is not None)
    return f"{reach.line.line} {reach.name}: {listed}"


COLUMNS = (
    *("kernel", "gpu", "target", "grid", "block", "dynamic_shared_bytes"),
    *("sm_clock_hz", "memory_clock_hz", "limited_by_power"),
    *("time_s", "time_low_s", "time_high_s", "time_source"),
    *("power_w", "power_low_w", "power_high_w", "power_source"),
    *("energy_j", "energy_low_j", "energy_high_j", "energy_source"),
    *("launch_overhead_s", "transfer_s", "bottleneck", "time_model", "power_model"),
    *("occupancy", "occupancy_limiter", "registers_per_thread", "spill_bytes_per_thread", "waves"),
    *("warp_instructions", "flop", "l1_bytes", "l2_bytes", "dram_bytes", "unknown_instructions"),
    *("assumptions", "warnings", "toolkit", "warpwatt_version", "seed"),
    *("level", "method", "blocks_run", "dram_read_bytes", "dram_written_bytes", "accesses"),
)
"""The columns in order. A test holds them against :func:`row`."""


def cell(value: Cell) -> Cell:
    """Return the value as it goes into the file: no NaN, and no text a spreadsheet would run as a formula.

    >>> cell("=cmd()"), cell(float("nan")), cell(-1.5)
    ("'=cmd()", '', -1.5)
    """
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
