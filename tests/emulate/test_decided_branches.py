"""Ways that a launch's parameters rule out are left out, and only those."""

from __future__ import annotations

import struct

import pytest

from warpwatt.emulate.decided_branches import without_untaken
from warpwatt.emulate.ir import Memory, Op
from warpwatt.emulate.lift import lift
from warpwatt.isa.ptx import lower, parse

TEXT = """.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 scale, .param .u32 n, .param .u64 out) {
    .reg .pred %p<4>; .reg .b32 %r<6>; .reg .b64 %d<6>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [scale]; ld.param.u32 %r1, [n]; ld.param.u64 %d2, [out];
    mov.f32 %f1, 0f3F800000;
    setp.eq.s64 %p1, %d1, 0;
    @%p1 bra NEXT;
    ld.global.f32 %f1, [%d1];
NEXT:
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p2, %r2, %r1;
    @%p2 bra DONE;
    st.global.f32 [%d2], %f1;
DONE:
    ret; }
"""


def accesses(scale: int, n: int) -> list[Op]:
    routine = lift(lower(parse(TEXT), "k"))
    decided = without_untaken(routine, struct.pack("<QI4xQ", scale, n, 1 << 41))
    return [
        o.op
        for block in decided.blocks
        for o in block.operations
        if isinstance(o.data, Memory) and o.data.space == "global"
    ]


@pytest.mark.parametrize(
    ("scale", "n", "kept"),
    [
        (0, 16, [Op.STORE]),
        (1 << 40, 16, [Op.LOAD, Op.STORE]),
        (1 << 40, 1 << 20, [Op.LOAD, Op.STORE]),
    ],
)
def test_only_what_parameters_rule_out_goes(scale, n, kept):
    assert accesses(scale, n) == kept
