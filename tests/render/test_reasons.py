import dataclasses

from warpwatt.core.prediction import LineWait
from warpwatt.core.program import SourceLine
from warpwatt.core.warps import Stall
from warpwatt.render.findings import findings
from warpwatt.render.reasons import limits, producer_text, stall_text
from warpwatt.render.verdict import Kind, verdict


def texts(prediction, topic):
    return [f.text for f in findings(prediction) if f.topic == topic]


def line(prediction, number):
    return next(cost for cost in prediction.lines if cost.line == number)


def test_a_line_waits_for_another_or_for_itself(explained):
    assert stall_text(line(explained, 12)) == (
        "Long Scoreboard 20 % for the load of line 11, MIO Throttle 5 %"
    )
    assert stall_text(line(explained, 11)) == "Long Scoreboard 8 % for its own load"
    unknown = LineWait(SourceLine("matmul.cu", 3), "FOO", Stall.SHORT_SCOREBOARD, 0.1)
    assert producer_text(unknown, line(explained, 12)) == "the FOO of line 3"


def test_waits_are_told_longest_first(explained):
    told = [text for text in texts(explained, "Scheduler and Warp State") if "waits for" in text]
    assert told[0] == "Line 12 waits for the load of line 11: Long Scoreboard, 20 % of warp time."
    assert [text.split()[1] for text in told] == ["12", "15", "11"]


def test_advice_says_time_share_and_energy(explained):
    assert texts(explained, "What would help")[0] == (
        "Removing the bank conflicts of line 12 would save 58 % (1.34 ms, 0.82–2.15; 29 % of the energy)."
    )


def test_no_advice_is_said_only_where_it_was_asked_for(explained, matmul):
    nothing = dataclasses.replace(explained, advice=())
    assert texts(nothing, "What would help") == ["No change was tried: what warps do was not traced."]
    assert texts(matmul[0], "What would help") == []


def said_of(prediction, limit, **busy):
    timing = dataclasses.replace(prediction.timing, bottleneck=limit, utilisation=busy)
    return next(limits(dataclasses.replace(prediction, timing=timing))).text


def test_what_binds_in_the_terms_of_speed_of_light(explained):
    assert said_of(explained, "DRAM bandwidth", dram=0.9, fp32=0.2) == (
        "Memory is busy 90 % (DRAM) and compute 20 % (FP32 pipe) of the time: memory binds."
    )
    assert said_of(explained, "issue slots", dram=0.3, issue=0.8).endswith("compute binds.")
    assert said_of(explained, "block dispatch", dram=0.3, dispatch=0.8).endswith("block dispatch does.")
    assert "warps wait longer than others" in said_of(explained, "latency (Wait)", dram=0.7, issue=0.2)


def test_the_verdict_is_that_of_the_header(explained):
    busy = {"lsu": 0.97, "shared": 0.84, "dram": 0.8, "issue": 0.79, "fp32": 0.78, "tensor": 0.77}
    named = {
        "shared memory": ("shared", Kind.MEMORY),
        "DRAM bandwidth": ("dram", Kind.MEMORY),
        "issue slots": ("issue", Kind.COMPUTE),
        "FP32 pipe": ("fp32", Kind.COMPUTE),
        "tensor cores": ("tensor", Kind.COMPUTE),
        "L2 bandwidth": ("l2", Kind.MEMORY),
        "atomics on one address": ("", Kind.OTHER),
        "latency (Long Scoreboard)": ("", Kind.LATENCY),
    }
    for name, (unit, kind) in named.items():
        found = verdict(dataclasses.replace(explained.timing, bottleneck=name, utilisation=busy))
        assert (found.name, found.unit, found.kind, found.share) == (name, unit, kind, busy.get(unit, 0.0))


def test_low_occupancy_is_said_plainly(explained):
    case = explained.case
    few = dataclasses.replace(case.workload.occupancy, warps_per_sm=8)
    workload = dataclasses.replace(case.workload, occupancy=few)
    starved = dataclasses.replace(explained, case=dataclasses.replace(case, workload=workload))
    assert "few warps hide it: 12 % occupancy, limited by registers" in said_of(
        starved, "latency (Wait)", dram=0.3
    )
    small = dataclasses.replace(few, limiter="grid", blocks_per_sm=16, limits={"grid": 3})
    workload = dataclasses.replace(case.workload, occupancy=small)
    starved = dataclasses.replace(explained, case=dataclasses.replace(case, workload=workload))
    said = said_of(starved, "latency (Wait)", dram=0.3)
    assert "few warps hide it: the grid has 3 blocks for an SM, which could hold 16" in said
