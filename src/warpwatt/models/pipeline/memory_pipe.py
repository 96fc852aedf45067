"""Rows of the instruction table for what goes through the memory pipe, shuffles included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Access, Instruction, MemoryAccess, Space, Unit
from warpwatt.models.pipeline.arithmetic import take_pipe
from warpwatt.models.pipeline.codes import ObjectUse, Operation, Pipe, Reason, Traffic

if TYPE_CHECKING:
    from warpwatt.models.pipeline.arithmetic import Row
    from warpwatt.models.pipeline.machine import Machine

CONSTANTS = (Space.CONST, Space.PARAM)
"""Read through the constant cache of the sub-core, past the load-store unit (Huerta et al., figure 3)."""
BULK_COPIES = ("UBLKCP", "UBLKRED", "UBLKPF", "UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF")
"""Copies by the tensor memory accelerator."""
_OBJECT_USES = (
    ("SYNCS.EXCH", ObjectUse.MAKE),
    ("SYNCS.PHASECHK", ObjectUse.WAIT),
    ("SYNCS.ARRIVE", ObjectUse.CHANGE),
    ("ARRIVES", ObjectUse.CHANGE),
    ("UTCBAR", ObjectUse.CHANGE),
    ("UTMALDG", ObjectUse.TELL),
    ("UBLKCP.S", ObjectUse.TELL),
)


def fill_memory(instruction: Instruction, machine: Machine, row: Row) -> None:
    """Fill in what goes through the memory pipe, shuffles included."""
    v, memory = machine.values, instruction.memory
    base = instruction.opcode.partition(".")[0]
    if instruction.unit is Unit.UNIFORM:  # ULDC: the constant port of the uniform datapath
        take_pipe(row, Pipe.UNIFORM, v["uniform_interval"])
        row["latency"] = v["constant_latency"]
        return
    row["operation"] = Operation.MEMORY
    row["throttle_stall"], row["result_stall"] = Reason.MIO_THROTTLE, Reason.SHORT_SCOREBOARD
    row["lsu_cycles"] = machine.lsu_cycles
    row["object_use"] = _object_use(instruction.opcode)
    if row["object_use"] not in (ObjectUse.NONE, ObjectUse.TELL):
        _barrier_object(machine, row)
    elif memory is not None and memory.space in CONSTANTS:
        row["latency"], row["lsu_cycles"] = v["constant_latency"], 0.0
        row["operand_read_latency"] = v["shared_load_read"]
    elif memory is None or memory.space is Space.TENSOR:
        row["latency"] = v["shuffle_latency"] if memory is None else v["constant_latency"]
        row["operand_read_latency"] = v["shared_load_read"]
        if instruction.throughput_class:
            row["lsu_cycles"] = max(1.0, machine.interval(instruction.throughput_class) / machine.sub_cores)
    elif memory.space is Space.SHARED:
        _shared(memory, machine, row)
    else:
        _through_l1(instruction, memory, machine, row)
    if base in BULK_COPIES and memory is not None and memory.space is Space.GLOBAL:
        row["latency"] += v["bulk_copy_extra"]
        row["lsu_cycles"] = machine.lsu_cycles
        if memory.access is Access.COPY:
            row["traffic"] = Traffic.BULK_COPY


def _object_use(opcode: str) -> ObjectUse:
    """Return what an instruction does with a barrier object (mbarrier)."""
    for name, use in _OBJECT_USES:
        if opcode.startswith(name):
            return use
    return ObjectUse.NONE


def _barrier_object(machine: Machine, row: Row) -> None:
    """Fill in arrivals and waits, which pass the load-store unit to shared memory."""
    v = machine.values
    waits = row["object_use"] == ObjectUse.WAIT
    row["operation"] = Operation.PHASE_WAIT if waits else Operation.MEMORY
    row["latency"] = v["phase_wait_latency"] if waits else v["shared_latency"]
    row["operand_read_latency"] = v["shared_store_read"]
    row["shared_memory"] = True


def _shared(memory: MemoryAccess, machine: Machine, row: Row) -> None:
    v = machine.values
    wide = _width(memory.bytes)
    writes = memory.access in (Access.STORE, Access.REDUCTION)
    row["latency"] = v["shared_latency"] + v["shared_wide_extra"][wide]
    read = v["shared_store_read"] + v["store_wide_extra"][wide] if writes else v["shared_load_read"]
    row["operand_read_latency"] = read
    wavefronts = max(1.0, memory.bytes / 4)
    row["shared_memory"] = True
    row["lsu_cycles"] = max(machine.lsu_cycles, wavefronts * machine.bank_cycles)


def _through_l1(
    instruction: Instruction, memory: MemoryAccess, machine: Machine, row: Row,
) -> None:  # fmt: skip
    v, wide = machine.values, _width(memory.bytes)
    row["throttle_stall"], row["result_stall"] = Reason.LG_THROTTLE, Reason.LONG_SCOREBOARD
    l1 = machine.l1_latency + v["global_wide_extra"][wide]
    row["operand_read_latency"] = v["global_load_read"]
    row["traffic"] = Traffic.READ
    row["issue_cycles"] = v["load_issue_cycles"]
    if memory.access in (Access.STORE, Access.REDUCTION):
        row["operand_read_latency"] = v["global_store_read"] + v["store_wide_extra"][wide]
    if memory.access is not Access.LOAD:
        row["issue_cycles"] = 1
    if memory.access is Access.STORE:
        row["traffic"] = Traffic.WRITE
    elif memory.access in (Access.ATOMIC, Access.REDUCTION):
        row["traffic"] = Traffic.ATOMIC
    elif memory.access is Access.COPY:
        row["traffic"] = Traffic.ASYNC_COPY
        l1 += v["copy_latency_extra"]
        row["operand_read_latency"] = v["copy_read"]
    row["latency"] = l1
    row["l2_latency"] = row["dram_latency"] = 1.0
    row["l1_miss_rate"], row["l2_miss_rate"], row["dram_slowdown"] = 1.0, 1.0, 1.0
    cost = max(machine.lsu_cycles, 32.0 * memory.bytes / machine.l1_bytes)
    if instruction.unit is Unit.TEXTURE:
        row["throttle_stall"] = Reason.TEX_THROTTLE
        cost = max(cost, v["texture_cycles"])
        row["latency"] = v["texture_latency"]
    row["lsu_cycles"] = cost


def _width(bytes_per_lane: int) -> int:
    """Return 0 for up to 32 bits per lane, 1 for 64, 2 for 128."""
    return 0 if bytes_per_lane <= 4 else 1 if bytes_per_lane <= 8 else 2
