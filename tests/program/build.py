"""Programs made by hand: graphs of empty blocks for the control-flow tests, and random ones."""

from __future__ import annotations

from hypothesis import strategies as st

from warpwatt.core.program import Flow, Guard, Instruction, Level, Program


def graph_program(edges: dict[int, list[int]], count: int) -> Program:
    """One block per node: no successor returns, one jumps, two branch, more branch indirectly."""
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}

    def add(**fields) -> None:
        instructions.append(Instruction(len(instructions), **fields))

    for node in range(count):
        labels[f"B{node}"] = len(instructions)
        targets = tuple(f"B{t}" for t in edges.get(node, []))
        add(opcode="add.s32")
        if not targets:
            add(opcode="ret", flow=Flow.RETURN)
        elif len(targets) == 2:
            add(opcode="bra", flow=Flow.JUMP, targets=targets[:1], guard=Guard("%p1"))
            add(opcode="bra", flow=Flow.JUMP, targets=targets[1:])
        else:
            add(opcode="bra", flow=Flow.JUMP, targets=targets)
    return Program("graph", Level.PTX, "sm_90", tuple(instructions), labels)


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
