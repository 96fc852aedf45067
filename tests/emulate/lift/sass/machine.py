"""A few SASS instructions, written as text, on one warp of the reference engine."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulate import reference
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Guard, Instruction, Level, Program, Register
from warpwatt.emulate import native
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.ir import Routine, Type
from warpwatt.emulate.lift.sass import lift_sass
from warpwatt.emulate.lift.sass.operands import Step
from warpwatt.emulate.lift.sass.table import lift_instruction
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.run import Context, Limits, Run
from warpwatt.emulate.slice import control_slice
from warpwatt.isa.sass.operands import parse_operands

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

LANES = 32
_TEXT = re.compile(r"(?:@(!?)(\w+) )?(\S+) ?(.*)$")
SPECIAL = (0, 1, 2, 3, 31, 32, 33, 63, 64, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 2, 255, 2**15, 2**16 - 1)


def instruction(text: str, index: int = 0) -> Instruction:
    """Return an instruction as nvdisasm writes it, ``@!P0 IADD3 R1, R2, R3, RZ``."""
    found = _TEXT.match(text)
    assert found is not None
    guard = Guard(found[2], bool(found[1])) if found[2] else None
    return Instruction(index, found[3], parse_operands(found[4]), guard)


def values(seed: int, count: int = LANES) -> NDArray[np.uint32]:
    """Return random words, a third of them special ones."""
    draw = np.random.default_rng(seed)
    words = draw.integers(0, 2**32, count, dtype=np.uint32)
    return np.where(draw.random(count) < 1 / 3, draw.choice(np.array(SPECIAL, np.uint32), count), words)


def execute(
    lines: Sequence[str],
    inputs: Mapping[str, Any],
    outputs: Sequence[str],
    *,
    target: str = "sm_90",
    constants: bytes = b"",
) -> dict[str, NDArray[np.uint32]]:
    """Run instructions that do not jump, registers given before and read after; predicates are 0 or 1."""
    program = Program("test", Level.SASS, target, tuple(instruction(t, i) for i, t in enumerate(lines)))
    memory = DeviceMemory()
    builder = Builder()
    builder.begin()
    builder.at(0)
    for name, array in inputs.items():
        _load(builder, program, name, memory.place(name, np.asarray(array, np.uint32)))
    for one in program.instructions:
        step = Step(builder, one, program)
        builder.instruction = one.index
        builder.guard = None
        if one.guard is not None:
            predicate = step.get(one.guard.register)
            builder.guard = builder.not_(predicate) if one.guard.negated else predicate
        lift_instruction(builder, one, program)
    builder.guard = None
    assert not builder.uncovered, builder.uncovered
    for name in outputs:
        _store(builder, program, name, memory.place(f"out {name}", np.zeros(LANES, np.uint32)))
    builder.exit()
    routine = Routine(program, builder.finish(), builder.registers, tuple(builder.functions))
    run = reference.run(routine, _context(constants), memory, [0])
    assert run.stop == "done", run.fault
    return {name: memory.array(f"out {name}").copy() for name in outputs}


def start(lines: Sequence[str]) -> tuple[Run, NDArray[np.uint32]]:
    """Run a whole program on both engines, which must agree; its control slice must execute the same.

    The first two words of bank 0 hold where 32 words may be written.
    """
    body = tuple(instruction(t, i) for i, t in enumerate(lines))
    program = Program("test", Level.SASS, "sm_90", tuple(replace(i, writes=_written(i)) for i in body))
    routine, limits = lift_sass(program), Limits(warp_instructions=10_000)
    results = []
    for engine in (native.run, reference.run):
        memory = DeviceMemory()
        where = memory.place("out", np.zeros(LANES, np.uint32))
        run = engine(routine, _context(where.to_bytes(8, "little")), memory, [0], limits)
        results.append((run, memory.array("out").copy()))
    (fast, found), (plain, wanted) = results
    assert (fast.stop, found.tolist()) == (plain.stop, wanted.tolist())
    assert fast.executions.tolist() == plain.executions.tolist()
    memory = DeviceMemory()
    where = memory.place("out", np.zeros(LANES, np.uint32))
    short = reference.run(control_slice(routine), _context(where.to_bytes(8, "little")), memory, [0], limits)
    assert (short.stop, short.executions.tolist()) == (plain.stop, plain.executions.tolist())
    return results[1]


def _written(one: Instruction) -> tuple[str, ...]:
    """Return the first operand's register, enough for what these tests look back to."""
    first = one.operands[0] if one.operands else None
    return (first.name,) if isinstance(first, Register) and first.name.startswith("R") else ()


def _context(constants: bytes) -> Context:
    banks = {0: constants.ljust(64, b"\0"), 4: bytes(64)}
    return Context(Launch(Dim3(), Dim3(LANES)), banks, 0)


def _address(builder: Builder, base: int) -> Any:
    lane = builder.zext(builder.lane(), Type.I64)
    return builder.add(builder.const(Type.I64, base), builder.shl(lane, 2))


def _load(builder: Builder, program: Program, name: str, base: int) -> None:
    step = Step(builder, instruction("NOP"), program)
    step.declare(name)
    (value,) = builder.load("global", _address(builder, base), Type.I32)
    if builder.registers[name].type is Type.I1:
        value = builder.trunc(value, Type.I1)
    step.set(name, value)


def _store(builder: Builder, program: Program, name: str, base: int) -> None:
    value = Step(builder, instruction("NOP"), program).get(name)
    builder.store("global", _address(builder, base), builder.zext(value, Type.I32))
