"""From a SASS program to the simulator's instruction table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import (
    Access,
    Flow,
    Immediate,
    Instruction,
    MemoryAccess,
    Program,
    Register,
    Space,
    Symbol,
    Unit,
)
from warpwatt.isa.sass.opcodes import input_bits, tile
from warpwatt.models.pipeline.codes import (
    NO_SCOREBOARD,
    WARPGROUP_BOARD,
    ObjectUse,
    Operation,
    Pipe,
    Reason,
    SmPipe,
    Traffic,
)
from warpwatt.models.pipeline.simulator import record_type
from warpwatt.models.pipeline.tensor_memory import IN_TENSOR_MEMORY, fill_tensor_memory
from warpwatt.models.pipes import CONVERSIONS, multiplier_passes, on_fp64_lanes

if TYPE_CHECKING:
    from warpwatt.models.pipeline.machine import Machine
    from warpwatt.models.pipeline.simulator import Records

THROUGH_L1 = (Space.GLOBAL, Space.LOCAL, Space.GENERIC, Space.TEXTURE, Space.SURFACE)
CONSTANTS = (Space.CONST, Space.PARAM)
"""Read through the constant cache of the sub-core, past the load-store unit (Huerta et al., figure 3)."""
INSTRUCTION_BYTES, LINE_BYTES = 16, 128
_REGISTER = re.compile(r"R(\d+)$")
_FP64_RATE = 32
"""Results per clock and SM from which FP64 has a pipe in every sub-core."""
_TWO_FMA_PIPES = 128
BULK_COPIES = ("UBLKCP", "UBLKRED", "UBLKPF", "UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF")
"""Copies by the tensor memory accelerator."""
_LOADS_IN_BULK = ("UTMALDG", "UBLKCP.S")
"""Copies that write shared memory, from which products of warp groups read."""
_OBJECT_USES = (
    ("SYNCS.EXCH", ObjectUse.MAKE),
    ("SYNCS.PHASECHK", ObjectUse.WAIT),
    ("SYNCS.ARRIVE", ObjectUse.CHANGE),
    ("ARRIVES", ObjectUse.CHANGE),
    ("UTCBAR", ObjectUse.CHANGE),
    ("UTMALDG", ObjectUse.TELL),
    ("UBLKCP.S", ObjectUse.TELL),
)
_GROUP_SHAPE = re.compile(r"\.64x(\d+)x\d+")
_GROUP_ROWS, _GROUP_DEPTH_BYTES = 64, 32
"""Of A, whatever the type (PTX ISA, wgmma: K is always 32 bytes)."""
_ON_CORES = frozenset({
    "fp32_add_mul_fma", "int32_mul_mad", "int32_add_sub", "int32_shift", "compare_min_max",
    "logic_and_or_xor", "bfe_bfi", "bit_reverse", "sad",
})  # fmt: skip
"""Classes that the cores of an SM execute."""
_NO_PRODUCT = ("IMAD.MOV", "IMAD.SHL", "IMAD.IADD")
_BANKED = (Unit.FP32, Unit.FP16, Unit.FP64, Unit.INT)


def instruction_table(
    program: Program,
    machine: Machine,
    misses: Mapping[int, tuple[float, float]] | None = None,
    slower: Mapping[int, float] | None = None,
    in_flight: Mapping[int, float] | None = None,
    waits: Mapping[int, float] | None = None,
) -> Records:
    """Return a record ``Instruction`` for each instruction of ``program`` on ``machine``.

    ``misses``: by instruction index, shares of its sectors that miss L1, and of those that miss L2.
    ``slower``: by instruction index, how much longer DRAM takes than the bytes say, 1 where absent.
    ``in_flight``: by instruction index, share of its L1 hits whose line is still on its way, 0 where absent.
    ``waits``: by instruction index, cycles that its warp does nothing behind it, 0 where absent.
    """
    table = _at_any_clock(program, Board(machine.name, machine)).copy()
    far = table["l2_latency"] > 0
    extra = table["latency"][far] - machine.l1_latency
    table["l2_latency"][far] = machine.l2_latency + extra
    table["dram_latency"][far] = machine.dram_latency + extra
    for index, (l1, l2) in (misses or {}).items():
        table["l1_miss_rate"][index], table["l2_miss_rate"][index] = l1, l2
    for index, times in (slower or {}).items():
        table["dram_slowdown"][index] = times
    for index, share in (in_flight or {}).items():
        table["in_flight_rate"][index] = share
    for index, cycles in (waits or {}).items():
        table["sleep_cycles"][index], table["issue_stall"][index] = cycles, Reason.SLEEPING
    return table


def empty_table(size: int) -> Records:
    """Return the records of instructions that need nothing."""
    table = np.zeros(size, record_type("Instruction"))
    table["stall_count"] = 1
    table["write_barrier"] = table["read_barrier"] = NO_SCOREBOARD
    table["throttle_stall"], table["result_stall"] = Reason.MATH_PIPE_THROTTLE, Reason.SHORT_SCOREBOARD
    table["issue_stall"] = Reason.WAIT
    return table


@dataclass(frozen=True, slots=True)
class Board:
    """A machine as a key: the same at every clock."""

    name: str
    machine: Machine = field(compare=False)


@lru_cache(maxsize=8)
def _at_any_clock(program: Program, board: Board) -> Records:
    """Return a table; latencies of L2 and DRAM are still to be put in where they are not 0."""
    machine = board.machine
    table = empty_table(len(program.instructions))
    for instruction, row in zip(program.instructions, table, strict=True):
        row["cache_line"] = instruction.index * INSTRUCTION_BYTES // LINE_BYTES
        _control(instruction, row)
        if instruction.opcode.startswith(IN_TENSOR_MEMORY):
            fill_tensor_memory(program.instructions, instruction, machine, row)
        elif instruction.memory is not None or instruction.unit in (Unit.LSU, Unit.TEXTURE):
            _memory(instruction, machine, row)
        elif not _special(instruction, machine, row):
            _arithmetic(instruction, machine, row)
    _register_banks(program.instructions, table)
    if any(i.opcode.startswith(_LOADS_IN_BULK) for i in program.instructions):
        groups = table["operation"] == Operation.WARPGROUP_MMA
        slower = table["tensor_cycles"][groups] * machine.values["group_beside_copies"]
        table["tensor_cycles"][groups] = np.round(slower)
    return table


def _control(instruction: Instruction, row: np.void) -> None:
    code = instruction.control
    if code is None:
        return
    row["stall_count"], row["yields"], row["wait_mask"] = code.stall, code.yields, code.wait_mask
    if code.write_barrier is not None:
        row["write_barrier"] = code.write_barrier
    if code.read_barrier is not None:
        row["read_barrier"] = code.read_barrier


# -- memory -------------------------------------------------------------------------------------------


def _memory(instruction: Instruction, machine: Machine, row: np.void) -> None:
    """Fill in what goes through the memory pipe, shuffles included."""
    v, memory = machine.values, instruction.memory
    base = instruction.opcode.partition(".")[0]
    if instruction.unit is Unit.UNIFORM:  # ULDC: the constant port of the uniform datapath
        _pipe(row, Pipe.UNIFORM, v["uniform_interval"])
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


def _barrier_object(machine: Machine, row: np.void) -> None:
    """Fill in arrivals and waits, which pass the load-store unit to shared memory."""
    v = machine.values
    waits = row["object_use"] == ObjectUse.WAIT
    row["operation"] = Operation.PHASE_WAIT if waits else Operation.MEMORY
    row["latency"] = v["phase_wait_latency"] if waits else v["shared_latency"]
    row["operand_read_latency"] = v["shared_store_read"]
    row["shared_memory"] = True


def _shared(memory: MemoryAccess, machine: Machine, row: np.void) -> None:
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
    instruction: Instruction, memory: MemoryAccess, machine: Machine, row: np.void,
) -> None:  # fmt: skip
    v, wide = machine.values, _width(memory.bytes)
    row["throttle_stall"], row["result_stall"] = Reason.LG_THROTTLE, Reason.LONG_SCOREBOARD
    l1 = machine.l1_latency + v["global_wide_extra"][wide]
    row["operand_read_latency"] = v["global_load_read"]
    row["traffic"] = Traffic.READ
    if memory.access in (Access.STORE, Access.REDUCTION):
        row["operand_read_latency"] = v["global_store_read"] + v["store_wide_extra"][wide]
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


# -- everything else ----------------------------------------------------------------------------------


def _special(instruction: Instruction, machine: Machine, row: np.void) -> bool:
    """Fill in instructions that the pipes alone do not describe; False if this is none."""
    v = machine.values
    parts = instruction.opcode.split(".")
    base = parts[0]
    if base == "BAR":
        row["operation"] = Operation.BARRIER_ARRIVE if "ARV" in parts else Operation.BARRIER_SYNC
        row["barrier"], row["barrier_warps"] = _barrier(instruction)
        row["sm_pipe"], row["sm_pipe_cycles"] = SmPipe.BARRIER, v["barrier_interval"]
        row["result_stall"], row["throttle_stall"] = Reason.BARRIER, Reason.MIO_THROTTLE
    elif base == "DEPBAR":
        row["operation"], row["result_stall"] = Operation.DEPBAR, Reason.LONG_SCOREBOARD
        row["scoreboard"], row["outstanding"] = _awaited(instruction)
    elif base == "LDGDEPBAR":
        row["operation"], row["result_stall"] = Operation.COPY_FENCE, Reason.LONG_SCOREBOARD
    elif base == "WARPGROUP" and "DEPBAR" in parts:
        row["operation"], row["scoreboard"] = Operation.WARPGROUP_WAIT, WARPGROUP_BOARD
        row["outstanding"] = _awaited(instruction)[1]
    elif base in ("MEMBAR", "ERRBAR"):
        row["latency"], row["result_stall"] = v["fence_latency"], Reason.MEMBAR
    elif base in ("S2R", "S2UR", "B2R", "R2UR"):
        row["latency"] = v["special_register_latency"]
    else:
        return False
    return True


def _barrier(instruction: Instruction) -> tuple[int, int]:
    """Return barrier number (0 if in a register) and warps that take part (0: all)."""
    values = [int(o.value) for o in instruction.operands if isinstance(o, Immediate)]
    number = values[0] & 15 if values else 0
    threads = values[1] if len(values) > 1 else 0
    return number, -(-threads // 32)


def _awaited(instruction: Instruction) -> tuple[int, int]:
    """Return scoreboard and the number that may remain of ``DEPBAR.LE SBx, n``."""
    board, remaining = 0, 0
    for operand in instruction.operands:
        if isinstance(operand, Register) and operand.name.lower().startswith("sb"):
            board = int(operand.name[2:])
        elif isinstance(operand, Immediate):
            remaining = int(operand.value)
    return board, remaining


def _arithmetic(instruction: Instruction, machine: Machine, row: np.void) -> None:
    """Choose pipe and interval; latencies matter only for what sets a scoreboard."""
    v, unit, name = machine.values, instruction.unit, instruction.throughput_class
    if instruction.flow not in (Flow.NEXT, Flow.BARRIER) or (unit is Unit.CONTROL and not name):
        _pipe(row, Pipe.BRANCH, v["branch_interval"])
        row["issue_stall"] = (
            Reason.SLEEPING if instruction.opcode.startswith("NANOSLEEP") else Reason.BRANCH_RESOLVING
        )
    elif unit is Unit.FP64 or (name == CONVERSIONS and on_fp64_lanes(machine.rates)):
        _fp64(machine, row)
    elif unit is Unit.TENSOR:
        _tensor(instruction, machine, row)
    elif unit is Unit.FP16 and "fma" in name:
        _pipe(row, Pipe.FP16, 2 * machine.interval(name, 32.0))  # the table counts half results, two per lane
    elif machine.one_kind_of_core and name in _ON_CORES:
        _pipe(row, Pipe.FMA, _core_cycles(instruction, machine))
    elif unit is Unit.FP32 and name == "fp32_add_mul_fma":
        _fma(machine, row)
    elif name == "int32_mul_mad":
        _pipe(row, Pipe.FMA, machine.interval(name) * multiplier_passes(instruction.opcode))
    elif unit is Unit.SFU or (machine.rates.get(name, 64.0) <= 16.0 and unit is Unit.INT):
        _pipe(row, Pipe.XU, machine.interval(name, 4.0))
        row["operation"], row["throttle_stall"] = Operation.MIO_PIPE, Reason.MIO_THROTTLE
        row["latency"] = v["special_latency"]
        row["operand_read_latency"] = v["shared_load_read"]
    elif unit is Unit.UNIFORM:
        _pipe(row, Pipe.UNIFORM, v["uniform_interval"])
        row["latency"] = v["special_latency"]
    else:
        _pipe(row, Pipe.ALU, min(2.0, machine.interval(name)))


def _pipe(row: np.void, pipe: int, interval: float) -> None:
    row["pipe"], row["pipe_cycles"] = pipe, max(1, round(interval))


def _core_cycles(instruction: Instruction, machine: Machine) -> float:
    """Return how long an instruction keeps the cores of a chip that multiplies integers in pieces.

    Machine code of a later chip stands for its own: a product of 32 bits takes three XMAD, an address
    (IMAD.WIDE) two shifts and two additions; moves, shifts and sums that are an IMAD there take one.
    """
    name, opcode = instruction.throughput_class, instruction.opcode
    if opcode.startswith(_NO_PRODUCT):
        return machine.interval("int32_add_sub")
    if name != "int32_mul_mad" or name in machine.rates:
        return machine.interval(name)
    return (4 if opcode.startswith("IMAD.WIDE") else 3) * machine.interval("fp32_add_mul_fma")


def _fma(machine: Machine, row: np.void) -> None:
    """Two half-rate pipes per sub-core where an SM has 128 lanes, else one."""
    _pipe(row, Pipe.FMA, 2)
    if machine.rates.get("fp32_add_mul_fma", 0.0) >= _TWO_FMA_PIPES:
        row["alternative_pipe"] = Pipe.FMA_LITE


def _fp64(machine: Machine, row: np.void) -> None:
    rate = machine.rates.get("fp64_add_mul_fma", 2.0)
    if rate >= _FP64_RATE:
        _pipe(row, Pipe.FP64, 32.0 * machine.sub_cores / rate)
        row["latency"] = machine.values["fp64_latency"]
    else:
        achieved = rate * machine.values["slow_fp64_efficiency"]
        row["operation"], row["sm_pipe"] = Operation.MIO_PIPE, SmPipe.FP64
        row["sm_pipe_cycles"] = round(32.0 / achieved)
        row["latency"] = machine.values["slow_fp64_latency"]


def _tensor(instruction: Instruction, machine: Machine, row: np.void) -> None:
    """Multiply-adds of the warp over the sub-core's rate; half rate where GeForce sums in FP32.

    Integers of 4 bits and 1 go as many times faster than those of 8 that the rate is for.
    """
    if "GMMA" in instruction.opcode:
        _warp_group(instruction, machine, row)
        return
    rate = machine.rates.get(instruction.throughput_class) or machine.rates.get("tensor_fp16_fma", 512.0)
    shape = tile(instruction.opcode)
    operations = instruction.flops or (shape.flops * input_bits(instruction.opcode) / 8 if shape else 0.0)
    cycles = operations * 16.0 / (rate / machine.sub_cores)
    if machine.geforce and instruction.opcode.startswith(("HMMA", "QMMA")) and ".F32" in instruction.opcode:
        cycles *= 2
    _pipe(row, Pipe.TENSOR, cycles)
    row["latency"] = machine.values["tensor_latency"] + cycles


def _warp_group(instruction: Instruction, machine: Machine, row: np.void) -> None:
    """Fill in a warp group's product: its multiply-adds or its operands' bytes in shared memory bind.

    The last of a group that is committed carries the group's scoreboard.
    """
    v = machine.values
    found = _GROUP_SHAPE.search(instruction.opcode)
    columns = int(found[1]) if found else 0
    in_registers = isinstance(instruction.operands[1], Register)
    rate = machine.rates.get(instruction.throughput_class) or machine.rates.get("tensor_fp16_fma", 512.0)
    flops = instruction.flops or 4.0 * _GROUP_DEPTH_BYTES * columns / 4
    math = flops * 16.0 / (rate / machine.sub_cores)
    read = _GROUP_DEPTH_BYTES * (columns + (0 if in_registers else _GROUP_ROWS))
    row["operation"] = Operation.WARPGROUP_MMA
    interval = max(math, read * machine.bank_cycles / LINE_BYTES) + v["group_interval_extra"]
    row["tensor_cycles"] = max(1, round(interval))
    row["latency"] = v["group_register_latency" if in_registers else "group_shared_latency"] + math
    committed = any(isinstance(o, Symbol) and o.name.startswith("gsb") for o in instruction.operands)
    row["scoreboard"] = WARPGROUP_BOARD if committed else NO_SCOREBOARD


# -- register banks -----------------------------------------------------------------------------------


def _register_banks(instructions: Sequence[Instruction], table: Records) -> None:
    """Count the reads of both banks (even and odd registers) that the reuse cache does not save."""
    kept: dict[int, str] = {}
    for instruction in instructions:
        sources = _sources(instruction)
        if instruction.unit in _BANKED:
            for slot, register in enumerate(sources):
                if register is not None and kept.get(slot) != register.name:
                    _read(register, table[instruction.index], wide=instruction.unit is Unit.FP64)
        kept = {
            slot: register.name
            for slot, register in enumerate(sources)
            if register is not None and "reuse" in register.modifiers
        }


def _sources(instruction: Instruction) -> tuple[Register | None, ...]:
    """Return the register operands by source slot; None where a slot holds something else."""
    values = [o for o in instruction.operands if not _is_predicate(o)]
    return tuple(o if isinstance(o, Register) and _REGISTER.match(o.name) else None for o in values[1:4])


def _is_predicate(operand: object) -> bool:
    return (isinstance(operand, Register) and operand.name[:1] == "P") or (
        isinstance(operand, Register) and operand.name[:2] == "UP"
    )


def _read(register: Register, row: np.void, *, wide: bool) -> None:
    match = _REGISTER.match(register.name)
    assert match is not None
    if wide:
        row["even_bank_reads"] += 1
        row["odd_bank_reads"] += 1
    else:
        row["odd_bank_reads" if int(match[1]) % 2 else "even_bank_reads"] += 1
