"""What a launch does that costs energy: operations by pipe and bytes by level, in total and by instruction.

Amounts are counted where the hardware spends them: machine instructions (a PTX instruction may be several,
or none), active lanes, passes through shared memory, bytes that reach each level.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpwatt.core.arguments import Buffer, Fill
from warpwatt.core.case import Case
from warpwatt.core.launch import WARP_SIZE
from warpwatt.core.program import Instruction, Space, Unit
from warpwatt.emulate.workload import OFF_CHIP, off_chip_bytes, pattern_of
from warpwatt.models.component.table import number, tensor_weight
from warpwatt.models.memo import at_any_clock
from warpwatt.models.pipes import issue_slots, pipe_instructions

Loads = dict[int, float]
"""Instruction index to its amount."""
SCALAR = (Unit.CONTROL, Unit.UNIFORM)
"""Units whose instructions read no vector registers: branches, barriers, uniform instructions."""


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """Work of one launch.

    Attributes
    ----------
    active_sms
        SMs that hold a block, averaged over the launch.
    amounts
        Component to amount in the whole grid: warp instructions (``issue``, those of :data:`SCALAR` units as
        many as cost the same energy), thread instructions (``registers``, and every pipe), floating-point
        operations (``tensor``, as many in FP16 as cost the same energy), bytes (``shared``, ``l1``, ``l2``,
        ``dram``).
    by_instruction
        The same by instruction; empty for components that are not attributed.
    measured
        Components whose amount comes from hardware counters.
    occupancy
        Resident warps over the most that fit, 0 to 1; NaN where not known.
    """

    active_sms: float
    amounts: Mapping[str, float]
    by_instruction: Mapping[str, Loads]
    measured: frozenset[str] = frozenset()
    occupancy: float = math.nan


@at_any_clock
def activity(case: Case) -> Activity:
    """Return what the launch of a case does, from its workload alone."""
    parts = {**_inside(case), **_traffic(case)}
    amounts = {name: math.fsum(loads.values()) for name, loads in parts.items()}
    return Activity(
        active_sms(case),
        {name: amount for name, amount in amounts.items() if amount > 0},
        {name: loads for name, loads in parts.items() if amounts[name] > 0},
        occupancy=case.workload.occupancy.theoretical,
    )


def active_sms(case: Case) -> float:
    """Return how many SMs hold a block, averaged over the launch: fewer in the tail of the grid.

    Blocks are dealt out one by one; the last round may leave SMs empty.
    """
    blocks, sms = case.launch.grid.count, case.gpu.sm_count
    rounds = math.ceil(blocks / sms)
    return blocks / rounds


def _inside(case: Case) -> dict[str, Loads]:
    """Return what happens inside the SMs: issue, registers, pipes and shared memory."""
    execution, target = case.workload.execution, case.gpu.target
    level = execution.program.level
    parts: dict[str, Loads] = defaultdict(dict)
    for i in execution.program.instructions:
        count, lanes = execution.counts[i.index], execution.lanes[i.index]
        if not count:
            continue
        slots = issue_slots(i, level, target) * count
        parts["issue"][i.index] = slots * (number("model", "scalar_issue") if i.unit in SCALAR else 1.0)
        if i.unit not in SCALAR:
            parts["registers"][i.index] = slots * lanes
        for pipe, operations in pipe_instructions(i, level).items():
            each = i.flops * tensor_weight(i.throughput_class) if pipe == Unit.TENSOR else operations
            parts[pipe][i.index] = each * count * lanes
        passes = _shared_bytes(case, i)
        if passes:
            parts["shared"][i.index] = passes * count
    return dict(parts)


def _shared_bytes(case: Case, instruction: Instruction) -> float:
    """Return the bytes that one execution draws from the banks of shared memory, conflicts included."""
    if instruction.memory is None or instruction.memory.space != Space.SHARED:
        return 0.0
    passes = pattern_of(case.workload.execution, instruction).wavefronts
    asked = instruction.memory.bytes * case.workload.execution.lanes[instruction.index]
    return max(asked, (passes - 1) * WARP_SIZE * 4)


def _traffic(case: Case) -> dict[str, Loads]:
    """Return the bytes at L1, L2 and DRAM by the instruction that moves them."""
    work = case.workload
    if work.hits:
        return {
            level: {index: getattr(hits, level).total for index, hits in work.hits.items()}
            for level in ("l1", "l2", "dram")
        }
    asked = off_chip_bytes(case)
    return {level: _spread(getattr(work, level).total, asked) for level in ("l1", "l2", "dram")}


def _spread(total: float, weights: Sequence[float]) -> Loads:
    """Return a total spread over instructions by their weights."""
    whole = math.fsum(weights)
    return {i: total * w / whole for i, w in enumerate(weights) if w} if whole else {}


@at_any_clock
def reads_by_buffer(case: Case) -> dict[str, float]:
    """Return the bytes that the launch reads from each buffer; where none is known, an empty dictionary.

    An asynchronous copy touches shared memory too, so that its pattern names no buffer: its footprint does.
    """
    execution = case.workload.execution
    touched = {index: own.buffer for own in execution.footprints for index in own.instructions}
    found: dict[str, float] = defaultdict(float)
    for i in execution.program.instructions:
        if i.memory is None or i.memory.space not in OFF_CHIP or not execution.counts[i.index]:
            continue
        if i.memory.access not in ("load", "copy"):
            continue
        pattern = pattern_of(execution, i)
        buffer = pattern.buffer or touched.get(i.index)
        if buffer:
            found[buffer] += i.memory.bytes * execution.counts[i.index] * execution.lanes[i.index]
    return dict(found)


def toggle_factor(case: Case, factors: Mapping[Fill, float]) -> float:
    """Return the factor of a launch: the mean over the buffers it reads, weighted by bytes read.

    A launch that reads no buffer we know of computes its data from indices or scalars; it counts as random.
    """
    weights = {name: read for name, read in reads_by_buffer(case).items() if _fill(case, name) is not None}
    whole = sum(weights.values())
    if not whole:
        return 1.0
    return sum(factors[fill] * read for name, read in weights.items() if (fill := _fill(case, name))) / whole


def fill_assumed(case: Case) -> bool:
    """Whether the contents of a buffer that the launch reads are assumed."""
    arguments = case.launch.arguments
    return any(
        isinstance(a := arguments.get(name), Buffer) and a.assumed_fill for name in reads_by_buffer(case)
    )


def _fill(case: Case, buffer: str) -> Fill | None:
    argument = case.launch.arguments.get(buffer)
    return argument.fill if isinstance(argument, Buffer) else None
