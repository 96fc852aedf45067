"""What a launch fetches besides its data, and what waiting for it costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.emulate.caches import kernels
from warpwatt.core.launch import L2State
from warpwatt.core.program import Instruction, Level, Resources
from warpwatt.emulate.caches.code import LAUNCH_BYTES, LINES_AHEAD, cold_code_bytes
from warpwatt.emulate.workload import workload
from warpwatt.gpus import find


def launched(instructions, executed, l2=L2State.COLD, level=Level.SASS, **found):
    """Return an execution of a program of some length, of which the first instructions are executed."""
    done = kernels.copy(100).execution()
    code = tuple(Instruction(k, "NOP") for k in range(instructions))
    program = replace(done.program, level=level, instructions=code)
    launch = replace(done.launch, l2=l2, in_l2=found)
    counts = tuple(float(k < executed) for k in range(instructions))
    return replace(done, program=program, launch=launch, counts=counts, lanes=(32.0,) * instructions)


@pytest.mark.parametrize(
    ("instructions", "executed", "lines"), [(8, 1, 1), (9, 1, 2), (80, 80, 10), (8_000, 8, 1 + LINES_AHEAD)]
)
def test_code_comes_in_lines_and_some_ahead(instructions, executed, lines):
    assert cold_code_bytes(launched(instructions, executed)) == LAUNCH_BYTES + 128 * lines


def test_only_an_empty_l2_fetches_code():
    assert cold_code_bytes(launched(80, 80, L2State.WARM)) == 0
    assert cold_code_bytes(launched(80, 80, L2State.PREVIOUS)) == 0
    assert cold_code_bytes(launched(80, 80, x=0.5)) == 0
    assert cold_code_bytes(launched(80, 80, level=Level.PTX)) == 0


def test_dram_moves_the_code_beside_the_data():
    execution = kernels.copy(100).execution()
    execution = replace(execution, program=replace(execution.program, level=Level.SASS))
    cold = replace(execution, launch=replace(execution.launch, l2=L2State.COLD))
    moved = workload(cold, find("rtx3090"), Resources(registers=16)).dram.read
    assert moved == pytest.approx(100 * 512 + cold_code_bytes(cold))
