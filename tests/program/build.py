"""Programs made by hand: graphs of empty blocks for the control-flow tests."""

from __future__ import annotations

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
