"""Rates of tensor cores against figures of data sheets and measurements, TFLOPS of dense products."""

from __future__ import annotations

import pytest

from warpwatt.core.program import Instruction, Unit
from warpwatt.gpus import find
from warpwatt.models.tensor_rates import halves_fp32_sums, tensor_rate


@pytest.mark.parametrize(
    ("gpu", "opcode", "row", "tflops"),
    [
        ("RTX 3090", "HMMA.16816.F32", "fp16", 71),
        ("RTX 3090", "HMMA.16816.F16", "fp16", 142),
        ("RTX 3090", "HMMA.1688.F32.TF32", "tf32", 35.6),
        ("RTX A6000", "HMMA.1688.F32.TF32", "tf32", 77.4),
        ("NVIDIA A40", "HMMA.16816.F32.BF16", "bf16", 149.7),
        ("TITAN RTX", "HMMA.1688.F32", "fp16", 130.5),
        ("RTX 4090", "HMMA.1688.F32.TF32", "tf32", 82.6),
        ("RTX 4090", "QMMA.16832.F32.E4M3.E4M3", "fp8", 330.3),
        ("NVIDIA L40", "HMMA.1688.F32.TF32", "tf32", 90.5),
        ("RTX 5090", "HMMA.16816.F32.BF16", "bf16", 209.5),
        ("RTX 5090", "QMMA.16832.F32.E4M3.E4M3", "fp8", 419),
        ("RTX 5090", "QMMA.SF.16832.F32.E4M3.E4M3.E8", "fp8", 838),
        ("RTX 5090", "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X", "fp4", 1676),
        ("H100", "HGMMA.64x256x16.F32", "fp16", 1071),
        ("H100", "HMMA.16816.F32", "fp16", 700),
        ("H20", "HGMMA.64x256x16.F32", "fp16", 148),
        ("H20", "QGMMA.64x256x32.F32.E4M3.E4M3", "fp8", 296),
        ("H20", "HGMMA.64x256x8.F32.TF32", "tf32", 74),
        ("RTX PRO 6000", "HMMA.16816.F32.BF16", "bf16", 503.8),
    ],
)
def test_peaks_are_those_of_the_data_sheets(gpu: str, opcode: str, row: str, tflops: float):
    board = find(gpu)
    product = Instruction(0, opcode, unit=Unit.TENSOR, throughput_class=f"tensor_{row}_fma")
    rate = tensor_rate(product, board.capability.throughput, halved=halves_fp32_sums(board))
    assert 2e-12 * rate * board.sm_count * board.boost_clock == pytest.approx(tflops, rel=0.02)
