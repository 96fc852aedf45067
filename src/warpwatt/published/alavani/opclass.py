"""Instruction classes of Alavani's thesis: type T, resource R_map and measured instruction of each opcode.

The thesis (section 4.1) puts every PTX instruction into one of four types, maps it to one resource of an
SM, and measures the latency of fifteen instructions (Table 3.2). ``opclass.toml`` says which of these an
opcode counts as. SASS opcodes are classified too, so that a kernel without PTX can be predicted.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from warpwatt.core.case import Case
from warpwatt.core.program import Access, Flow, Instruction, MemoryAccess, Space, Unit

_TABLE = Path(__file__).with_name("opclass.toml")
_FLOAT_TYPES = frozenset({"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64", "tf32"})
_ON_CHIP = frozenset({Space.SHARED})
_CONSTANT = frozenset({Space.PARAM, Space.CONST})


class InstructionType(StrEnum):
    """The set T of section 4.1."""

    COMPUTE = "C"
    GLOBAL = "Gm"
    SHARED = "Sm"
    MISC = "M"


class Resource(StrEnum):
    """The set R of section 4.1, and ``TC`` (tensor cores), which the thesis' GPUs lack."""

    SP = "SP"
    WS = "WS"
    SFU = "SFU"
    DPU = "DPU"
    LSU = "LSU"
    TC = "TC"


@dataclass(frozen=True, slots=True)
class OpClass:
    """What an instruction counts as.

    ``operation`` is the row of Tables 3.1 and 3.2 whose latency it takes (``"addf"``, ``"shared"``), or
    ``"global"``, ``"param"``, ``"misc"``, ``"sfu"``, ``"shuffle"``, ``"tensor"``, which are not in them.
    ``known`` is False where neither opcode nor unit decided and ``"and"`` was taken.
    """

    type: InstructionType
    resource: Resource
    operation: str
    known: bool = True


def classify(instruction: Instruction, *, param_loads_are_global: bool = False) -> OpClass:
    """Return the thesis' class of an instruction of any level.

    Parameters
    ----------
    instruction
        PTX or SASS.
    param_loads_are_global
        Count ``ld.param`` as a global memory instruction, as the released feature tables do. The thesis'
        text knows global and shared memory only and its worked example leaves parameter loads out, so the
        default is type M: ptxas turns them into constant-bank operands.

    >>> from warpwatt.core.program import Instruction, Unit
    >>> classify(Instruction(0, "add.f32", unit=Unit.FP32)).operation
    'addf'
    >>> classify(Instruction(0, "fma.rn.f64", unit=Unit.FP64)).resource
    <Resource.DPU: 'DPU'>
    """
    is_control = instruction.flow is not Flow.NEXT or instruction.unit is Unit.CONTROL
    result = _classify(instruction.opcode, instruction.unit, instruction.memory, is_control)
    is_param = instruction.memory is not None and instruction.memory.space is Space.PARAM
    if param_loads_are_global and is_param:
        return OpClass(InstructionType.GLOBAL, Resource.LSU, result.operation)
    return result


@lru_cache(maxsize=4096)
def _classify(opcode: str, unit: Unit, memory: MemoryAccess | None, is_control: bool) -> OpClass:
    if memory is not None:
        return _of(_memory_operation(memory))
    operation = _lookup(opcode)
    if operation is not None:
        return _of(operation, double=unit is Unit.FP64)
    if is_control:
        return _of("misc")
    return _by_unit(unit)


def _memory_operation(memory: MemoryAccess) -> str:
    if memory.access is Access.PREFETCH:
        return "misc"
    if memory.space in _ON_CHIP:
        return "shared"
    return "param" if memory.space in _CONSTANT else "global"


def _lookup(opcode: str) -> str | None:
    table = _load()
    root, *modifiers = opcode.split(".")
    if root.isupper():
        return _name(table["sass"], root)
    floats, others = table["ptx"]["float"], table["ptx"]["other"]
    is_float = any(m in _FLOAT_TYPES for m in modifiers)
    if is_float and root in floats:
        precise = "approx" not in modifiers and "full" not in modifiers
        operation = _name(floats, root)
        return operation if precise or operation not in ("divf", "sqrt") else "sfu"
    return _name(others, root)


def _name(table: dict[str, str], root: str) -> str | None:
    return table.get(root)


def _by_unit(unit: Unit) -> OpClass:
    """Class of an opcode the table lacks, from the unit the front end gave it."""
    guesses = {
        Unit.FP16: "fma",
        Unit.FP32: "fma",
        Unit.FP64: "fma",
        Unit.INT: "adds",
        Unit.UNIFORM: "adds",
        Unit.SFU: "sfu",
        Unit.TENSOR: "tensor",
        Unit.MOVE: "mov",
        Unit.LSU: "misc",
        Unit.TEXTURE: "global",
        Unit.CONTROL: "misc",
    }
    guess = _of(guesses[unit], double=unit is Unit.FP64)
    return OpClass(guess.type, guess.resource, guess.operation, known=False)


def _of(operation: str, *, double: bool = False) -> OpClass:
    row = _load()["operations"][operation]
    resource = Resource(row["resource"])
    if double and resource in (Resource.SP, Resource.SFU):
        resource = Resource.DPU
    return OpClass(InstructionType(row["type"]), resource, operation)


@lru_cache(maxsize=1)
def _load() -> dict[str, Any]:
    with _TABLE.open("rb") as file:
        return tomllib.load(file)


_NAMES: Mapping[InstructionType, str] = {
    InstructionType.COMPUTE: "arithmetic",
    InstructionType.GLOBAL: "global memory",
    InstructionType.SHARED: "shared memory",
    InstructionType.MISC: "other",
}


def executed(case: Case) -> dict[str, float]:
    """Return warp instructions of the whole grid by class: arithmetic, global memory, shared memory, other.

    Classes are the types of Alavani (2023), section 4.1.
    """
    execution = case.workload.execution
    counts = dict.fromkeys(_NAMES.values(), 0.0)
    for instruction, count in zip(execution.program.instructions, execution.counts, strict=True):
        counts[_NAMES[classify(instruction).type]] += count
    return counts


def rates(case: Case, seconds: float) -> dict[str, float]:
    """Return class to warp instructions per cycle and SM of a launch that takes ``seconds``.

    Times 32 for threads, as Alavani (2023), appendix B, converts; zero classes are left out.
    """
    cycles = seconds * case.clocks.sm * case.gpu.sm_count
    return {name: n / cycles for name, n in executed(case).items() if n and cycles}


def intensity(case: Case) -> float | None:
    """Return α, arithmetic per global memory instruction; None for a kernel without global memory."""
    counts = executed(case)
    return counts["arithmetic"] / counts["global memory"] if counts["global memory"] else None
