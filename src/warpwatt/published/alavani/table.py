"""The reservation table of Algorithm 6 (Rsv, section 4.4.3) as a value that renderers draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from warpwatt.core.program import Program
from warpwatt.core.schedule import Reservation, ReservationTable, ScheduledBlock
from warpwatt.published.alavani.opclass import InstructionType, OpClass, Resource

if TYPE_CHECKING:
    from warpwatt.published.alavani.blocks import Code, CodeBlock
    from warpwatt.published.alavani.reservation import BlockSchedule, CfgSchedule
    from warpwatt.published.alavani.waves import Waves

LETTERS = {
    InstructionType.COMPUTE: "C",
    InstructionType.GLOBAL: "M",
    InstructionType.SHARED: "S",
    InstructionType.MISC: "O",
}
"""Of labels: computing, memory, shared memory, other; the thesis' figures have C and M."""


def reservation_table(
    program: Program, code: Code, schedule: CfgSchedule, wave: Waves, instances: Mapping[Resource, float]
) -> ReservationTable:
    """Return the tables of all blocks on the longest path that some warp runs."""
    path = [number for number in schedule.path if code.blocks[number].executions]
    blocks = [_block(number, code.blocks[number], schedule.blocks[number], program) for number in path]
    run = sum(1 for block in code.blocks if block.executions)
    used = {reservation.unit for block in blocks for reservation in block.reservations}
    units = {str(unit): number for unit, number in instances.items() if str(unit) in used}
    return ReservationTable(wave.threads, wave.count, units, tuple(blocks), run - len(path))


def _block(number: int, block: CodeBlock, schedule: BlockSchedule, program: Program) -> ScheduledBlock:
    own = [program.instructions[index] for index in block.instructions]
    opcodes, lines = [one.opcode for one in own], [one.line for one in own]
    found = reservations(block.classes, schedule, opcodes)
    placed = tuple(
        Reservation(r.label, r.opcode, r.unit, r.start, r.end, r.after, line)
        for r, line in zip(found, lines, strict=True)
    )
    return ScheduledBlock(number, block.executions, schedule.delay, placed)


def reservations(
    classes: Sequence[OpClass], schedule: BlockSchedule, opcodes: Sequence[str]
) -> tuple[Reservation, ...]:
    """Return the reservations of a block's instructions, labelled by type and number in their order."""
    counts = Counter[str]()
    labels: list[str] = []
    for kind in classes:
        letter = LETTERS[kind.type]
        counts[letter] += 1
        labels.append(f"{letter}{counts[letter]}")
    columns = zip(
        labels, opcodes, classes, schedule.start, schedule.duration, schedule.waits_for, strict=True
    )
    return tuple(
        Reservation(
            label,
            opcode,
            str(kind.resource),
            start,
            start + duration,
            "" if before is None else labels[before],
        )
        for label, opcode, kind, start, duration, before in columns
    )
