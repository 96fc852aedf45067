"""Each way to analyse a launch: what it takes, why it refuses, and what it hands on."""

from __future__ import annotations

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.emulate.lift.sass.machine import instruction
from tests.emulate.test_execution import COPY, LOOP, SPIN, launch, program
from warpwatt.core.arguments import Buffer, DType, parse_arguments
from warpwatt.core.errors import ArgumentError, DeadlockError, EndlessLoopError, UndecidedError
from warpwatt.core.execution import Execution
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Level, Program
from warpwatt.emulate import emulation, strategies
from warpwatt.emulate.analysis import analyse_launch
from warpwatt.emulate.failures import stuck_in_reconvergence
from warpwatt.emulate.run import AccessCounts, Fault, Limits, Run, Stop
from warpwatt.emulate.strategies import (
    STRATEGIES,
    UNTRIED,
    LaunchAnalysis,
    Refusal,
    Stopped,
    _going_on,
    attempt,
    count_closed_form,
    count_given_loops,
    count_past_failure,
    count_with_assumptions,
    emulate,
    extrapolate_truncated_run,
)
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load_kernel
from warpwatt.program.binding import BoundLaunch, bind

SHORT = Limits(20_000, 2**20)


def without(name: str, given: Launch) -> Launch:
    return replace(given, arguments={key: a for key, a in given.arguments.items() if key != name})


def attempt_all(analysis: LaunchAnalysis) -> Execution | Refusal:
    return attempt((analysis, strategy) for strategy in STRATEGIES)


def refused(found: Execution | Refusal) -> Refusal:
    assert isinstance(found, Refusal)
    return found


def executed(found: Execution | Refusal) -> Execution:
    assert isinstance(found, Execution)
    return found


def test_affine_ptx_is_counted_in_closed_form_as_emulation_counts_it():
    analysis = LaunchAnalysis(program(COPY), launch(100, 6350, threads=64))
    counted = executed(attempt_all(analysis))
    assert counted is executed(count_closed_form(analysis, UNTRIED))
    assert counted.counts == pytest.approx(executed(emulate(analysis, UNTRIED)).counts)


def test_the_users_loop_counts_come_first():
    analysis = LaunchAnalysis(program(SPIN), launch(4, 1), {9: 12}, SHORT)
    assert attempt_all(analysis) is count_given_loops(analysis, UNTRIED)
    refused(count_given_loops(LaunchAnalysis(program(SPIN), launch(4, 1)), UNTRIED))


def test_what_depends_on_data_is_emulated():
    steered = COPY.replace("st.global", "setp.lt.f32 %p2, %f1, 0f3F000000; @%p2 bra END; st.global")
    analysis = LaunchAnalysis(program(steered), launch(4, 1024))
    assert "data" in refused(count_closed_form(analysis, UNTRIED)).reason
    assert executed(attempt_all(analysis)).blocks_run == 4


def test_a_truncated_run_is_extrapolated_where_analysis_knows_the_loop():
    analysis = LaunchAnalysis(program(LOOP), launch(4, 10**9), limits=SHORT)
    stopped = refused(emulate(analysis, UNTRIED))
    assert isinstance(stopped, Stopped)
    assert executed(extrapolate_truncated_run(analysis, stopped)).warp_instructions > 1e9


def test_a_loop_that_nobody_knows_the_end_of_is_an_error_that_names_contents_that_are_assumed():
    analysis = LaunchAnalysis(program(SPIN), launch(4, 1), limits=SHORT)
    stopped = refused(emulate(analysis, UNTRIED))
    assert extrapolate_truncated_run(analysis, stopped) is stopped
    with pytest.raises(EndlessLoopError):
        count_past_failure(analysis, stopped)
    assumed = Buffer(DType.I32, (64,), assumed_fill=True)
    with pytest.raises(UndecidedError, match="the loop at line 9") as caught:
        attempt_all(LaunchAnalysis(program(SPIN), launch(4, 1, x=assumed), limits=SHORT))
    assert caught.value.hint == (
        "--arg x=TYPE[SHAPE]:zeros|ones|arange|indices(N)|offsets(N)|FILE.npy, or --loop 9=COUNT"
    )


def test_what_machine_code_does_not_tell_is_asked_of_the_ptx():
    analysis = LaunchAnalysis(program(SPIN), launch(4, 1), limits=SHORT, ptx=program(SPIN))
    stopped = refused(emulate(analysis, UNTRIED))
    left = refused(extrapolate_truncated_run(analysis, stopped))
    assert not isinstance(left, Stopped)
    assert count_past_failure(analysis, left) is left


def test_lanes_that_the_compiler_makes_meet_are_not_the_users_fault():
    lines = ["BSSY B0, 0x30", "ISETP.EQ.AND P0, PT, RZ, RZ, PT", "BRA 0x30", "BSYNC B0", "EXIT"]
    stuck = Program("k", Level.SASS, "sm_90", tuple(instruction(t, i) for i, t in enumerate(lines)))
    none = np.zeros(5, np.int64)
    accesses = AccessCounts(*[none[:0]] * len(fields(AccessCounts)))
    for at, theirs in ((3, True), (4, False)):
        run = Run(Stop.DEADLOCK, none, none, accesses, (0,), fault=Fault(at, 0, 0))
        assert stuck_in_reconvergence(run, stuck) is theirs


def test_lanes_that_wait_for_those_gone_elsewhere_go_on_without_them():
    """Sixteen lanes name all 32 in a shuffle's WARPSYNC, the others wait behind the branch (segsort)."""
    lines = (
        "S2R R0, SR_LANEID", "ISETP.GE.AND P0, PT, R0, 0x10, PT", "BSSY B0, 0x60", "@P0 BRA 0x60",
        "WARPSYNC 0xffffffff", "IADD3 R2, R0, 0x1, RZ", "BSYNC B0", "EXIT",
    )  # fmt: skip
    parted = Program("k", Level.SASS, "sm_90", tuple(instruction(t, i) for i, t in enumerate(lines)))
    found = emulate(LaunchAnalysis(parted, Launch(Dim3(1), Dim3(32))), UNTRIED)
    assert isinstance(found, Execution)
    assert (found.counts[5], found.lanes[5], found.lanes[7]) == (1, 16, 32)
    assert [a.parameter for a in found.assumptions] == ["lanes that do not meet"]
    apart = replace(parted, instructions=tuple(i for i in parted.instructions if i.index != 4))
    assert not _going_on(parted).instructions[4].opcode.startswith("WARPSYNC")
    assert _going_on(apart) is apart
    assert _going_on(replace(apart, functions={"f": parted})).functions["f"].instructions[4].opcode == "NOP"


def test_a_kernel_whose_lanes_do_not_meet_again_is_tried_another_way(monkeypatch: pytest.MonkeyPatch):
    """Where the compiler makes them meet emulation refuses; at a barrier of the source it is an error."""
    analysis = LaunchAnalysis(program(COPY), launch(4, 1024))
    for opcode, refuses in (("BSYNC", True), ("BAR.SYNC", False)):
        code = SimpleNamespace(instructions=(SimpleNamespace(opcode=opcode),))
        stopped = SimpleNamespace(stop=Stop.DEADLOCK, fault=Fault(0, 0, 0))
        ended = SimpleNamespace(
            unknown_opcodes=(),
            stopped=stopped,
            bound=SimpleNamespace(program=code),
            failure=lambda: (DeadlockError("waits"), ()),
        )
        monkeypatch.setattr(emulation, "run_sample", lambda *_, ended=ended: ended)
        assert isinstance(refused(emulate(analysis, UNTRIED)), Stopped) is not refuses


def test_a_missing_argument_refuses_emulation_and_the_last_resort_says_so():
    analysis = LaunchAnalysis(program(COPY), without("y", launch(4, 1024)))
    refusal = refused(emulate(analysis, UNTRIED))
    assert "needs argument '1'" in refusal.reason
    for strategy in (extrapolate_truncated_run, count_past_failure):
        assert strategy(analysis, refusal) is refusal
    message = count_with_assumptions(analysis, refusal).assumptions[-1].message
    assert message == f"not emulated: {refusal.reason}"


def test_a_launch_is_bound_to_its_program_once(monkeypatch: pytest.MonkeyPatch):
    calls = []

    def counted(program: Program, launch: Launch) -> BoundLaunch:
        calls.append(program)
        return bind(program, launch)

    monkeypatch.setattr(strategies, "bind", counted)
    analysis = LaunchAnalysis(program(SPIN), launch(4, 1), limits=SHORT)
    with pytest.raises(EndlessLoopError):
        attempt_all(analysis)
    assert len(calls) == 1


def test_iterations_for_a_line_without_a_loop_are_refused_with_the_lines_that_have_one():
    analysis = LaunchAnalysis(program(SPIN), launch(4, 1), {8: 12}, SHORT)
    with pytest.raises(ArgumentError, match="no loop at line 8") as caught:
        count_given_loops(analysis, UNTRIED)
    assert caught.value.hint.endswith(": 9")
    with pytest.raises(ArgumentError, match="no loop at line 7") as caught:
        count_given_loops(LaunchAnalysis(program(COPY), launch(4, 1), {7: 12}), UNTRIED)
    assert caught.value.hint == "leave --loop out"


@pytest.mark.toolchain
def test_a_call_that_only_data_name_is_no_single_instruction():
    """PTX cannot follow it: counted as one instruction, a kernel of 35 ms took microseconds."""
    source = b"""
    typedef float (*function)(float);
    __device__ __noinline__ float heavy(float x) { for (int i = 0; i < 10000; ++i) x = x * 2 + 1; return x; }
    __device__ __noinline__ float light(float x) { return x + 1; }
    __device__ function table[2] = {heavy, light};
    __global__ void called(float *x, int which) { x[threadIdx.x] = table[which](x[threadIdx.x]); }
    """
    kernel = load_kernel(Source("called.cu", source), "sm_90")
    given = Launch(Dim3(4), Dim3(64), arguments=parse_arguments(["x=f32[64]", "which=0"]))
    assert analyse_launch(kernel, given).warp_instructions > 8 * 10_000
    with pytest.raises(UndecidedError, match="calls a function, whose body is not known"):
        analyse_launch(kernel, given, (Level.PTX,))
