"""How the counts of a prediction were obtained, in one sentence and in words for programs."""

from __future__ import annotations

from warpwatt.core.execution import Execution
from warpwatt.core.program import Level

_CODE = {Level.SASS: "machine code", Level.PTX: "PTX", Level.C: "source"}
EMULATED, CUT_SHORT, CLOSED_FORM, ANALYSED = "emulated", "cut short", "closed form", "analysed"


def method(execution: Execution) -> str:
    """Return how the counts were found.

    ``"emulated"`` where blocks were run to their end, ``"cut short"`` where one was run in part and analysis
    counted the rest, ``"closed form"`` where analysis knows every loop, branch and address, ``"analysed"``
    where it had to assume some.
    """
    if execution.blocks_run:
        return EMULATED
    if execution.reuse is not None:
        return CUT_SHORT
    known = not execution.assumptions and all(pattern.known for pattern in execution.accesses.values())
    return CLOSED_FORM if known else ANALYSED


def method_text(execution: Execution) -> str:
    """Return the same for people: ``"machine code of 8 of 65536 blocks run, scaled to all"``."""
    code = _CODE[execution.program.level]
    how, whole = method(execution), execution.launch.grid.count
    if how == EMULATED and execution.blocks_run >= whole:
        return f"{code} of {'the one block' if whole == 1 else f'all {whole} blocks'} run"
    if how == EMULATED:
        return f"{code} of {execution.blocks_run} of {whole} blocks run, scaled to all"
    return {
        CUT_SHORT: f"{code} counted by analysis, with the accesses of a block that was run in part",
        CLOSED_FORM: f"{code} counted in closed form",
        ANALYSED: f"{code} counted by analysis, with assumptions",
    }[how]
