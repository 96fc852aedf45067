from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.program import Flow, Guard, Instruction, Level, Program
from warpwatt.isa.ptx import lower, parse
from warpwatt.program.cfg import control_flow
from warpwatt.program.liveness import live_registers

REGISTERS = ["%r1", "%r2", "%r3"]


@st.composite
def programs(draw) -> Program:
    count = draw(st.integers(1, 10))
    instructions = []
    for index in range(count):
        reads = tuple(draw(st.lists(st.sampled_from(REGISTERS), max_size=2, unique=True)))
        writes = tuple(draw(st.lists(st.sampled_from(REGISTERS), max_size=1)))
        flow, guard = Flow.NEXT, None
        targets: tuple[str, ...] = ()
        kind = draw(st.integers(0, 5))
        if kind == 0:
            flow, targets, writes = Flow.JUMP, (f"L{draw(st.integers(0, count))}",), ()
            guard = draw(st.sampled_from([None, Guard("%p1")]))
        elif kind == 1:
            flow, writes, guard = Flow.RETURN, (), draw(st.sampled_from([None, Guard("%p1")]))
        if guard is not None:
            reads = (*reads, guard.register)
        instructions.append(
            Instruction(index, "add.s32", (), guard, writes, reads, flow=flow, targets=targets)
        )
    return Program("k", Level.PTX, "sm_90", tuple(instructions), {f"L{i}": i for i in range(count + 1)})


def following(program: Program, index: int) -> list[int]:
    i = program.instructions[index]
    nexts = [program.labels[t] for t in i.targets] if i.flow is Flow.JUMP else []
    if i.guard is not None or i.flow is Flow.NEXT:
        nexts.append(index + 1)
    return [n for n in nexts if n < len(program.instructions)]


def is_live(program: Program, register: str, start: int) -> bool:
    """Search for a path from ``start`` to a read that passes no write."""
    seen, waiting = set(), [start]
    while waiting:
        index = waiting.pop()
        if index in seen:
            continue
        seen.add(index)
        i = program.instructions[index]
        if register in i.reads:
            return True
        if register not in i.writes:
            waiting += following(program, index)
    return False


@given(programs())
@settings(max_examples=300, deadline=None)
def test_live_registers_are_those_some_path_reads(program):
    flow = control_flow(program)
    live = live_registers(flow)
    most = 0
    for block in flow.order:
        for index in range(flow.blocks[block].start, flow.blocks[block].stop):
            expected = {r for r in [*REGISTERS, "%p1"] if is_live(program, r, index)}
            assert live.before(index) == expected
            most = max(most, len(expected - {"%p1"}))
    assert live.machine_registers == most
    assert live.pressure["pred"] <= 1


def test_pressure_counts_by_class():
    text = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f64 %fd<9>;
ld.param.u64 %d1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, 8;
add.s64 %d3, %d1, %d2;
ld.global.f64 %fd1, [%d3];
setp.gt.s32 %p1, %r1, 4;
@%p1 st.global.f64 [%d1], %fd1;
st.global.u32 [%d3], %r1;
ret;
}"""
    live = live_registers(control_flow(lower(parse(text), "k")))
    assert live.pressure["b64"] == 3
    assert live.pressure["b32"] == 1
    assert live.pressure["pred"] == 1
    assert live.machine_registers == 7
