"""The reservation table drawn: the worked example of section 4.4.4.2, and any kernel."""

from __future__ import annotations

from validation.alavani.worked_examples import vector_add_schedule

from tests.published.alavani.cases import TILE_SUM, VECTOR_ADD, case
from warpwatt.core.schedule import ReservationTable, ScheduledBlock
from warpwatt.published.alavani.opclass import InstructionType, OpClass, Resource
from warpwatt.published.alavani.reservation_model import AlavaniReservation
from warpwatt.published.alavani.table import reservations
from warpwatt.render.console import to_text
from warpwatt.render.context import Context
from warpwatt.render.plots.reservations import LEFT, RIGHT, WIDTH, reservation_pictures
from warpwatt.render.reservations import CELLS, MOST_ROWS, reservation_parts, timeline

ADD = OpClass(InstructionType.COMPUTE, Resource.SP, "adds")
LOAD = OpClass(InstructionType.GLOBAL, Resource.LSU, "global")
PRINTED = {"C1": (0, 10), "C2": (10, 44), "C3": (44, 54), "M1": (10, 332), "M2": (332, 654), "C4": (654, 664)}
"""C8, C9, C10, M1, M2 and C11 of Figure 4.6; M2's end is printed 655, one cycle counted twice."""


def example() -> ReservationTable:
    schedule = vector_add_schedule()
    opcodes = ("add", "cvta", "add", "ld.global", "ld.global", "add")
    found = reservations((ADD, ADD, ADD, LOAD, LOAD, ADD), schedule, opcodes)
    return ReservationTable(256, 1, {"SP": 192, "LSU": 32}, (ScheduledBlock(1, 1.0, schedule.delay, found),))


def test_the_worked_example_has_the_printed_cycles():
    (block,) = example().blocks
    assert {one.label: (one.start, one.end) for one in block.reservations} == PRINTED
    after = {one.label: one.after for one in block.reservations}
    assert (after["C1"], after["C2"], after["M1"], after["M2"], after["C4"]) == ("", "C1", "C1", "M1", "M2")


def test_the_worked_example_as_text():
    text = to_text(reservation_parts(example()), Context(width=80))
    assert max(map(len, text.splitlines())) <= 80
    sp, lsu = (line for line in text.splitlines() if line.strip().startswith(("SP (192)", "LSU (32)")))
    cells = lsu[len(lsu) - CELLS :]
    cycles = 664 / CELLS
    assert abs(cells.index("M1") * cycles - 10) < cycles
    assert abs(cells.index("M2") * cycles - 332) < cycles
    assert sp[len(sp) - CELLS :].count("·") > 0.8 * CELLS  # SP waits for the loads
    assert "332-654" in text


def test_every_cycle_is_drawn_once():
    (block,) = example().blocks
    own = [one for one in block.reservations if one.unit == "LSU"]
    line = timeline(own, block.delay)
    assert len(line) == CELLS
    drawn = sum(cell != "·" for cell in line)
    assert abs(drawn - (654 - 10) * CELLS / block.delay) <= 1


def test_the_worked_example_as_a_picture():
    (picture,) = reservation_pictures(example()).pictures
    scale = (WIDTH - LEFT - RIGHT) / 664
    bars = {bar.text.partition(" ")[0]: bar for bar in picture.bars}
    for label, (start, end) in PRINTED.items():
        assert abs(bars[label].x - LEFT - start * scale) < 0.01
        assert abs(bars[label].width - (end - start) * scale) < 0.02
    assert bars["M1"].y == bars["M2"].y != bars["C2"].y


def test_any_kernel_has_a_table_that_adds_up_to_its_schedule():
    for text, trips in ((VECTOR_ADD, 1.0), (TILE_SUM, 20.0)):
        one = case(text, trips=trips)
        timing = AlavaniReservation().predict(one)
        assert timing.reservations is not None
        table = timing.reservations()
        cycles = sum(block.cycles for block in table.blocks) * table.waves
        assert abs(cycles / one.clocks.sm - timing.breakdown["schedule"]) < 1e-12
        for block in table.blocks:
            assert max(r.end for r in block.reservations) == block.delay


def test_long_blocks_and_paths_are_cut_with_a_count():
    body = "".join(f"add.s32 %r{i % 6}, %r1, {i};\n" for i in range(40))
    timing = AlavaniReservation().predict(case(VECTOR_ADD.replace("DONE:\n", f"{body}DONE:\n")))
    assert timing.reservations is not None
    text = to_text(reservation_parts(timing.reservations()), Context(width=80))
    longest = max(len(block.reservations) for block in timing.reservations().blocks)
    assert f"and {longest - MOST_ROWS} more instructions" in text
