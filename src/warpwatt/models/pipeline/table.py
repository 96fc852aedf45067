"""From a SASS program to the simulator's instruction table."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import Access, Flow, Immediate, Register, Space, Unit
from warpwatt.models.pipeline import layout as c

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from warpwatt.core.program import Instruction, MemoryAccess, Program
    from warpwatt.models.pipeline.machine import Machine

THROUGH_L1 = (Space.GLOBAL, Space.LOCAL, Space.GENERIC, Space.TEXTURE, Space.SURFACE)
CONSTANTS = (Space.CONST, Space.PARAM)
"""Read through the constant cache of the sub-core, past the load-store unit (Huerta et al., figure 3)."""
INSTRUCTION_BYTES, LINE_BYTES = 16, 128
_REGISTER = re.compile(r"R(\d+)$")
_FP64_RATE = 32
"""Results per clock and SM from which FP64 has a pipe in every sub-core."""
_TWO_FMA_PIPES = 128
_BANKED = (Unit.FP32, Unit.FP16, Unit.FP64, Unit.INT)


@dataclass(frozen=True, slots=True, eq=False)
class InstructionTable:
    """One row per static instruction; columns in :mod:`.layout`."""

    ints: NDArray[np.int64]
    floats: NDArray[np.float64]


def instruction_table(
    program: Program,
    machine: Machine,
    misses: Mapping[int, tuple[float, float]] | None = None,
    slower: Mapping[int, float] | None = None,
    in_flight: Mapping[int, float] | None = None,
) -> InstructionTable:
    """Return the table of ``program`` on ``machine``.

    ``misses``: by instruction index, shares of its sectors that miss L1, and of those that miss L2.
    ``slower``: by instruction index, how much longer DRAM takes than the bytes say, 1 where absent.
    ``in_flight``: by instruction index, share of its L1 hits whose line is still on its way, 0 where absent.
    """
    ints, kept = _at_any_clock(program, Board(machine.name, machine))
    floats = kept.copy()
    far = floats[:, c.L2_LATENCY] > 0
    extra = floats[far, c.LATENCY] - machine.l1_latency
    floats[far, c.L2_LATENCY] = machine.l2_latency + extra
    floats[far, c.DRAM_LATENCY] = machine.dram_latency + extra
    for index, (l1, l2) in (misses or {}).items():
        floats[index, c.L1_MISS], floats[index, c.L2_MISS] = l1, l2
    for index, times in (slower or {}).items():
        floats[index, c.DRAM_TIMES] = times
    for index, share in (in_flight or {}).items():
        floats[index, c.IN_FLIGHT] = share
    return InstructionTable(ints, floats)


@dataclass(frozen=True, slots=True)
class Board:
    """A machine as a key: the same at every clock."""

    name: str
    machine: Machine = field(compare=False)


@lru_cache(maxsize=8)
def _at_any_clock(program: Program, board: Board) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the columns of a table; latencies of L2 and DRAM are still to be put in where they are not 0."""
    machine = board.machine
    size = len(program.instructions)
    ints = np.zeros((size, c.INT_COLUMNS), np.int64)
    floats = np.zeros((size, c.FLOAT_COLUMNS))
    ints[:, [c.WRITE_BARRIER, c.READ_BARRIER, c.PIPE, c.OTHER_PIPE, c.SHARED_PIPE]] = -1
    ints[:, c.THROTTLE], ints[:, c.REASON], ints[:, c.STALL] = c.R_MATH, c.R_SHORT, 1
    ints[:, c.AFTER] = c.R_WAIT
    for instruction, row, numbers in zip(program.instructions, ints, floats, strict=True):
        row[c.FETCH_LINE] = instruction.index * INSTRUCTION_BYTES // LINE_BYTES
        _control(instruction, row)
        if instruction.memory is not None or instruction.unit in (Unit.LSU, Unit.TEXTURE):
            _memory(instruction, machine, row, numbers)
        elif not _special(instruction, machine, row, numbers):
            _arithmetic(instruction, machine, row, numbers)
    _register_banks(program.instructions, ints)
    return ints, floats


def _control(instruction: Instruction, row: NDArray[np.int64]) -> None:
    code = instruction.control
    if code is None:
        return
    row[c.STALL], row[c.YIELD], row[c.WAIT_MASK] = code.stall, code.yields, code.wait_mask
    row[c.WRITE_BARRIER] = -1 if code.write_barrier is None else code.write_barrier
    row[c.READ_BARRIER] = -1 if code.read_barrier is None else code.read_barrier


# -- memory -------------------------------------------------------------------------------------------


def _memory(
    instruction: Instruction, machine: Machine, row: NDArray[np.int64], numbers: NDArray[np.float64]
) -> None:
    """Fill in what goes through the memory pipe, shuffles included."""
    v, memory = machine.values, instruction.memory
    base = instruction.opcode.partition(".")[0]
    if instruction.unit is Unit.UNIFORM:  # ULDC: the constant port of the uniform datapath
        _pipe(row, c.UNIFORM, v["uniform_interval"])
        numbers[c.LATENCY] = v["constant_latency"]
        return
    row[c.KIND] = c.MEMORY
    row[c.THROTTLE], row[c.REASON] = c.R_MIO, c.R_SHORT
    numbers[c.COST] = machine.lsu_cycles
    if "TRYWAIT" in instruction.opcode:
        row[c.KIND] = c.ASYNC_WAIT
        numbers[c.LATENCY] = v["shared_latency"]
    elif memory is not None and memory.space in CONSTANTS:
        numbers[c.LATENCY], numbers[c.COST] = v["constant_latency"], 0.0
        numbers[c.READ_LATENCY] = v["shared_load_read"]
    elif memory is None or memory.space is Space.TENSOR:
        numbers[c.LATENCY] = v["shuffle_latency"] if memory is None else v["constant_latency"]
        numbers[c.READ_LATENCY] = v["shared_load_read"]
        if instruction.throughput_class:
            numbers[c.COST] = max(1.0, machine.interval(instruction.throughput_class) / machine.sub_cores)
    elif memory.space is Space.SHARED:
        _shared(memory, machine, numbers)
    else:
        _through_l1(instruction, memory, machine, row, numbers)
    if base in ("UBLKCP", "UTMALDG"):
        row[c.TRAFFIC] = c.BULK


def _shared(memory: MemoryAccess, machine: Machine, numbers: NDArray[np.float64]) -> None:
    v = machine.values
    wide = _width(memory.bytes)
    writes = memory.access in (Access.STORE, Access.REDUCTION)
    numbers[c.LATENCY] = v["shared_latency"] + v["shared_wide_extra"][wide]
    read = v["shared_store_read"] + v["store_wide_extra"][wide] if writes else v["shared_load_read"]
    numbers[c.READ_LATENCY] = read
    wavefronts = max(1.0, memory.bytes / 4)
    numbers[c.COST] = -max(machine.lsu_cycles, wavefronts * machine.bank_cycles)


def _through_l1(
    instruction: Instruction, memory: MemoryAccess, machine: Machine, row: NDArray[np.int64],
    numbers: NDArray[np.float64],
) -> None:  # fmt: skip
    v, wide = machine.values, _width(memory.bytes)
    row[c.THROTTLE], row[c.REASON] = c.R_LG, c.R_LONG
    l1 = machine.l1_latency + v["global_wide_extra"][wide]
    numbers[c.READ_LATENCY] = v["global_load_read"]
    row[c.TRAFFIC] = c.READ
    if memory.access in (Access.STORE, Access.REDUCTION):
        numbers[c.READ_LATENCY] = v["global_store_read"] + v["store_wide_extra"][wide]
    if memory.access is Access.STORE:
        row[c.TRAFFIC] = c.WRITE
    elif memory.access in (Access.ATOMIC, Access.REDUCTION):
        row[c.TRAFFIC] = c.ATOMIC_READ
    elif memory.access is Access.COPY:
        row[c.TRAFFIC] = c.COPY
        l1 += v["copy_latency_extra"]
        numbers[c.READ_LATENCY] = v["copy_read"]
    numbers[c.LATENCY] = l1
    numbers[c.L2_LATENCY] = numbers[c.DRAM_LATENCY] = 1.0
    numbers[c.L1_MISS], numbers[c.L2_MISS], numbers[c.DRAM_TIMES] = 1.0, 1.0, 1.0
    cost = max(machine.lsu_cycles, 32.0 * memory.bytes / machine.l1_bytes)
    if instruction.unit is Unit.TEXTURE:
        row[c.THROTTLE] = c.R_TEX
        cost = max(cost, v["texture_cycles"])
        numbers[c.LATENCY] = v["texture_latency"]
    numbers[c.COST] = cost


def _width(bytes_per_lane: int) -> int:
    """Return 0 for up to 32 bits per lane, 1 for 64, 2 for 128."""
    return 0 if bytes_per_lane <= 4 else 1 if bytes_per_lane <= 8 else 2


# -- everything else ----------------------------------------------------------------------------------


def _special(
    instruction: Instruction, machine: Machine, row: NDArray[np.int64], numbers: NDArray[np.float64]
) -> bool:
    """Fill in instructions that the pipes alone do not describe; False if this is none."""
    v = machine.values
    parts = instruction.opcode.split(".")
    base = parts[0]
    if base == "BAR":
        row[c.KIND] = c.ARRIVE if "ARV" in parts else c.BARRIER
        row[c.NUMBER], row[c.WARPS] = _barrier(instruction)
        row[c.SHARED_PIPE], row[c.SHARED_INTERVAL] = c.BLOCK_BARRIER, 2
        row[c.REASON], row[c.THROTTLE] = c.R_BARRIER, c.R_MIO
    elif base == "DEPBAR":
        row[c.KIND], row[c.REASON] = c.DEPBAR, c.R_LONG
        row[c.SCOREBOARD], row[c.REMAINING] = _awaited(instruction)
    elif base == "LDGDEPBAR":
        row[c.KIND], row[c.REASON] = c.COPY_FENCE, c.R_LONG
    elif base == "WARPGROUP" and "DEPBAR" in parts:
        row[c.KIND], row[c.SCOREBOARD] = c.GROUP_WAIT, c.GROUP_BOARD
        row[c.REMAINING] = _awaited(instruction)[1]
    elif base in ("MEMBAR", "ERRBAR"):
        numbers[c.LATENCY], row[c.REASON] = v["fence_latency"], c.R_MEMBAR
    elif base in ("S2R", "S2UR", "B2R", "R2UR"):
        numbers[c.LATENCY] = v["special_register_latency"]
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


def _arithmetic(
    instruction: Instruction, machine: Machine, row: NDArray[np.int64], numbers: NDArray[np.float64]
) -> None:
    """Choose pipe and interval; latencies matter only for what sets a scoreboard."""
    v, unit, name = machine.values, instruction.unit, instruction.throughput_class
    if instruction.flow not in (Flow.NEXT, Flow.BARRIER) or (unit is Unit.CONTROL and not name):
        _pipe(row, c.BRANCH, v["branch_interval"])
        row[c.AFTER] = c.R_SLEEPING if instruction.opcode.startswith("NANOSLEEP") else c.R_BRANCH
    elif unit is Unit.FP64 or name == "cvt_64":
        _fp64(machine, row, numbers)
    elif unit is Unit.TENSOR:
        _tensor(instruction, machine, row, numbers)
    elif unit is Unit.FP16 and "fma" in name:
        _pipe(row, c.FP16, 2 * machine.interval(name, 32.0))  # the table counts half results, two per lane
    elif unit is Unit.FP32 and name == "fp32_add_mul_fma":
        _fma(machine, row)
    elif name == "int32_mul_mad":
        _pipe(row, c.FMA, machine.interval(name))
    elif unit is Unit.SFU or (machine.rates.get(name, 64.0) <= 16.0 and unit is Unit.INT):
        _pipe(row, c.XU, machine.interval(name, 4.0))
        row[c.KIND], row[c.THROTTLE] = c.QUEUED, c.R_MIO
        numbers[c.LATENCY] = v["special_latency"]
        numbers[c.READ_LATENCY] = v["shared_load_read"]
    elif unit is Unit.UNIFORM:
        _pipe(row, c.UNIFORM, v["uniform_interval"])
        numbers[c.LATENCY] = v["special_latency"]
    else:
        _pipe(row, c.ALU, min(2.0, machine.interval(name)))


def _pipe(row: NDArray[np.int64], pipe: int, interval: float) -> None:
    row[c.PIPE], row[c.INTERVAL] = pipe, max(1, round(interval))


def _fma(machine: Machine, row: NDArray[np.int64]) -> None:
    """Two half-rate pipes per sub-core where an SM has 128 lanes, else one."""
    _pipe(row, c.FMA, 2)
    if machine.rates.get("fp32_add_mul_fma", 0.0) >= _TWO_FMA_PIPES:
        row[c.OTHER_PIPE] = c.FMA_LITE


def _fp64(machine: Machine, row: NDArray[np.int64], numbers: NDArray[np.float64]) -> None:
    rate = machine.rates.get("fp64_add_mul_fma", 2.0)
    if rate >= _FP64_RATE:
        _pipe(row, c.FP64, 32.0 * machine.sub_cores / rate)
        numbers[c.LATENCY] = machine.values["fp64_latency"]
    else:
        achieved = rate * machine.values["slow_fp64_efficiency"]
        row[c.KIND], row[c.SHARED_PIPE], row[c.SHARED_INTERVAL] = (
            c.QUEUED,
            c.SHARED_FP64,
            round(32.0 / achieved),
        )
        numbers[c.LATENCY] = machine.values["slow_fp64_latency"]


def _tensor(
    instruction: Instruction, machine: Machine, row: NDArray[np.int64], numbers: NDArray[np.float64]
) -> None:
    """Multiply-adds of the warp over the sub-core's rate; half rate where GeForce sums in FP32."""
    rate = machine.rates.get(instruction.throughput_class) or machine.rates.get("tensor_fp16_fma", 512.0)
    cycles = instruction.flops * 16.0 / (rate / machine.sub_cores)
    if machine.geforce and instruction.opcode.startswith("HMMA") and ".F32" in instruction.opcode:
        cycles *= 2
    _pipe(row, c.TENSOR, cycles)
    numbers[c.LATENCY] = machine.values["tensor_latency"] + cycles
    if "GMMA" in instruction.opcode:
        row[c.KIND] = c.GROUP


# -- register banks -----------------------------------------------------------------------------------


def _register_banks(instructions: Sequence[Instruction], ints: NDArray[np.int64]) -> None:
    """Count the reads of both banks (even and odd registers) that the reuse cache does not save."""
    kept: dict[int, str] = {}
    for instruction in instructions:
        sources = _sources(instruction)
        if instruction.unit in _BANKED:
            for slot, register in enumerate(sources):
                if register is not None and kept.get(slot) != register.name:
                    _read(register, ints[instruction.index], wide=instruction.unit is Unit.FP64)
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


def _read(register: Register, row: NDArray[np.int64], *, wide: bool) -> None:
    match = _REGISTER.match(register.name)
    assert match is not None
    if wide:
        row[c.BANK0] += 1
        row[c.BANK1] += 1
    else:
        row[c.BANK0 + int(match[1]) % 2] += 1
