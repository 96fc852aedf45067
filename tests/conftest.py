"""Fixtures shared by all rooms: a toy streaming kernel, described by hand down to its execution."""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from warpwatt import compose
from warpwatt.core.case import Case, Timing
from warpwatt.core.estimate import Estimate
from warpwatt.core.execution import AccessPattern, Execution
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import (
    Access,
    Flow,
    Instruction,
    Kernel,
    Level,
    MemoryAccess,
    Program,
    Resources,
    SourceLine,
    Space,
    Unit,
)
from warpwatt.emulate.workload import workload
from warpwatt.gpus import default_clocks, find
from warpwatt.models.conservation import Violation, violations

if TYPE_CHECKING:
    from warpwatt.core.gpu import Clocks

# Tests of one kernel translate it once, also in processes of their own.
os.environ.setdefault("WARPWATT_KEEP_TRANSLATIONS", "1")
# What a launch does is found out by the code under test.
os.environ["WARPWATT_KEEP_EXECUTIONS"] = "0"
# How long an example takes is no property. The same examples every time, new ones with HYPOTHESIS_EXPLORE=1.
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("HYPOTHESIS_EXPLORE") else "fixed")

KNOWN = tomllib.loads(Path(__file__).with_name("known_violations.toml").read_text())["violation"]
"""Violations of conservation that another issue mends."""


@pytest.fixture(autouse=True)
def _conserved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where an answer breaks a bound, but for those of ``known_violations.toml``."""

    def check(case: Case, timing: Timing, power: Estimate) -> tuple[Violation, ...]:
        found = violations(case, timing, power)
        known = {row["kind"] for row in KNOWN if row["kernel"] in case.kernel.demangled}
        new = [violation.text for violation in found if violation.kind not in known]
        assert not new, f"{case.kernel.demangled} on {case.gpu.name}: {'; '.join(new)}"
        return found

    monkeypatch.setattr(compose, "violations", check)


LINE = SourceLine("toy.cu", 3)


def _load(index: int, register: str) -> Instruction:
    memory = MemoryAccess(Space.GLOBAL, Access.LOAD, 4)
    return Instruction(
        index, "ld.global.f32", writes=(register,), reads=("%rd1",), unit=Unit.LSU, memory=memory, line=LINE
    )


def _fma(index: int, register: str, source: str) -> Instruction:
    return Instruction(
        index,
        "fma.rn.f32",
        writes=(register,),
        reads=(source,),
        unit=Unit.FP32,
        throughput_class="fp32_add_mul_fma",
        flops=2,
        line=LINE,
    )


def toy_program(fmas: int = 1) -> Program:
    """Return a load, a chain of multiply-adds, a store and an exit."""
    chain = [_fma(i + 1, f"%f{i + 1}", f"%f{i}") for i in range(fmas)]
    instructions = [_load(0, "%f0"), *chain]
    memory = MemoryAccess(Space.GLOBAL, Access.STORE, 4)
    instructions.append(
        Instruction(
            fmas + 1, "st.global.f32", reads=("%rd2", f"%f{fmas}"), unit=Unit.LSU, memory=memory, line=LINE
        )
    )
    instructions.append(Instruction(fmas + 2, "ret", unit=Unit.CONTROL, flow=Flow.RETURN))
    return Program("toy", Level.PTX, "sm_90", tuple(instructions))


def toy_execution(blocks: int = 100_000, fmas: int = 1, sectors: float = 4.0) -> Execution:
    """Return the toy streaming over distinct data, every warp alike, ``sectors`` per request."""
    program = toy_program(fmas)
    launch = Launch(Dim3(blocks), Dim3(256))
    n = len(program.instructions)
    footprint = 32.0 * sectors * launch.warps

    def pattern(buffer: str) -> AccessPattern:
        return AccessPattern(sectors, sectors / 4, 1.0, 4.0, 4, buffer, footprint)

    return Execution(
        program,
        launch,
        counts=(float(launch.warps),) * n,
        lanes=(32.0,) * n,
        accesses={0: pattern("x"), n - 2: pattern("y")},
    )


def toy_case(execution: Execution | None = None, gpu: str = "h200", clocks: Clocks | None = None) -> Case:
    """Return a case of the toy on a real GPU."""
    execution = execution or toy_execution()
    device = find(gpu)
    resources = Resources(registers=16)
    kernel = Kernel("toy", "toy", device.target, resources, ptx=execution.program)
    work = workload(execution, device, resources)
    return Case(kernel, work, execution.launch, device, clocks or default_clocks(device))


@pytest.fixture
def toy():
    """Return the builders ``execution``, ``case`` and ``replace`` in one namespace."""

    class Toy:
        program = staticmethod(toy_program)
        execution = staticmethod(toy_execution)
        case = staticmethod(toy_case)
        replace = staticmethod(replace)

    return Toy
