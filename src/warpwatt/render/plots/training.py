"""The papers' plots with plotly: each function returns one figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.errors import import_optional

if TYPE_CHECKING:
    from warpwatt.lab.learn.diagnostics import Response
    from warpwatt.lab.learn.evaluate import Errors
    from warpwatt.lab.learn.samples import Floats, Samples

PALETTE = (
    "#0b5cad", "#c8590a", "#1a7f37", "#cf222e", "#8250df", "#9a6700", "#bf3989", "#0a8f8f", "#6639ba",
    "#57a000",
)  # fmt: skip
"""Colours of the largest programs; the others share grey."""
SKEWED = 50.0
"""A feature whose largest value is this many times its median is drawn on a logarithmic axis."""
COLUMNS = 3
ROW_PX = 230
"""Small multiples: figures in a row, height of a row in pixels."""
GREY, BLUE, ORANGE = "#b3bac2", PALETTE[0], PALETTE[1]


def measured_against_predicted(samples: Samples, predicted: Floats) -> Any:
    """Return held-out predictions over measurements, coloured by program (5.12)."""
    go = import_optional("plotly.graph_objects")
    programs = np.array(samples.programs)
    names, counts = np.unique(programs, return_counts=True)
    named = [str(n) for n in names[np.argsort(-counts, kind="stable")][: len(PALETTE)]]
    figure = go.Figure()
    others = ~np.isin(programs, named)
    for label, rows in [("other programs", others), *((name, programs == name) for name in named)]:
        if rows.any():
            colour = PALETTE[named.index(label)] if label in named else GREY
            marker = {"size": 5, "opacity": 0.65, "color": colour}
            texts = [samples.kernels[int(i)] for i in np.flatnonzero(rows)]
            xy = {"x": samples.y[rows], "y": predicted[rows]}
            figure.add_scatter(**xy, mode="markers", name=label, text=texts, marker=marker)
    ends = [float(samples.y.min()), float(samples.y.max())]
    line = {"color": "#16191d", "width": 1, "dash": "dot"}
    figure.add_scatter(x=ends, y=ends, mode="lines", name="equal", line=line)
    axis = {"type": "log"} if samples.target != "power" else {}
    figure.update_xaxes(title=f"measured {samples.target}, {samples.unit}", **axis)
    figure.update_yaxes(title=f"predicted {samples.target}, {samples.unit}", **axis)
    return _styled(figure, 520)


def errors_by_group(found: Mapping[str, Errors], counts: Mapping[str, int], unit: str) -> Any:
    """Return the mean absolute error of each group, the largest on top (5.13, Table 5.12)."""
    go = import_optional("plotly.graph_objects")
    names = sorted(found, key=lambda name: found[name].mae)
    bars = go.Bar(
        x=[found[name].mae for name in names],
        y=[f"{name} ({counts[name]})" for name in names],
        orientation="h",
        marker={"color": BLUE},
        text=[f"{found[name].mape:.1f} %" for name in names],
    )
    figure = go.Figure(bars)
    figure.update_xaxes(title=f"mean absolute error, {unit}; in the bars, percent")
    return _styled(figure, 160 + 18 * len(names))


def distributions(samples: Samples) -> Any:
    """Return how the target is spread within each class of programs, as boxes and single rows."""
    go = import_optional("plotly.graph_objects")
    figure = go.Figure()
    labels = np.array(samples.dwarfs)
    names = sorted({name for name in samples.dwarfs if name})
    for name in names:
        measured = samples.y[labels == name]
        marker = {"color": BLUE, "size": 3}
        figure.add_box(x=measured, name=f"{name} ({len(measured)})", boxpoints="all", marker=marker)
    figure.update_xaxes(title=f"measured {samples.target}, {samples.unit}")
    return _styled(figure, 160 + 50 * len(names), legend=False)


def weights(names: Sequence[str], values: Floats, title: str) -> Any:
    """Return features by falling weight (5.8)."""
    go = import_optional("plotly.graph_objects")
    order = np.argsort(values, kind="stable")
    bars = go.Bar(x=values[order], y=[names[int(i)] for i in order], orientation="h", marker={"color": BLUE})
    figure = go.Figure(bars)
    figure.update_xaxes(title=title)
    return _styled(figure, 140 + 22 * len(names))


def heat_map(names: Sequence[str], matrix: Floats) -> Any:
    """Return a matrix of correlation coefficients (5.5, 5.6, 5.7)."""
    go = import_optional("plotly.graph_objects")
    figure = go.Figure(
        go.Heatmap(
            z=np.round(matrix, 2)[::-1],
            x=list(names),
            y=list(names)[::-1],
            zmin=-1,
            zmax=1,
            colorscale="RdBu",
            reversescale=True,
            texttemplate="%{z}",
            textfont={"size": 9},
        )
    )
    figure.update_xaxes(tickangle=-60)
    return _styled(figure, 200 + 24 * len(names))


def relationships(samples: Samples) -> Any:
    """Return the target over each feature (5.10); skewed features on logarithmic axes."""
    figure, places = _multiples(samples.features)
    for column, (row, place) in zip(samples.x.T, places, strict=True):
        marker = {"size": 3, "opacity": 0.5, "color": BLUE}
        figure.add_scatter(x=column, y=samples.y, mode="markers", marker=marker, row=row, col=place)
        _fit_axis(figure, column, row, place)
    return _styled(figure, _height(samples.features), legend=False)


def responses(partial: Sequence[Response], single: Sequence[Response], unit: str) -> Any:
    """Return partial dependence (5.17) and the response of one typical row (5.15), feature by feature."""
    names = [each.feature for each in partial]
    figure, places = _multiples(names)
    for kind, colour, answers in (("mean over rows", BLUE, partial), ("typical row", ORANGE, single)):
        for i, (each, (row, place)) in enumerate(zip(answers, places, strict=True)):
            figure.add_scatter(
                x=each.values,
                y=each.predicted,
                mode="lines+markers",
                name=kind,
                legendgroup=kind,
                showlegend=i == 0,
                line={"color": colour},
                marker={"size": 3},
                row=row,
                col=place,
            )
    for each, (row, place) in zip(partial, places, strict=True):
        _fit_axis(figure, each.values, row, place)
    figure.update_yaxes(title=unit, col=1)
    return _styled(figure, _height(names))


def density(scores: Floats, bound: float) -> Any:
    """Return how often each outlier score occurs, with the bound above which rows are outliers (5.18)."""
    go = import_optional("plotly.graph_objects")
    figure = go.Figure(go.Histogram(x=scores, nbinsx=50, marker={"color": BLUE}))
    figure.add_vline(x=bound, line={"color": ORANGE, "dash": "dash"}, annotation_text="outliers right of it")
    figure.update_xaxes(title="GLOSH outlier score")
    figure.update_yaxes(title="rows")
    return _styled(figure, 340)


def loss_curves(curves: Mapping[str, Sequence[tuple[float, float]]], unit: str) -> Any:
    """Return training and held-out root mean square errors over epochs or trees (5.11, 5.14)."""
    go = import_optional("plotly.graph_objects")
    figure = go.Figure()
    for i, (name, curve) in enumerate(curves.items()):
        for j, (what, dash) in enumerate((("training", "solid"), ("held out", "dot"))):
            values = [np.sqrt(pair[j]) for pair in curve]
            line = {"color": PALETTE[i % len(PALETTE)], "dash": dash}
            figure.add_scatter(y=values, mode="lines", name=f"{name}, {what}", line=line)
    figure.update_xaxes(title="epochs, or trees")
    figure.update_yaxes(title=f"root mean square error, {unit}", rangemode="tozero")
    return _styled(figure, 420)


def _multiples(names: Sequence[str]) -> tuple[Any, list[tuple[int, int]]]:
    """Return a figure of small multiples and the (row, column) of each."""
    rows = _rows(names)
    make = import_optional("plotly.subplots").make_subplots
    figure = make(rows, COLUMNS, subplot_titles=list(names), vertical_spacing=0.25 / rows)
    return figure, [(1 + i // COLUMNS, 1 + i % COLUMNS) for i in range(len(names))]


def _fit_axis(figure: Any, values: Floats, row: int, column: int) -> None:
    """Make the axis of a skewed feature logarithmic; values of zero are then left of it, not drawn."""
    positive = values[values > 0]
    if len(positive) and values.min() >= 0 and positive.max() > SKEWED * np.median(positive):
        figure.update_xaxes(type="log", row=row, col=column)


def _rows(names: Sequence[str]) -> int:
    return -(-len(names) // COLUMNS)


def _height(names: Sequence[str]) -> int:
    return 60 + ROW_PX * _rows(names)


def _styled(figure: Any, height: int, *, legend: bool = True) -> Any:
    figure.update_layout(
        template="simple_white",
        height=height,
        showlegend=legend and len(figure.data) > 1,
        legend={"orientation": "h", "y": 1.0, "yanchor": "top", "yref": "container", "x": 0},
        margin={"l": 60, "r": 20, "t": 70, "b": 50},
        font={"family": "system-ui, sans-serif", "size": 12},
    )
    figure.update_yaxes(automargin=True)
    return figure
