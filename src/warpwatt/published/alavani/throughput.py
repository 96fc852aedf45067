"""Throughput the way the published models report it: instructions per cycle and SM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.published.alavani.opclass import InstructionType, classify

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.case import Case

_NAMES: Mapping[InstructionType, str] = {
    InstructionType.COMPUTE: "arithmetic",
    InstructionType.GLOBAL: "global memory",
    InstructionType.SHARED: "shared memory",
    InstructionType.MISC: "other",
}


def executed(case: Case) -> dict[str, float]:
    """Return warp instructions of the whole grid by class: arithmetic, global memory, shared memory, other.

    Classes are the types of Alavani (2023), section 4.1.
    """
    execution = case.workload.execution
    counts = dict.fromkeys(_NAMES.values(), 0.0)
    for instruction, count in zip(execution.program.instructions, execution.counts, strict=True):
        counts[_NAMES[classify(instruction).type]] += count
    return counts


def rates(case: Case, seconds: float) -> dict[str, float]:
    """Return class to warp instructions per cycle and SM of a launch that takes ``seconds``.

    Times 32 for threads, as Alavani (2023), appendix B, converts; zero classes are left out.
    """
    cycles = seconds * case.clocks.sm * case.gpu.sm_count
    return {name: n / cycles for name, n in executed(case).items() if n and cycles}


def intensity(case: Case) -> float | None:
    """Return α, arithmetic per global memory instruction; None for a kernel without global memory."""
    counts = executed(case)
    return counts["arithmetic"] / counts["global memory"] if counts["global memory"] else None
