"""``pipeline+residual``: the pipeline model's time, corrected by what it got wrong on other programs.

Gradient boosting on log(measured / predicted) over what binds a launch. ``residual.json`` beside this file
holds the trees and a card that says what they were trained on; :mod:`validation.timing.residual` writes it
and says how much it helps on programs that were left out. It does not: hence it is no default.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.case import Case, Timing
from warpwatt.core.program import Level
from warpwatt.core.warps import Stall
from warpwatt.models.pipeline import Pipeline
from warpwatt.models.trained.file import read

if TYPE_CHECKING:
    from warpwatt.models.trained.file import TrainedModel

UNITS = ("issue", "fp32", "int", "sfu", "fp64", "tensor", "lsu", "l1", "shared", "l2", "dram", "atomics")
"""Units whose busy share is a feature."""
STALLS = (
    Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD, Stall.LG_THROTTLE, Stall.MIO_THROTTLE,
    Stall.MATH_PIPE_THROTTLE, Stall.BARRIER, Stall.WAIT, Stall.NOT_SELECTED, Stall.NO_INSTRUCTION,
)  # fmt: skip
"""Stall reasons whose share of warp time is a feature."""
FILE = "residual.json"


class PipelineResidual:
    """The pipeline model with a learned correction."""

    name = "pipeline+residual"
    summary = "pipeline, corrected by gradient boosting on its errors for other programs"
    levels: tuple[Level, ...] = (Level.SASS, Level.PTX)

    def predict(self, case: Case) -> Timing:
        """Return the pipeline's timing times the learned factor; as it is where nothing was simulated."""
        timing = Pipeline().predict(case)
        if timing.model != Pipeline.name:
            return timing
        model = correction()
        row = np.array([list(features(case, timing).values())])
        factor = math.exp(float(model.predict(row)[0]))
        beyond = model.outside(row)
        warning = f"outside the range of the residual's training: {', '.join(beyond)}"
        return replace(
            timing,
            model=self.name,
            time=timing.time.scaled(factor),
            breakdown={part: seconds * factor for part, seconds in timing.breakdown.items()},
            warnings=(*timing.warnings, *((warning,) if beyond else ())),
        )


def features(case: Case, timing: Timing) -> dict[str, float]:
    """Return name to value, always the same names in the same order.

    ``busy.*`` and ``stall.*`` are shares 0 to 1; the others logarithms of seconds, waves and warps per SM.
    """
    work = case.workload
    busy = {f"busy.{unit}": timing.utilisation.get(unit, 0.0) for unit in UNITS}
    stalls = {f"stall.{stall}": timing.stalls.get(stall, 0.0) for stall in STALLS}
    return {
        **busy,
        **stalls,
        "log seconds": math.log(timing.time.value),
        "log waves": math.log(max(1e-3, work.waves)),
        "log warps": math.log(max(1.0, work.occupancy.warps_per_sm)),
    }


@lru_cache(maxsize=1)
def correction() -> TrainedModel:
    """Return the shipped model of log(measured / predicted)."""
    with as_file(files("warpwatt.models").joinpath(FILE)) as path:
        return read(path)
