"""Blocks that go the same way are walked once, and nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warpwatt.core.arguments import Scalar
from warpwatt.core.launch import Dim3, Launch
from warpwatt.isa.ptx import lower, parse
from warpwatt.program import block_work as of_blocks
from warpwatt.program.binding import bind
from warpwatt.program.block_work import BlockWork, block_work

if TYPE_CHECKING:
    from warpwatt.program.evaluation import Evaluator

BLOCKS, WIDTH = 3000, 64
HEAD = """
.target sm_90
.entry k(.param .u32 n, .param .u64 p) {
  .reg .u32 %r<6>; .reg .u64 %a<4>; .reg .pred %p<4>;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2; ld.param.u32 %r4, [n]; mov.u32 %r5, 0;
"""
GUARDED = """
  setp.ge.u32 %p0, %r3, %r4; @%p0 bra END;
LOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 7; @%p1 bra LOOP;
  setp.lt.u32 %p2, %r0, 5; @%p2 bra END; add.u32 %r5, %r5, 2; add.u32 %r5, %r5, 2;
END: ret; }
"""
LOOPING = "LOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r0; @%p1 bra LOOP; ret; }"
LOADED = """
  ld.param.u64 %a0, [p]; mul.wide.u32 %a1, %r3, 4; add.u64 %a2, %a0, %a1; ld.global.u32 %r5, [%a2];
  add.u32 %r5, %r5, %r3; setp.lt.u32 %p0, %r5, %r4; @%p0 bra END; add.u32 %r5, %r5, 2; END: ret; }
"""
WRAPPED = """
  setp.ge.u32 %p0, %r3, %r4; @%p0 bra END;
  ld.param.u64 %a0, [p]; rem.u32 %r5, %r3, 1000; mul.wide.u32 %a1, %r5, 4; add.u64 %a2, %a0, %a1;
  ld.global.u32 %r5, [%a2]; END: ret; }
"""


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many blocks each walk had."""
    sizes: list[int] = []
    real = of_blocks._walked

    def counted(evaluator: Evaluator, stand_for: int) -> object:
        sizes.append(len(evaluator.sample.block_weights))
        return real(evaluator, stand_for)

    monkeypatch.setattr(of_blocks, "_walked", counted)
    return sizes


def work(body: str, n: int) -> BlockWork:
    launch = Launch(Dim3(BLOCKS), Dim3(WIDTH), arguments={"n": Scalar(n)})
    found = block_work(bind(lower(parse(HEAD + body), "k"), launch))
    assert found is not None
    return found


@pytest.mark.parametrize("n", [BLOCKS * WIDTH, BLOCKS * WIDTH - 100, 7, 0])
def test_one_of_each_kind_is_walked_for_all(monkeypatch, walked, n):
    alike = work(GUARDED, n)
    assert len(set(alike.paths.tolist())) <= walked[0] <= 4
    monkeypatch.setattr(of_blocks, "alike_blocks", lambda _: None)
    apart = work(GUARDED, n)
    assert walked[1] == BLOCKS
    assert alike.instructions.tolist() == apart.instructions.tolist()
    assert alike.paths.tolist() == apart.paths.tolist()


@pytest.mark.parametrize("body", [LOOPING, LOADED, WRAPPED], ids=["loop", "data", "address"])
def test_all_blocks_are_walked_where_guards_do_not_tell_their_ways(walked, body):
    """Loops that run as often as the block says, branches on data, accesses that may leave buffers."""
    work(body, BLOCKS * WIDTH - 100)
    assert walked == [BLOCKS]


def test_many_kinds_are_walked_as_they_are(monkeypatch, walked):
    monkeypatch.setattr("warpwatt.program.alike_blocks.MOST_KINDS", 2)
    work(GUARDED, BLOCKS * WIDTH - 100)
    assert walked == [BLOCKS]
