"""The check of machine code: a sample of probes on two targets, and that it finds what compilers do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpwatt.core.errors import ToolchainError
from warpwatt.core.program import Flow, Guard, Instruction, Level, Program
from warpwatt.lab.measure.microbench import ptx
from warpwatt.lab.measure.microbench.instructions import ILPS, classes
from warpwatt.lab.measure.microbench.machine_code import TARGETS, check_probes, compile_probes, verify
from warpwatt.lab.measure.microbench.model import Expected, Probe
from warpwatt.lab.measure.microbench.suite import probes

SAMPLE = (
    "fp32_fma_ilp1", "fp32_fma_ilp3", "int_add_ilp2", "special_sin_ilp1", "vote_ballot_ilp2",
    "convert_f64_f32_ilp1", "mma_m16n8k8_f16_f32_ilp2", "chase_global_ca", "chase_shared", "chase_constant",
    "chase_texture", "atomic_shared_add_u32", "stream_ca_4B_16r0w", "stream_cg_16B_8r8w", "shared_4B_16r0w",
    "async_copy_16B_latency", "barrier_block", "micro_empty",
)  # fmt: skip


@pytest.mark.toolchain
@pytest.mark.parametrize("target", ["sm_75", "sm_120"])
def test_sample_is_verified(target):
    chosen = [p for p in probes() if p.name in SAMPLE]
    assert len(chosen) == len(SAMPLE)
    verdicts = check_probes(chosen, target)
    assert {v.probe.name: v.problems for v in verdicts if v.problems} == {}
    assert len(verdicts) == len(SAMPLE) - (target == "sm_75")  # asynchronous copies came with sm_80


def _probe(name, body, expected, before=(), keep=("u32", "%x")):
    frame = ptx.Frame(
        registers=[".reg .u32 %x, %y, %z;"],
        before=[*(f"ld.global.u32 %{r}, [%in+{4 * i}];" for i, r in enumerate("xyz")), *before],
        body=body,
        keep=[keep],
    )  # fmt: skip
    return Probe.of(name, "test", "", frame, {75: expected}, len(body))


@pytest.mark.toolchain
def test_what_the_compiler_changes_is_found():
    """Merged, hoisted, removed and independent work: each is refused, and for its own reason."""
    sixty = Expected({"IADD3": 60}, chains=1)
    merged = _probe("merged", ["add.u32 %x, %x, %y;"] * 60, sixty)
    hoisted = _probe("hoisted", ["mul.lo.u32 %x, %y, %z;"] * 60, Expected({"IMAD": 60}, chains=1))
    removed = _probe("removed", ["mul.lo.u32 %x, %x, %y;"] * 60, Expected({"IMAD": 60}), keep=("u32", "%y"))
    apart = _probe("apart", ["mad.lo.u32 %x, %x, %y, %z;", "mad.lo.u32 %y, %y, %z, %z;"] * 30,
                   Expected({"IMAD": 60}, chains=1, overhead=8))  # fmt: skip
    littered = _probe("littered", ["mad.lo.u32 %x, %x, %y, %z;", "popc.b32 %x, %x;"] * 30,
                      Expected({"IMAD": 30}, chains=1))  # fmt: skip
    verdicts = check_probes([merged, hoisted, removed, apart, littered], "sm_90")
    found = {v.probe.name: " ".join(v.problems) for v in verdicts}
    assert "30 × IADD3 instead of 60" in found["merged"]
    assert "0 loops" in found["hoisted"]  # nothing was left of it
    assert "0 loops" in found["removed"]
    assert "no 1 chains" in found["apart"]
    assert "other instructions" in found["littered"]


def _loop(*texts):
    """Return a program of one loop: `op dst src...`, then its counter and branch."""
    body = [Instruction(i, t.split()[0], writes=tuple(t.split()[1:2]), reads=tuple(t.split()[2:]))
            for i, t in enumerate(texts)]  # fmt: skip
    n = len(body)
    counter = Instruction(n, "ISETP", writes=("P0",), reads=("R9",))
    branch = Instruction(n + 1, "BRA", guard=Guard("P0"), reads=("P0",), flow=Flow.JUMP, targets=("L",))
    return Program("k", Level.SASS, "sm_90", (*body, counter, branch), {"L": 0})


def _verdict(expected, *texts):
    probe = Probe("k", "test", "", "", {75: expected}, (), len(texts))
    return verify(probe, "sm_90", _loop(*texts)).problems


def test_chains_are_followed_from_pass_to_pass():
    chain = Expected({"OP": 2}, chains=1)
    assert _verdict(chain, "OP R0 R0", "OP R0 R0") == ()
    assert _verdict(chain, "OP R0 R0", "MOV R1 R0", "OP R0 R1") == ()  # moves hand on
    assert _verdict(chain, "OP R0 R5", "OP R1 R0") != ()  # begins anew in every pass
    assert _verdict(Expected({"OP": 2}, chains=2), "OP R0 R0", "OP R1 R1") == ()
    assert _verdict(Expected({"OP": 2}, chains=2), "OP R0 R0", "OP R1 R0") != ()
    assert _verdict(Expected({"OP": 2}, chains=0), "OP R0 R5", "OP R1 R5") == ()
    assert _verdict(Expected({"OP": 2}, chains=0), "OP R0 R5", "OP R1 R0") != ()


def test_the_counter_is_not_what_is_measured():
    expected = Expected({"ISETP": 1}, chains=1)
    assert _verdict(expected, "ISETP P1 P1") == ()
    assert _verdict(Expected({"ISETP": 2}, chains=1), "ISETP P1 P1") != ()


def test_a_program_without_a_loop_or_with_two_is_refused():
    probe = Probe("k", "test", "", "", {75: Expected({"OP": 1})}, (), 1)
    one = _loop("OP R0 R0")
    again = replace(one.instructions[-1], index=len(one.instructions))
    two = replace(one, instructions=(*one.instructions, again))
    assert verify(probe, "sm_90", two).problems == ("2 loops instead of one",)
    straight = Program("k", Level.SASS, "sm_90", (Instruction(0, "EXIT", flow=Flow.EXIT),))
    assert verify(probe, "sm_90", straight).problems == ("0 loops instead of one",)


def test_every_class_of_the_brief_is_there():
    names = {one.name for one in classes()}
    stems = "fp32 fp64 fp16x2 bf16x2 int convert special shuffle vote predicate mma"
    for stem in stems.split():
        assert any(name.startswith(stem) for name in names), stem
    groups = {p.group for p in probes()}
    assert groups >= {"instruction", "latency", "bandwidth", "coalescing", "atomics", "barrier", "launch"}
    assert len({p.name for p in probes()}) == len(probes())


def test_probes_exist_on_the_targets_they_should():
    per_target = {t: sum(p.exists_on(int(t[3:])) for p in probes()) for t in TARGETS}
    assert per_target["sm_75"] < per_target["sm_80"] < per_target["sm_90"]
    bf16 = next(p for p in probes() if p.name == "bf16x2_fma_ilp1")
    assert not bf16.exists_on(75)
    assert bf16.exists_on(120)
    assert all(p.steps % max(ILPS) == 0 for p in probes() if p.group == "instruction")


@pytest.mark.toolchain
def test_text_that_does_not_assemble_is_an_error_of_ours():
    broken = Probe("broken", "test", "", ".visible .entry broken()\n{\nnonsense;\n}\n", {75: None}, (), 0)
    with pytest.raises(ToolchainError, match="do not assemble"):
        compile_probes([broken], "sm_90", cached=False)
