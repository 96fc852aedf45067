"""Source lines and instructions with their costs, and what warps spend their cycles on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.render.document.values import place_document
from warpwatt.render.document.workload import access_document, reach_document
from warpwatt.render.listing import instruction_text
from warpwatt.render.reach import active_lanes, reaches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.core.execution import Workload
    from warpwatt.core.prediction import LineCost, LineWait, Prediction
    from warpwatt.core.warps import WarpStates
    from warpwatt.render.document.values import Json
    from warpwatt.render.reach import Reach


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
