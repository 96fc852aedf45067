"""A few random kernels against the processor (``make differential``: 500), and what they have found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.differential import __main__ as differential
from tests.differential.generate import source
from tests.emulate.native.compare import compare
from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Level
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.functional import execute
from warpwatt.emulate.lift import lift
from warpwatt.emulate.run import Stop
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.program.binding import bind
from warpwatt.run.work import Work

RECURSION = Path(__file__).with_name("recursion.cu")
FAILED = [10, 52]
"""Seeds whose kernels differed: levels of a function that calls itself met as one (:data:`RECURSION`)."""


@pytest.mark.toolchain
def test_random_kernels_compute_what_the_processor_does(monkeypatch):
    monkeypatch.setattr(Work, "_predict", differential.unpredicted)
    assert differential.verdicts(FAILED, "b200") == dict.fromkeys(FAILED, "same")


def test_a_seed_always_gives_the_same_program():
    assert source([3, 4]) == source([3, 4])
    assert source([3]) != source([4])


def levels(a: int, depth: int) -> int:
    """Return what the function of :data:`RECURSION` does."""
    if depth and a & 1:
        a ^= levels(a >> 1, depth - 1) * 3
    return a + 1


@pytest.mark.toolchain
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_levels_of_a_function_that_calls_itself_meet_one_after_the_other(target):
    """In all engines: they agree with each other, and the functional one with the processor."""
    kernel = load_kernel(RECURSION, target, CompileOptions(levels=frozenset({Level.SASS})))
    assert kernel.sass is not None
    words = Buffer(DType.U32, (32,), Fill.ARANGE)
    bound = bind(kernel.sass, Launch(Dim3(1), Dim3(32), arguments={"0": words, "1": words}))
    routine = lift(kernel.sass)
    assert compare(routine, lambda: load_launch(bound), range(1)).stop is Stop.DONE
    context, memory = load_launch(bound)
    assert execute(routine, context, memory).stop is Stop.DONE
    found = np.frombuffer(memory.bytes_of(int(np.flatnonzero(memory.sizes)[0])), np.uint32)[:32]
    wanted = np.array([levels(a, 3) for a in range(32)])
    assert found.tolist() == (wanted + 1000 * int((wanted & 1).sum())).tolist()
