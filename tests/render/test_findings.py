import dataclasses

import pytest

from warpwatt.core.execution import AccessPattern
from warpwatt.core.gpu import Clocks
from warpwatt.core.program import Unit
from warpwatt.render.findings import findings
from warpwatt.render.roofline import roofline


def texts(prediction, topic=None):
    return [f.text for f in findings(prediction) if topic in (None, f.topic)]


def test_dram_bottleneck_says_amount_rate_and_share(saxpy):
    assert texts(saxpy[0])[0] == (
        "The kernel is limited by DRAM bandwidth: it is busy 82 % of the time; "
        "201 MB in 50.1 µs are 4.02 TB/s, 82 % of 4.89 TB/s, data sheet."
    )


def test_compute_bottleneck_says_flops(matmul):
    timing = dataclasses.replace(matmul[0].timing, bottleneck="FP32 pipe")
    first = texts(dataclasses.replace(matmul[0], timing=timing))[0]
    assert first.startswith("The kernel is limited by FP32 pipe: it is busy 42 % of the time")


def test_bottleneck_without_a_peak_names_the_busiest_unit(saxpy):
    timing = dataclasses.replace(saxpy[0].timing, bottleneck="latency")
    assert texts(dataclasses.replace(saxpy[0], timing=timing))[0] == (
        "The kernel is limited by latency: the busiest unit is DRAM, 82 % of the time."
    )


def test_uncoalesced_line_and_bank_conflict(matmul):
    memory = texts(matmul[0], "Memory")
    assert "Line 12: 32 sectors per request, 4 would do; stride 8192 B (reading b)." in memory
    assert "Line 12: 16-way bank conflict: 16 wavefronts per request, 1 would do (writing bs)." in memory
    assert not any("Line 11" in text for text in memory)


def test_coalesced_kernel_has_nothing_to_say_about_lines(saxpy):
    assert not any("would do" in text for text in texts(saxpy[0], "Memory"))


def test_the_sources_of_dram_traffic_are_named(saxpy):
    memory = texts(saxpy[0], "Memory")
    assert "Line 6: reading x moves 67.1 MB of DRAM traffic (33 %); no cache has any of it." in memory
    assert "Line 6: writing y moves 67.1 MB of DRAM traffic (33 %)." in memory


def with_execution(prediction, **fields):
    """Return a prediction whose execution differs in some fields."""
    case = prediction.case
    execution = dataclasses.replace(case.workload.execution, **fields)
    workload = dataclasses.replace(case.workload, execution=execution)
    return dataclasses.replace(prediction, case=dataclasses.replace(case, workload=workload))


def test_irregular_addresses_are_called_assumed(saxpy):
    pattern = AccessPattern(20.0, 20.0, 1.0, 4.0, None, "x", known=False)
    said = texts(with_execution(saxpy[0], accesses={6: pattern}), "Memory")[0]
    assert said.startswith(
        "Line 6: 20 sectors per request, 4 would do; irregular addresses (reading x) (assum"
    )


def test_power_limit_spills_divergence_and_unknown_opcodes(matmul):
    said = " ".join(texts(matmul[1]))
    assert "The board reaches 400 W: the SM clock falls to 1.24 GHz of 1.41 GHz." in said
    assert "8 B stored and 12 B loaded per thread" in said
    assert "1 instruction with an unknown opcode" in said
    assert "registers per thread are assumed" in said
    assert "limited by registers (64 registers per thread)" in said


def test_divergent_line_is_named(matmul):
    execution = matmul[0].case.workload.execution
    lanes = tuple(8.0 if i.line and i.line.line == 15 else n for i, n in zip(
        execution.program.instructions, execution.lanes, strict=True))  # fmt: skip
    workload = dataclasses.replace(
        matmul[0].case.workload, execution=dataclasses.replace(execution, lanes=lanes)
    )
    prediction = dataclasses.replace(matmul[0], case=dataclasses.replace(matmul[0].case, workload=workload))
    assert "Line 15: on average 8 of 32 lanes are active." in texts(prediction)
    assert not any("lanes are active" in text for text in texts(matmul[0]))


def test_unknown_loop_is_said_once(matmul):
    loops = [f for f in findings(matmul[0]) if "--loop" in f.fix]
    assert [f.fix for f in loops] == ["--loop 14=N"]
    bare = dataclasses.replace(matmul[0], assumptions=())
    assert [f.fix for f in findings(bare) if "--loop" in f.fix] == ["--loop 14=COUNT"]


def test_topics_are_contiguous(matmul):
    topics = [f.topic for f in findings(matmul[1])]
    changes = [b for a, b in zip(["", *topics], topics, strict=False) if a != b]
    assert len(changes) == len(set(changes))


def test_roofline_of_saxpy_is_its_definition(saxpy):
    line = roofline(saxpy[0])
    assert line.intensity == pytest.approx(2 / 12)
    assert line.compute.peak == pytest.approx(132 * 128 * 2 * 1.98e9)
    assert line.ceiling(line.intensity) == pytest.approx(4893.7e9 / 6)
    assert line.low < line.performance < line.high
    assert line.binding.name == "DRAM"
    assert line.ceiling(line.ridge) == pytest.approx(line.compute.peak)


def test_memory_clock_scales_the_dram_roof(saxpy):
    case = dataclasses.replace(saxpy[0].case, clocks=Clocks(1.98e9, 3186e6 / 2))
    assert roofline(dataclasses.replace(saxpy[0], case=case)).memory.peak == pytest.approx(4893.7e9 / 2)


def with_units(prediction, unit, flops):
    execution = prediction.case.workload.execution
    changed = tuple(
        dataclasses.replace(i, unit=unit, flops=flops) if i.flops else i
        for i in execution.program.instructions
    )
    program = dataclasses.replace(execution.program, instructions=changed)
    execution = dataclasses.replace(execution, program=program)
    workload = dataclasses.replace(prediction.case.workload, execution=execution)
    return dataclasses.replace(prediction, case=dataclasses.replace(prediction.case, workload=workload))


def test_double_precision_lies_under_its_own_roof(matmul):
    line = roofline(with_units(matmul[0], Unit.FP64, 2.0))
    assert line.compute.name == "FP64"
    assert [r.name for r in line.roofs] == ["FP64", "DRAM", "L2", "L1"]


def test_no_roofline_without_flops(matmul):
    assert roofline(with_units(matmul[0], Unit.FP32, 0.0)) is None


def test_time_below_what_dram_needs_is_called_wrong(saxpy):
    short = dataclasses.replace(saxpy[0], time=saxpy[0].time.scaled(0.5))
    assert texts(short, "Memory")[0].startswith("DRAM traffic alone takes 41.1 µs at full bandwidth")
    assert not any("wrong" in text for text in texts(saxpy[0]))
