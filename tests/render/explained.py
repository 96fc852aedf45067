"""A prediction of a model that knows what warps wait for, with advice: the matrix product of samples.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.render.samples import matmul_pair
from warpwatt.core.advice import Advice
from warpwatt.core.prediction import LineCost, LineWait, Prediction
from warpwatt.core.program import SourceLine
from warpwatt.core.warps import Stall, WarpStates

FILE = "matmul.cu"
REASONS = (Stall.SELECTED, Stall.NOT_SELECTED, Stall.WAIT, Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD,
           Stall.MIO_THROTTLE, Stall.BARRIER)  # fmt: skip
LINES = {
    10: {Stall.WAIT: 0.01, Stall.SELECTED: 0.01},
    11: {Stall.LONG_SCOREBOARD: 0.08, Stall.SELECTED: 0.01},
    12: {Stall.LONG_SCOREBOARD: 0.2, Stall.MIO_THROTTLE: 0.05, Stall.NOT_SELECTED: 0.01},
    13: {Stall.BARRIER: 0.05},
    15: {Stall.MIO_THROTTLE: 0.3, Stall.SHORT_SCOREBOARD: 0.17, Stall.SELECTED: 0.05},
}
WAITS = {
    11: (LineWait(SourceLine(FILE, 11), "LDG", Stall.LONG_SCOREBOARD, 0.08),),
    12: (LineWait(SourceLine(FILE, 11), "LDG", Stall.LONG_SCOREBOARD, 0.2),),
    15: (LineWait(SourceLine(FILE, 15), "LDS", Stall.SHORT_SCOREBOARD, 0.17),),
}


def explained() -> Prediction:
    """Return the product on the H200, limited by shared memory, with three pieces of advice."""
    prediction = matmul_pair()[0]
    lines = tuple(_line(line) for line in prediction.lines)
    timing = replace(prediction.timing, warps=_states(len(prediction.timing.shares)))
    advice = (
        _advice(prediction, 0.58, "bank conflicts", "removing the bank conflicts of line 12", 12,
                "pad the rows"),
        _advice(prediction, 0.21, "occupancy", "keeping 64 instead of 32 warps resident per SM", None,
                "32 instead of 64 registers per thread"),
        _advice(prediction, 0.64, "together", "all of these together", None, ""),
    )  # fmt: skip
    return replace(prediction, lines=lines, timing=timing, advice=advice)


def _line(line: LineCost) -> LineCost:
    return replace(line, stalls=LINES.get(line.line, {}), waits=WAITS.get(line.line, ()))


def _states(size: int) -> WarpStates:
    """Return warp cycles of that many instructions, made up but adding up."""
    cycles = np.zeros((size, len(REASONS)))
    cycles[:, 0] = 100.0
    cycles[2:8, 3] = 2000.0
    cycles[8:10, 4:6] = 3000.0
    waits = np.array([[3, 2, 3, 9000.0], [9, 8, 4, 6000.0]])
    return WarpStates(REASONS, cycles, waits, 1200.0, 4)


def _advice(prediction: Prediction, share: float, kind: str, text: str, line: int | None, fix: str) -> Advice:
    return Advice(
        kind, text, SourceLine(FILE, line) if line else None, fix,
        prediction.time.scaled(1 - share), prediction.time.scaled(share), prediction.energy.scaled(share / 2),
        share / 2,
    )  # fmt: skip
