"""The whole of one prediction."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from warpwatt.core.advice import Advice
from warpwatt.core.prediction import Prediction
from warpwatt.render.document.values import (
    device_document,
    launch_document,
    place_document,
    profile_document,
    quantity_document,
)
from warpwatt.render.document.workload import (
    analysis_document,
    assumption_document,
    instruction_documents,
    line_documents,
    loop_document,
    occupancy_document,
    warp_states_document,
    workload_document,
)
from warpwatt.render.findings import findings
from warpwatt.render.roofline import roofline
from warpwatt.render.warned import all_warnings

if TYPE_CHECKING:
    from warpwatt.render.document.values import Json
    from warpwatt.render.reasons import Finding


def prediction_document(prediction: Prediction) -> Json:
    """Return one prediction as JSON-ready values (numbers may still be NaN or infinite)."""
    return {**_identity(prediction), **_results(prediction), **_reasons(prediction)}


def _identity(prediction: Prediction) -> Json:
    """Return what was predicted: kernel, GPU, launch, clocks."""
    kernel, case = prediction.case.kernel, prediction.case
    return {
        "kernel": kernel.display_name,
        "symbol": kernel.name,
        "gpu": case.gpu.name,
        "target": kernel.target,
        "toolkit": kernel.toolkit,
        "source_file": kernel.source.as_posix() if kernel.source else None,
        "device": device_document(case.gpu),
        "launch": launch_document(case.launch),
        "clocks": {
            "sm": case.clocks.sm,
            "memory": case.clocks.memory,
            "sustained": case.clocks.sustained,
            "limited_by_power": prediction.limited_by_power,
        },
        "resources": dataclasses.asdict(kernel.resources),
        "profile": profile_document(case.profile),
    }


def _results(prediction: Prediction) -> Json:
    """Return how long, how much, and of what it consists."""
    timing, power = prediction.timing, prediction.power_result
    return {
        "time": quantity_document(prediction.time),
        "power": quantity_document(prediction.power),
        "energy": quantity_document(prediction.energy),
        "launch_overhead": quantity_document(prediction.launch_overhead),
        "transfer": quantity_document(prediction.transfer),
        "bottleneck": timing.bottleneck,
        "bound": dict(zip(("resource", "seconds"), timing.bound, strict=True)) if timing.bound else None,
        "models": {"time": timing.model, "power": power.model},
        "breakdown": {
            "time": dict(timing.breakdown),
            "power": dict(power.components),
            "energy": dict(prediction.energy_components),
        },
        "utilisation": timing.busy,
        "stalls": {str(stall): share for stall, share in timing.stalls.items()},
        "instructions_per_cycle": dict(timing.instructions_per_cycle),
        "warp_states": warp_states_document(timing.warps),
    }


def _reasons(prediction: Prediction) -> Json:
    """Return why: occupancy, traffic, roofline, lines, loops, assumptions, explanation, warnings."""
    workload = prediction.case.workload
    return {
        "occupancy": occupancy_document(workload.occupancy),
        "analysis": analysis_document(workload),
        "workload": workload_document(workload),
        "roofline": _roofline(prediction),
        "lines": line_documents(prediction),
        "loops": [loop_document(loop) for loop in workload.execution.loops],
        "assumptions": [assumption_document(a) for a in prediction.assumptions],
        "instructions": instruction_documents(prediction),
        "advice": None if prediction.advice is None else [_advice(a) for a in prediction.advice],
        "explanation": [_finding(f) for f in findings(prediction)],
        "warnings": all_warnings(prediction),
    }


def _advice(advice: Advice) -> Json:
    return {
        "kind": advice.kind,
        "text": advice.text,
        "line": place_document(advice.line),
        "fix": advice.fix,
        "time": quantity_document(advice.time),
        "time_saved": quantity_document(advice.saved),
        "time_saved_share": advice.share,
        "energy_saved": quantity_document(advice.energy_saved),
        "energy_saved_share": advice.energy_share,
    }


def _finding(finding: Finding) -> Json:
    return {
        "topic": finding.topic,
        "text": finding.text,
        "line": place_document(finding.line),
        "fix": finding.fix,
    }


def _roofline(prediction: Prediction) -> Json | None:
    roof = roofline(prediction)
    if roof is None:
        return None
    point = {"value": roof.performance, "low": roof.low, "high": roof.high, "unit": "FLOP/s"}
    return {
        "intensity": roof.intensity,
        "ridge": roof.ridge,
        "binding": roof.binding.name,
        "performance": {**point, "source": str(prediction.time.source)},
        "roofs": [dataclasses.asdict(r) for r in roof.roofs],
    }
