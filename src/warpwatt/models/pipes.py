"""Which pipes of an SM an instruction occupies, for how long, and how many issue slots it takes.

In PTX one instruction may become several machine instructions (``expansions.toml``, from compiled probes) or
none (moves, address spaces, predicates folded into the comparison before them). Pipes of Volta and later are
those of the Nsight Compute documentation ("Pipelines"): ALU does integers, logic and comparisons, FMA does
FP32 and integer multiplication. Before Volta every unit is a pipe.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from warpwatt.core.gpu import Capability
from warpwatt.core.launch import WARP_SIZE
from warpwatt.core.program import Flow, Instruction, Level, Space, Unit

FMA, ALU, MULTIPLIER = "fp32", "int", "imad"
NAMES: Mapping[str, str] = {
    "fp16": "FP16 pipe",
    "fp32": "FP32 pipe",
    "fp64": "FP64 pipe",
    "int": "INT pipe",
    "imad": "integer multiplier",
    "sfu": "SFU",
    "tensor": "tensor cores",
    "control": "branch unit",
}
"""Pipe to the name a user knows."""
_RATES: Mapping[str, str] = {
    "fma": "fp32_add_mul_fma",
    "alu": "int32_add_sub",
    "imad": "int32_mul_mad",
    "sfu": "fp32_special",
    "fp64": "fp64_add_mul_fma",
}
"""Pipe of ``expansions.toml`` to the throughput class that gives its rate."""
CONVERSIONS = "cvt_64"
"""Throughput class of conversions from and to types of 64 bits."""
_FOLDED = (
    "and.pred",
    "or.pred",
    "xor.pred",
    "not.pred",
    "cvt.u64.u32",
    "cvt.u32.u64",
    "cvt.s32.s64",
    "cvt.u32.s64",
)
"""PTX that leaves no machine instruction: logic of predicates, and conversions that rename registers."""


def issue_slots(instruction: Instruction, level: Level, target: str) -> float:
    """Return the issue slots one execution takes: its machine instructions."""
    if level is not Level.PTX:
        return 1.0
    if instruction.opcode in _FOLDED or (instruction.unit is Unit.MOVE and instruction.flow is Flow.NEXT):
        return 0.0
    if instruction.memory is not None and instruction.memory.space is Space.PARAM:
        return 0.0
    return machine_instructions(instruction.opcode, target)


@lru_cache(maxsize=4096)
def machine_instructions(opcode: str, target: str) -> float:
    """Return the machine instructions of one PTX instruction; the nearest probed target at or below counts.

    >>> machine_instructions("rem.u32", "sm_86") > 5, machine_instructions("add.s32", "sm_86")
    (True, 1.0)
    """
    row = _table()["instructions"].get(_plain(opcode))
    if row is None:
        return 1.0
    numbers = [_number(probed) for probed in _table()["targets"]]
    wanted = _number(target)
    return float(row[max((i for i, number in enumerate(numbers) if number <= wanted), default=0)])


def pipe_cycles(instruction: Instruction, level: Level, capability: Capability) -> dict[str, float]:
    """Return pipe to the SM cycles that one warp's execution occupies it; empty where no rate is known."""
    sequence = _table()["pipes"].get(_plain(instruction.opcode)) if level is Level.PTX else None
    if sequence is not None:
        return _sequence_cycles(sequence, capability)
    name, unit = instruction.throughput_class, instruction.unit
    if instruction.opcode in _FOLDED:
        return {}
    if name == CONVERSIONS and unit is Unit.INT:
        name = (
            "int32_shift"  # widening an integer shifts its sign; the guide means floating-point conversions
        )
    rate = capability.throughput.get(name)
    if not rate:
        return {}
    cycles = WARP_SIZE / rate
    if name == CONVERSIONS and on_fp64_lanes(capability.throughput):
        return {"fp64": cycles}
    if name == "int32_mul_mad":
        return _multiplication(multiplier_passes(instruction.opcode), capability)
    return {str(unit): cycles}


def on_fp64_lanes(rates: Mapping[str, float]) -> bool:
    """Whether a chip converts from and to 64 bits on its FP64 lanes, as those do that have few of them.

    Others convert among the special functions, at a rate of their own. ``rates``: by throughput class.

    >>> from warpwatt.gpus import find
    >>> [on_fp64_lanes(find(name).capability.throughput) for name in ("rtx-3090", "v100", "h200")]
    [True, False, False]
    """
    return rates.get(CONVERSIONS) == rates.get(_RATES["fp64"])


def multiplier_passes(opcode: str) -> float:
    """Return how many times a machine multiplication occupies the multiplier.

    Two where the upper half of the product is wanted: ptxas 12 and 13 leave four cycles between independent
    ones for sm_75 to sm_90, two between others (``tests/models/test_pipes.py`` asks it).

    >>> multiplier_passes("IMAD.WIDE.U32"), multiplier_passes("IMAD.HI"), multiplier_passes("IMAD.MOV.U32")
    (2.0, 2.0, 1.0)
    """
    return 2.0 if opcode.startswith(("IMAD.WIDE", "IMAD.HI")) else 1.0


def pipe_instructions(instruction: Instruction, level: Level) -> dict[str, float]:
    """Return pipe to the machine instructions that one execution sends there; empty for moves and memory.

    Integer multiplications count for ``imad`` on every GPU, wherever it executes them.
    """
    sequence = _table()["pipes"].get(_plain(instruction.opcode)) if level is Level.PTX else None
    if sequence is not None:
        return {{"fma": FMA, "alu": ALU, "imad": MULTIPLIER}.get(p, p): n for p, n in sequence.items()}
    if instruction.unit in (Unit.LSU, Unit.TEXTURE, Unit.MOVE, Unit.CONTROL) or instruction.opcode in _FOLDED:
        return {}
    if instruction.throughput_class == "int32_mul_mad":
        return {MULTIPLIER: 1.0}
    return {str(instruction.unit): issue_slots(instruction, level, "sm_90")}


def _sequence_cycles(sequence: Mapping[str, float], capability: Capability) -> dict[str, float]:
    """Return the cycles of a sequence of machine instructions, given by pipe."""
    cycles: dict[str, float] = {}
    for pipe, count in sequence.items():
        rate = capability.throughput.get(_RATES[pipe])
        if pipe == "imad":
            parts = _multiplication(count, capability)
        else:
            parts = {{"fma": FMA, "alu": ALU}.get(pipe, pipe): count * WARP_SIZE / rate} if rate else {}
        for name, part in parts.items():
            cycles[name] = cycles.get(name, 0.0) + part
    return cycles


def _multiplication(count: float, capability: Capability) -> dict[str, float]:
    """Return what integer multiplications occupy: since Volta the FMA pipe, or part of a wide one."""
    rate = capability.throughput.get(_RATES["imad"])
    if not rate:
        return {}
    if int(capability.version.split(".")[0]) < 7:
        return {ALU: count * WARP_SIZE / rate}
    wide = capability.throughput.get(_RATES["fma"], rate)
    return {FMA: count * WARP_SIZE / wide, MULTIPLIER: count * WARP_SIZE / rate}


def _plain(opcode: str) -> str:
    """Return the opcode that was probed: flushing denormals shortens approximations, not exact division."""
    return opcode.replace(".rn.ftz", ".rn")


def _number(target: str) -> int:
    """Return 90 for ``sm_90a``."""
    return int("".join(c for c in target.removeprefix("sm_") if c.isdigit()))


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    text = files("warpwatt.models").joinpath("expansions.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
