"""Intervals and latencies of products in tensor memory beside what was measured on a B200.

SemiAnalysisAI/microbench-blackwell@9a068d85: umma_throughput, umma_latency (cycles at 1.965 GHz).
"""

from __future__ import annotations

import pytest

from warpwatt.core.program import Instruction, Unit
from warpwatt.gpus import default_clocks, find
from warpwatt.isa.sass.operands import parse_operands
from warpwatt.isa.sass.products import with_products
from warpwatt.models.pipeline.codes import Operation
from warpwatt.models.pipeline.machine import machine as sm_of
from warpwatt.models.pipeline.table import empty_table
from warpwatt.models.pipeline.tensor_memory import fill_tensor_memory

INTERVALS = [
    ("ss", 128, (48.6, 64.6, 128.6)), ("ts", 128, (32, 64, 128)), ("ss pair", 128, (25.7, 32.7, 64.7)),
    ("ss pair", 256, (43.7, 64.8, 128.7)), ("ss", 64, (32.5, 64.6, 128.6)),
]  # fmt: skip
LATENCIES = [
    ("ss", 64, (152, 184, 248)), ("ss", 128, (168, 200, 264)), ("ss pair", 256, (202, 234, 298)),
    ("ts", 128, (136, 168, 232)),
]  # fmt: skip


def product(form, m, n):
    pair = "pair" in form
    kind = 1 << 4 | n // 8 << 17 | m // 16 << 24
    a = "tmem[UR4]" if form.startswith("ts") else "gdesc[UR4]"
    opcode = "UTCHMMA.2CTA" if pair else "UTCHMMA"
    code = (
        Instruction(0, "UMOV", parse_operands(f"UR9,{kind:#x}"), writes=("UR9",)),
        Instruction(
            1, opcode, parse_operands(f"{a},gdesc[UR6],tmem[UR10],tmem[UR8],idesc[UR9],UPT"), unit=Unit.TENSOR
        ),
    )
    gpu = find("b200")
    row = empty_table(1)[0]
    fill_tensor_memory(code, code[1], sm_of(gpu, default_clocks(gpu), 8e12, 2e13), row)
    assert with_products(code)[1].flops == 2 * m * n * 16
    assert row["operation"] == Operation.TENSOR_MEMORY_MMA
    return row


@pytest.mark.parametrize(("form", "m", "measured"), INTERVALS)
def test_interval_is_that_of_multiply_adds_or_operands(form, m, measured):
    for n, cycles in zip((64, 128, 256), measured, strict=True):
        assert product(form, m, n)["tensor_cycles"] == pytest.approx(cycles, rel=0.1)


@pytest.mark.parametrize(("form", "m", "measured"), LATENCIES)
def test_latency_is_a_constant_beside_the_multiply_adds(form, m, measured):
    for n, cycles in zip((64, 128, 256), measured, strict=True):
        assert product(form, m, n)["latency"] == pytest.approx(cycles, abs=3)
