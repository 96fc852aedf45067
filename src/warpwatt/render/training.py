"""The page of a training: its figures and the papers' plots in one HTML file that needs no network."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.diagnostics import (
    OUTLIER_QUANTILE,
    loss_curve,
    one_at_a_time,
    outlier_scores,
    partial_dependence,
)
from warpwatt.lab.learn.errors import MissingPackageError, need
from warpwatt.lab.learn.evaluate import by_group
from warpwatt.lab.learn.layout import dwarf_of
from warpwatt.lab.learn.selection import kendall, pearson, shap_values
from warpwatt.lab.learn.splits import folds
from warpwatt.render.plots import training as plots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warpwatt.lab.learn.evaluate import Evaluation
    from warpwatt.lab.learn.samples import Floats, Samples
    from warpwatt.lab.learn.training import Trained

STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 1180px; padding: 1rem; background: #f5f6f8; color: #16191d;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; } .soft { color: #57606a; }
.limit { border-left: 4px solid #8a4b00; padding: .3rem .8rem; background: #fff; margin: .4rem 0; }
figure { margin: .6rem 0; padding: .6rem; background: #fff; border: 1px solid #d8dde3; border-radius: 8px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; background: #fff; }
td, th { padding: .2rem .8rem; border-bottom: 1px solid #d8dde3; text-align: right; }
table { font-variant-numeric: tabular-nums; } th:first-child, td:first-child { text-align: left; }
"""
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
CONFIG = {"responsive": True, "displayModeBar": False}
RESPONSE = (
    "Partial dependence is the mean over rows; the typical row has all other features at their medians. "
    "Skewed features have logarithmic axes, where zero is not drawn."
)
FEWEST_FOR_OUTLIERS = 30
MOST_EXPLAINED = 400
"""Rows that SHAP values are computed for."""


def page(samples: Samples, trained: Trained) -> str:
    """Return the page's text.

    Raises
    ------
    MissingPackageError
        If plotly is not installed.
    """
    script = need("plotly.offline").get_plotlyjs()
    title = f"{trained.fitted.regressor.title}: {samples.target} from {samples.name}"
    sections = "\n".join(_section(*each) for each in _sections(samples, trained))
    limits = "".join(f'<p class="limit">{escape(text)}</p>' for text in trained.card["limits"])
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} – WarpWatt</title><style>{STYLE}</style>"
        f"<script>{script}</script></head><body><h1>{escape(title)}</h1>"
        f'<p class="soft">{escape(_told(samples, trained.kept))}</p>{limits}'
        f"<h2>Regressors beside the constant mean</h2>{_table(samples, trained)}\n{sections}</body></html>\n"
    )


def _told(samples: Samples, kept: Evaluation) -> str:
    seeds = ", ".join(str(run.seed) for run in kept.runs)
    programs = len(set(samples.programs))
    return (
        f"{len(samples)} rows of {programs} programs; held out by {kept.split}, "
        f"{len(kept.runs[0].per_fold)} folds, seeds {seeds}. Plots show the first seed."
    )


def _table(samples: Samples, trained: Trained) -> str:
    unit = samples.unit
    heads = (
        "",
        "R²",
        f"RMSE, {unit}",
        f"MAE, {unit}",
        "MAPE, %",
        "R² pooled",
        f"MAE pooled, {unit}",
        "training, s",
    )
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    rows = "".join(_row(each) for each in trained.evaluations)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _row(each: Evaluation) -> str:
    mean, deviation, pooled = each.mean, each.deviation, each.pooled
    pairs = [(getattr(mean, key), getattr(deviation, key)) for key in ("r2", "rmse", "mae", "mape")]
    cells = [f"{value:.4g} ± {spread:.2g}" for value, spread in pairs]
    cells += [f"{pooled.r2:.4g}", f"{pooled.mae:.4g}", f"{each.train_s:.2f}"]
    return f"<tr><td>{escape(each.regressor.title)}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _sections(samples: Samples, trained: Trained) -> Iterator[tuple[str, str, Any]]:
    """Yield title, explanation and figure of each plot."""
    predicted = trained.kept.runs[0].predicted
    counts = Counter(samples.programs)
    found = by_group(samples, predicted, samples.programs)
    yield (
        "Measured against predicted, by program",
        "Every row was predicted by a model that has not seen it.",
        plots.measured_against_predicted(samples, predicted),
    )
    yield "Error by program", "Rows in brackets.", plots.errors_by_group(found, counts, samples.unit)
    dwarfs = [dwarf_of(program, samples.aliases) for program in samples.programs]
    if any(dwarfs):
        by_dwarf = plots.errors_by_group(by_group(samples, predicted, dwarfs), Counter(dwarfs), samples.unit)
        yield "Error by dwarf", "Programs whose dwarf thesis Table 4.7 gives.", by_dwarf
    yield from _model_sections(samples, trained)
    yield from _data_sections(samples)


def _model_sections(samples: Samples, trained: Trained) -> Iterator[tuple[str, str, Any]]:
    fitted = trained.fitted
    title, values = _weights(samples, trained)
    yield (
        "What it goes by",
        "Features by their weight in the model.",
        plots.weights(samples.features, values, title),
    )
    few = samples.take(_some(samples))
    partial = [partial_dependence(fitted.predict, few, name) for name in samples.features]
    single = [one_at_a_time(fitted.predict, samples, name) for name in samples.features]
    yield (
        "Response to each feature",
        RESPONSE,
        plots.responses(partial, single, samples.unit),
    )
    if fitted.logarithmic:
        return
    part = folds(samples, trained.kept.split, 0, len(trained.kept.runs[0].per_fold))[0]
    curve = loss_curve(samples, fitted.regressor, part)
    if curve:
        shown = plots.loss_curves({fitted.regressor.title: curve}, samples.unit)
        yield "Loss", "First fold of the first seed.", shown


def _data_sections(samples: Samples) -> Iterator[tuple[str, str, Any]]:
    varying = tuple(name for name, x in zip(samples.features, samples.x.T, strict=True) if np.ptp(x) > 0)
    if len(varying) > 1:
        x = samples.only(varying).x
        linear, ranks = pearson(x), kendall(x)
        yield "Pearson correlation", "Linear relations between features.", plots.heat_map(varying, linear)
        yield "Kendall correlation", "Relations of rank, robust to outliers.", plots.heat_map(varying, ranks)
    yield f"{samples.target} over each feature", "All rows.", plots.relationships(samples)
    if len(samples) >= FEWEST_FOR_OUTLIERS:
        scores = outlier_scores(samples)
        bound = float(np.quantile(scores, OUTLIER_QUANTILE))
        yield "Outliers", "How far rows are out of HDBSCAN's clusters.", plots.density(scores, bound)


def _weights(samples: Samples, trained: Trained) -> tuple[str, Floats]:
    """Return mean |SHAP| of a tree ensemble, or by how much shuffling a feature raises the error."""
    fitted = trained.fitted
    few = samples.take(_some(samples))
    if trained.model["estimator"]["kind"] in ("forest", "xgboost", "catboost"):
        try:
            values = shap_values(fitted.estimator, fitted.scaling(few.x))
            unit = "log" if fitted.logarithmic else samples.unit
            return f"mean |SHAP value|, {unit}", np.asarray(np.abs(values).mean(axis=0), dtype=np.float64)
        except MissingPackageError:
            pass
    return f"rise of the error when shuffled, {samples.unit}", _permutation(fitted.predict, samples)


def _permutation(predict: Callable[[Floats], Floats], samples: Samples) -> Floats:
    """Return how much each feature's shuffling raises the mean absolute error."""
    generator = np.random.default_rng(0)
    before = float(np.abs(predict(samples.x) - samples.y).mean())
    rises = []
    for column in range(len(samples.features)):
        shuffled = samples.x.copy()
        shuffled[:, column] = generator.permutation(shuffled[:, column])
        rises.append(float(np.abs(predict(shuffled) - samples.y).mean()) - before)
    return np.array(rises)


def _some(samples: Samples) -> Any:
    """Return evenly spaced rows, few enough to explain quickly."""
    return np.unique(np.linspace(0, len(samples) - 1, MOST_EXPLAINED).astype(np.int64))


def _section(title: str, text: str, figure: Any) -> str:
    name = "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())
    drawn = figure.to_html(full_html=False, include_plotlyjs=False, div_id=name, config=CONFIG)
    return f'<h2>{escape(title)}</h2><p class="soft">{escape(text)}</p><figure>{drawn}</figure>'
