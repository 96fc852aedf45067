"""What lines do to memory: sums over instructions, inlined lines, hits weighted by sectors."""

import dataclasses

import pytest

from warpwatt.core.execution import AccessPattern, Execution, LevelHits, Traffic, Workload
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import (
    Access,
    Flow,
    Guard,
    Instruction,
    Level,
    MemoryAccess,
    Program,
    SourceLine,
    Space,
)
from warpwatt.render.method import method, method_text
from warpwatt.render.reach import active_lanes, hit_texts, reaches

LINE = SourceLine("k.cu", 7)
INLINED = SourceLine("math.h", 3, LINE)
LOAD = MemoryAccess(Space.GLOBAL, Access.LOAD, 4)


def execution(*instructions, counts, lanes, accesses, **fields):
    program = Program("k", Level.SASS, "sm_90", tuple(instructions))
    return Execution(
        program, Launch(Dim3(4), Dim3(32)), tuple(counts), tuple(lanes), accesses=accesses, **fields
    )


def workload(of, hits=None):
    none = Traffic()
    return Workload(of, None, 1, 1.0, 0.0, none, none, none, hits=hits or {})


def load(index, line=LINE, space=Space.GLOBAL):
    return Instruction(index, "LDG.E", line=line, memory=dataclasses.replace(LOAD, space=space))


def pattern(sectors, ideal, stride=4, buffer="x", **fields):
    return AccessPattern(sectors, 1.0, 1.0, ideal, stride, buffer, **fields)


def test_instructions_of_a_line_and_of_lines_inlined_into_it_are_put_together():
    run = execution(
        load(0),
        load(1, INLINED),
        counts=(30.0, 10.0),
        lanes=(32.0, 16.0),
        accesses={0: pattern(4.0, 4.0), 1: pattern(2.0, 2.0)},
    )
    ((place, (reach,)),) = reaches(workload(run)).items()
    assert place == ("k.cu", 7)
    assert reach.instructions == (0, 1)
    assert (reach.executions, reach.requests, reach.lanes) == (40.0, 40.0, 28.0)
    assert reach.sectors == reach.ideal == pytest.approx((30 * 4 + 10 * 2) / 40)
    assert reach.stride == 4


def test_a_bad_instruction_does_not_hide_among_good_ones():
    run = execution(
        *(load(i) for i in range(5)),
        counts=(1.0,) * 5,
        lanes=(32.0,) * 5,
        accesses={**{i: pattern(4.0, 4.0) for i in range(4)}, 4: pattern(8.0, 4.0, stride=8)},
    )
    good, bad = reaches(workload(run))["k.cu", 7]
    assert (good.instructions, good.wasteful) == ((0, 1, 2, 3), False)
    assert (bad.instructions, bad.wasteful, bad.stride) == ((4,), True, 8)


def test_sectors_are_per_request_where_some_executions_have_no_lane_on():
    run = execution(load(0), counts=(100.0,), lanes=(8.0,), accesses={0: pattern(1.0, 1.0, requests=0.25)})
    (reach,) = reaches(workload(run))["k.cu", 7]
    assert (reach.requests, reach.sectors) == (25.0, 4.0)


def test_hits_are_weighted_by_sectors_and_bytes_add_up():
    run = execution(
        load(0), load(1), counts=(1.0, 1.0), lanes=(32.0, 32.0),
        accesses={0: pattern(4.0, 4.0), 1: pattern(4.0, 4.0)},
    )  # fmt: skip
    hits = {
        0: LevelHits("x", 1.0, 300.0, 1.0, 0.0, Traffic(9600.0), Traffic(), Traffic()),
        1: LevelHits("x", 1.0, 100.0, 0.0, 0.25, Traffic(3200.0), Traffic(3200.0), Traffic(2400.0)),
    }
    (reach,) = reaches(workload(run, hits))["k.cu", 7]
    assert (reach.l1_hits, reach.l2_hits) == (0.75, 0.25)
    assert (reach.l1, reach.l2, reach.dram) == (Traffic(12800.0), Traffic(3200.0), Traffic(2400.0))
    assert hit_texts(reach) == ("75 %", "25 %")


def test_constants_and_instructions_that_never_run_are_left_out():
    run = execution(
        load(0, space=Space.CONST),
        load(1),
        counts=(1.0, 0.0),
        lanes=(32.0, 0.0),
        accesses={0: pattern(1.0, 1.0), 1: pattern(4.0, 4.0)},
    )
    assert reaches(workload(run)) == {}


def test_an_exit_that_no_lane_takes_does_not_look_like_divergence():
    leave = Instruction(1, "EXIT", line=LINE, guard=Guard("P0"), flow=Flow.EXIT)
    run = execution(load(0), leave, load(2, INLINED), counts=(1.0,) * 3, lanes=(32.0, 3.0, 16.0), accesses={})
    assert active_lanes(run) == {("k.cu", 7): 24.0}


@pytest.mark.parametrize(
    ("fields", "how", "text"),
    [
        ({"blocks_run": 3}, "emulated", "machine code of 3 of 4 blocks run, scaled to all"),
        ({"blocks_run": 4}, "emulated", "machine code of all 4 blocks run"),
        ({}, "closed form", "machine code counted in closed form"),
    ],
)
def test_method(fields, how, text):
    run = execution(load(0), counts=(1.0,), lanes=(32.0,), accesses={}, **fields)
    assert (method(run), method_text(run)) == (how, text)


def test_unknown_addresses_are_not_a_closed_form():
    run = execution(load(0), counts=(1.0,), lanes=(32.0,), accesses={0: pattern(4.0, 4.0, known=False)})
    assert method(run) == "analysed"
