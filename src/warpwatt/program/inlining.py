"""Calls of device functions expanded: the callee's instructions count where they are called from.

The bodies stand behind the caller's instructions, one copy per call, so that the caller's keep their
indices. A call becomes a jump to its copy, a return in the copy a jump behind the call. Both keep their
opcodes. Parameters in ``.param`` space become cells named ``[variable+offset]``, written by ``st.param``
and read by ``ld.param``.

Calls that cannot be expanded stay as they are: recursion, functions without a body (``vprintf``,
``malloc``), arguments in registers, and anything beyond :data:`MAX_INSTRUCTIONS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from warpwatt.core.program import (
    Access,
    Address,
    Flow,
    Guard,
    Instruction,
    Operand,
    Program,
    Register,
    Space,
    Symbol,
    Variable,
    Vector,
)
from warpwatt.program.semantics import parameter_cells

MAX_INSTRUCTIONS = 200_000
"""Instructions of an expanded program; calls beyond stay calls."""


@lru_cache(maxsize=32)
def expand_calls(program: Program) -> Program:
    """Return the program with its calls expanded; the program itself where there are none to expand.

    >>> from warpwatt.isa.ptx import lower, parse
    >>> text = '''.version 9.0
    ... .target sm_90
    ... .address_size 64
    ... .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<2>; ld.param.b32 %r1, [a];
    ...     st.param.b32 [r], %r1; ret; }
    ... .entry k() { .reg .b32 %r<3>; .param .b32 x; .param .b32 y; mov.b32 %r1, 4; st.param.b32 [x], %r1;
    ...     call (y), f, (x); ld.param.b32 %r2, [y]; ret; }'''
    >>> [i.opcode for i in expand_calls(lower(parse(text), "k")).instructions][5:]
    ['ld.param.b32', 'st.param.b32', 'ret']
    """
    if not any(i.flow is Flow.CALL for i in program.instructions) or not _ends(program):
        return program
    expansion = _Expansion(program)
    expansion.run()
    return expansion.program() if expansion.copies else program


def _ends(program: Program) -> bool:
    """Whether control cannot run off the end into what is put behind it."""
    last = program.instructions[-1]
    return last.guard is None and last.flow in (Flow.RETURN, Flow.EXIT, Flow.JUMP)


@dataclass(slots=True)
class _Body:
    """A copy of a function: its names in the program, where it returns to, what it is inside of."""

    suffix: str
    symbols: Mapping[str, str]
    registers: frozenset[str]
    back: str
    inside: tuple[str, ...]


@dataclass(slots=True)
class _Expansion:
    caller: Program
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    copies: int = 0
    waiting: list[tuple[Program, _Body]] = field(default_factory=list)

    def run(self) -> None:
        """Copy the caller, then the bodies of its calls, then those of theirs."""
        self.labels = dict(self.caller.labels)
        self.variables = list(self.caller.variables)
        self.types = dict(self.caller.registers)
        whole = _Body("", {}, frozenset(), "", (self.caller.name,))
        for instruction in self.caller.instructions:
            self._append(instruction, self.caller, whole)
        while self.waiting:
            callee, body = self.waiting.pop(0)
            start = len(self.instructions)
            self.labels |= {f"{name}{body.suffix}": start + at for name, at in callee.labels.items()}
            self.labels[body.suffix] = start
            self.types |= {f"{name}{body.suffix}": type_ for name, type_ in callee.registers.items()}
            for instruction in callee.instructions:
                self._append(instruction, callee, body)

    def program(self) -> Program:
        """Return the expanded program."""
        own = tuple(self.instructions)
        return replace(
            self.caller,
            instructions=own,
            labels=self.labels,
            variables=tuple(self.variables),
            functions={},
            registers=self.types,
        )

    def _append(self, instruction: Instruction, owner: Program, body: _Body) -> None:
        index = len(self.instructions)
        renamed = _renamed(instruction, body, index) if body.suffix else instruction
        if body.suffix and instruction.flow is Flow.RETURN:
            renamed = replace(renamed, flow=Flow.JUMP, targets=(body.back,))
        elif instruction.flow is Flow.CALL:
            renamed = self._called(renamed, owner, body)
        self.instructions.append(_with_cells(renamed))

    def _called(self, call: Instruction, owner: Program, body: _Body) -> Instruction:
        name = call.targets[0] if len(call.targets) == 1 else ""
        callee = owner.functions.get(name)
        if callee is None or name in body.inside or not callee.instructions or not _ends(callee):
            return call
        size = len(self.instructions) + sum(len(p.instructions) for p, _ in self.waiting)
        symbols = _passed(call, callee)
        if symbols is None or size + len(callee.instructions) > MAX_INSTRUCTIONS:
            return call
        self.copies += 1
        suffix, back = f"@{name}@{self.copies}", f"@back@{self.copies}"
        self.labels[back] = call.index + 1
        local = [v for v in callee.variables if v.space in (Space.LOCAL, Space.PARAM)]
        symbols |= {v.name: v.name + suffix for v in local}
        known = {v.name for v in self.variables}
        self.variables += [replace(v, name=v.name + suffix) for v in local]
        self.variables += [v for v in callee.variables if v not in local and v.name not in known]
        registers = frozenset(name for i in callee.instructions for name in i.writes)
        self.waiting.append((callee, _Body(suffix, symbols, registers, back, (*body.inside, name))))
        return replace(call, flow=Flow.JUMP, targets=(suffix,))


def _passed(call: Instruction, callee: Program) -> dict[str, str] | None:
    """Return the caller's variable for every parameter and result; None if registers pass them."""
    if len(call.operands) < 3:
        return None
    results, _, arguments = call.operands[:3]
    if not isinstance(results, Vector) or not isinstance(arguments, Vector):
        return None
    own = {p.name for p in callee.parameters} | {v.name for v in callee.variables}
    returned = dict.fromkeys(
        base.name
        for i in callee.instructions
        if i.memory is not None and i.memory.space is Space.PARAM and i.memory.access is Access.STORE
        for base in [a.base for a in i.operands if isinstance(a, Address)]
        if isinstance(base, Symbol) and base.name not in own
    )
    formal = [*returned, *(p.name for p in callee.parameters)]
    actual = [*results.elements[: len(returned)], *arguments.elements]
    if len(formal) != len(actual) or not all(isinstance(a, Symbol) for a in actual):
        return None
    return {f: a.name for f, a in zip(formal, actual, strict=True) if isinstance(a, Symbol)}


def _renamed(instruction: Instruction, body: _Body, index: int) -> Instruction:
    def name(register: str) -> str:
        return register + body.suffix if register in body.registers else register

    def operand(o: Operand) -> Operand:
        if isinstance(o, Register):
            return replace(o, name=name(o.name))
        if isinstance(o, Symbol):
            return replace(o, name=body.symbols.get(o.name, o.name))
        if isinstance(o, Vector):
            return replace(o, elements=tuple(operand(e) for e in o.elements))
        if isinstance(o, Address):
            base = None if o.base is None else operand(o.base)
            assert base is None or isinstance(base, Register | Symbol)
            return replace(o, base=base)
        return o

    guard = instruction.guard
    jump = instruction.flow is Flow.JUMP
    return replace(
        instruction,
        index=index,
        operands=tuple(operand(o) for o in instruction.operands),
        guard=None if guard is None else Guard(name(guard.register), guard.negated),
        writes=tuple(name(w) for w in instruction.writes),
        reads=tuple(name(r) for r in instruction.reads),
        targets=tuple(t + body.suffix for t in instruction.targets) if jump else instruction.targets,
    )


def _with_cells(instruction: Instruction) -> Instruction:
    """Return an access to ``.param`` space with the cells it reads or writes among its registers."""
    memory = instruction.memory
    if memory is None or memory.space is not Space.PARAM:
        return instruction
    cells = parameter_cells(instruction)
    if memory.access is Access.STORE:
        return replace(instruction, writes=(*instruction.writes, *cells))
    return replace(instruction, reads=(*instruction.reads, *cells))
