"""A prediction as plain dictionaries and lists: the content of the JSON output, reused by HTML and notebooks.

Quantities are ``{value, low, high, unit, source}`` in SI units. Fields are added, never removed or renamed;
``schema/prediction-1.2.json`` describes each of them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from warpwatt.core.arguments import Scalar
from warpwatt.render.findings import findings
from warpwatt.render.listing import instruction_text
from warpwatt.render.method import method, method_text
from warpwatt.render.reach import active_lanes, reaches
from warpwatt.render.roofline import roofline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpwatt.core.advice import Advice
    from warpwatt.core.arguments import Argument
    from warpwatt.core.case import Profile
    from warpwatt.core.estimate import Estimate
    from warpwatt.core.execution import AccessPattern, Assumption, LoopTrips, Occupancy, Traffic, Workload
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.launch import Dim3, Launch
    from warpwatt.core.prediction import LineCost, LineWait, Prediction
    from warpwatt.core.program import SourceLine
    from warpwatt.core.warps import WarpStates
    from warpwatt.render.finding import Finding
    from warpwatt.render.reach import Reach

Json = dict[str, Any]


def prediction_document(prediction: Prediction) -> Json:
    """Return one prediction as JSON-ready values (numbers may still be NaN or infinite)."""
    return {**_identity(prediction), **_results(prediction), **_reasons(prediction)}


def _identity(prediction: Prediction) -> Json:
    """Return what was predicted: kernel, GPU, launch, clocks."""
    kernel, case = prediction.case.kernel, prediction.case
    return {
        "kernel": kernel.demangled or kernel.name,
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
        "profile": _profile(case.profile),
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
        "models": {"time": timing.model, "power": power.model},
        "breakdown": {
            "time": dict(timing.breakdown),
            "power": dict(power.components),
            "energy": dict(prediction.energy_components),
        },
        "utilisation": dict(timing.utilisation),
        "stalls": {str(stall): share for stall, share in timing.stalls.items()},
        "instructions_per_cycle": dict(timing.instructions_per_cycle),
        "warp_states": _warp_states(timing.warps),
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
        "loops": [_loop(loop) for loop in workload.execution.loops],
        "assumptions": [_assumption(a) for a in prediction.assumptions],
        "instructions": instruction_documents(prediction),
        "advice": None if prediction.advice is None else [_advice(a) for a in prediction.advice],
        "explanation": [_finding(f) for f in findings(prediction)],
        "warnings": all_warnings(prediction),
    }


def all_warnings(prediction: Prediction) -> list[str]:
    """Return the warnings of kernel, models and prediction, each once, in that order."""
    parts = (
        prediction.case.kernel.warnings,
        prediction.timing.warnings,
        prediction.power_result.warnings,
        prediction.time.warnings,
        prediction.power.warnings,
        prediction.energy.warnings,
        prediction.warnings,
    )
    return list(dict.fromkeys(warning for part in parts for warning in part))


def quantity_document(estimate: Estimate) -> Json:
    """Return ``{value, low, high, unit, source}``; low and high are the 10 % and 90 % quantiles.

    >>> from warpwatt.core.estimate import Estimate
    >>> quantity_document(Estimate.exact(2.0, "s"))
    {'value': 2.0, 'low': 2.0, 'high': 2.0, 'unit': 's', 'source': 'modelled'}
    """
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "unit": estimate.unit,
        "source": str(estimate.source),
    }


def launch_document(launch: Launch) -> Json:
    """Return everything the host says when it starts the kernel; shared memory in bytes."""
    return {
        "grid": _extent(launch.grid),
        "block": _extent(launch.block),
        "cluster": _extent(launch.cluster),
        "dynamic_shared": launch.dynamic_shared,
        "carveout": launch.carveout,
        "cooperative": launch.cooperative,
        "graph": launch.graph,
        "repeats": launch.repeats,
        "l2": str(launch.l2),
        "threads": launch.threads,
        "warps": launch.warps,
        "arguments": {name: argument_document(a) for name, a in launch.arguments.items()},
    }


def argument_document(argument: Argument) -> Json:
    """Return a scalar as ``{kind, value}`` and a buffer as ``{kind, dtype, shape, ...}``.

    >>> argument_document(Scalar(3))
    {'kind': 'scalar', 'value': 3}
    """
    if isinstance(argument, Scalar):
        return {"kind": "scalar", "value": argument.value}
    return {
        "kind": "buffer",
        "dtype": str(argument.dtype),
        "shape": list(argument.shape),
        "bytes": argument.nbytes,
        "fill": str(argument.fill),
        "seed": argument.seed,
        "path": argument.path,
        "assumed_fill": argument.assumed_fill,
    }


def device_document(gpu: Gpu) -> Json:
    """Return the numbers of a GPU that a reader needs to judge the result."""
    return {
        "name": gpu.name,
        "arch": gpu.arch or gpu.capability.arch,
        "capability": gpu.capability.version,
        "sm_count": gpu.sm_count,
        "boost_clock": gpu.boost_clock,
        "memory_clock": gpu.memory_clock,
        "memory_bandwidth": gpu.memory_bandwidth,
        "l2_size": gpu.l2_size,
        "power_limit": gpu.power_limit,
        "calibrated": gpu.calibration is not None,
        "memory_timings_from": gpu.memory.borrowed_from or gpu.name,
    }


def occupancy_document(occupancy: Occupancy) -> Json:
    """Return resident blocks and warps, the limiter, and what each resource alone would allow."""
    return {
        "theoretical": occupancy.theoretical,
        "blocks_per_sm": occupancy.blocks_per_sm,
        "warps_per_sm": occupancy.warps_per_sm,
        "max_warps_per_sm": occupancy.max_warps_per_sm,
        "limiter": occupancy.limiter,
        "limits": dict(occupancy.limits),
        "resident_blocks": occupancy.resident_blocks,
        "shared_carveout": occupancy.shared_carveout,
        "shared_per_block": occupancy.shared_per_block,
        "registers_per_block": occupancy.registers_per_block,
    }


def workload_document(workload: Workload) -> Json:
    """Return counts and traffic of the whole grid; traffic in bytes."""
    execution = workload.execution
    return {
        "level": str(execution.program.level),
        "warp_instructions": execution.warp_instructions,
        "flops": execution.flops,
        "unknown_instructions": execution.program.unknown,
        "active_sms": workload.active_sms,
        "waves": workload.waves,
        "shared_wavefronts": workload.shared_wavefronts,
        "l1": _traffic(workload.l1),
        "l2": _traffic(workload.l2),
        "dram": _traffic(workload.dram),
    }


def analysis_document(workload: Workload) -> Json:
    """Return at which level and how the launch was analysed, and what that takes for granted."""
    execution = workload.execution
    return {
        "level": str(execution.program.level),
        "method": method(execution),
        "text": method_text(execution),
        "blocks_run": execution.blocks_run,
        "blocks": execution.launch.grid.count,
        "assumptions": [a.message for a in workload.assumptions],
    }


def line_documents(prediction: Prediction) -> list[Json]:
    """Return every source line with its costs and what it does to memory."""
    workload = prediction.case.workload
    found, lanes = reaches(workload), active_lanes(workload.execution)
    documents = []
    for line in prediction.lines:
        place = line.file, line.line
        documents.append(line_document(line, workload, found.get(place, ()), lanes.get(place)))
    return documents


def line_document(line: LineCost, workload: Workload, found: Sequence[Reach], lanes: float | None) -> Json:
    """Return one source line; ``found`` is what it does to memory, ``lanes`` how many are active."""
    return {
        "file": line.file,
        "line": line.line,
        "text": line.text,
        "time_share": line.time_share,
        "energy_share": line.energy_share,
        "warp_instructions": line.warp_instructions,
        "active_lanes": lanes,
        "flops": line.flops,
        "bytes": line.bytes,
        "accesses": [_access(index, pattern, workload) for index, pattern in line.accesses],
        "buffers": [reach_document(reach) for reach in found],
        "stalls": {str(stall): share for stall, share in line.stalls.items()},
        "waits": [_wait(wait) for wait in line.waits],
    }


def _wait(wait: LineWait) -> Json:
    return {
        "producer": _line(wait.producer),
        "opcode": wait.opcode,
        "stall": str(wait.stall),
        "share": wait.share,
    }


def _warp_states(warps: WarpStates | None) -> Json | None:
    """Return where the cycles of the warps of an SM go, in the figures of Nsight Compute."""
    if warps is None:
        return None
    return {
        "active_warps": warps.active,
        "eligible_warps": warps.eligible,
        "issued_per_cycle": warps.issued / warps.duration / warps.schedulers,
        "cycles_per_issue": {str(stall): cycles for stall, cycles in warps.per_issue().items()},
    }


def instruction_documents(prediction: Prediction) -> list[Json]:
    """Return the instructions that warps spend time at, with their shares of all warp time by stall name."""
    warps = prediction.timing.warps
    if warps is None or not warps.total:
        return []
    program = prediction.case.workload.execution.program
    documents = []
    for instruction, cycles in zip(program.instructions, warps.cycles.tolist(), strict=True):
        stalls = {str(s): x / warps.total for s, x in zip(warps.reasons, cycles, strict=True) if x > 0}
        if stalls:
            documents.append({
                "index": instruction.index,
                "text": instruction_text(instruction, program.level),
                "line": _line(instruction.line.home if instruction.line else None),
                "time_share": sum(stalls.values()),
                "stalls": stalls,
            })  # fmt: skip
    return documents


def _advice(advice: Advice) -> Json:
    return {
        "kind": advice.kind,
        "text": advice.text,
        "line": _line(advice.line),
        "fix": advice.fix,
        "time": quantity_document(advice.time),
        "time_saved": quantity_document(advice.saved),
        "time_saved_share": advice.share,
        "energy_saved": quantity_document(advice.energy_saved),
        "energy_saved_share": advice.energy_share,
    }


def _access(index: int, pattern: AccessPattern, workload: Workload) -> Json:
    execution = workload.execution
    instruction = execution.program.instructions[index]
    hits, memory = workload.hits.get(index), instruction.memory
    return {
        "instruction": index,
        "opcode": instruction.opcode,
        **dataclasses.asdict(pattern),
        "space": str(memory.space) if memory else None,
        "access": str(memory.access) if memory else None,
        "executions": execution.counts[index],
        "active_lanes": execution.lanes[index],
        "l1_hits": hits.l1_hits if hits else None,
        "l2_hits": hits.l2_hits if hits else None,
        "dram": _traffic(hits.dram) if hits else None,
    }


def reach_document(reach: Reach) -> Json:
    """Return what a line does to one buffer in one direction, its instructions together."""
    return {
        "buffer": reach.buffer,
        "space": str(reach.space),
        "access": reach.access,
        "instructions": list(reach.instructions),
        "executions": reach.executions,
        "requests": reach.requests,
        "active_lanes": reach.lanes,
        "sectors": reach.sectors,
        "wavefronts": reach.wavefronts,
        "ideal": reach.ideal,
        "stride": reach.stride,
        "known": reach.known,
        "l1_hits": reach.l1_hits,
        "l2_hits": reach.l2_hits,
        "l1": _traffic(reach.l1) if reach.l1 else None,
        "l2": _traffic(reach.l2) if reach.l2 else None,
        "dram": _traffic(reach.dram) if reach.dram else None,
    }


def _loop(loop: LoopTrips) -> Json:
    return {
        "header": loop.header,
        "line": _line(loop.line),
        "trips": loop.trips,
        "lanes": loop.lanes,
        "known": loop.known,
        "expression": loop.expression,
    }


def _assumption(assumption: Assumption) -> Json:
    return {
        "message": assumption.message,
        "parameter": assumption.parameter,
        "spread": assumption.spread,
        "line": _line(assumption.line),
        "fix": assumption.fix,
    }


def _finding(finding: Finding) -> Json:
    return {"topic": finding.topic, "text": finding.text, "line": _line(finding.line), "fix": finding.fix}


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


def _profile(profile: Profile | None) -> Json | None:
    if profile is None:
        return None
    return {
        "gpu": profile.gpu,
        "time": profile.time,
        "power": profile.power,
        "counters": _sorted(profile.counters),
    }


def _sorted(values: Mapping[str, float]) -> Json:
    return dict(sorted(values.items()))


def _extent(extent: Dim3) -> list[int]:
    return [extent.x, extent.y, extent.z]


def _traffic(traffic: Traffic) -> Json:
    return {"read": traffic.read, "written": traffic.written}


def _line(line: SourceLine | None) -> Json | None:
    return None if line is None else {"file": line.file, "line": line.line}
