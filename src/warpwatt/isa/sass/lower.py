"""Cubin and disassembly combined into one :class:`~warpwatt.core.program.Program` per kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.errors import ParseError
from warpwatt.core.program import (
    Flow,
    Guard,
    Immediate,
    Instruction,
    Level,
    MemoryAccess,
    Operand,
    Parameter,
    Program,
    Register,
    Symbol,
)
from warpwatt.isa.sass.control import decode_control
from warpwatt.isa.sass.disassemble import Line, disassemble
from warpwatt.isa.sass.opcodes import Opcode, lookup
from warpwatt.isa.sass.operands import parse_operands
from warpwatt.isa.sass.registers import (
    access_bytes,
    column_registers,
    matrix_count,
    read,
    written,
)
from warpwatt.isa.sass.tensor import tile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from warpwatt.isa.sass.cubin import Cubin, CubinKernel

_WORD = 16
"""Bytes of an instruction."""


@dataclass(frozen=True, slots=True)
class _Range:
    """The instructions of one function: positions ``start`` to ``stop`` in the kernel's code."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class _Decoded:
    """An instruction and the positions in the kernel's code that it may go to."""

    instruction: Instruction
    targets: tuple[int, ...]


def programs(
    cubin: Cubin, nvdisasm: Path | Callable[[bytes], str | bytes]
) -> Mapping[str, Program]:
    """Return the program of each kernel, by the linker's name.

    Functions that the kernel calls stand in ``Program.functions``. Labels are ``L_`` and the offset in
    the kernel's code in hexadecimal. The padding behind the last instruction of a function is dropped.

    Raises
    ------
    ParseError, ToolchainError, UnsupportedGpuError
        See :func:`~warpwatt.isa.sass.disassemble.disassemble`; also where text and code do not fit.
    """
    listing = disassemble(cubin, nvdisasm)
    return {kernel.name: _program(kernel, listing.get(kernel.name, ()), cubin.target) for kernel in cubin.kernels}


def _program(kernel: CubinKernel, lines: tuple[Line, ...], target: str) -> Program:
    """Return the program of one kernel with the functions behind it."""
    if len(lines) * _WORD != len(kernel.code):
        raise ParseError(
            f"damaged cubin: nvdisasm prints {len(lines)} instructions for the {len(kernel.code)} bytes of {kernel.name}"
        )
    code = [_decode(kernel, i, line) for i, line in enumerate(lines)]
    own, *called = _ranges(kernel)
    functions = {r.name: _part(kernel, r, code, target) for r in called}
    return replace(_part(kernel, own, code, target), parameters=_parameters(kernel), functions=functions)


def _ranges(kernel: CubinKernel) -> list[_Range]:
    """Return the kernel's own range and those of its functions; each ends where the next begins."""
    starts = [(0, kernel.name)] + [(f.offset // _WORD, f.name) for f in kernel.functions]
    ends = [start for start, _ in starts[1:]] + [len(kernel.code) // _WORD]
    return [_Range(name, start, end) for (start, name), end in zip(starts, ends, strict=True)]


def _parameters(kernel: CubinKernel) -> tuple[Parameter, ...]:
    """Return the parameters, named as nvcc names them in PTX; a cubin knows their sizes, not their types."""
    sizes = (1, 2, 4, 8)
    return tuple(
        Parameter(
            f"{kernel.name}_param_{p.ordinal}", f"b{8 * p.size}" if p.size in sizes else "b8", p.size,
            p.size if p.size in sizes else 1,
        )
        for p in kernel.parameters
    )  # fmt: skip


def _part(kernel: CubinKernel, part: _Range, code: list[_Decoded], target: str) -> Program:
    """Return one range of a kernel's instructions as a program of its own, with the labels it uses."""
    stop = _without_padding(code, part)
    names = {f.offset // _WORD: f.name for f in kernel.functions} | {0: kernel.name}
    body: list[Instruction] = []
    used: set[int] = set()
    for one in code[part.start : stop]:
        inside = [t for t in one.targets if part.start <= t < stop]
        instruction = replace(one.instruction, index=len(body))
        if instruction.flow is Flow.CALL and one.targets:
            instruction = replace(instruction, targets=tuple(names.get(t, _label(t)) for t in one.targets))
        elif instruction.flow is Flow.JUMP and inside:
            used.update(inside)
            instruction = replace(instruction, targets=tuple(map(_label, inside)))
        elif instruction.flow is Flow.JUMP:
            # Out of this function, or through a register to where no table tells: control does not come back.
            instruction = replace(instruction, flow=Flow.RETURN)
        body.append(instruction)
    labels = {_label(t): t - part.start for t in sorted(used)}
    return Program(part.name, Level.SASS, target, tuple(body), labels)


def _label(position: int) -> str:
    """Return the label of the instruction at a position: its byte offset in hexadecimal."""
    return f"L_{position * _WORD:04x}"


def _without_padding(code: list[_Decoded], part: _Range) -> int:
    """Return the end of a range without the NOPs, and the jump to itself, that fill up its last lines."""
    stop = part.stop
    while stop > part.start and code[stop - 1].instruction.opcode == "NOP":
        stop -= 1
    last = code[stop - 1] if stop > part.start + 1 else None
    if last and last.instruction.guard is None and last.targets == (stop - 1,):
        stop -= 1
    return stop


def _decode(kernel: CubinKernel, position: int, line: Line) -> _Decoded:
    """Return the instruction at a position: text from nvdisasm, control code and source line from the cubin."""
    offset = position * _WORD
    operands = parse_operands(line.operands)
    entry = lookup(line.opcode)
    guard = _guard(line, operands, entry)
    word = int.from_bytes(kernel.code[offset : offset + _WORD], "little")
    instruction = Instruction(
        index=position, opcode=line.opcode, operands=operands, guard=guard,
        line=kernel.lines.at(offset), control=decode_control(word), known=entry is not None,
    )  # fmt: skip
    if entry is None:
        return _Decoded(instruction, ())
    instruction = replace(
        instruction,
        writes=written(line.opcode, entry, operands),
        reads=read(line.opcode, entry, operands, guard),
        unit=entry.unit,
        throughput_class=entry.throughput,
        flops=_flops(line.opcode, entry, operands),
        memory=_memory(line.opcode, entry, operands),
        flow=entry.flow,
        targets=_callee(entry, operands),
    )
    return _Decoded(instruction, _targets(kernel, offset, entry, operands))


def _guard(line: Line, operands: tuple[Operand, ...], entry: Opcode | None) -> Guard | None:
    """Return the predicate in front, or the condition among the operands of a jump.

    A jump on convergence (``BRA.DIV``, ``BRA.CONV``) falls through as well: its mask register, or the
    word ``convergence``, stands in for a predicate.
    """
    name = line.predicate.removeprefix("@")
    if name and name.removeprefix("!") not in ("PT", "UPT"):
        return Guard(name.removeprefix("!"), name.startswith("!"))
    if entry is None or entry.flow is not Flow.JUMP or not line.opcode.startswith("BRA"):
        return None
    condition = next((o for o in operands if isinstance(o, Register) and o.name not in ("PT", "UPT")), None)
    if condition is not None:
        return Guard(condition.name, condition.negated or "not" in condition.modifiers)
    return Guard("convergence") if {"DIV", "CONV"} & set(line.opcode.split(".")) else None


def _targets(
    kernel: CubinKernel, offset: int, entry: Opcode, operands: tuple[Operand, ...]
) -> tuple[int, ...]:
    """Return the positions that a jump or call may go to."""
    if entry.flow not in (Flow.JUMP, Flow.CALL):
        return ()
    if offset in kernel.branches:
        return tuple(sorted({t // _WORD for t in kernel.branches[offset]}))
    if any(isinstance(o, Register) and "R" in o.name for o in operands[:1]) and entry.width == (2,):
        return ()  # through a register
    last = operands[-1] if operands else None
    return (int(last.value) // _WORD,) if isinstance(last, Immediate) else ()


def _callee(entry: Opcode, operands: tuple[Operand, ...]) -> tuple[str, ...]:
    """Return the name of the function that a call names, if it does not go through a register."""
    named = entry.flow is Flow.CALL and len(operands) == 1 and isinstance(operands[0], Symbol)
    return (operands[0].name,) if named and isinstance(operands[0], Symbol) else ()


def _flops(opcode: str, entry: Opcode, operands: tuple[Operand, ...]) -> float:
    """Return floating-point operations per thread; a product with RZ twice is a move, not arithmetic."""
    if entry.flops < 0:
        shape = tile(opcode)
        return shape.flops if shape is not None else 0.0
    factors = operands[1:3] if entry.flops in (2, 4) and len(operands) == 4 else operands[1:2]
    zero = [isinstance(o, Register) and o.name in ("RZ", "URZ") for o in factors]
    return 0.0 if zero and all(zero) and len(zero) == 2 else entry.flops


def _memory(opcode: str, entry: Opcode, operands: tuple[Operand, ...]) -> MemoryAccess | None:
    """Return the memory side of an instruction; 0 bytes where registers or descriptors hold the size."""
    if entry.space is None or entry.access is None:
        return None
    modifiers = opcode.split(".")[1:]
    match entry.width:
        case "matrices":
            size = 4 * matrix_count(modifiers)
        case "columns":
            size = 4 * column_registers(modifiers)
        case "bulk":
            size = 0
        case "texture" if entry.writes == "two":
            mask = operands[-1] if operands else None
            size = 4 * (int(mask.value) & 15).bit_count() if isinstance(mask, Immediate) else 4
        case _:
            size = access_bytes(modifiers)
    return MemoryAccess(entry.space, entry.access, size)
