"""The page of the fixed sample: one table of both models by data set and board, before and after."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING

from validation.timing.page import stamp
from validation.timing.statistics import Errors, errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.timing.cases import Compared

PROTOCOL = """\
# Time models on a sample of every data set that was looked at

Written by `python -m validation.timing.development --page` on {date} at commit {commit}; do not edit.

**Development rows**: causes of errors were looked for in them and mended, and the widths of the pipeline's
intervals were chosen on them, by program. The *test fifth* is the exception: whole programs of gpuFLOPBench
whose single errors nobody looked at. The sample is fixed, so that two states of the models can be compared in
minutes: {tuned} configurations of each tuned search (seed 0), {textbook} of each textbook kernel and
{operators} of each operator (the same on every board), each application at the lowest, middle and highest of
its clocks, every application on older GPUs at the data sheet's clocks, and of gpuFLOPBench's programs,
as far as there was time to run them, those whose computing and predicting took under {seconds} s of CPU.
Protocols of the data sets: time_models.md, time_tuned.md, time_unseen.md, programs_counters.md.

{before}Clocks are those of the measurement where it shows them, else today's default clocks. The A100's tuned
convolutions are left out: their rows contradict each other (time_tuned.md); so is backpropForward on boards
before Volta, where nvprof counts three times the operations of its source. *Width* is the median of the
interval's high over its low end; other columns are those of time_models.md.
"""
BEFORE = """\
*Before* is the state at commit {}, which compiled and ran the same rows itself, with the same toolkits;
whole programs were not run in it. """
MODELS = ("pipeline", "roofline")
FAR = 2.0
"""Beyond its interval by so much, an answer misleads unless it names what it assumed."""
FIGURES = ("cases", "programs", "mean", "median", "p90", "bias", "≤10 %", "≤30 %", "order", "held", "width")
COLUMNS = ("data", "GPU", "model", *FIGURES)
TITLE = "| " + " | ".join(COLUMNS) + " |"


def page(
    found: Sequence[Compared], before: Sequence[Compared], sizes: Mapping[str, object], state: str
) -> str:
    """Return the page; ``sizes`` says how much of each data set there is, ``state`` the commit before."""
    head = PROTOCOL.format(**stamp(), **sizes, before=BEFORE.format(state) if state else "")
    parts = [head, "## By data set", "", TITLE, "|" + "---|" * len(COLUMNS), *_rows(found, before)]
    parts += ["", *_outside(found)]
    parts += ["", "## By program: pipeline", "", _title_of_programs(before), *_programs(found, before)]
    return "\n".join(parts) + "\n"


def _outside(found: Sequence[Compared]) -> list[str]:
    """Return how many rows lie beyond their interval by how much, and the farthest with what was assumed."""
    distances = [c.outside("pipeline") for c in found]
    far = sorted((c for c in found if c.outside("pipeline") > FAR), key=lambda c: -c.outside("pipeline"))
    unnamed = sum(not c.answers["pipeline"].assumed for c in far)
    lines = [
        "## Outside the interval: pipeline",
        "",
        "| beyond the nearer end by more than | rows |",
        "|---|--:|",
    ]
    lines += [
        f"| ×{times:.2f} | {sum(d > times for d in distances)} |" for times in (1.0, 1.1, 1.25, 1.5, FAR)
    ]
    lines += [
        "",
        f"{len(far)} of {len(found)} rows lie beyond ×{FAR:.0f}; {unnamed} of them name no assumption.",
    ]
    for c in far:
        run, assumed = c.measured, "; ".join(c.answers["pipeline"].assumed) or "nothing assumed"
        lines.append(
            f"- {run.program} {run.configuration} on {run.gpu}: ×{c.outside('pipeline'):.2f}; {assumed}"
        )
    return lines


def _rows(found: Sequence[Compared], before: Sequence[Compared]) -> list[str]:
    groups: dict[tuple[str, str], list[Compared]] = defaultdict(list)
    earlier: dict[tuple[str, str], list[Compared]] = defaultdict(list)
    for place, rows in ((groups, found), (earlier, before)):
        for c in rows:
            for gpu in (c.measured.gpu, "all"):
                place[c.measured.data, gpu].append(c)
            place["all", "all"].append(c)
    lines = []
    for (data, gpu), rows in sorted(groups.items()):
        for model in MODELS:
            lines += _row(data, gpu, model, rows)
        if earlier[data, gpu]:
            lines += _row(data, gpu, "pipeline", earlier[data, gpu], " before")
    return lines


def _row(data: str, gpu: str, model: str, rows: Sequence[Compared], word: str = "") -> list[str]:
    figures = errors(rows, model)
    if figures is None:
        return []
    return [f"| {data} | {gpu} | {model}{word} | {_figures(figures)} | ×{_width(rows, model):.2f} |"]


def _figures(e: Errors) -> str:
    order = "" if e.spearman is None else f"{e.spearman:.2f}"
    shares = " | ".join(f"{100 * share:.0f}%" for share in e.within[:2])
    size = f"{e.mean:.1f} | {e.median:.1f} | {e.p90:.1f} | {e.bias:+.1f}"
    return f"{e.cases} | {e.programs} | {size} | {shares} | {order} | {100 * e.held:.0f}%"


def _width(rows: Sequence[Compared], model: str) -> float:
    """Return the median over the runs of high over low."""
    answers = [c.answers[model] for c in rows if model in c.answers]
    return statistics.median(a.high / a.low if a.low else math.inf for a in answers)


def _title_of_programs(before: Sequence[Compared]) -> str:
    columns = ["data", "program", "limited by", "cases", "mean", "bias", "held", "width", "roofline"]
    columns += ["before"] * bool(before)
    return "| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|"


def _programs(found: Sequence[Compared], before: Sequence[Compared]) -> list[str]:
    groups: dict[tuple[str, str], list[Compared]] = defaultdict(list)
    earlier: dict[tuple[str, str], list[Compared]] = defaultdict(list)
    for place, rows in ((groups, found), (earlier, before)):
        for c in rows:
            place[c.measured.data, c.measured.program].append(c)
    lines = []
    for (data, program), rows in sorted(groups.items()):
        ours, roof = errors(rows, "pipeline"), errors(rows, "roofline")
        was = errors(earlier[data, program], "pipeline")
        if ours is None or roof is None:
            continue
        limits = statistics.mode(c.answers["pipeline"].bottleneck for c in rows)
        cells = [data, program, limits, str(ours.cases), f"{ours.mean:.1f}", f"{ours.bias:+.1f}"]
        cells += [f"{100 * ours.held:.0f}%", f"×{_width(rows, 'pipeline'):.2f}", f"{roof.mean:.1f}"]
        cells += [f"{was.mean:.1f}" if was else ""] * bool(before)
        lines.append("| " + " | ".join(cells) + " |")
    return lines
