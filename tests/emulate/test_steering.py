"""What contents of buffers decide, by hand-written kernels: which are named, and how much hangs on them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from tests.emulate.test_execution import HEAD, program
from warpwatt.core.arguments import Buffer, DType, Fill, Scalar
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.analysis import analyse_launch
from warpwatt.emulate.decisions import CONTROL_SPREAD
from warpwatt.emulate.first_execution import execute
from warpwatt.emulate.lift import lift
from warpwatt.emulate.slow_paths import table
from warpwatt.emulate.steering import data_dependence
from warpwatt.frontend.load import load_kernel

if TYPE_CHECKING:
    from pathlib import Path

    from warpwatt.core.execution import Assumption

LOAD = "ld.param.u64 %rd4, [x]; .loc 1 3 0\n ld.global.u32 %r1, [%rd4]; setp.eq.u32 %p1, %r1, 0;"
LOOP = "mov.u32 %r2, 0; TOP: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, {}; @%p2 bra TOP;"


def assumed(text: str) -> dict[str, Assumption]:
    """Return what is assumed, by parameter; see :func:`all_assumed`."""
    return {a.parameter: a for a in all_assumed(text)}


def all_assumed(text: str) -> tuple[Assumption, ...]:
    """Return the assumptions of one warp of a kernel whose buffers hold zeros that nobody asked for."""
    zeros = Buffer(DType.U32, (64,), Fill.ZEROS, assumed_fill=True)
    launch = Launch(Dim3(1), Dim3(32), arguments={"x": zeros, "y": zeros, "n": Scalar(1)})
    return execute(program(HEAD + text + " ret; }"), launch).assumptions


def test_a_register_that_holds_one_pointer_after_the_other_names_each_where_it_is_read():
    text = HEAD + LOAD + " ld.param.u64 %rd4, [y]; @%p1 bra END; st.global.u32 [%rd4], %r1; END: ret; }"
    assert set(data_dependence(lift(program(text))).control.values()) == {frozenset({"x"})}


def test_arithmetic_that_only_ends_up_in_results_is_not_looked_at():
    stored = "mul.lo.u32 %r3, %r1, 7; ld.param.u64 %rd5, [y]; st.global.u32 [%rd5], %r3;"
    found = data_dependence(lift(program(HEAD + LOAD + f"@%p1 bra END; {stored} END: ret; }}")))
    opcodes = [i.opcode for i in found.routine.program.instructions]
    looked_at = {opcodes[o.instruction] for block in found.routine.blocks for o in block.operations}
    assert "setp.eq.u32" in looked_at
    assert "mul.lo.u32" not in looked_at


@pytest.mark.parametrize("skipped", [1, 8, 40])
def test_what_a_branch_skips_is_what_hangs_on_it(skipped: int):
    body = "add.u32 %r2, %r2, 1;" * skipped
    found = assumed(LOAD + f"@%p1 bra END; {body} END:")
    executed = 5  # two loads, the test, the branch, the return
    wanted = math.log((executed + skipped) / executed) / (2 * 1.2816)
    assert found["contents of x"].spread == pytest.approx(min(CONTROL_SPREAD, wanted), rel=1e-3)


def test_a_buffer_that_steers_and_addresses_is_named_once_and_one_that_is_only_written_never():
    text = LOAD + (
        f"@%p1 bra END; {'add.u32 %r2, %r2, 1;' * 8} END: ld.global.u32 %r3, [%rd4+4];"
        "mul.wide.u32 %rd5, %r3, 4; add.u64 %rd5, %rd4, %rd5; ld.global.u32 %r2, [%rd5];"
        "ld.param.u64 %rd4, [y]; st.global.u32 [%rd4], %r2;"
    )
    said = [a.message for a in all_assumed(text) if a.parameter.startswith("contents")]
    assert len(said) == 1
    assert said[0].startswith("control flow depends on what buffer x holds")


def test_an_access_that_contents_switch_off_counts_as_traffic():
    found = assumed(LOAD + "ld.param.u64 %rd5, [y]; @!%p1 st.global.u32 [%rd5], %r1;")
    assert found["contents of x"].spread == pytest.approx(math.log(2) / (2 * 1.2816), rel=1e-3)


def test_a_loop_behind_a_branch_that_nobody_took_may_cost_anything():
    found = assumed(LOAD + "@%p1 bra END;" + LOOP.format(1000) + "END:")
    assert found["contents of x"].spread == CONTROL_SPREAD


def test_contents_that_decide_how_often_a_loop_runs_cost_by_its_share():
    found = assumed(LOAD + LOOP.format("%r1"))
    assert found["contents of x"].spread == pytest.approx(CONTROL_SPREAD * 3 / 8, rel=1e-3)


def test_a_number_that_two_branches_set_carries_what_chose_between_them():
    text = LOAD + "mov.u32 %r3, 10; @%p1 bra FEW; mov.u32 %r3, 20; FEW:" + LOOP.format("%r3")
    dependence = data_dependence(lift(program(HEAD + text + " ret; }")))
    assert any(decision.loop for decision in dependence.decisions)


def test_what_only_stores_carry_is_not_followed(monkeypatch: pytest.MonkeyPatch):
    """The slice has no load left, and says that nothing hangs on contents."""
    monkeypatch.delattr("warpwatt.emulate.steering._Contents")
    text = HEAD + LOAD + " ld.param.u64 %rd5, [y]; st.global.u32 [%rd5], %r1; ret; }"
    dependence = data_dependence(lift(program(text)))
    assert (dependence.control, dependence.addresses, dependence.decisions) == ({}, {}, ())


def test_threads_that_leave_by_contents_do_not_make_later_loops_depend_on_them():
    text = LOAD + "@!%p1 ret;" + LOOP.format(10)
    dependence = data_dependence(lift(program(HEAD + text + " ret; }")))
    assert [decision.loop for decision in dependence.decisions] == [False]


def test_what_goes_through_shared_memory_decides_too():
    text = (
        LOAD
        + """ .shared .b32 s; st.shared.u32 [s], %r1; ld.shared.u32 %r2, [s];
        setp.lt.u32 %p2, %r2, 9; @%p2 bra END; add.u32 %r1, %r1, 1; END: ret; }"""
    )
    assert set(data_dependence(lift(program(HEAD + text))).control.values()) == {frozenset({"x"})}


ARITHMETIC = {
    "division": "x[i] = x[i] / y[i]",
    "division in double precision": "x[i] = double(x[i]) / double(y[i])",
    "reciprocal": "x[i] = 1.f / x[i]",
    "square root": "x[i] = sqrtf(x[i])",
    "sine, cosine or tangent": "x[i] = sinf(x[i])",
}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("arithmetic") / "k.cu"
    texts = (
        f'extern "C" __global__ void k{n}(float* x, const float* y)'
        f" {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {text}; }}\n"
        for n, text in enumerate(ARITHMETIC.values())
    )
    file.write_text("".join(texts))
    return file


@pytest.mark.toolchain
@pytest.mark.parametrize("name", ARITHMETIC)
def test_slow_paths_are_told_from_control_flow(kernels: Path, name: str):
    kernel = load_kernel(kernels, "sm_90", name=f"k{list(ARITHMETIC).index(name)}")
    assert kernel.sass is not None
    dependence = data_dependence(lift(kernel.sass))
    assert not dependence.control
    assert {path.name for path, _, _ in dependence.slow_paths} == {name.partition(" in ")[0]}


@pytest.mark.toolchain
def test_slow_paths_are_one_assumption_that_costs_little(kernels: Path):
    buffer = Buffer(DType.F32, (1024,), assumed_fill=True)
    launch = Launch(Dim3(8), Dim3(128), arguments={"x": buffer, "y": buffer})
    (assumption,) = analyse_launch(load_kernel(kernels, "sm_90", name="k0"), launch).assumptions
    assert "division" in assumption.message
    assert assumption.fix == "--arg x=TYPE[SHAPE]:FILE.npy --arg y=TYPE[SHAPE]:FILE.npy"
    assert assumption.spread < 0.05


def test_every_slow_path_says_where_it_is_from():
    assert all(path.taken and path.source for path in table())
