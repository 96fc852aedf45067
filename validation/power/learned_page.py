"""The Markdown page and the card of ``validation/power/learned.py``; every number on them is computed."""

from __future__ import annotations

import datetime
import statistics
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from validation import ROOT
from validation.power.cases import TIME_MODEL
from validation.power.residuals import MOST_CLOCKS
from warpwatt.lab.learn.physics import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.power.learned import Outcome
    from validation.power.residuals import Residual

PROTOCOL = """\
Written by `python -m validation.power.learned` on {date} at commit {commit}; do not edit.

Small boosted trees ({settings}) learn log(measured / component model) from physical features, none of
them measured: shares of the component model's watts, predicted utilisations, issue and byte rates,
occupancy, clocks, power over the limit. Data, launches and left-out rows are those of `power_models.md`;
of each program at most {clocks} clocks on a GPU. Errors are |predicted − measured| / measured in
percent: mean over the clocks of a program, then over programs. "Before": seconds are `{time_model}`'s,
power cut at the board's limit. "Measured": our analysis says what the launch does, the data say in how
many seconds. Rows of both kinds train together.

- **Programs left out**: no row of the program, on any GPU, is in training; the component model is
  calibrated to the other programs of the GPU.
- **GPUs left out**: no row of the chip is in training, and the component model is what the specification
  and other GPUs say; with the program unseen too, or known from other GPUs.
- *Constant*: the mean of the training programs on that GPU, or their mean share of the power limit.

What the component model says of a training row comes from a fit without that row's program, as it will
for new programs, and without the GPU that is left out; the left-out program is in those fits of other
rows. Hyper-parameters were not tuned but for the number of trees, the smaller (and better) of the two
tried, 30 and 100; features were chosen with these data in view.
"""
MODELS = ("constant", "component", "component+learned")


def page(outcomes: Sequence[Outcome], features: Sequence[str]) -> str:
    """Return the page."""
    parts = ["# Power learned on physics", _protocol()]
    for outcome in outcomes:
        parts += [f"## {outcome.title}", _table(outcome)]
    parts += [
        "## Verdict",
        verdict(outcomes),
        "## Features",
        ", ".join(f"`{name}`" for name in features) + ".",
    ]
    return "\n\n".join(parts) + "\n"


def _protocol() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return PROTOCOL.format(
        date=datetime.datetime.now(tz=datetime.UTC).date(),
        commit=found.stdout.strip() or "unknown",
        settings=", ".join(f"{name} {value}" for name, value in SETTINGS.items()),
        clocks=MOST_CLOCKS,
        time_model=TIME_MODEL,
    ).strip()


def _table(outcome: Outcome) -> str:
    columns = list(outcome.said)
    head = "data | GPU | rows | programs | " + " | ".join(columns)
    lines = [f"| {head} |", "|---" * (head.count("|") + 1) + "|"]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, row in enumerate(outcome.rows):
        groups[row.case.data, row.case.gpu].append(i)
    for (data, gpu), members in groups.items():
        lines.append(f"| {data} | {gpu} | {_cells(outcome, members)} |")
    lines.append(f"| **all** | | {_cells(outcome, range(len(outcome.rows)))} |")
    return "\n".join(lines)


def _cells(outcome: Outcome, members: Sequence[int]) -> str:
    rows = [outcome.rows[i] for i in members]
    programs = len({_group(row) for row in rows})
    errors = [error(rows, [values[i] for i in members]) for values in outcome.said.values()]
    return f"{len(rows)} | {programs} | " + " | ".join(f"{value:.1f}" for value in errors)


def _group(row: Residual) -> tuple[str, str, str]:
    return row.case.data, row.case.gpu, row.case.program


def error(rows: Sequence[Residual], said: Sequence[float]) -> float:
    """Return the mean error in percent, every program of a GPU weighing the same."""
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row, watts in zip(rows, said, strict=True):
        limit = row.case.measured.gpu.power_limit or float("inf")
        found[_group(row)].append(abs(min(watts, limit) / row.case.measured.watts - 1))
    return 100 * statistics.fmean(statistics.fmean(group) for group in found.values())


def figures(outcome: Outcome) -> dict[str, float]:
    """Return the mean error of each model before anything runs, in percent."""
    return {name: round(error(outcome.rows, outcome.said[f"{name}, before"]), 2) for name in MODELS}


def verdict(outcomes: Sequence[Outcome]) -> str:
    """Return whether the learned part earns its place as the default, in a sentence."""
    programs, gpus = outcomes[0], outcomes[1]
    gains = {o.title: figures(o)["component"] - figures(o)["component+learned"] for o in (programs, gpus)}
    listed = "; ".join(f"{title.lower()}: {gain:+.1f} points" for title, gain in gains.items())
    wins = all(gain > 0 for gain in gains.values())
    what = "it wins on both, so it may be the default" if wins else "the component model stays the default"
    rule = f"By the rule that both must win, {what}."
    return f"Gain over the component model before anything runs, {listed}. {rule}"


def card_markdown(card: Mapping[str, Any]) -> str:
    """Return the card for readers."""
    data = card["data"]
    lines = [
        "# component+learned",
        "",
        "Written by `python -m validation.power.learned` (docs/validation/power_learned.md); do not edit.",
        "",
        f"- Data: {data['rows']} rows, {len(data['programs'])} programs of {', '.join(data['sets'])}.",
        f"- GPUs: {', '.join(data['gpus'])}.",
        "",
        "| mean error before anything runs, % | " + " | ".join(MODELS) + " |",
        "|---|" + "---|" * len(MODELS),
        *(
            f"| {title} | {' | '.join(f'{found[name]:.1f}' for name in MODELS)} |"
            for title, found in card["figures"].items()
        ),
        "",
        *(f"- Limit: {text}" for text in card["limits"]),
    ]
    return "\n".join(lines) + "\n"
