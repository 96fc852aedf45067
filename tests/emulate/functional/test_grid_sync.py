"""The barrier of a whole grid, as cooperative groups write it: by a workspace that the driver names."""

from __future__ import annotations

import numpy as np
import pytest

from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate import native
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.functional import execute
from warpwatt.emulate.lift import lift
from warpwatt.emulate.run import Limits, Stop
from warpwatt.isa.ptx import lower, parse
from warpwatt.program.binding import bind

TURN = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry turn(.param .u64 in, .param .u64 out)
{
    .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %a<8>;
    mov.u32 %r1, %envreg1;
    mov.u32 %r2, %envreg2;
    mov.b64 %a1, {%r2, %r1};
    setp.eq.s64 %p1, %a1, 0;
    @%p1 trap;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %nctaid.x;
    ld.param.u64 %a2, [in];
    mul.wide.u32 %a3, %r3, 4;
    add.s64 %a3, %a2, %a3;
    add.u32 %r5, %r3, 100;
    st.global.u32 [%a3], %r5;
    mov.u32 %r6, 1;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra others;
    sub.u32 %r6, 0x80000001, %r4;
others:
    atom.add.release.gpu.u32 %r7, [%a1+4], %r6;
again:
    ld.acquire.gpu.u32 %r8, [%a1+4];
    xor.b32 %r8, %r8, %r7;
    setp.ge.s32 %p2, %r8, 0;
    @%p2 bra again;
    add.u32 %r9, %r3, 1;
    rem.u32 %r9, %r9, %r4;
    mul.wide.u32 %a4, %r9, 4;
    add.s64 %a4, %a2, %a4;
    ld.global.u32 %r10, [%a4];
    ld.param.u64 %a5, [out];
    mul.wide.u32 %a6, %r3, 4;
    add.s64 %a6, %a5, %a6;
    st.global.u32 [%a6], %r10;
    ret;
}
"""
"""Each block writes ``100 + its number``, waits for all, and reads what the next one wrote."""
BLOCKS = 50


def prepared(*, cooperative):
    program = lower(parse(TURN), "turn")
    buffers = {name: Buffer(DType.U32, (BLOCKS,), Fill.ZEROS) for name in ("in", "out")}
    launch = Launch(Dim3(BLOCKS), Dim3(1), cooperative=cooperative, arguments=buffers)
    return (lift(program), *load_launch(bind(program, launch)))


@pytest.mark.parametrize("times", [1, 2])
def test_blocks_wait_for_the_whole_grid(times):
    routine, context, memory = prepared(cooperative=True)
    for _ in range(times):  # the second finds the sign as the first left it
        assert execute(routine, context, memory).stop is Stop.DONE
    assert memory.array("out").tolist() == [100 + (k + 1) % BLOCKS for k in range(BLOCKS)]


def test_a_launch_that_is_not_cooperative_has_no_workspace():
    routine, context, memory = prepared(cooperative=False)
    outcome = execute(routine, context, memory)
    assert outcome.stop is Stop.FAULT
    assert outcome.fault is not None
    assert outcome.fault.bytes == 0  # a trap


def test_a_sample_of_blocks_does_not_wait_for_the_others():
    routine, context, memory = prepared(cooperative=True)
    run = native.run(routine, context, memory, [0, 7, BLOCKS - 1], Limits(warp_instructions=10_000))
    assert run.stop is Stop.DONE
    assert np.flatnonzero(memory.array("in")).tolist() == [0, 7, BLOCKS - 1]
