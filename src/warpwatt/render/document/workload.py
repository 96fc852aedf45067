"""What a launch does to the SMs and the memory hierarchy, and what each source line and instruction costs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpwatt.core.execution import AccessPattern, Assumption, LoopTrips, Occupancy, Workload
from warpwatt.core.prediction import LineCost, LineWait, Prediction
from warpwatt.core.warps import WarpStates
from warpwatt.render.document.values import place_document, traffic_document
from warpwatt.render.listing import instruction_text
from warpwatt.render.method import method, method_text
from warpwatt.render.reach import active_lanes, reaches

if TYPE_CHECKING:
    from warpwatt.render.document.values import Json
    from warpwatt.render.reach import Reach


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
        "l1": traffic_document(workload.l1),
        "l2": traffic_document(workload.l2),
        "dram": traffic_document(workload.dram),
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


def access_document(index: int, pattern: AccessPattern, workload: Workload) -> Json:
    """Return how one memory instruction spreads over memory, and its hits."""
    execution = workload.execution
    instruction = execution.program.instructions[index]
    hits, memory = workload.hits.get(index), instruction.memory
    return {
        "instruction": index,
        "opcode": instruction.opcode,
        **dataclasses.asdict(pattern),
        "tag_passes": pattern.l1_passes,
        "space": str(memory.space) if memory else None,
        "access": str(memory.access) if memory else None,
        "executions": execution.counts[index],
        "active_lanes": execution.lanes[index],
        "l1_hits": hits.l1_hits if hits else None,
        "l2_hits": hits.l2_hits if hits else None,
        "dram": traffic_document(hits.dram) if hits else None,
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
        "l1": traffic_document(reach.l1) if reach.l1 else None,
        "l2": traffic_document(reach.l2) if reach.l2 else None,
        "dram": traffic_document(reach.dram) if reach.dram else None,
    }


def loop_document(loop: LoopTrips) -> Json:
    """Return one loop and its iterations."""
    return {
        "header": loop.header,
        "line": place_document(loop.line),
        "trips": loop.trips,
        "lanes": loop.lanes,
        "known": loop.known,
        "expression": loop.expression,
    }


def assumption_document(assumption: Assumption) -> Json:
    """Return what was taken for granted, what it may cost, and the flag that removes it."""
    return {
        "message": assumption.message,
        "parameter": assumption.parameter,
        "spread": assumption.spread,
        "line": place_document(assumption.line),
        "fix": assumption.fix,
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
        "accesses": [access_document(index, pattern, workload) for index, pattern in line.accesses],
        "buffers": [reach_document(reach) for reach in found],
        "stalls": {str(stall): share for stall, share in line.stalls.items()},
        "waits": [_wait(wait) for wait in line.waits],
    }


def _wait(wait: LineWait) -> Json:
    return {
        "producer": place_document(wait.producer),
        "opcode": wait.opcode,
        "stall": str(wait.stall),
        "share": wait.share,
    }


def warp_states_document(warps: WarpStates | None) -> Json | None:
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
                "line": place_document(instruction.line.home if instruction.line else None),
                "time_share": sum(stalls.values()),
                "stalls": stalls,
            })  # fmt: skip
    return documents
