"""Thesis Table 5.6: the neural networks, computed once and kept."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from warpwatt.lab.learn.evaluate import Errors
from warpwatt.lab.learn.layout import layout
from warpwatt.lab.learn.samples import Samples, samples_from_table
from warpwatt.lab.learn.table import read_table
from warpwatt.published.alavani.study.neural_networks import AnnResult, AnnRow, run

if TYPE_CHECKING:
    from pathlib import Path

    from validation.alavani.power_runs import Runs

FILES = {"smaller": "k20_smaller", "larger": "k20_larger"}


def ann_result(runs: Runs, folder: Path, row: AnnRow, size: str, seed: int = 0) -> AnnResult:
    """Return the cross-validation of a row of the table on one of the K20 data sets."""
    data = study_samples(folder, row, size)

    def compute() -> dict[str, Any]:
        return asdict(run(row, data, size, seed))

    told = (row.title, dict(row.network), row.epochs[size], data.features, data.sha256, len(data), seed)
    kept = runs.keep(f"ann {told}", compute)
    curve = tuple((float(a), float(b)) for a, b in kept["losses"])
    return AnnResult(tuple(Errors(**each) for each in kept["per_fold"]), curve)


def study_samples(folder: Path, row: AnnRow, size: str) -> Samples:
    """Return the samples with the 15 selected features, or with all that the file has."""
    table = read_table(folder / f"power_model_inputs_{FILES[size]}.csv", keep_repeated=True)
    selected = layout("alavani_power").features
    return samples_from_table(
        table, "power", selected if row.features == "selected" else all_features(table.columns)
    )


def all_features(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return every feature of thesis Table 5.4 that a file has."""
    own = layout("alavani_power")
    other = {*own.texts, *own.serial, "power", "", "inst_issue_cycle", "total_inst", "wtotal"}
    return tuple(c for c in columns if c not in other)
