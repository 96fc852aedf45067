"""The power model ``alavani``: trees learned from the released table of the case's GPU."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from warpwatt.core.case import Case, Power, Timing
from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.models.trained.model import TrainedPower
from warpwatt.published.alavani.features.constants import released_table

FILES = {"Tesla K20": "k20", "Tesla M60": "m60", "Tesla V100": "v100"}
"""Released table to the name of its model's file."""


class AlavaniPower:
    """Board power learned from the released tables of Alavani's study; three GPUs."""

    name = "alavani"
    summary = "trees on 15 program features, learned from released tables (Alavani 2023); K20, M60, V100"

    def predict(self, case: Case, timing: Timing) -> Power:
        """Return the mean power while the kernel runs; the time plays no part in it.

        Raises
        ------
        UnsupportedGpuError
            If no table was released for the GPU.
        InputError
            If the kernel has no PTX.
        """
        table = released_table(case.gpu.name)
        if table is None:
            hint = "--gpu k20, m60 or v100; `warpwatt train --transfer` carries one over with 30 measurements"
            raise UnsupportedGpuError(f"model alavani was not trained for {case.gpu.name}", hint=hint)
        model = shipped(table)
        found = model.predict(case, timing)
        poor = tuple(f"alavani: {text}" for text in model.card["limits"] if "constant mean" in text)
        return replace(found, warnings=(*found.warnings, *poor))


def model_file(table: str) -> Path:
    """Return the model of a released table."""
    return Path(str(files("warpwatt.published.alavani.power").joinpath(f"{FILES[table]}.json")))


@lru_cache(maxsize=3)
def shipped(table: str) -> TrainedPower:
    """Return the model of a released table, read once."""
    return TrainedPower(model_file(table), "alavani")
