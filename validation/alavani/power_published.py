"""The published tables of the power study (thesis 5.3, 5.6, 5.8–5.12), ours beside them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from validation.alavani.power_format import GPUS, TITLES, WITHIN, Study, find, markdown, pm, published
from validation.alavani.power_neural_networks import all_features, ann_result
from warpwatt.lab.learn.diagnostics import inliers, outlier_scores
from warpwatt.lab.learn.evaluate import SEEDS, Split, by_group
from warpwatt.lab.learn.layout import dwarf_of
from warpwatt.lab.learn.regressors import fit, regressor
from warpwatt.lab.learn.samples import samples_from_table
from warpwatt.lab.learn.selection import importance, ranking, select, shap_values
from warpwatt.lab.learn.table import read_table
from warpwatt.published.alavani.study.cost import cost
from warpwatt.published.alavani.study.neural_networks import SIZES, ann_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.lab.learn.evaluate import Evaluation

FIRST_STUDY = (
    "block_size", "comp_inst_kernel", "glob_inst_kernel", "glob_inst_sm", "inst_issue_cycles",
    "misc_inst_kernel", "misc_inst_sm", "occupancy", "shar_inst_kernel", "shar_inst_sm",
)  # fmt: skip
"""Thesis Table 5.2."""
DWARFS = (
    "branch and bound", "graph traversal", "dense linear algebra", "structured grid", "unstructured grid",
    "dynamic programming",
)  # fmt: skip


def table_5_8(study: Study) -> str:
    """Return every regressor on every GPU by row."""
    errors = ("RMSE publ.", "RMSE, W", "MAE publ.", "MAE, W", "MAPE, %")
    return markdown(["GPU, regressor", "R² publ.", "R²", "seed 0", "within 0.02", *errors], _rows_5_8(study))


def _rows_5_8(study: Study) -> Iterator[list[str]]:
    for data, gpu in GPUS.items():
        for name, title in TITLES.items():
            found = by_row(study, data, name)
            told = find("5_8", gpu=gpu, model=title)
            mean, deviation = found.mean, found.deviation
            near = abs(mean.r2 - float(told["r2"])) <= WITHIN
            label = regressor(name).title
            yield [
                f"{gpu}, {label}",
                f"{float(told['r2']):.3f}",
                pm(mean.r2, deviation.r2),
                f"{np.mean([e.r2 for e in found.runs[0].per_fold]):.3f}",
                "yes" if near else f"no, {mean.r2 - float(told['r2']):+.3f}",
                f"{float(told['rmse_w']):.2f}",
                f"{mean.rmse:.2f}",
                f"{float(told['mae_w']):.2f}",
                f"{mean.mae:.2f}",
                f"{mean.mape:.2f}",
            ]


def by_row(study: Study, data: str, name: str) -> Evaluation:
    """Return a regressor's cross-validation by row; the network's with one seed only, for its time."""
    seeds = SEEDS[:1] if name == "ann" else SEEDS
    return study.runs(study.samples(data), regressor(name), Split.ROWS, seeds)


def table_5_9(study: Study) -> str:
    """Return XGBoost's five runs."""
    rows = []
    for (data, gpu), told in zip(GPUS.items(), published("5_9"), strict=True):
        found = by_row(study, data, "xgboost")
        cells = [gpu]
        for key, short in (("r2", "r2"), ("rmse", "rmse"), ("mae", "mae"), ("mape", "mape")):
            cells.append(
                pm(float(told[f"{short}_mean"]), float(told[f"{short}_std"]), 4 if key == "r2" else 2)
            )
            cells.append(pm(getattr(found.mean, key), getattr(found.deviation, key), 4 if key == "r2" else 2))
        rows.append(cells)
    names = ("R²", "RMSE, W", "MAE, W", "MAPE, %")
    head = ["GPU", *(text for name in names for text in (f"{name} publ.", name))]
    return markdown(head, rows)


def table_5_3(study: Study) -> str:
    """Return the first study: ten features, decision tree, tuned inside the training rows."""
    rows = []
    for data, gpu in {"k20_smaller": "Tesla K20", "k20_larger": "Tesla K20", **GPUS}.items():
        told = find("5_3", gpu=gpu)
        found = study.runs(study.samples(data, FIRST_STUDY), regressor("decision_tree"), Split.ROWS)
        ours = [pm(found.mean.r2, found.deviation.r2), f"{found.mean.rmse:.2f}", f"{found.mean.mae:.2f}"]
        theirs = [f"{float(told['r2']):.3f}", f"{float(told['rmse_w']):.2f}", f"{float(told['mae_w']):.2f}"]
        rows.append([f"{gpu} ({data})", *(x for pair in zip(theirs, ours, strict=True) for x in pair)])
    return markdown(["GPU", "R² publ.", "R²", "RMSE publ.", "RMSE, W", "MAE publ.", "MAE, W"], rows)


def linear(study: Study) -> str:
    """Return R² of multi-linear regression by seed, with fifteen and with ten features."""
    rows = []
    for data in ("k20_smaller", "k20_larger", "maxwell", "v100"):
        for label, features in (("15 selected", None), ("10 of the first study", FIRST_STUDY)):
            found = study.runs(study.samples(data, features), regressor("linear_regression"), Split.ROWS)
            values = [f"{np.mean([e.r2 for e in run.per_fold]):.3f}" for run in found.runs]
            rows.append([f"{data}, {label}", *values])
    return markdown(["data, features", *(f"seed {seed}" for seed in SEEDS)], rows)


def selection(study: Study) -> str:
    """Return which features each step of the selection removed on the K20 sets."""
    parts = []
    for data in ("k20_smaller", "k20_larger"):
        file = study.data / "alavani_power" / f"power_model_inputs_{data}.csv"
        table = read_table(file, keep_repeated=True)
        whole = samples_from_table(table, "power", all_features(table.columns))
        found = select(whole)
        wanted = set(table.layout.features)
        extra, lost = sorted(set(found.kept) - wanted), sorted(wanted - set(found.kept))
        removed = "; ".join(f"`{name}` ({why})" for name, why in found.removed if "stands for" not in why)
        verdict = "exactly the published fifteen" if not extra and not lost else (
            f"kept beside the published: {', '.join(extra) or 'none'}; not kept: {', '.join(lost) or 'none'}"
        )  # fmt: skip
        parts.append(
            f"- `{data}`: {len(whole.features)} features, {len(found.kept)} remain: {verdict}. {removed}."
        )
    return "\n".join(parts)


def table_5_10(study: Study) -> str:
    """Return the boosters' ranking of features beside the published, SHAP's and the forest's."""
    data = study.samples("k20_smaller")
    columns: dict[str, tuple[str, ...]] = {}
    for name in ("xgboost", "catboost"):
        columns[f"{name}, published"] = tuple(row[f"{name}_feature"] for row in published("5_10_ranking"))
        fitted = fit(regressor(name), data.x, data.y, 0)
        columns[name] = ranking(data.features, np.asarray(fitted.estimator.feature_importances_))
        values = np.abs(shap_values(fitted.estimator, fitted.scaling(data.x))).mean(axis=0)
        columns[f"{name}, SHAP"] = ranking(data.features, values)
    columns["forest"] = ranking(data.features, importance(data))
    rows = [[i + 1, *(names[i] for names in columns.values())] for i in range(len(data.features))]
    return markdown(["rank", *columns], rows)


def costs(study: Study) -> str:
    """Return training time and memory per regressor, K20 both sizes, beside the published two."""
    rows = []
    for name in dict.fromkeys(("mean", "linear_regression", *TITLES)):
        cells = [regressor(name).title]
        for data in ("k20_smaller", "k20_larger"):
            file = study.data / "alavani_power" / f"power_model_inputs_{data}.csv"
            kept = study.runs.keep(f"cost {name} {data}", partial(_cost, file, name))
            cells += [f"{kept[0]:.2f}", f"{kept[1] / 2**20:.0f}", f"{kept[2] / 2**20:.1f}"]
        rows.append(cells)
    names = ("time, s", "peak, MiB", "added, MiB")
    return markdown(["regressor", *(f"{n} ({size})" for size in SIZES for n in names)], rows)


def _cost(file: Any, name: str) -> list[float]:
    found = cost(file, name)
    return [found.train_s, found.peak_bytes, found.added_bytes]


def table_5_11(study: Study) -> str:
    """Return the K20's figures without outliers, and what the outliers were."""
    whole = study.samples("k20_smaller")
    scores = outlier_scores(whole)
    rest = whole.take(inliers(scores))
    rows = []
    for name, title in TITLES.items():
        if name == "ann":
            continue
        told = find("5_11", model=title)
        both = [study.runs(some, regressor(name), Split.ROWS, SEEDS[:1]) for some in (whole, rest)]
        before, after = (found.mean for found in both)
        rows.append([
            regressor(name).title, f"{float(told['r2']):.3f}", f"{after.r2:.3f}", f"{before.r2:.3f}",
            f"{float(told['rmse_w']):.2f}", f"{after.rmse:.2f}",
            f"{float(told['mae_w']):.2f}", f"{after.mae:.2f}",
        ])  # fmt: skip
    head = ["regressor", "R² publ.", "R²", "R² with outliers", "RMSE publ.", "RMSE, W", "MAE publ.", "MAE, W"]
    count = len(whole) - len(rest)
    return f"{count} of {len(whole)} rows are outliers (thesis: 97).\n\n{markdown(head, rows)}"


def table_5_12(study: Study) -> str:
    """Return mean absolute errors by dwarf on the K20, by row and by program."""
    data = study.samples("k20_smaller")
    dwarfs = [dwarf_of(program, data.aliases) for program in data.programs]
    rows = []
    for name, title in TITLES.items():
        if name in ("decision_tree", "ann"):
            continue
        told = find("5_12", model=title)
        cells = [regressor(name).title]
        for dwarf in DWARFS:
            texts = [f"{float(told[dwarf.replace(' ', '_')]):.1f}"]
            for split in (Split.ROWS, Split.PROGRAM):
                runs = study.runs(data, regressor(name), split).runs
                texts.append(f"{np.mean([by_group(data, r.predicted, dwarfs)[dwarf].mae for r in runs]):.1f}")
            cells.append(" / ".join(texts))
        rows.append(cells)
    counts = [f"{dwarf} ({dwarfs.count(dwarf)})" for dwarf in DWARFS]
    return markdown(["published / by row / by program", *counts], rows)


def table_5_6(study: Study) -> str:
    """Return the neural networks on both K20 sets."""
    rows = []
    for row in ann_rows():
        cells = [row.title]
        for size in SIZES:
            found = ann_result(study.runs, study.data / "alavani_power", row, size)
            told = row.published.get(size)
            first, last = found.losses[0], found.losses[-1]
            cells += [
                str(row.epochs[size]),
                f"{told:.3f}" if told is not None else "–",
                f"{found.mean.r2:.3f}",
                f"{np.median([e.r2 for e in found.per_fold]):.3f}",
                f"{np.sqrt(last[0]):.1f} / {np.sqrt(last[1]):.1f} (from {np.sqrt(first[1]):.1f})",
            ]
        rows.append(cells)
    names = ("epochs", "R² publ.", "R²", "median fold", "loss, W")
    return markdown(["network", *(f"{n} ({size})" for size in SIZES for n in names)], rows)
