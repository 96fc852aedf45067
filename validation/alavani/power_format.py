"""Shared pieces of the power study's page: data sets, published tables, Markdown."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from validation import ROOT
from warpwatt.lab.learn.samples import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from validation.alavani.power_runs import Runs
    from warpwatt.lab.learn.samples import Samples

TABLES = ROOT / "validation" / "alavani" / "data" / "alavani_thesis"
GPUS: Mapping[str, str] = {"k20_smaller": "Tesla K20", "maxwell": "Tesla M60", "v100": "Tesla V100"}
"""The data set that reproduces each GPU's published figures. The Maxwell file names no model."""
WITHIN = 0.02
"""How near R² should come to the published value."""
TITLES: Mapping[str, str] = {
    "random_forest": "Random Forest",
    "extra_trees": "Extra Trees",
    "gradient_boosting": "Gradient Boosting",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "decision_tree": "Decision Tree",
    "svr": "SVR",
    "svr_standardised": "SVR",
    "ann": "ANN",
}
"""Regressors of the published tables, by our names."""


@dataclass(frozen=True, slots=True)
class Study:
    """Where the public data sets are, and the cross-validations."""

    data: Path
    runs: Runs

    def samples(self, name: str, features: Sequence[str] | None = None) -> Samples:
        """Return one of the released data sets as the study used it: repeated rows kept."""
        file = self.data / "alavani_power" / f"power_model_inputs_{name}.csv"
        return load(file, "power", features, keep_repeated=True)


@cache
def published(table: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a transcribed table."""
    with (TABLES / f"table_{table}.csv").open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def find(table: str, **wanted: str) -> dict[str, str]:
    """Return the row of a transcribed table with these cells; names are compared without spaces."""

    def plain(text: str) -> str:
        return text.replace(" ", "").lower()

    return next(row for row in published(table) if all(plain(row[k]) == plain(v) for k, v in wanted.items()))


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; the first column is left-aligned."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def pm(mean: float, deviation: float, digits: int = 3) -> str:
    """Return mean ± deviation.

    >>> pm(0.9012, 0.0049)
    '0.901 ± 0.005'
    """
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}"
