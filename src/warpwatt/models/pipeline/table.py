"""From a SASS program to the simulator's instruction table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warpwatt.core.program import Immediate, Instruction, Program, Register, Unit
from warpwatt.models.pipeline.arithmetic import fill_arithmetic
from warpwatt.models.pipeline.codes import NO_SCOREBOARD, WARPGROUP_BOARD, Operation, Reason, SmPipe
from warpwatt.models.pipeline.memory_pipe import fill_memory
from warpwatt.models.pipeline.simulator import record_type
from warpwatt.models.pipeline.tensor_memory import IN_TENSOR_MEMORY, fill_tensor_memory

if TYPE_CHECKING:
    from warpwatt.core.execution import ConstantReads
    from warpwatt.models.pipeline.arithmetic import Row
    from warpwatt.models.pipeline.machine import Machine
    from warpwatt.models.pipeline.simulator import Records

INSTRUCTION_BYTES, CODE_LINE_BYTES = 16, 128
_LOADS_IN_BULK = ("UTMALDG", "UBLKCP.S")
"""Copies that write shared memory, from which products of warp groups read."""
_REGISTER = re.compile(r"R(\d+)$")
_BANKED = (Unit.FP32, Unit.FP16, Unit.FP64, Unit.INT)


class OffChip(NamedTuple):
    """What lies behind the load-store unit for an instruction, as the simulator's record names it."""

    dram_slowdown: float = 1.0
    """How much longer DRAM takes than the bytes say."""
    in_flight_rate: float = 0.0
    """Share of its L1 hits whose line is still on its way."""
    l2_run_bytes: float = 0.0
    """Bytes side by side that L2 has or has not together; 0: each line by itself."""


def instruction_table(
    program: Program,
    machine: Machine,
    misses: Mapping[int, tuple[float, float]] | None = None,
    off_chip: Mapping[int, OffChip] | None = None,
    waits: Mapping[int, float] | None = None,
    merging: Mapping[int, float] | None = None,
    constants: Mapping[int, ConstantReads] | None = None,
) -> Records:
    """Return a record ``Instruction`` for each instruction of ``program`` on ``machine``.

    ``misses``: by instruction index, shares of its sectors that miss L1, and of those that miss L2.
    ``off_chip``: by instruction index, what else lies behind the load-store unit.
    ``waits``: by instruction index, cycles that its warp does nothing behind it, 0 where absent.
    ``merging``: by instruction index, share of its sectors that L2 merges with what it has, 0 where absent.
    ``constants``: by instruction index, what it waits for in the constant caches.
    """
    table = _at_any_clock(program, Board(machine.name, machine)).copy()
    far = table["l2_latency"] > 0
    extra = table["latency"][far] - machine.l1_latency
    table["l2_latency"][far] = machine.l2_latency + extra
    table["dram_latency"][far] = machine.dram_latency + extra
    for index, (l1, l2) in (misses or {}).items():
        table["l1_miss_rate"][index], table["l2_miss_rate"][index] = l1, l2
    for index, known in (off_chip or {}).items():
        for name, value in known._asdict().items():
            table[name][index] = value
    for index, cycles in (waits or {}).items():
        table["sleep_cycles"][index], table["issue_stall"][index] = cycles, Reason.SLEEPING
    for index, share in (merging or {}).items():
        table["l2_merging"][index] = share
    for index, reads in (constants or {}).items():
        _wait_for_constants(table[index], reads, machine)
    return table


def _wait_for_constants(row: Records, reads: ConstantReads, machine: Machine) -> None:
    """Fill in what an instruction waits for in the constant caches."""
    v, far = machine.values, reads.far_misses
    row["reads_constants"], row["issue_stall"] = True, Reason.IMC_MISS
    row["constant_turns_cycles"] = v["constant_address_cycles"] * max(0.0, reads.addresses - 1.0)
    row["constant_misses"] = reads.misses
    if reads.misses:
        cycles = v["constant_miss_cycles"] * (reads.misses - far) + v["constant_far_miss_cycles"] * far
        row["constant_miss_cycles"] = cycles / reads.misses


def empty_table(size: int) -> Records:
    """Return the records of instructions that need nothing."""
    table = np.zeros(size, record_type("Instruction"))
    table["stall_count"] = table["issue_cycles"] = 1
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
    machine, empty = board.machine, empty_table(1)
    blank: Row = dict(zip(empty.dtype.names or (), empty[0].item(), strict=True))
    rows = [blank.copy() for _ in program.instructions]
    for instruction, row in zip(program.instructions, rows, strict=True):
        row["cache_line"] = instruction.index * INSTRUCTION_BYTES // CODE_LINE_BYTES
        _control(instruction, row)
        if instruction.opcode.startswith(IN_TENSOR_MEMORY):
            fill_tensor_memory(program.instructions, instruction, machine, row)
        elif instruction.memory is not None or instruction.unit in (Unit.LSU, Unit.TEXTURE):
            fill_memory(instruction, machine, row)
        elif not _special(instruction, machine, row):
            fill_arithmetic(instruction, machine, row)
    _count_bank_reads(program.instructions, rows)
    table = np.array([tuple(row.values()) for row in rows], empty.dtype)
    if any(i.opcode.startswith(_LOADS_IN_BULK) for i in program.instructions):
        groups = table["operation"] == Operation.WARPGROUP_MMA
        slower = table["tensor_cycles"][groups] * machine.values["group_beside_copies"]
        table["tensor_cycles"][groups] = np.round(slower)
    return table


def _control(instruction: Instruction, row: Row) -> None:
    code = instruction.control
    if code is None:
        return
    row["stall_count"], row["yields"], row["wait_mask"] = code.stall, code.yields, code.wait_mask
    if code.write_barrier is not None:
        row["write_barrier"] = code.write_barrier
    if code.read_barrier is not None:
        row["read_barrier"] = code.read_barrier


def _special(instruction: Instruction, machine: Machine, row: Row) -> bool:
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


# -- register banks -----------------------------------------------------------------------------------


def _count_bank_reads(instructions: Sequence[Instruction], table: Sequence[Row]) -> None:
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
    return tuple(o if isinstance(o, Register) and _number(o.name) is not None else None for o in values[1:4])


def _is_predicate(operand: object) -> bool:
    return isinstance(operand, Register) and operand.name.startswith(("P", "UP"))


@cache
def _number(register: str) -> int | None:
    """Return the number of a register of lanes, None for others."""
    match = _REGISTER.match(register)
    return None if match is None else int(match[1])


def _read(register: Register, row: Row, *, wide: bool) -> None:
    number = _number(register.name)
    assert number is not None
    if wide:
        row["even_bank_reads"] += 1
        row["odd_bank_reads"] += 1
    else:
        row["odd_bank_reads" if number % 2 else "even_bank_reads"] += 1
