"""Cheaper arithmetic: single precision, and special functions that cost no more than an addition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from warpwatt.core.advice import Change
from warpwatt.core.case import Case
from warpwatt.core.program import Instruction, Unit
from warpwatt.what_if.edit import with_execution
from warpwatt.what_if.removal import without_instructions

LATENCY = 4
"""Cycles until an FP32 result can be used: the stall count of what had a scoreboard before."""
PLAIN = "fp32_add_mul_fma"
CONVERSION = "cvt_64"
"""Throughput class of conversions from and to double precision."""


def double_precision(case: Case) -> Iterator[Change]:
    """Yield the case whose double-precision arithmetic is single; it moves as many bytes as before."""
    changed = _as_fp32(case, lambda i: i.unit is Unit.FP64)
    if changed is not None:
        between = [i.index for i in changed.workload.execution.program.instructions if _converts(i)]
        changed = without_instructions(changed, between, passing=True)
        fix = "float where it is exact enough; literals and functions without f (0.5, sqrt) are double"
        yield Change("precision", "computing in single precision", changed, None, fix)


def special_functions(case: Case) -> Iterator[Change]:
    """Yield the case whose special functions and conversions cost as much as an addition."""
    changed = _as_fp32(case, _is_special)
    if changed is not None:
        fix = "-use_fast_math, a table or a polynomial; multiply by reciprocals; convert outside the loop"
        yield Change("special functions", "special functions as cheap as additions", changed, None, fix)


def _converts(instruction: Instruction) -> bool:
    """Conversions between single and double precision."""
    return instruction.opcode.startswith(("F2F.F64.F32", "F2F.F32.F64"))


def _is_special(instruction: Instruction) -> bool:
    return instruction.unit is Unit.SFU and instruction.throughput_class != CONVERSION


def _as_fp32(case: Case, chosen: Callable[[Instruction], bool]) -> Case | None:
    """Return the case with some arithmetic done by the FP32 pipe, None if there is none of it."""
    execution = case.workload.execution
    if not any(chosen(i) and execution.counts[i.index] for i in execution.program.instructions):
        return None

    def cheap(instruction: Instruction) -> Instruction:
        if instruction.memory is not None or not chosen(instruction):
            return instruction
        code = instruction.control
        if code is not None and code.write_barrier is not None:
            code = replace(code, stall=max(code.stall, LATENCY), write_barrier=None, read_barrier=None)
        return replace(instruction, unit=Unit.FP32, throughput_class=PLAIN, control=code)

    program = replace(execution.program, instructions=tuple(map(cheap, execution.program.instructions)))
    return with_execution(case, replace(execution, program=program))
