"""Kernels that launch kernels: what they ask the device's runtime for, as the compiler writes it."""

from __future__ import annotations

from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.device_launch import kernel_address
from warpwatt.emulate.functional import execute
from warpwatt.emulate.functional.choice import missing
from warpwatt.emulate.lift import lift
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.run import Context, Stop
from warpwatt.isa.ptx import lower, parse

PARENT = """.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2 (.param .b64 a, .param .align 4 .b8 b[12],
    .param .align 4 .b8 c[12], .param .b32 d);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 a, .param .b64 b);
.entry child(.param .u32 x) { ret; }
.entry k() {
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
    .param .b64 p0; .param .align 4 .b8 p1[12]; .param .align 4 .b8 p2[12]; .param .b32 p3; .param .b64 q;
    .param .b64 l0; .param .b64 l1; .param .b32 e;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    setp.ne.u32 %p1, %r1, 3;
    @%p1 bra END;
    mov.u64 %rd1, child;
    mov.b32 %r3, 1;
    add.u32 %r4, %r2, 5;
    st.param.b64 [p0], %rd1;
    st.param.b32 [p1], %r4; st.param.b32 [p1+4], %r3; st.param.b32 [p1+8], %r3;
    st.param.b32 [p2], 64; st.param.b32 [p2+4], 2; st.param.b32 [p2+8], %r3;
    st.param.b32 [p3], 16;
    call.uni (q), __cudaCDP2GetParameterBufferV2, (p0, p1, p2, p3);
    ld.param.b64 %rd2, [q];
    st.u32 [%rd2], %r2;
    mov.b64 %rd3, 0;
    st.param.b64 [l0], %rd2; st.param.b64 [l1], %rd3;
    call.uni (e), __cudaCDP2LaunchDeviceV2, (l0, l1);
    ld.param.b32 %r5, [e];
    setp.ne.u32 %p2, %r5, 0;
    @%p2 trap;
END:
    ret;
}"""


def test_what_a_kernel_launches_is_said_in_the_order_of_its_blocks():
    routine = lift(lower(parse(PARENT), "k"))
    assert not missing(routine)
    context = Context(Launch(Dim3(40), Dim3(32)), {0: b""}, 0)
    outcome = execute(routine, context, DeviceMemory(), threads=3)
    assert outcome.stop is Stop.DONE
    assert [child.grid.x for child in outcome.launched] == [5 + block for block in range(40)]
    assert {child.kernel for child in outcome.launched} == {kernel_address("child")}
    assert {(child.block, child.shared) for child in outcome.launched} == {(Dim3(64, 2), 16)}
    words = [int.from_bytes(child.parameters[:4], "little") for child in outcome.launched]
    assert words == list(range(40))
