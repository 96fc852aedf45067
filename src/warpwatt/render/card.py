"""Predictions in a notebook: a card for one, a table for several, in HTML that any notebook can show.

No scripts, and no style sheet either: notebooks remove them from documents that nobody has declared to be
trusted. Colours are the notebook's own (``currentColor``), so that light and dark themes both work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources

from warpwatt.choose.odds import told_apart
from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.core.units import si
from warpwatt.core.version import __version__
from warpwatt.core.warps import Stall
from warpwatt.render.comparison import BEST, by_launch, shared_warnings
from warpwatt.render.console import plain
from warpwatt.render.figures import bounds, interval, launch_shape, percent, quantity
from warpwatt.render.method import method_text
from warpwatt.render.warned import all_warnings
from warpwatt.render.words import SCHEDULER_UNITS, component_name, unit_name

SHOWN = 5
"""Units, stalls and source lines on a card."""
SMALL = 0.02
"""Shares below this are left out."""


def line(prediction: Prediction) -> str:
    """Return a prediction in one line: kernel, GPU, time, power, energy, what limits it."""
    case = prediction.case
    name = case.kernel.display_name
    at_limit = " (power limit)" if prediction.limited_by_power else ""
    return plain(
        f"{name} on {case.gpu.name}: {interval(prediction.time)}, {quantity(prediction.power)}{at_limit}, "
        f"{quantity(prediction.energy)}, limited by {prediction.timing.bottleneck}"
    )


def card(prediction: Prediction, sources: Mapping[str, str] | None = None) -> str:
    """Return one prediction as a fragment of HTML; ``sources`` are texts by the names that lines have."""
    case, timing = prediction.case, prediction.timing
    units = {unit_name(k): share for k, share in timing.busy.items() if k not in SCHEDULER_UNITS}
    stalls = {str(s): share for s, share in timing.stalls.items() if s is not Stall.SELECTED}
    bars = (
        ("Speed of light", _largest(units)),
        ("Warps wait for", _largest(stalls)),
        ("Energy goes to", _largest(_shares(prediction.energy_components))),
    )
    return _render(
        "card.html",
        name=case.kernel.display_name,
        where=f"{case.gpu.name} · {case.kernel.target}",
        numbers=_numbers(prediction),
        facts=_facts(prediction),
        bars=[(title, rows) for title, rows in bars if rows],
        lines=_hottest(prediction.lines, sources or {}),
        warnings=all_warnings(prediction),
        assumptions=[a.message + (f" ({a.fix} removes it)" if a.fix else "") for a in prediction.assumptions],
        provenance=_provenance(prediction),
    )


def table(predictions: Sequence[Prediction]) -> str:
    """Return several predictions as one HTML table per kernel and launch, the best of each marked."""
    return _render(
        "table.html",
        groups=[_group(group) for group in by_launch(predictions)],
        warnings=shared_warnings(predictions),
        starred=any(len(group) > 1 for group in by_launch(predictions)),
        at_limit=any(p.limited_by_power for p in predictions),
    )


def _group(group: Sequence[Prediction]) -> dict[str, object]:
    first, marked = group[0].case, len(group) > 1
    fastest, thriftiest = told_apart([p.time for p in group]), told_apart([p.energy for p in group])
    rows = [_row(p, marked and i == fastest, marked and i == thriftiest) for i, p in enumerate(group)]
    return {"name": first.kernel.display_name, "shape": launch_shape(first.launch), "rows": rows}


def _row(prediction: Prediction, fastest: bool, thriftiest: bool) -> dict[str, object]:
    case = prediction.case
    return {
        "gpu": case.gpu.name,
        "time": _cell(prediction.time, BEST if fastest else ""),
        "power": quantity(prediction.power) + ("*" if prediction.limited_by_power else ""),
        "energy": _cell(prediction.energy, BEST if thriftiest else ""),
        "clock": si(case.clocks.sm, "Hz"),
        "occupancy": percent(case.workload.occupancy.resident),
        "bottleneck": prediction.timing.bottleneck,
    }


def _cell(estimate: Estimate, star: str) -> tuple[str, str, str]:
    return star, quantity(estimate), bounds(estimate)


def _numbers(prediction: Prediction) -> list[tuple[str, str, str]]:
    named = (("Time", prediction.time), ("Power", prediction.power), ("Energy", prediction.energy))
    return [(name, quantity(e), bounds(e)) for name, e in named]


def _facts(prediction: Prediction) -> list[tuple[str, str]]:
    case, held = prediction.case, prediction.case.workload.occupancy
    why = ", lowered to hold the power limit" if prediction.limited_by_power else ""
    return [
        ("Limited by", prediction.timing.bottleneck),
        ("Launch", launch_shape(case.launch)),
        ("Clocks", f"{si(case.clocks.sm, 'Hz')}, memory {si(case.clocks.memory, 'Hz')}{why}"),
        ("Occupancy", f"{percent(held.resident)}, limited by {held.limiter}"),
    ]


def _largest(shares: Mapping[str, float]) -> list[tuple[str, float, str]]:
    """Return name, percent for the bar and text of the largest shares."""
    pairs = sorted(shares.items(), key=lambda pair: -pair[1])[:SHOWN]
    return [(name, round(100 * min(share, 1.0), 1), percent(share)) for name, share in pairs if share > SMALL]


def _shares(parts: Mapping[str, float]) -> dict[str, float]:
    total = sum(parts.values())
    return (
        {component_name(name).replace("_", " "): part / total for name, part in parts.items()}
        if total
        else {}
    )


def _hottest(lines: Sequence[LineCost], sources: Mapping[str, str]) -> list[tuple[int, str, str, str]]:
    """Return number, text, share of time and of energy of the lines that cost most, in source order."""
    hottest = sorted(lines, key=lambda cost: -cost.time_share)[:SHOWN]
    shown = sorted((c for c in hottest if c.time_share > SMALL), key=lambda cost: (cost.file, cost.line))
    texts = {file: text.splitlines() for file, text in sources.items()}
    return [
        (c.line, _text(c, texts.get(c.file, ())), percent(c.time_share), percent(c.energy_share))
        for c in shown
    ]


def _text(cost: LineCost, lines: Sequence[str]) -> str:
    return (lines[cost.line - 1] if 0 < cost.line <= len(lines) else cost.text).strip()


def _provenance(prediction: Prediction) -> str:
    kernel = prediction.case.kernel
    compiler = f", compiler {kernel.toolkit}" if kernel.toolkit else ""
    return (
        f"Time model {prediction.timing.model}, power model {prediction.power_result.model}{compiler}, "
        f"WarpWatt {__version__}. {method_text(prediction.case.workload.execution).capitalize()}. "
        "Brackets hold 80 %."
    )


def _render(template: str, **values: object) -> str:
    import jinja2

    folder = resources.files("warpwatt.render").joinpath("templates")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: plain(value) if isinstance(value, str) else value,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(template).render(**values)
