"""Hostile and huge input: names and lines stay text, pages stay small, scripts stay ours."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tests.render.report.parsed import parse
from warpwatt.core.program import Immediate, Instruction, SourceLine
from warpwatt.core.warps import WarpStates
from warpwatt.render import html
from warpwatt.render.context import Context
from warpwatt.render.report import columns

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'\x1b[2J\x00\u2028\u202e<!--"


def hostile(prediction):
    case = prediction.case
    kernel = dataclasses.replace(
        case.kernel, demangled=HOSTILE, name=HOSTILE, toolkit=HOSTILE, warnings=(HOSTILE,)
    )
    gpu = dataclasses.replace(case.gpu, name=HOSTILE, sources={HOSTILE: HOSTILE})
    line = dataclasses.replace(prediction.lines[2], text=HOSTILE, file=HOSTILE)
    program = case.workload.execution.program
    odd = dataclasses.replace(program.instructions[0], opcode=HOSTILE, operands=(Immediate(1, HOSTILE),))
    program = dataclasses.replace(
        program, instructions=(odd, *program.instructions[1:]), labels={HOSTILE: 0}, target=HOSTILE
    )
    execution = dataclasses.replace(case.workload.execution, program=program)
    workload = dataclasses.replace(case.workload, execution=execution)
    return dataclasses.replace(
        prediction,
        case=dataclasses.replace(case, kernel=kernel, gpu=gpu, workload=workload),
        timing=dataclasses.replace(
            prediction.timing,
            bottleneck=HOSTILE,
            breakdown={HOSTILE: 1e-6},
            utilisation={HOSTILE: 0.5},
            model=HOSTILE,
        ),
        energy_components={HOSTILE: 1.0},
        lines=(line,),
        warnings=(HOSTILE,),
    )


@pytest.fixture(scope="module")
def hostile_page(saxpy):
    context = Context(command=HOSTILE, sources={HOSTILE: f"\n\n\n{HOSTILE}\n"}, toolkits={HOSTILE: HOSTILE})
    return html.render([hostile(p) for p in saxpy], context)


def test_hostile_names_and_lines_stay_text(hostile_page):
    tree = parse(hostile_page)
    assert len(tree.all("script")) == 2
    assert tree.all("img") == []
    assert not [n for n in tree.all() if any(name.startswith("on") for name in n.attributes)]
    assert "".join(tree.parts).count("alert(1)") > 20


def test_hostile_text_cannot_leave_the_data(hostile_page):
    embedded = "".join(parse(hostile_page).one("script", id="data").parts)
    assert not set("<>&\u2028") & set(embedded)
    data = json.loads(embedded)
    shown = [text for one in data["texts"] for text in one["texts"]]
    assert any("</script><script>alert(1)</script>" in text for text in shown)


def test_control_characters_are_shown_not_sent(hostile_page):
    assert not [c for c in hostile_page if c not in "\n" and not c.isprintable()]


def huge(prediction, instructions):
    """Return a prediction of so many instructions, each its own line of one long file."""
    case = prediction.case
    program = dataclasses.replace(
        case.workload.execution.program,
        instructions=tuple(
            Instruction(i, "FFMA.FTZ", (), line=SourceLine("big.cu", 1 + i // 10))
            for i in range(instructions)
        ),
        labels={},
    )
    execution = dataclasses.replace(
        case.workload.execution, program=program, counts=(1.0,) * instructions, lanes=(32.0,) * instructions,
        accesses={}, loops=(),
    )  # fmt: skip
    workload = dataclasses.replace(case.workload, execution=execution, hits={})
    shares = tuple(2 * i / instructions / (instructions - 1) for i in range(instructions))
    cycles = __import__("numpy").ones((instructions, 2))
    stalls = tuple(prediction.timing.stalls)[:2]
    warps = WarpStates(stalls, cycles, cycles[:0], 1.0, 4)
    timing = dataclasses.replace(prediction.timing, shares=shares, warps=warps)
    kernel = dataclasses.replace(case.kernel, sass=program, ptx=None)
    lines = tuple(
        dataclasses.replace(prediction.lines[0], file="big.cu", line=1 + i, text="x" * 300, time_share=1e-4)
        for i in range(instructions // 10)
    )
    case = dataclasses.replace(case, kernel=kernel, workload=workload)
    return dataclasses.replace(prediction, case=case, timing=timing, lines=lines)


@pytest.fixture(scope="module")
def huge_page(saxpy):
    source = "\n".join("y" * 300 for _ in range(10_000))
    return html.render([huge(saxpy[0], 100_000)], Context(sources={"big.cu": source}))


def test_hundred_thousand_instructions_make_a_page_that_opens(huge_page):
    assert len(huge_page) < 10_000_000
    tree = parse(huge_page)
    assert len(tree.all()) < 5_000
    data = json.loads("".join(tree.one("script", id="data").parts))
    source, sass = data["texts"]
    assert len(source["texts"]) == 10_000
    assert columns.MOST_ROWS - 100 < len(sass["texts"]) <= columns.MOST_ROWS + 2
    assert sass["numbers"][-1] == "99999"
    assert sass["kinds"]["0"] == "gap"


def test_listings_that_gpus_share_stand_in_the_page_once(saxpy):
    one = html.render([saxpy[0]], Context())
    both = html.render([saxpy[0], saxpy[0]], Context())
    texts = [json.loads("".join(parse(page).one("script", id="data").parts))["texts"] for page in (one, both)]
    assert len(texts[0]) == len(texts[1]) == 3
