"""Small routines for tests: one operation applied to arrays, and engines to run them on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulate import reference
from tests.emulate.reference.floats import DTYPES
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Instruction, Level, Program
from warpwatt.emulate import native
from warpwatt.emulate.builder import Builder
from warpwatt.emulate.ir import Routine, Type
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.run import Context, Limits, Run, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Value

ENGINES: dict[str, Callable[..., Run]] = {
    "one warp": partial(reference.run, warps_at_once=1),
    "many warps": partial(reference.run, warps_at_once=64),
    "native": native.run,
}
"""Engines that must agree, by name."""


def routine(builder: Builder) -> Routine:
    """Return what a builder wrote, over a program of as many instructions as it named."""
    blocks = builder.finish()
    count = max(block.instructions.stop for block in blocks)
    program = Program("k", Level.PTX, "sm_90", tuple(Instruction(i, "op") for i in range(max(count, 1))))
    return Routine(program, blocks, builder.registers, tuple(builder.functions), builder.uncovered)


def thread(b: Builder) -> Value:
    """Return the linear number of a thread in the grid, I64."""
    wide = b.mul(b.special("ctaid.x"), b.special("ntid.x"))
    return b.zext(b.add(wide, b.special("tid.x")), Type.I64)


def element(b: Builder, parameter: int, type_: Type, index: Value | None = None) -> Value:
    """Return the address of a thread's element of the buffer that a parameter, by number, points at."""
    base = b.load("const", b.i32(8 * parameter), Type.I64)[0]
    size = max(8, type_.bits) // 8
    offset = b.mul(thread(b) if index is None else index, b.const(Type.I64, size))
    return b.add(base, offset)


def launch(
    code: Routine,
    buffers: Mapping[str, NDArray[Any]],
    *,
    grid: int = 1,
    block: int = 32,
    engine: Callable[..., Run] = ENGINES["one warp"],
    shared: int = 0,
    local: int = 0,
    record: bool = False,
    limits: Limits | None = None,
    scalars: Sequence[int] = (),
) -> tuple[Run, DeviceMemory]:
    """Run a routine whose parameters are the buffers in order, then 64-bit scalars."""
    memory = DeviceMemory()
    words = [memory.place(name, array) for name, array in buffers.items()] + list(scalars)
    bank = b"".join(word.to_bytes(8, "little") for word in words)
    context = Context(Launch(Dim3(grid), Dim3(block)), {0: bank}, shared, local)
    run = engine(code, context, memory, range(grid), limits or Limits(), record=record)
    return run, memory


def apply(
    types: Sequence[Type],
    result: Type,
    write: Callable[..., Value],
    *arrays: NDArray[Any],
    engine: Callable[..., Run] = ENGINES["one warp"],
) -> NDArray[Any]:
    """Return what ``write(builder, *values)`` computes from each element of the arrays.

    I1 is passed and returned in a byte.
    """
    b = Builder()
    b.begin("entry")
    b.at(0)
    inside = b.compare("ult", thread(b), b.load("const", b.i32(8 * (len(arrays) + 1)), Type.I64)[0])
    b.exit(b.not_(inside))
    b.begin()
    b.at(1)
    values = []
    for number, type_ in enumerate(types):
        held = Type.I8 if type_ is Type.I1 else type_
        value = b.load("global", element(b, number, held), held)[0]
        values.append(b.trunc(value, Type.I1) if type_ is Type.I1 else value)
    found = write(b, *values)
    held = Type.I8 if result is Type.I1 else result
    b.store("global", element(b, len(arrays), held), b.zext(found, Type.I8) if result is Type.I1 else found)
    count = len(arrays[0])
    buffers = {f"in{k}": np.ascontiguousarray(array) for k, array in enumerate(arrays)}
    buffers["out"] = np.zeros(count, DTYPES[held])
    run, memory = launch(routine(b), buffers, grid=-(-count // 64), block=64, engine=engine, scalars=[count])
    assert run.stop is Stop.DONE, run.fault
    out = memory.array("out")
    return out.astype(np.bool_) if result is Type.I1 else out
