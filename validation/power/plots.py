"""The three plots of power that a user wants first, on one page that needs no network.

Run ``python -m validation.power.plots OUTPUT.html --cache FILE`` from the repository root, where FILE holds
the analysed cases that ``validation.power.models --cache`` kept: measured against predicted power by program
(each left out of the fit), the energy of a kernel by component, and its source lines by their energy.
"""

from __future__ import annotations

import argparse
import math
import pickle
from collections import defaultdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from plotly.subplots import make_subplots

from validation import ROOT
from validation.power.judge import judge_calibrated
from warpwatt.compose import predict
from warpwatt.core.units import si
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find
from warpwatt.lab.measure.corpus import load_program
from warpwatt.models.component.parameters import STATIC
from warpwatt.render.words import unit_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.power.by_hand import PowerCase
    from validation.power.judge import Answer
    from warpwatt.core.prediction import Prediction

PALETTE = ("#0b5cad", "#c8590a", "#1a7f37", "#cf222e", "#8250df", "#9a6700")
"""Colours of the programs that are predicted worst; the others are grey."""
GREY, BLUE, ORANGE, INK = "#b3bac2", PALETTE[0], PALETTE[1], "#16191d"
KERNEL = ("dense_linear_algebra/matmul_tiled", "large", "NVIDIA H200")
LINE_WIDTH = 72
"""Characters of a source line that are shown."""
AGAINST = (
    "Predicted before anything runs, by coefficients fitted to the other programs on that GPU. Every dot is "
    "a program at one clock; the band is ±10 %. Coloured: the programs with the largest mean error."
)
CONFIG = {"displayModeBar": False}
STYLE = """
body { margin: 0 auto; max-width: 1180px; padding: 1rem; background: #f5f6f8; color: #16191d;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; } .soft { color: #57606a; }
figure { margin: .6rem 0; padding: .6rem; background: #fff; border: 1px solid #d8dde3; border-radius: 8px; }
"""


def main(arguments: Sequence[str] = ()) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args(list(arguments))
    cases, _ = pickle.loads(options.cache.read_bytes())
    analysed = [case for case in cases if case.predicted is not None]
    prediction = predicted_kernel(*KERNEL)
    parts = (
        ("Measured against predicted power, by program",
         against_measured(analysed, judge_calibrated(analysed)), AGAINST),
        (f"Where the energy of {prediction.case.kernel.name} goes on {prediction.case.gpu.name}",
         by_component(prediction), "Grey: drawn however little the kernel does."),
        ("Which lines cost it", by_line(prediction),
         "Shares of the kernel's energy and time, in the order of the source."),
    )  # fmt: skip
    options.output.write_text(page(parts), encoding="utf-8")


def predicted_kernel(name: str, size: str, gpu_name: str) -> Prediction:
    """Return the prediction of the first launch of a corpus program."""
    program = load_program(ROOT / "corpus" / f"{name}.toml")
    first, gpu = program.size(size).launches[0], find(gpu_name)
    kernel = load_kernel(program.source, gpu.target, CompileOptions(), first.kernel)
    return predict(kernel, first.launch, gpu)


def against_measured(cases: Sequence[PowerCase], answers: Sequence[Answer | None]) -> Any:
    """Return one panel for each GPU and data set: predicted over measured watts."""
    pairs = [(case, said) for case, said in zip(cases, answers, strict=True) if said is not None]
    panels = list(dict.fromkeys((case.data, case.gpu) for case, _ in pairs))
    worst = _worst(pairs)
    titles = [f"{gpu}<br><sup>{data}</sup>" for data, gpu in panels]
    rows = math.ceil(len(panels) / 3)
    figure = make_subplots(rows, 3, subplot_titles=titles, horizontal_spacing=0.07, vertical_spacing=0.17)
    for i, panel in enumerate(panels):
        place = {"row": i // 3 + 1, "col": i % 3 + 1}
        own = [pair for pair in pairs if (pair[0].data, pair[0].gpu) == panel]
        _panel(figure, own, worst, place)
    for name, colour in zip(worst, PALETTE, strict=False):
        figure.add_scatter(x=[None], y=[None], mode="markers", name=name, marker={"color": colour})
    figure.add_scatter(x=[None], y=[None], mode="markers", name="others", marker={"color": GREY})
    return _styled(figure, 340 * rows)


def _worst(pairs: Sequence[tuple[PowerCase, Answer]]) -> list[str]:
    """Return the programs with the largest mean error, largest first."""
    errors: dict[str, list[float]] = defaultdict(list)
    for case, said in pairs:
        errors[case.program].append(abs((said.watts_predicted_time or 0.0) / case.measured.watts - 1))
    mean = {name: math.fsum(found) / len(found) for name, found in errors.items()}
    return sorted(mean, key=lambda name: -mean[name])[: len(PALETTE)]


def _panel(
    figure: Any, own: Sequence[tuple[PowerCase, Answer]], worst: list[str], place: dict[str, int]
) -> None:
    """Draw one GPU: dots, the line of equality and its band."""
    watts = [w for case, said in own for w in (case.measured.watts, said.watts_predicted_time or 0.0)]
    ends = [0.92 * min(watts), 1.08 * max(watts)]
    for factor, dash in ((1.0, "solid"), (1.1, "dot"), (0.9, "dot")):
        line = {"color": INK, "width": 1, "dash": dash}
        figure.add_scatter(
            x=ends, y=[factor * end for end in ends], mode="lines", line=line, showlegend=False,
            hoverinfo="skip", **place,
        )  # fmt: skip
    for name in ("", *worst):
        chosen = [p for p in own if p[0].program == name or (not name and p[0].program not in worst)]
        colour = PALETTE[worst.index(name)] if name else GREY
        figure.add_scatter(
            x=[case.measured.watts for case, _ in chosen],
            y=[said.watts_predicted_time for _, said in chosen],
            text=[f"{case.program}, {case.measured.clocks.sm / 1e6:.0f} MHz" for case, _ in chosen],
            mode="markers", marker={"size": 6, "opacity": 0.7, "color": colour}, showlegend=False, **place,
        )  # fmt: skip
    figure.update_xaxes(title="measured, W", range=ends, **place)
    figure.update_yaxes(title="predicted, W", range=ends, **place)


def by_component(prediction: Prediction) -> Any:
    """Return bars of the energy by component, largest on top."""
    parts = sorted(prediction.energy_components.items(), key=lambda part: part[1])
    whole = math.fsum(joules for _, joules in parts)
    bars = go.Bar(
        x=[joules for _, joules in parts],
        y=[unit_name(name) for name, _ in parts],
        orientation="h",
        marker={"color": [GREY if name in STATIC else BLUE for name, _ in parts]},
        text=[f"{joules / whole:.1%}" for _, joules in parts],
        hovertext=[f"{unit_name(name)}: {si(joules, 'J')}" for name, joules in parts],
        hoverinfo="text",
        textposition="outside",
        cliponaxis=False,
    )
    figure = go.Figure(bars)
    figure.update_xaxes(
        title=f"energy of a launch (together {si(whole, 'J')})",
        exponentformat="SI",
        minexponent=0,
        ticksuffix="J",
    )
    return _styled(figure, 120 + 26 * len(parts))


def by_line(prediction: Prediction) -> Any:
    """Return bars of energy and time by source line, in the order of the source."""
    lines = sorted(prediction.lines, key=lambda line: (line.file, line.line), reverse=True)
    labels = [f"{line.line:>4}  {_shortened(line.text)}" for line in lines]
    figure = go.Figure()
    for name, colour, shares in (
        ("time", ORANGE, [line.time_share for line in lines]),
        ("energy", BLUE, [line.energy_share for line in lines]),
    ):
        bar = {"orientation": "h", "name": name, "marker": {"color": colour}}
        figure.add_bar(x=[100 * s for s in shares], y=labels, **bar)
    figure.update_yaxes(tickfont={"family": "ui-monospace, Menlo, Consolas, monospace", "size": 12})
    figure.update_xaxes(title="share, %")
    figure.update_layout(barmode="group", legend={"traceorder": "reversed"})
    return _styled(figure, 130 + 34 * len(lines))


def _shortened(text: str) -> str:
    """Return a source line as labels show it: cut first, so that no entity is, and quotes as they are."""
    text = text.strip()
    shown = text if len(text) <= LINE_WIDTH else text[: LINE_WIDTH - 1] + "…"
    return escape(shown, quote=False)


def _styled(figure: Any, height: int) -> Any:
    figure.update_layout(
        height=height, margin={"l": 10, "r": 60, "t": 50, "b": 40},
        paper_bgcolor="#fff", plot_bgcolor="#fff",
        font={"family": "system-ui, sans-serif", "size": 13, "color": INK},
    )  # fmt: skip
    figure.update_xaxes(gridcolor="#e4e8ec", zerolinecolor="#b3bac2", automargin=True)
    figure.update_yaxes(gridcolor="#e4e8ec", zerolinecolor="#b3bac2", automargin=True)
    return figure


def page(parts: Sequence[tuple[str, Any, str]]) -> str:
    """Return the page of titled figures with a sentence each."""
    sections = "\n".join(
        f'<h2>{escape(title)}</h2><p class="soft">{escape(said)}</p>'
        f"<figure>{figure.to_html(full_html=False, include_plotlyjs=False, config=CONFIG)}</figure>"
        for title, figure, said in parts
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Power in three plots</title>'
        f"<style>{STYLE}</style><script>{get_plotlyjs()}</script></head>\n"
        f"<body><h1>Power in three plots</h1>\n{sections}\n</body></html>\n"
    )


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
