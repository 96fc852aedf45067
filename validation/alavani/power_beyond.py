"""What the published tables do not say: unseen programs, unseen GPUs, counters, time beside power."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from validation.alavani.power_format import GPUS, Study, markdown, pm, published
from warpwatt.lab.learn.errors import MissingColumnError
from warpwatt.lab.learn.evaluate import SEEDS, Split, by_group, evaluate, tune
from warpwatt.lab.learn.regressors import fit, regressor, regressors
from warpwatt.lab.learn.samples import load
from warpwatt.lab.learn.transfer import CALIBRATION, leave_out, pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.lab.learn.evaluate import Evaluation

COUNTERS = {
    "GTX 980, high clocks": "gtx980_high_dvfs_real_small_workload_performance_power",
    "GTX 980, low clocks": "gtx980_low_dvfs_real_small_workload_performance_power",
    "P100": "p100_dvfs_real_performance_power",
    "V100": "v100_dvfs_real_performance_power",
}
A15 = ("linear_regression", "random_forest", "xgboost")
OPERATOR_MODELS = ("linear_regression", "extra_trees", "xgboost")


def by_program(study: Study) -> str:
    """Return every regressor on every data set by program, the constant mean first."""
    rows = []
    for data, gpu in {**GPUS, "k20_larger": "Tesla K20, larger set"}.items():
        whole = study.samples(data)
        for name, one in regressors().items():
            if name == "ann" and data == "k20_larger":
                continue
            seeds = SEEDS[:1] if name == "ann" else SEEDS
            found = study.runs(whole, one, Split.PROGRAM, seeds)
            rows.append(
                [f"{gpu}, {one.title}", *_pooled(found), f"{_by_row_r2(study, data, name, seeds):.3f}"]
            )
    return markdown(["GPU, regressor", "R²", "RMSE, W", "MAE, W", "MAPE, %", "R² by row"], rows)


def _by_row_r2(study: Study, data: str, name: str, seeds: Sequence[int]) -> float:
    return study.runs(study.samples(data), regressor(name), Split.ROWS, seeds).pooled.r2


def _pooled(found: Evaluation) -> list[str]:
    errors = found.pooled
    spread = np.std([run.pooled.r2 for run in found.runs])
    return [pm(errors.r2, float(spread)), f"{errors.rmse:.2f}", f"{errors.mae:.2f}", f"{errors.mape:.1f}"]


def tuned(study: Study) -> str:
    """Return nested tuning beside the published hyper-parameters, one seed, both splits, K20 smaller set."""
    whole = study.samples("k20_smaller")
    rows = []
    for name in ("decision_tree", "extra_trees", "gradient_boosting", "xgboost", "svr", "svr_standardised"):
        cells = [regressor(name).title]
        for split in Split:
            fixed = study.runs(whole, regressor(name), split, SEEDS[:1]).pooled

            def compute(one: str = name, how: Split = split) -> list[float]:
                choose = partial(tune, split=how)
                found = evaluate(whole, regressor(one), how, seeds=SEEDS[:1], choose=choose).pooled
                return [found.r2, found.mae]

            r2, mae = study.runs.keep(f"tuned {name} {split} {whole.sha256} {regressor(name).grid}", compute)
            cells += [f"{fixed.r2:.3f}", f"{r2:.3f}", f"{fixed.mae:.2f}", f"{mae:.2f}"]
        rows.append(cells)
    names = ("R² published", "R² tuned", "MAE published", "MAE tuned, W")
    return markdown(["regressor", *(f"{n} (by {split})" for split in Split for n in names)], rows)


def counters(study: Study) -> str:
    """Return the counter-based models (appendix A): energy, power and time, by row and by program."""
    rows = []
    for title, file in COUNTERS.items():
        path = study.data / "nv_dvfs_benchmark_wsl" / f"{file}.csv"
        for name in ("mean", *A15):
            cells = [f"{title}, {regressor(name).title}"]
            for target in ("energy", "power", "time"):
                whole = load(path, target)
                texts = []
                for split in Split:
                    found = study.runs(whole, regressor(name), split, SEEDS[:1]).pooled
                    texts.append(f"{found.r2:.3f} ({found.mape:.0f} %)")
                cells.append(" / ".join(texts))
            rows.append(cells)
    told = [
        [f"published, {row['model']}", row["energy_r2"], row["power_r2"], row["time_r2"]]
        for row in published("a_1")
    ]
    return markdown(["R² (MAPE): by row / by program", "energy", "power", "time"], [*told, *rows])


def powerquant(study: Study) -> str:
    """Return the kernels of PowerQuant on four GPUs, by row and by program."""
    rows = []
    for gpu in ("k80", "tesla", "ampere", "ada_lovelace"):
        whole = load(study.data / "alavani_powerquant" / f"powerquant_{gpu}.csv")
        for name in ("mean", "extra_trees", "xgboost"):
            cells = [f"{gpu}, {regressor(name).title}"]
            for split in Split:
                found = study.runs(whole, regressor(name), split, SEEDS[:1]).pooled
                cells += [f"{found.r2:.3f}", f"{found.mape:.1f}"]
            rows.append(cells)
    return markdown(["GPU, regressor", *(f"{n} (by {s})" for s in Split for n in ("R²", "MAPE, %"))], rows)


def operators(study: Study) -> str:
    """Return operator-level power on each GPU of PowerQuant's PyTorch data, by row and by program."""
    whole = load(study.data / "alavani_powerquant" / "powerquant_pytorch_static.csv")
    rows = []
    for gpu in sorted(set(whole.gpus)):
        own = whole.take(np.flatnonzero(np.array(whole.gpus) == gpu))
        for name in ("mean", *OPERATOR_MODELS):
            cells = [f"{gpu} ({len(own)} rows), {regressor(name).title}"]
            for split in Split:
                found = study.runs(own, regressor(name), split, SEEDS[:1]).pooled
                cells += [f"{found.r2:.3f}", f"{found.mae:.1f}", f"{found.mape:.1f}"]
            rows.append(cells)
    names = ("R²", "MAE, W", "MAPE, %")
    return markdown(["GPU, regressor", *(f"{n} (by {split})" for split in Split for n in names)], rows)


def transfer(study: Study) -> str:
    """Return power on a GPU and of operators that training has not seen."""
    whole = load(study.data / "alavani_powerquant" / "powerquant_pytorch_static.csv")
    rows = []
    for gpu in sorted(set(whole.gpus)):
        for count in (10, CALIBRATION, 100):

            def compute(unseen: str = gpu, few: int = count) -> list[list[float]]:
                one = regressor("extra_trees")
                found = pooled([leave_out(whole, unseen, one, seed, few) for seed in SEEDS[:3]])
                kinds = (found.calibrated, found.uncalibrated, found.constant)
                return [[each.mae, each.mape] for each in kinds]

            figures = study.runs.keep(f"transfer {gpu} {count} {whole.sha256}", compute)
            rows.append([f"{gpu}, {count} measured", *(f"{m:.1f} W, {p:.1f} %" for m, p in figures)])
    return markdown(["unseen GPU", "calibrated quantiles", "not calibrated", "mean of the measured"], rows)


def table_6_1(_: Study) -> str:
    """Return time, power and energy errors of the matrix multiplication, recomputed."""
    rows = []
    for row in published("6_1"):
        value = {key: float(text) for key, text in row.items() if key != "gpu"}
        off = [
            _error(value, f"{what}_{unit}")
            for what, unit in (("time", "us"), ("power", "w"), ("energy", "uj"))
        ]
        product = value["predicted_time_us"] * value["predicted_power_w"] / value["predicted_energy_uj"] - 1
        rows.append([row["gpu"], *(f"{x:+.2f}" for x in off), f"{100 * product:+.4f}"])
    return markdown(
        ["GPU", "time error, %", "power error, %", "energy error, %", "power × time − energy, %"], rows
    )


def _error(value: dict[str, float], what: str) -> float:
    return 100 * (value[f"predicted_{what}"] / value[f"actual_{what}"] - 1)


def table_6_2(study: Study) -> str:
    """Return time beside power errors of twenty kernels: published, and ours by row, by program, seen."""
    whole = study.samples("k20_smaller")
    xgboost = regressor("xgboost")
    ours = {split: study.runs(whole, xgboost, split).runs for split in Split}
    seen = fit(xgboost, whole.x, whole.y, 0).predict(whole.x)
    rows, columns = [], []
    for row in published("6_2"):
        power = float(row["actual_power_w"])
        i = int(np.abs(whole.y - power).argmin())
        if abs(whole.y[i] - power) > 0.002:
            raise MissingColumnError(f"no row of {power} W for {row['kernel']}")
        values = [
            100 * (float(row["predicted_time_us"]) / float(row["actual_time_us"]) - 1),
            100 * (float(row["predicted_power_w"]) / power - 1),
            *(100 * (np.mean([run.predicted[i] for run in ours[split]]) / power - 1) for split in Split),
            100 * (seen[i] / power - 1),
        ]
        columns.append(values)
        rows.append([f"{row['benchmark']}, {row['kernel']}", f"{power:.1f}", *(f"{x:+.1f}" for x in values)])
    means = np.abs(np.array(columns)).mean(axis=0)
    rows.append(["mean absolute", "", *(f"{x:.1f}" for x in means)])
    head = ["kernel", "W", "time, published", "power, published", "by row", "by program", "seen in training"]
    correlation = float(np.corrcoef(np.array(columns)[:, 0], np.array(columns)[:, 1])[0, 1])
    told = f"Correlation of the published time and power errors: {correlation:.2f}."
    return f"{markdown(head, rows)}\n\nErrors in percent. {told}"


def worst_programs(study: Study) -> str:
    """Return the largest programs of the K20 set: XGBoost's error by row and by program."""
    whole = study.samples("k20_smaller")
    found = {
        split: [
            by_group(whole, run.predicted, whole.programs)
            for run in study.runs(whole, regressor("xgboost"), split).runs
        ]
        for split in Split
    }
    names = sorted(set(whole.programs), key=lambda n: (-whole.programs.count(n), n))[:15]
    rows = [
        [
            name,
            whole.programs.count(name),
            *(f"{np.mean([g[name].mape for g in found[s]]):.1f}" for s in Split),
        ]
        for name in names
    ]
    return markdown(["program", "rows", "MAPE by row, %", "MAPE by program, %"], rows)
