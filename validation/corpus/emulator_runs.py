"""Whole grids of corpus programs on the emulator, judged by their NumPy references."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.emulate import reference

from warpwatt.core.errors import WarpWattError
from warpwatt.core.program import Level, Program
from warpwatt.emulate import functional, native
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.lift import lift
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.run import Limits, Stop
from warpwatt.frontend.load import load
from warpwatt.frontend.toolkits import target_number
from warpwatt.lab.measure.comparison import find_mismatches, run_reference
from warpwatt.lab.measure.corpus import Corpus, buffers
from warpwatt.lab.measure.inputs import make_inputs
from warpwatt.program.binding import bind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from warpwatt.core.program import Kernel
    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Context, Run
    from warpwatt.lab.measure.corpus import CorpusProgram, KernelLaunch

FOLDER = Path(__file__).parents[2] / "corpus"
PTX_TARGET = "sm_90"
PASSED, UNCOVERED, WRONG, FAILED, SKIPPED = "passed", "uncovered", "wrong", "failed", "not for it"
BUDGET = 10**10
TOGETHER = 512
"""Warps that the reference engine executes in one step."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one program at one level for one target.

    ``state`` is one of the constants above; ``note`` says why. ``same`` is whether all buffers hold the very
    bytes that PTX left, None where that was not compared. ``covered`` and ``uncovered`` are the opcodes in
    the code, without and with modifiers.
    """

    program: str
    column: str
    state: str
    note: str = ""
    instructions: int = 0
    same: bool | None = None
    covered: frozenset[str] = frozenset()
    uncovered: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Attempt:
    """One run of a program: its device, what was executed, what had no semantics."""

    memory: DeviceMemory = field(default_factory=DeviceMemory)
    instructions: int = 0
    unknown: set[str] = field(default_factory=set)
    covered: set[str] = field(default_factory=set)
    uncovered: set[str] = field(default_factory=set)


class StoppedError(WarpWattError):
    """A launch did not come to its end."""


@lru_cache(maxsize=1)
def corpus() -> Corpus:
    """Return all programs."""
    return Corpus.load(FOLDER)


def outcomes(name: str, size: str, columns: tuple[str, ...], engine: str) -> list[Outcome]:
    """Run a program in each column: ``ptx`` or a target such as ``sm_90``, whose machine code is run."""
    program = corpus().program(name)
    inputs = make_inputs(program, size)
    wanted = run_reference(program, size, inputs)
    first: dict[str, NDArray[Any]] = {}
    results = []
    for column in columns:
        result, memory = _outcome(program, size, column, engine, inputs, wanted, first)
        results.append(result)
        if column == "ptx" and result.state == PASSED:
            first = memory
    return results


def _outcome(
    program: CorpusProgram,
    size: str,
    column: str,
    engine: str,
    inputs: Mapping[str, Any],
    wanted: Mapping[str, NDArray[Any]],
    other: Mapping[str, NDArray[Any]],
) -> tuple[Outcome, dict[str, NDArray[Any]]]:
    level = Level.PTX if column == "ptx" else Level.SASS
    target = PTX_TARGET if level is Level.PTX else column
    if target_number(program.least_target) > target_number(target):
        return Outcome(program.name, column, SKIPPED, f"needs {program.least_target}"), {}
    attempt = _Attempt()
    state, note, same, found = FAILED, "", None, {}
    try:
        _run(program, size, level, target, engine, inputs, attempt)
        found = {name: attempt.memory.array(name).copy() for name, _ in buffers(program.size(size))}
        wrong = find_mismatches(program, size, inputs, wanted, found)
        state, note = _judged(attempt, [str(mismatch) for mismatch in wrong])
        if other and not wrong:
            same = all(found[name].tobytes() == array.tobytes() for name, array in other.items())
    except WarpWattError as error:
        note = f"{error}" + (f"; no semantics: {_listed(attempt.unknown)}" if attempt.unknown else "")
        state = UNCOVERED if attempt.unknown else FAILED
    except Exception as error:  # noqa: BLE001 - a crash is a row of the table, not its end
        note = f"{type(error).__name__}: {error}"
    outcome = Outcome(
        program.name, column, state, note, attempt.instructions, same,
        frozenset(attempt.covered), frozenset(attempt.uncovered),
    )  # fmt: skip
    return outcome, found


def _judged(attempt: _Attempt, wrong: list[str]) -> tuple[str, str]:
    if not wrong:
        return PASSED, f"no semantics: {_listed(attempt.unknown)}" if attempt.unknown else ""
    if attempt.unknown:
        return UNCOVERED, f"no semantics: {_listed(attempt.unknown)}"
    return WRONG, "; ".join(wrong)


def _listed(opcodes: set[str]) -> str:
    return ", ".join(sorted(opcodes))


@lru_cache(maxsize=4)
def _kernels(source: Path, target: str) -> dict[str, Kernel]:
    """Return the kernels of a file by their names in the source, and as the linker calls them."""
    kernels = load(source, target)
    return {k.demangled.partition("(")[0].split(" ")[-1]: k for k in kernels} | {k.name: k for k in kernels}


def _run(
    program: CorpusProgram, size: str, level: Level, target: str, engine: str,
    inputs: Mapping[str, Any], attempt: _Attempt,
) -> None:  # fmt: skip
    """Run all launches in order.

    Raises
    ------
    StoppedError
        If one does not come to its end.
    """
    memory = attempt.memory
    addresses = {
        name: memory.place(name, np.asarray(inputs[name])) for name, _ in buffers(program.size(size))
    }
    kernels = _kernels(program.source, target)
    for one in program.size(size).launches:
        kernel = kernels[one.kernel]
        code = kernel.ptx if level is Level.PTX else kernel.sass
        assert code is not None
        assert kernel.ptx is not None
        routine = lift(code)
        _note_opcodes(routine, attempt)
        context, _ = load_launch(
            bind(code, one.launch, kernel.ptx.parameters),
            memory=memory,
            addresses={parameter: addresses[name] for parameter, name in one.buffers.items()},
            arrays={parameter: inputs[name] for parameter, name in one.buffers.items()},
        )
        for _ in range(one.launch.repeats):
            run = _launch(routine, context, memory, engine)
            attempt.instructions += _executed(run)
            attempt.unknown |= set(run.unknown.values())
            _check(routine, run, one)


def _launch(
    routine: Routine, context: Context, memory: DeviceMemory, engine: str
) -> Run | functional.Outcome:
    blocks = range(context.launch.grid.count)
    limits = Limits(warp_instructions=BUDGET)
    if engine == "functional":
        return functional.execute(routine, context, memory, limits)
    if engine == "native":
        return native.run(routine, context, memory, blocks, limits)
    return reference.run(routine, context, memory, blocks, limits, warps_at_once=TOGETHER)


def _executed(run: Run | functional.Outcome) -> int:
    """Return the warp instructions of a run."""
    return run.warp_instructions if isinstance(run, functional.Outcome) else int(run.executions.sum())


def _check(routine: Routine, run: Run | functional.Outcome, one: KernelLaunch) -> None:
    if run.stop is Stop.DONE:
        return
    fault, where = run.fault, ""
    if fault is not None:
        instruction = routine.program.instructions[fault.instruction]
        line = f", {Path(instruction.line.file).name}:{instruction.line.line}" if instruction.line else ""
        where = f" at {instruction.opcode} (instruction {fault.instruction}{line})"
        where += f", block {fault.block} thread {fault.thread} address {fault.address:#x}: {fault.reason}"
    raise StoppedError(f"{one.kernel} ended with {run.stop}{where}")


def _note_opcodes(routine: Routine, attempt: _Attempt) -> None:
    program: Program = routine.program
    for instruction in program.instructions:
        if instruction.index in routine.uncovered:
            attempt.uncovered.add(instruction.opcode)
        else:
            attempt.covered.add(instruction.opcode.partition(".")[0])
