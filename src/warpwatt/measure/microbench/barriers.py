"""Probes of barriers and fences, and the kernel that does nothing."""

from __future__ import annotations

from warpwatt.measure.microbench import ptx
from warpwatt.measure.microbench.model import Expected, Probe

STEPS = 60
EMPTY = "micro_empty"


def probes() -> tuple[Probe, ...]:
    """Return the probes of this module."""
    return (
        _barrier("barrier_block", "bar.sync 0;", r"BAR\.SYNC.*", "barrier of a block"),
        _barrier("fence_block", "membar.cta;", r"MEMBAR\.(ALL|SC)\.CTA", "fence within a block"),
        _barrier(
            "fence_gpu", "membar.gl;", r"MEMBAR\.(ALL|SC)\.GPU", "fence within the GPU", others=4 * STEPS
        ),
        _empty(),
    )


def _barrier(name: str, statement: str, opcode: str, meaning: str, others: int = 6) -> Probe:
    frame = ptx.Frame(registers=[], before=[], body=[statement] * STEPS, keep=[])
    expected = {75: Expected({opcode: STEPS}, others)}
    return Probe(name, "barrier", meaning, ptx.entry(name, frame), expected, ptx.COMMON, STEPS)


def _empty() -> Probe:
    return Probe(
        EMPTY, "launch", "launch and dispatch of blocks: a kernel that does nothing",
        ptx.empty(EMPTY), {}, (), 0,
    )  # fmt: skip
