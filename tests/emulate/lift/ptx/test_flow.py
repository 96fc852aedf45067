"""Branches, calls, barriers and what lanes of a warp do together."""

from __future__ import annotations

import random
from functools import reduce

import numpy as np
import pytest

from tests.emulate.lift.ptx.harness import HEADER, execute, lanes, one
from tests.emulate.lift.ptx.numbers import masked, samples, signed
from warpwatt.emulate.run import Stop

LANES = range(32)


def test_loops_with_different_trips() -> None:
    body = (
        "{ .reg .pred %p; .reg .b32 %n; mov.u32 %d, 1; mov.u32 %n, %a;\n"
        "again: setp.eq.u32 %p, %n, 0; @%p bra done; mul.lo.u32 %d, %d, 3; sub.u32 %n, %n, 1; bra again;\n"
        "done: }"
    )
    trips = [k % 11 for k in LANES]
    assert one(body, "b32", ("b32", trips)) == [3**t for t in trips]


def test_jump_by_index() -> None:
    body = (
        "{ ts: .branchtargets one, two, three; brx.idx %a, ts;\n"
        "one: mov.u32 %d, 10; bra done;\ntwo: mov.u32 %d, 20; bra done;\nthree: mov.u32 %d, 30;\ndone: }"
    )
    assert one(body, "b32", ("b32", [0, 1, 2, 1])) == [10, 20, 30, 20]


def test_calls_pass_structures_and_return() -> None:
    text = HEADER + (
        ".func (.param .b32 r) f(.param .align 8 .b8 s[16]) { .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
        "ld.param.b32 %r1, [s+8]; ld.param.b64 %d1, [s]; cvt.u32.u64 %r2, %d1; add.s32 %r1, %r1, %r2;\n"
        "st.param.b32 [r], %r1; ret; }\n"
        ".visible .entry k(.param .u64 out) { .reg .b32 %r<5>; .reg .b64 %d<4>; .param .align 8 .b8 x[16];\n"
        ".param .b32 y; mov.u32 %r1, %tid.x; st.param.b32 [x], %r1; st.param.b32 [x+4], 0;\n"
        "st.param.b32 [x+8], 100; call (y), f, (x); ld.param.b32 %r2, [y]; ld.param.u64 %d1, [out];\n"
        "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r2; ret; }"
    )
    found, _, routine = execute(text, {"out": np.zeros(32, np.uint32)})
    assert found["out"].tolist() == [100 + k for k in LANES]
    assert not routine.uncovered


def test_what_has_no_semantics_is_said() -> None:
    text = HEADER + (
        ".extern .func (.param .b32 r) elsewhere(.param .b64 f, .param .b64 a);\n"
        ".visible .entry k(.param .u64 out) { .reg .b32 %r<3>; .reg .b64 %d<3>; .param .b64 x;"
        " .param .b64 z;\n"
        ".param .b32 y; mov.u32 %r1, 7; st.param.b64 [x], 0; st.param.b64 [z], 0;\n"
        "call (y), elsewhere, (x, z); ld.param.b32 %r1, [y]; ld.param.u64 %d1, [out];\n"
        "st.global.u32 [%d1], %r1; ret; }"
    )
    found, result, routine = execute(text, {"out": np.full(1, 5, np.uint32)})
    assert list(routine.uncovered.values()) == ["call"]
    assert list(result.unknown.values()) == ["call"]
    assert found["out"].tolist() == [0]


def test_guards_count_their_lanes() -> None:
    text = HEADER + (
        ".visible .entry k(.param .u64 out) { .reg .pred %p; .reg .b32 %r<3>; mov.u32 %r1, %tid.x;\n"
        "setp.lt.u32 %p, %r1, 5; @%p mov.u32 %r2, 1; @!%p mov.u32 %r2, 2; ret; }"
    )
    _, result, _ = execute(text, {"out": np.zeros(1, np.uint32)})
    assert result.lanes.tolist() == [32, 32, 5, 27, 32]


def test_traps_stop() -> None:
    text = HEADER + ".visible .entry k(.param .u64 out) { trap; ret; }"
    assert execute(text, {"out": np.zeros(1, np.uint32)})[1].stop is Stop.FAULT


def test_a_barrier_makes_writes_visible() -> None:
    body = (
        "{ .shared .b32 s[128]; .reg .b32 %x<4>; mov.u32 %x1, s; shl.b32 %x2, %i1, 2;"
        " add.u32 %x3, %x1, %x2;\n"
        "st.shared.u32 [%x3], %a; bar.sync 0; xor.b32 %x2, %x2, 508; add.u32 %x3, %x1, %x2;\n"
        "ld.shared.u32 %d, [%x3]; }"
    )
    values = samples(32, 128, 1)
    assert one(body, "b32", ("b32", values)) == values[::-1]


def test_barrier_reductions() -> None:
    body = (
        "{ .reg .pred %p; .reg .pred %q; setp.lt.u32 %p, %a, 9; barrier.red.popc.u32 %d, 0, %p;"
        "bar.red.and.pred %q, 0, %p; selp.b32 %e, 1, 0, %q; barrier.cta.red.or.pred %q, 0, %p;"
        " selp.b32 %f, 1, 0, %q; }"
    )
    found = lanes(body, {"a": ("b32", list(range(96)))}, dict.fromkeys("def", "b32"))
    assert (found["d"], found["e"], found["f"]) == ([9] * 96, [0] * 96, [1] * 96)


def shuffled(mode: str, lane: int, by: int, clamp: int) -> tuple[int, bool]:
    """Return source lane and validity by the pseudocode of PTX ISA's shfl."""
    segment, bound, by = clamp >> 8 & 31, clamp & 31, by & 31
    first = lane & segment
    last = first | bound & ~segment
    source, valid = {
        "up": (lane - by, lane - by >= last),
        "down": (lane + by, lane + by <= last),
        "bfly": (lane ^ by, lane ^ by <= last),
        "idx": (first | by & ~segment, (first | by & ~segment) <= last),
    }[mode]
    return (source, valid) if valid else (lane, valid)


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("clamp", [0, 31, 0x1C1F, 0x1800, 15])
@pytest.mark.parametrize("constant", [True, False])
def test_shuffles(mode: str, clamp: int, constant: bool) -> None:
    x = samples(32, 32, 1)
    for by in (0, 1, 5, 16, 33):
        operands = f"{by}, {clamp}" if constant else "%b, %c"
        body = f"shfl.sync.{mode}.b32 %d|%p, %a, {operands}, -1;"
        inputs = {"a": ("b32", x), "b": ("b32", [by] * 32), "c": ("b32", [clamp] * 32)}
        found = lanes(body, inputs, {"d": "b32", "p": "pred"})
        wanted = [shuffled(mode, lane, by, clamp) for lane in LANES]
        assert found["d"] == [x[source] for source, _ in wanted]
        assert found["p"] == [int(valid) for _, valid in wanted]


def test_votes_of_some_lanes() -> None:
    members = [lane for lane in LANES if lane % 3]
    mask = sum(1 << m for m in members)
    body = (
        "{ .reg .pred %in; .reg .pred %q; .reg .b32 %m; rem.u32 %m, %i1, 3; setp.ne.u32 %in, %m, 0;"
        " mov.u32 %d, 0;"
        "mov.u32 %e, 0; mov.u32 %f, 0; @!%in bra out; setp.ne.u32 %q, %a, 0;"
        f"vote.sync.ballot.b32 %d, %q, {mask}; vote.sync.any.pred %q, %q, {mask}; selp.b32 %e, 1, 0, %q;"
        f"setp.lt.u32 %q, %i1, 40; vote.sync.all.pred %q, %q, {mask}; selp.b32 %f, 1, 0, %q;\nout: }}"
    )
    x = [random.Random(k).getrandbits(1) for k in LANES]
    found = lanes(body, {"a": ("b32", x)}, dict.fromkeys("def", "b32"))
    ballot = sum(x[m] << m for m in members)
    assert found["d"] == [ballot if lane in members else 0 for lane in LANES]
    assert found["e"] == [int(ballot != 0 and lane in members) for lane in LANES]
    assert found["f"] == [int(lane in members) for lane in LANES]


def test_matches_and_reductions() -> None:
    x = [k % 5 * 0x10000001 for k in LANES]
    body = (
        "{ match.any.sync.b32 %d, %a, -1; match.all.sync.b32 %e|%p, %a, -1; match.all.sync.b32 %f|%q, 3, -1;"
        "redux.sync.add.s32 %g, %a, -1; redux.sync.max.u32 %h, %a, -1; redux.sync.min.s32 %j, %n, -1;"
        "redux.sync.xor.b32 %k, %a, -1; activemask.b32 %l; elect.sync %m|%r, -1; }"
    )
    negative = [masked(-k, 32) for k in LANES]
    outputs = dict.fromkeys("defghjklm", "b32") | dict.fromkeys("pqr", "pred")
    found = lanes(body, {"a": ("b32", x), "n": ("b32", negative)}, outputs)
    assert found["d"] == [sum(1 << j for j in LANES if x[j] == v) for v in x]
    assert (found["e"], found["p"], found["f"], found["q"]) == (
        [0] * 32,
        [0] * 32,
        [2**32 - 1] * 32,
        [1] * 32,
    )
    assert found["g"] == [masked(sum(x), 32)] * 32
    assert found["h"] == [max(x)] * 32
    assert signed(found["j"][0], 32) == -31
    assert found["l"] == [2**32 - 1] * 32
    assert found["r"] == [1] + [0] * 31
    folded = 0
    for v in x:
        folded ^= v
    assert found["k"] == [folded] * 32


def test_reductions_of_groups_that_are_together() -> None:
    """Lanes that name other members take part in other reductions, as those of a labelled partition do."""
    groups = random.Random(1)
    labels = [groups.randrange(5) for _ in LANES]
    x = [groups.getrandbits(31) for _ in LANES]
    body = (
        "{ .reg .b32 %m; match.any.sync.b32 %m, %b, -1; redux.sync.add.s32 %d, %a, %m;"
        "redux.sync.max.s32 %e, %a, %m; redux.sync.and.b32 %f, %a, %m; }"
    )
    found = lanes(body, {"a": ("b32", x), "b": ("b32", labels)}, dict.fromkeys("def", "b32"))
    members = [[x[j] for j in LANES if labels[j] == label] for label in labels]
    assert found["d"] == [masked(sum(values), 32) for values in members]
    assert found["e"] == [max(values) for values in members]
    assert found["f"] == [reduce(int.__and__, values) for values in members]


def test_special_registers() -> None:
    body = (
        "mov.u32 %d, %laneid; mov.u32 %e, %lanemask_lt; mov.u32 %f, %lanemask_ge; mov.u32 %g, %ntid.x;"
        "mov.u32 %h, %nctaid.x; mov.u16 %j, %ctaid.y; mov.u32 %k, %lanemask_eq; mov.u32 %l, %lanemask_le;"
    )
    outputs = dict.fromkeys("defghkl", "b32") | {"j": "b16"}
    found = lanes(body, {"a": ("b32", [0] * 64)}, outputs)
    assert found["d"] == [k % 32 for k in range(64)]
    assert found["e"] == [(1 << k % 32) - 1 for k in range(64)]
    assert found["f"] == [masked(-1 << k % 32, 32) for k in range(64)]
    assert found["k"] == [1 << k % 32 for k in range(64)]
    assert found["l"] == [(2 << k % 32) - 1 for k in range(64)]
    assert (found["g"], found["h"], found["j"]) == ([64] * 64, [1] * 64, [0] * 64)
