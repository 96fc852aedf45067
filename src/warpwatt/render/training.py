"""The page of a training: its figures and the papers' plots in one HTML file that needs no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from warpwatt.lab.learn.diagnostics import (
    OUTLIER_QUANTILE,
    feature_weights,
    loss_curve,
    one_at_a_time,
    outlier_scores,
    partial_dependence,
    some_rows,
)
from warpwatt.lab.learn.errors import import_optional
from warpwatt.lab.learn.evaluate import by_group, make_folds
from warpwatt.lab.learn.selection import kendall, pearson
from warpwatt.render.assets import asset, environment
from warpwatt.render.plots import training as plots

if TYPE_CHECKING:
    from warpwatt.lab.learn.evaluate import Evaluation
    from warpwatt.lab.learn.samples import Samples
    from warpwatt.lab.learn.training import Trained

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
CONFIG = {"responsive": True, "displayModeBar": False}
RESPONSE = (
    "Partial dependence is the mean over rows; the typical row has all other features at their medians. "
    "Skewed features have logarithmic axes, where zero is not drawn."
)
FEWEST_FOR_OUTLIERS = 30


def page(samples: Samples, trained: Trained) -> str:
    """Return the page's text.

    Raises
    ------
    MissingPackageError
        If plotly is not installed.
    """
    script = import_optional("plotly.offline").get_plotlyjs()
    return environment().get_template("training.html").render(
        title=f"{trained.fitted.regressor.title}: {samples.target} from {samples.name}",
        protocol=_protocol(samples, trained.kept),
        trained=trained,
        unit=samples.unit,
        sections=[_drawn(*each) for each in _sections(samples, trained)],
        style=Markup(asset("training.css")),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - plotly's own
        policy=POLICY,
    )  # fmt: skip


def _protocol(samples: Samples, kept: Evaluation) -> str:
    seeds = ", ".join(str(run.seed) for run in kept.runs)
    programs = len(set(samples.programs))
    return (
        f"{len(samples)} rows of {programs} programs; held out by {kept.split}, "
        f"{len(kept.runs[0].per_fold)} folds, seeds {seeds}. Plots show the first seed."
    )


def _drawn(title: str, text: str, figure: Any) -> dict[str, str]:
    """Return a section with its figure as HTML."""
    name = "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())
    html = figure.to_html(full_html=False, include_plotlyjs=False, div_id=name, config=CONFIG)
    return {"title": title, "text": text, "figure": Markup(html)}  # noqa: S704 - plotly escapes what it draws


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
    if any(samples.dwarfs):
        found = by_group(samples, predicted, samples.dwarfs)
        by_dwarf = plots.errors_by_group(found, Counter(samples.dwarfs), samples.unit)
        yield "Error by dwarf", "Programs whose class the table or thesis Table 4.7 gives.", by_dwarf
        title = f"{samples.target} by dwarf"
        yield title, "Every row; boxes hold the middle half.", plots.distributions(samples)
    yield from _model_sections(samples, trained)
    yield from _data_sections(samples)


def _model_sections(samples: Samples, trained: Trained) -> Iterator[tuple[str, str, Any]]:
    fitted = trained.fitted
    title, values = feature_weights(samples, fitted, trained.model["estimator"]["kind"])
    yield (
        "What it goes by",
        "Features by their weight in the model.",
        plots.weights(samples.features, values, title),
    )
    few = some_rows(samples)
    partial = [partial_dependence(fitted.predict, few, name) for name in samples.features]
    single = [one_at_a_time(fitted.predict, samples, name) for name in samples.features]
    yield (
        "Response to each feature",
        RESPONSE,
        plots.responses(partial, single, samples.unit),
    )
    if fitted.logarithmic:
        return
    part = make_folds(samples, trained.kept.split, 0, len(trained.kept.runs[0].per_fold))[0]
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
