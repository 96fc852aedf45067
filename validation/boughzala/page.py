"""The Markdown page of ``validation/boughzala/block_model.py``; every number is computed, or the paper's."""

from __future__ import annotations

import datetime
import re
import statistics
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING

from validation import ROOT
from validation.boughzala.fits import CHOICES, ENDS, MODELS, outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from validation.boughzala.fits import Outcome
    from validation.boughzala.sweeps import Sweep

PROTOCOL = """\
Written by `python -m validation.boughzala.block_model` on {date} at commit {commit}; do not edit.

Boughzala, Lefèvre and Orgerie (2020) fit time and energy to three measured grid sizes of a kernel
(`warpwatt predict --model boughzala --profile runs.csv`). Here three sizes of every sweep are measured and
**all other sizes are predicted**; errors are sizes of (predicted − measured)/measured in percent, worst
(WRE), best (BRE) and average (ARE) over the sizes of a sweep, equation (8) with the absolute value and the
division by n that its print lacks. The paper reports average errors of at most 6.69 % (time) and 6.86 %
(energy) on a Tesla M2075, 6.54 % and 8.33 % on a K20Xm.

- *line*, *rounds*: the paper's equations. *Resident rounds, ours*: rounds of all blocks that fit by
  occupancy (where our own kernels are at hand), and the measured power drawn straight from size to size.
- *Largest of the three, scaled by blocks*: no model at all.
- *Our default model*: `pipeline` without any run, and with the middle one of the three as `--profile`.
- *σ*: the standard deviation of log(measured / predicted) whose 80 % interval holds 80 % of the sizes.
"""
TEXTBOOK = """\
Textbook kernels on RTX 2060, 3060, 3060 Ti and 3070 Ti (github.com/R100001/Programming-Massively-Parallel-\
Processors, commit a972fb5): one launch each, at least 20 µs and six sizes."""
POWERQUANT = """\
Simple kernels on four GPUs (PowerQuant, github.com/santonus/energymodel, commit 76f3e50): measured power
times measured time. The data name neither three of the GPUs nor their idle power (the lowest reading of a
file less the watt it is rounded to is taken), and power is in whole watts. Where a run is shorter than a few
periods of the sensor its power reads too low: the same kernel then draws several times as much in a larger
grid. The paper samples every 50 ms, so the runs of at least half a second are those its protocol would allow.
*Unequal blocks* are `matrix_softmax` and `matrix_det`, whose times do not follow the blocks: such kernels are
outside what the paper assumes, and are here to show how that looks."""


def page(sections: Sequence[str]) -> str:
    """Return the page."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    top = PROTOCOL.format(date=date, commit=found.stdout.strip() or "unknown").strip()
    return "\n\n".join(["# Time and energy from the number of blocks", top, *sections]) + "\n"


def textbook_section(sweeps: Sequence[Sweep]) -> list[str]:
    """Return the part on times of the textbook kernels."""
    if not sweeps:
        return ["## Time: textbook kernels", "The data set is absent."]
    parts = ["## Time: textbook kernels", TEXTBOOK]
    for choice in CHOICES:
        found, refused = _all(sweeps, choice)
        parts += [f"Fitted to the {choice}, {len(sweeps)} sweeps:", _summary(found), _refusals(refused)]
    found, _ = _all(sweeps, ENDS)
    return [*parts, "Sweep by sweep, average error of time:", _programs(found)]


def powerquant_section(sweeps: Sequence[Sweep], long: Sequence[Sweep]) -> list[str]:
    """Return the part on time and energy of PowerQuant: all runs, and the long ones."""
    if not sweeps:
        return ["## Time and energy: PowerQuant", "The data set is absent."]
    parts = ["## Time and energy: PowerQuant", POWERQUANT]
    for title, group in (("all runs", sweeps), ("runs of at least 0.5 s", long)):
        for label, chosen in (("equal blocks", True), ("unequal blocks", False)):
            members = [sweep for sweep in group if sweep.equal is chosen]
            found, refused = _all(members, ENDS)
            head = f"### {title}, {label}: {len(members)} sweeps, fitted to the {ENDS}"
            parts += [head, _summary(found), _refusals(refused)]
    found, _ = _all(long, ENDS)
    return [*parts, "### Kernel by kernel, runs of at least 0.5 s, median over block sizes", _kernels(found)]


def _all(sweeps: Iterable[Sweep], choice: str) -> tuple[list[Outcome], dict[str, int]]:
    found: list[Outcome] = []
    refused: dict[str, int] = defaultdict(int)
    for sweep in sweeps:
        answers, why = outcomes(sweep, choice)
        found += answers
        for reason in why:
            refused[re.sub(r"\d+ W", "that file", reason)] += 1
    return found, refused


def _summary(found: Sequence[Outcome]) -> str:
    """Return a line per model: averages over sweeps, and how wide an interval holds 80 % of the sizes."""
    head = "model | sweeps | time: mean ARE | median ARE | worst ARE | ≤ 6.9 % | σ | energy: mean ARE"
    lines = [f"| {head} | median ARE | ≤ 6.9 % | power σ |", "|---" * 11 + "|"]
    for model in MODELS:
        own = [outcome for outcome in found if outcome.model == model]
        if own:
            times = [outcome.time.average for outcome in own]
            joules = [outcome.energy.average for outcome in own if outcome.energy is not None]
            energy = f"{_mean(joules)} | {_median(joules)} | {_within(joules)}" if joules else "| |"
            sigma, power = _sigma(o.time_logs for o in own), _sigma(o.power_logs for o in own)
            lines.append(
                f"| {model} | {len(own)} | {_mean(times)} | {_median(times)} | {max(times):.1f} "
                f"| {_within(times)} | {sigma} | {energy} | {power} |"
            )
    return "\n".join(lines)


def _mean(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.1f}"


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f}"


def _within(values: Sequence[float]) -> str:
    return f"{sum(value <= 6.9 for value in values) / len(values):.0%}"


def _sigma(groups: Iterable[Sequence[float]]) -> str:
    """Return the standard deviation whose 80 % interval holds 80 % of the sizes, sweeps weighing the same."""
    weighted = sorted((abs(log), 1 / len(logs)) for logs in groups for log in logs)
    total, reached = sum(weight for _, weight in weighted), 0.0
    for size, weight in weighted:
        reached += weight
        if reached >= 0.8 * total:
            return f"{size / 1.2816:.3f}"
    return ""


def _refusals(refused: dict[str, int]) -> str:
    listed = "; ".join(f"{reason} ({count})" for reason, count in sorted(refused.items()))
    return f"Refused: {listed}." if listed else "No model refused a sweep."


def _programs(found: Sequence[Outcome]) -> str:
    lines = [f"| kernel | GPU | {' | '.join(MODELS)} |", "|---" * (2 + len(MODELS)) + "|"]
    by_sweep: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for outcome in found:
        sweep = outcome.sweep
        by_sweep[f"{sweep.program} {sweep.block}", sweep.gpu, sweep.data][outcome.model] = (
            outcome.time.average
        )
    for (program, gpu, _), errors in sorted(by_sweep.items()):
        cells = " | ".join(f"{errors[m]:.1f}" if m in errors else "" for m in MODELS)
        lines.append(f"| {program} | {gpu} | {cells} |")
    return "\n".join(lines)


def _kernels(found: Sequence[Outcome]) -> str:
    groups: dict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    for outcome in found:
        if outcome.energy is not None and outcome.model in MODELS[:3]:
            groups[outcome.sweep.gpu, outcome.sweep.program, outcome.model].append(outcome)
    head = "GPU | kernel | model | sweeps | time WRE | BRE | ARE | energy WRE | BRE | ARE"
    lines = [f"| {head} |", "|---" * 10 + "|"]
    for (gpu, program, model), own in sorted(groups.items()):
        times = [statistics.median(figures) for figures in zip(*(o.time for o in own), strict=True)]
        joules = [o.energy for o in own if o.energy is not None]
        energies = [statistics.median(figures) for figures in zip(*joules, strict=True)]
        cells = " | ".join(f"{figure:.2f}" for figure in (*times, *energies))
        lines.append(f"| {gpu} | {program} | {model} | {len(own)} | {cells} |")
    return "\n".join(lines)
