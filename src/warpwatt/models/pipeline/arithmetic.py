"""Rows of the instruction table for arithmetic: which pipe takes it, and for how long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from warpwatt.core.program import Flow, Instruction, Register, Symbol, Unit
from warpwatt.isa.sass.opcodes import input_bits, tile
from warpwatt.models.pipeline.codes import (
    NO_SCOREBOARD,
    WARPGROUP_BOARD,
    Operation,
    Pipe,
    Reason,
    SmPipe,
)
from warpwatt.models.pipes import CONVERSIONS, multiplier_passes, on_fp64_lanes
from warpwatt.models.tensor_rates import tensor_rate

if TYPE_CHECKING:
    from warpwatt.models.pipeline.machine import Machine

Row = dict[str, Any]
"""Fields of a record ``Instruction``: a dictionary is filled in five times as fast as the record itself."""
LINE_BYTES = 128
"""That shared memory gives a warp group's product in a cycle."""
_FP64_RATE = 32
"""Results per clock and SM from which FP64 has a pipe in every sub-core."""
_TWO_FMA_PIPES = 128
_GROUP_SHAPE = re.compile(r"\.64x(\d+)x\d+")
_GROUP_ROWS, _GROUP_DEPTH_BYTES = 64, 32
"""Of A, whatever the type (PTX ISA, wgmma: K is always 32 bytes)."""
_ON_CORES = frozenset({
    "fp32_add_mul_fma", "int32_mul_mad", "int32_add_sub", "int32_shift", "compare_min_max",
    "logic_and_or_xor", "bfe_bfi", "bit_reverse", "sad",
})  # fmt: skip
"""Classes that the cores of an SM execute."""
_NO_PRODUCT = ("IMAD.MOV", "IMAD.SHL", "IMAD.IADD")


def fill_arithmetic(instruction: Instruction, machine: Machine, row: Row) -> None:
    """Choose pipe and interval; latencies matter only for what sets a scoreboard."""
    v, unit, name = machine.values, instruction.unit, instruction.throughput_class
    if instruction.flow not in (Flow.NEXT, Flow.BARRIER) or (unit is Unit.CONTROL and not name):
        take_pipe(row, Pipe.BRANCH, v["branch_interval"])
        row["issue_stall"] = (
            Reason.SLEEPING if instruction.opcode.startswith("NANOSLEEP") else Reason.BRANCH_RESOLVING
        )
    elif unit is Unit.FP64 or (name == CONVERSIONS and on_fp64_lanes(machine.rates)):
        _fp64(machine, row)
    elif unit is Unit.TENSOR:
        _tensor(instruction, machine, row)
    elif unit is Unit.FP16 and "fma" in name:
        take_pipe(
            row, Pipe.FP16, 2 * machine.interval(name, 32.0)
        )  # the table counts half results, two per lane
    elif machine.one_kind_of_core and name in _ON_CORES:
        take_pipe(row, Pipe.FMA, _core_cycles(instruction, machine))
    elif unit is Unit.FP32 and name == "fp32_add_mul_fma":
        _fma(machine, row)
    elif name == "int32_mul_mad":
        take_pipe(row, Pipe.FMA, machine.interval(name) * multiplier_passes(instruction.opcode))
    elif unit is Unit.SFU or (machine.rates.get(name, 64.0) <= 16.0 and unit is Unit.INT):
        take_pipe(row, Pipe.XU, machine.interval(name, 4.0))
        row["operation"], row["throttle_stall"] = Operation.MIO_PIPE, Reason.MIO_THROTTLE
        row["latency"] = v["special_latency"]
        row["operand_read_latency"] = v["shared_load_read"]
    elif unit is Unit.UNIFORM:
        take_pipe(row, Pipe.UNIFORM, v["uniform_interval"])
        row["latency"] = v["special_latency"]
    else:
        take_pipe(row, Pipe.ALU, min(2.0, machine.interval(name)))
        if row["write_barrier"] != NO_SCOREBOARD:  # FCHK: what the compiler waits for is not there at once
            row["latency"] = v["special_latency"]


def take_pipe(row: Row, pipe: int, interval: float) -> None:
    """Let an instruction take a pipe of its sub-core for so many cycles."""
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


def _fma(machine: Machine, row: Row) -> None:
    """Two half-rate pipes per sub-core where an SM has 128 lanes, else one."""
    take_pipe(row, Pipe.FMA, 2)
    if machine.rates.get("fp32_add_mul_fma", 0.0) >= _TWO_FMA_PIPES:
        row["alternative_pipe"] = Pipe.FMA_LITE


def _fp64(machine: Machine, row: Row) -> None:
    rate = machine.rates.get("fp64_add_mul_fma", 2.0)
    if rate >= _FP64_RATE:
        take_pipe(row, Pipe.FP64, 32.0 * machine.sub_cores / rate)
        row["latency"] = machine.values["fp64_latency"]
    else:
        achieved = rate * machine.values["slow_fp64_efficiency"]
        row["operation"], row["sm_pipe"] = Operation.MIO_PIPE, SmPipe.FP64
        row["sm_pipe_cycles"] = round(32.0 / achieved)
        row["latency"] = machine.values["slow_fp64_latency"]


def _tensor(instruction: Instruction, machine: Machine, row: Row) -> None:
    """Multiply-adds of the warp over the sub-core's rate.

    Integers of 4 bits and 1 go as many times faster than those of 8 that the rate is for.
    """
    if "GMMA" in instruction.opcode:
        _warp_group(instruction, machine, row)
        return
    rate = tensor_rate(instruction, machine.rates, halved=machine.halves_fp32_sums)
    shape = tile(instruction.opcode)
    operations = instruction.flops or (shape.flops * input_bits(instruction.opcode) / 8 if shape else 0.0)
    cycles = operations * 16.0 / (rate / machine.sub_cores)
    take_pipe(row, Pipe.TENSOR, cycles)
    row["latency"] = machine.values["tensor_latency"] + cycles


def _warp_group(instruction: Instruction, machine: Machine, row: Row) -> None:
    """Fill in a warp group's product: its multiply-adds or its operands' bytes in shared memory bind.

    The last of a group that is committed carries the group's scoreboard.
    """
    v = machine.values
    found = _GROUP_SHAPE.search(instruction.opcode)
    columns = int(found[1]) if found else 0
    in_registers = isinstance(instruction.operands[1], Register)
    rate = tensor_rate(instruction, machine.rates, halved=machine.halves_fp32_sums)
    flops = instruction.flops or 4.0 * _GROUP_DEPTH_BYTES * columns / 4
    math = flops * 16.0 / (rate / machine.sub_cores)
    read = _GROUP_DEPTH_BYTES * (columns + (0 if in_registers else _GROUP_ROWS))
    row["operation"] = Operation.WARPGROUP_MMA
    interval = max(math, read * machine.bank_cycles / LINE_BYTES) + v["group_interval_extra"]
    row["tensor_cycles"] = max(1, round(interval))
    row["latency"] = v["group_register_latency" if in_registers else "group_shared_latency"] + math
    committed = any(isinstance(o, Symbol) and o.name.startswith("gsb") for o in instruction.operands)
    row["scoreboard"] = WARPGROUP_BOARD if committed else NO_SCOREBOARD
