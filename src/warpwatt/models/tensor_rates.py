"""How many multiply-adds tensor cores take per clock and SM, by type, by instruction and by board."""

from __future__ import annotations

from collections.abc import Mapping

from warpwatt.core.gpu import Gpu
from warpwatt.core.program import Instruction

OF_WARPS = "mma_sync_fp16_fma"
"""Throughput class of a warp's own products in FP16 (``mma.sync``), where chips take larger ones faster."""
_OF_ANY = "tensor_fp16_fma"
_WARP_PRODUCTS = ("HMMA", "QMMA", "IMMA")
_FALLBACK = 512.0


def halves_fp32_sums(gpu: Gpu) -> bool:
    """Return whether a board's tensor cores take half as many products that are summed in FP32.

    GeForce boards do (NVIDIA, GA102 whitepaper, table 2; RTX Blackwell whitepaper, appendix A); TITAN and
    professional boards do not.
    """
    return gpu.product.startswith("GeForce")


def tensor_rate(instruction: Instruction, rates: Mapping[str, float], *, halved: bool) -> float:
    """Return the dense multiply-adds per clock and SM of a product of machine code.

    ``rates`` is the throughput table of the chip, ``halved`` what :func:`halves_fp32_sums` says. Products
    with block scales keep their rate on GeForce boards: an RTX 5090 makes 737 TFLOPS of mxf8 and 370 of FP8
    (main-horse.github.io/posts/5090-mm-perf).
    """
    opcode = instruction.opcode
    rate = rates.get(instruction.throughput_class) or rates.get(_OF_ANY, _FALLBACK)
    if not opcode.startswith(_WARP_PRODUCTS):
        return rate
    if halved and ".F32" in opcode and ".SF" not in opcode:
        rate /= 2
    share = rates[OF_WARPS] / rates[_OF_ANY] if OF_WARPS in rates else 1.0
    return rate * min(1.0, share)
