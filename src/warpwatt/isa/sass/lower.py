"""Cubin and disassembly combined into one :class:`~warpwatt.core.program.Program` per kernel."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

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
    Unit,
)
from warpwatt.isa.sass.cubin import Cubin, CubinKernel
from warpwatt.isa.sass.decoding import decode
from warpwatt.isa.sass.listing import Line, decode_control, read_listing
from warpwatt.isa.sass.opcodes import Opcode, lookup, tile
from warpwatt.isa.sass.operands import parse_operands
from warpwatt.isa.sass.products import with_products
from warpwatt.isa.sass.registers import (
    access_bytes,
    column_registers,
    component_count,
    find_registers,
    matrix_count,
)

_WORD = 16
"""Bytes of an instruction."""
_TRUE = ("PT", "UPT")
_DIRECT = ("BRA", "JMP")
"""Jumps to an offset; the others go through a register."""
_UNRESOLVED = re.compile(r"32@(?:lo|hi)\([^)]*\)")
"""How nvdisasm prints an immediate that the linker would fill in."""
_UNKNOWN = Opcode(Unit.MOVE)
"""What is assumed of an opcode that the table lacks: the first operand is written, the others are read."""


@dataclass(frozen=True, slots=True)
class _Range:
    """The instructions of one function: positions ``start`` to ``stop`` in the kernel's code."""

    name: str
    start: int
    stop: int


def programs(cubin: Cubin, text: str | bytes, names: Iterable[str] | None = None) -> Mapping[str, Program]:
    """Return the program of each kernel, by the linker's name; ``text`` is ``nvdisasm -json`` of the cubin.

    ``names`` chooses some. Functions that the kernel calls stand in ``Program.functions``. Labels are ``L_``
    and the offset in the kernel's code in hexadecimal. The padding behind the last instruction of a function
    is dropped.

    Raises
    ------
    ToolchainError
        The text is not what nvdisasm prints.
    ParseError
        Text and code do not fit.
    """
    listing, chosen = read_listing(text), map(cubin.kernel, cubin.names if names is None else names)
    return {kernel.name: _program(kernel, listing.get(kernel.name, ()), cubin.target) for kernel in chosen}


def known_program(kernel: CubinKernel, target: str) -> Program | None:
    """Return the program of a kernel whose machine code is read without nvdisasm: the same; else None."""
    lines = decode(kernel, int(target.removeprefix("sm_")))
    return None if lines is None else _program(kernel, lines, target)


def _program(kernel: CubinKernel, lines: tuple[Line, ...], target: str) -> Program:
    """Return the program of one kernel with the functions behind it."""
    if len(lines) * _WORD != len(kernel.code):
        raise ParseError(
            f"damaged cubin: nvdisasm prints {len(lines)} instructions for {kernel.name}, "
            f"which has {len(kernel.code)} bytes"
        )
    own, *called = _ranges(kernel)
    functions = {r.name: _part(kernel, r, lines, target) for r in called}
    return replace(
        _part(kernel, own, lines, target),
        parameters=_parameters(kernel),
        functions=functions,
        variables=kernel.image.variables,
        constants=kernel.image.constants,
        pointers=kernel.image.pointers,
        parameter_base=kernel.parameter_base,
        static_shared=kernel.image.static_shared,
        stack=kernel.resources.local,
    )


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
            p.size if p.size in sizes else 1, offset=p.offset,
        )
        for p in kernel.parameters
    )  # fmt: skip


def _part(kernel: CubinKernel, part: _Range, lines: tuple[Line, ...], target: str) -> Program:
    """Return one range of a kernel's instructions as a program of its own, with the labels it uses."""
    part = _without_padding(part, lines)
    body = with_products(tuple(_instruction(kernel, part, i, lines[i]) for i in range(part.start, part.stop)))
    used = {t for i in body if i.flow is Flow.JUMP for t in i.targets}
    labels = {label: int(label[2:], 16) // _WORD - part.start for label in sorted(used)}
    return Program(part.name, Level.SASS, target, body, labels, address=part.start * _WORD)


def _without_padding(part: _Range, lines: tuple[Line, ...]) -> _Range:
    """Return a range without the NOPs, and the jump to itself, that fill up its last lines."""
    stop = part.stop
    while stop > part.start and lines[stop - 1].opcode == "NOP":
        stop -= 1
    if stop > part.start + 1 and lines[stop - 1] == Line("BRA", hex((stop - 1) * _WORD)):
        stop -= 1
    return replace(part, stop=stop)


def _instruction(kernel: CubinKernel, part: _Range, position: int, line: Line) -> Instruction:
    """Return an instruction: text from nvdisasm, control code and source line from the cubin."""
    offset = position * _WORD
    word = int.from_bytes(kernel.code[offset : offset + _WORD], "little")
    text = line.operands
    if "32@" in text:
        text = _UNRESOLVED.sub(kernel.image.immediates.get(offset, r"\g<0>"), text)
    operands = _with_nan_bits(parse_operands(text), word)
    entry = lookup(line.opcode)
    known = entry is not None
    entry = entry or _UNKNOWN
    guard = _guard(line, operands, entry)
    flow, targets = _flow(kernel, part, offset, line.opcode, operands, entry.flow)
    writes, reads = find_registers(line.opcode, entry, operands, guard)
    return Instruction(
        index=position - part.start,
        opcode=line.opcode,
        operands=operands,
        guard=guard,
        writes=writes,
        reads=reads,
        unit=entry.unit,
        throughput_class=entry.throughput,
        flops=flops_of(line.opcode, entry, operands),
        memory=_memory(line.opcode, entry, operands),
        flow=flow,
        targets=targets,
        line=kernel.lines.at(offset),
        control=decode_control(word),
        known=known,
    )


def _with_nan_bits(operands: tuple[Operand, ...], word: int) -> tuple[Operand, ...]:
    """Return operands in which a NaN literal is its bit pattern (an integer), which the text lacks.

    The literal is in bits 32 to 63 of the instruction; of two, for packed halves, the first is the high one.
    """
    literals = [o for o in operands if isinstance(o, Immediate) and isinstance(o.value, float)]
    if not any(math.isnan(o.value) for o in literals):
        return operands
    bits = word >> 32 & 0xFFFFFFFF
    patterns = [bits] if len(literals) == 1 else [bits >> 16, bits & 0xFFFF]
    return tuple(
        Immediate(patterns.pop(0), o.text) if isinstance(o, Immediate) and isinstance(o.value, float) else o
        for o in operands
    )


def _flow(
    kernel: CubinKernel, part: _Range, offset: int, opcode: str, operands: tuple[Operand, ...], flow: Flow
) -> tuple[Flow, tuple[str, ...]]:
    """Return where control goes: labels of a jump, names of the functions of a call.

    A jump that leaves its function, or goes through a register whose targets no table lists, is a return:
    control does not come back.
    """
    if flow is Flow.CALL:
        return flow, _callee(kernel, operands)
    if flow is not Flow.JUMP:
        return flow, ()
    inside = [t for t in _targets(kernel, offset, opcode, operands) if part.start <= t // _WORD < part.stop]
    return (Flow.JUMP, tuple(f"L_{t:04x}" for t in inside)) if inside else (Flow.RETURN, ())


def _targets(kernel: CubinKernel, offset: int, opcode: str, operands: tuple[Operand, ...]) -> tuple[int, ...]:
    """Return the byte offsets that a jump may go to; none for a jump through a register of unknown value."""
    if offset in kernel.branches:
        return tuple(sorted(set(kernel.branches[offset])))
    last = operands[-1] if operands else None
    return (int(last.value),) if isinstance(last, Immediate) and opcode.startswith(_DIRECT) else ()


def _callee(kernel: CubinKernel, operands: tuple[Operand, ...]) -> tuple[str, ...]:
    """Return the name of the function that a call goes to; none for a call through a register."""
    only = operands[0] if len(operands) == 1 else None
    if isinstance(only, Symbol):
        return (only.name,)
    at = only.value if isinstance(only, Immediate) else None
    return tuple(f.name for f in kernel.functions if f.offset == at)


def _guard(line: Line, operands: tuple[Operand, ...], entry: Opcode) -> Guard | None:
    """Return the predicate in front, or the condition among the operands of a jump.

    A jump on convergence (``BRA.DIV``, ``BRA.CONV``) falls through as well: its mask register, or the
    word ``convergence``, stands in for a predicate.
    """
    if line.predicate.startswith("@"):  # nvdisasm also puts the PR of P2R here
        name = line.predicate[1:].removeprefix("!")
        return None if name in _TRUE and name == line.predicate[1:] else Guard(name, line.predicate[1] == "!")
    if entry.flow is not Flow.JUMP or not line.opcode.startswith("BRA"):
        return None
    condition = next((o for o in operands if isinstance(o, Register) and o.name not in _TRUE), None)
    if condition is not None:
        return Guard(condition.name, condition.negated or "not" in condition.modifiers)
    return Guard("convergence") if {"DIV", "CONV"} & set(line.opcode.split(".")) else None


def flops_of(opcode: str, entry: Opcode, operands: tuple[Operand, ...]) -> float:
    """Return floating-point operations per thread; a product with RZ twice is a move, not arithmetic."""
    if entry.flops < 0:
        shape = tile(opcode)
        return shape.flops if shape is not None else 0.0
    factors = operands[1:3] if entry.flops in (2, 4) and len(operands) >= 4 else operands[1:2]
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
        case "texture":
            size = 4 * component_count(operands)
        case _:
            size = access_bytes(modifiers)
    return MemoryAccess(entry.space, entry.access, size)
