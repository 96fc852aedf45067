"""Runs that end badly, as errors that name the source line, the thread and the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arguments import Scalar
from warpwatt.core.errors import DeadlockError, EndlessLoopError, InputError, MemoryFaultError
from warpwatt.core.execution import Assumption
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Access, Program, SourceLine, Space
from warpwatt.emulate.layout import SHARED_SLOT, SLOT_BITS
from warpwatt.emulate.run import Stop
from warpwatt.native.demangle import demangle
from warpwatt.program.cfg import control_flow
from warpwatt.program.loops import natural_loops

if TYPE_CHECKING:
    from warpwatt.emulate.run import Fault, Run
    from warpwatt.program.binding import BoundLaunch

TRAP_HINT = (
    "a check of the kernel failed (assert, __trap), or it waits for the whole grid (grid.sync()), "
    "which only a cooperative launch under `warpwatt run` can"
)
MISALIGNED = "misaligned"
"""The engines' reason for an address that is not a multiple of the access's size."""


def failure(
    run: Run,
    bound: BoundLaunch,
    buffers: Mapping[int, tuple[str, float | None]],
    assumed: Sequence[Assumption] = (),
) -> InputError:
    """Return the error that a run ended with, or its spent budget as one.

    ``buffers`` maps slots to name and size in bytes; ``assumed`` are assumptions about buffers that may be
    the reason.
    """
    if run.stop is Stop.INSTRUCTIONS:
        return _endless(run, bound.program, assumed)
    return fault_error(run.stop, run.fault, bound, buffers)


def fault_error(
    stop: Stop, fault: Fault | None, bound: BoundLaunch, buffers: Mapping[int, tuple[str, float | None]]
) -> InputError:
    """Return the error of a run that met a fault, or whose threads wait for ever; see :func:`failure`."""
    if stop is Stop.FAULT and fault is not None:
        return _fault(fault, bound.program, bound.launch, buffers)
    return _deadlock(fault, bound.program, bound.launch)


def stuck_in_reconvergence(run: Run, program: Program) -> bool:
    """Whether lanes of a warp wait for others where the compiler, not the source, makes them meet (BSYNC)."""
    return _stuck_at(run, program).startswith("BSYNC")


def stuck_in_warp(run: Run, program: Program) -> bool:
    """Whether lanes of a warp wait for others of it, wherever the machine code makes them meet."""
    return _stuck_at(run, program).startswith(("BSYNC", "WARPSYNC"))


def _stuck_at(run: Run, program: Program) -> str:
    """Return the opcode that threads wait at for ever, nothing where they do not."""
    if run.stop is not Stop.DEADLOCK or run.fault is None or run.fault.instruction < 0:
        return ""
    return program.instructions[run.fault.instruction].opcode


def _endless(run: Run, program: Program, assumed: Sequence[Assumption]) -> EndlessLoopError:
    """Return the error of a run that spent its budget in a loop that analysis knows no end of."""
    line = busiest_loop(run, program)
    hints = [] if line is None else [f"if it does end: --loop {line.line}=COUNT"]
    hint = "; ".join([*hints, *(f"{assumption.message}: {assumption.fix}" for assumption in assumed)])
    spent = f"{run.warp_instructions / 1e6:.3g} million warp instructions"
    return EndlessLoopError(
        f"the kernel {demangle(program.name)} did not end within {spent} of one block: "
        "a loop that does not end, or that waits for another block",
        hint=hint or "check what ends its loops, or give it less to do (--grid, --block, --arg)",
        **_place(line),
    )


def busiest_loop(run: Run, program: Program) -> SourceLine | None:
    """Return the source line of the innermost loop around what was executed most."""
    flow = control_flow(program)
    forest = natural_loops(flow)
    for index in np.argsort(-run.executions, kind="stable").tolist():
        if not run.executions[index]:
            break
        around = forest.around(flow.block_of[index])
        if around:
            return forest.loops[around[0]].line or program.instructions[index].line
    return None


def _fault(
    fault: Fault, program: Program, launch: Launch, buffers: Mapping[int, tuple[str, float | None]]
) -> MemoryFaultError:
    line = program.instructions[fault.instruction].line if fault.instruction >= 0 else None
    where = _thread(fault, launch)
    if not fault.bytes:
        return MemoryFaultError(
            f"{where}: {fault.reason or 'trap'}",
            hint=TRAP_HINT if fault.reason in ("", "trap") else "",
            **_place(line),
        )
    what = program.instructions[fault.instruction].memory
    verb = what.access.value if what is not None else "access"
    target, hint = (
        _shared_target(fault, program, launch)
        if fault.address >> SLOT_BITS == SHARED_SLOT
        else _target(fault, launch, buffers)
    )
    if fault.reason == MISALIGNED:
        hint = "a thread reaches N bytes only at multiples of N: check casts and offsets of the pointer"
    error = MemoryFaultError(
        f"{where}: {verb} of {fault.bytes} bytes at {target}"
        + (f" ({fault.reason})" if fault.reason else ""),
        hint=hint,
        **_place(line),
    )
    if what is not None and what.access is Access.LOAD and fault.reason != MISALIGNED:
        error.missed = _missed(fault, buffers)
    return error


def _shared_target(fault: Fault, program: Program, launch: Launch) -> tuple[str, str]:
    """Return which byte of shared memory was accessed, and what the user can do about it."""
    variables = sum(v.size for v in program.variables if v.space is Space.SHARED)
    has = max(program.static_shared, variables) + launch.dynamic_shared
    target = (
        f"byte {fault.address & ((1 << SLOT_BITS) - 1)} of shared memory, of which a block has {has} bytes"
    )
    if launch.dynamic_shared:
        return target, "give it more dynamic shared memory (--shared BYTES), or check the index"
    return target, "is it `extern __shared__`? give it its size: --shared BYTES"


def _target(fault: Fault, launch: Launch, buffers: Mapping[int, tuple[str, float | None]]) -> tuple[str, str]:
    """Return where an access went, in words, and what the user can do about it."""
    slot, offset = _slot(fault, buffers)
    name, size = buffers.get(slot, ("", None))
    if name:
        known = f", which has {size:.0f} bytes" if size is not None else ""
        hint = f"make it larger (--arg {name}=TYPE[SHAPE]), or check the grid and the index"
        if offset < 0:
            hint = "an index is negative or overflows: check the grid and the types of indices"
        return f"byte {offset} of buffer {name}{known}", hint
    zero = [key for key, a in launch.arguments.items() if isinstance(a, Scalar) and a.value == 0]
    if slot or not zero:
        return f"address {fault.address:#x}", "a pointer argument is missing, null or not a buffer"
    named = " or ".join(f"--arg {key}=TYPE[SHAPE]" for key in zero)
    return f"the null address {fault.address:#x}", f"describe the buffer it points to: {named}"


def _slot(fault: Fault, buffers: Mapping[int, tuple[str, float | None]]) -> tuple[int, int]:
    """Return the slot of the buffer that an access aimed at, and the byte from its start."""
    slot, offset = fault.address >> SLOT_BITS, fault.address & ((1 << SLOT_BITS) - 1)
    if slot + 1 in buffers and offset >> (SLOT_BITS - 1):
        return slot + 1, offset - (1 << SLOT_BITS)  # a little in front of a buffer
    return slot, offset


def _missed(fault: Fault, buffers: Mapping[int, tuple[str, float | None]]) -> tuple[str, int, int] | None:
    slot, offset = _slot(fault, buffers)
    name, size = buffers.get(slot, ("", None))
    return (name, offset, int(size)) if name and size is not None else None


def _deadlock(fault: Fault | None, program: Program, launch: Launch) -> DeadlockError:
    line = program.instructions[fault.instruction].line if fault and fault.instruction >= 0 else None
    where = _thread(fault, launch) if fault else "a block"
    return DeadlockError(
        f"{where} waits at a barrier that others of its block never reach",
        hint="every thread that has not left must pass the same barriers",
        **_place(line),
    )


def _thread(fault: Fault, launch: Launch) -> str:
    """Return ``thread (1, 0, 0) of block (5, 0, 0)``."""
    return (
        f"thread {_coordinates(fault.thread, launch.block)} of block {_coordinates(fault.block, launch.grid)}"
    )


def _coordinates(number: int, extent: Dim3) -> str:
    """Return coordinates of a linear number.

    >>> from warpwatt.core.launch import Dim3
    >>> _coordinates(5, Dim3(2, 2, 2))
    '(1, 0, 1)'
    """
    return f"({number % extent.x}, {number // extent.x % extent.y}, {number // (extent.x * extent.y)})"


def _place(line: SourceLine | None) -> dict[str, Any]:
    return {} if line is None else {"file": line.outermost.file, "line": line.outermost.line}
