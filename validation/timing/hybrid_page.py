"""The Markdown page of ``validation/timing/hybrid.py``; every number on it is computed."""

from __future__ import annotations

import datetime
import math
import subprocess
from typing import TYPE_CHECKING

from validation import ROOT
from validation.timing.hybrid_pairs import (
    METHODS,
    SAME,
    best_constants,
    held_out,
    other_gpus,
    other_launches,
)
from warpwatt.models import hybrid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from validation.timing.hybrid_pairs import Pair
    from validation.timing.hybrid_runs import Timed

PROTOCOL = """\
Written by `python -m validation.timing.hybrid` on {date} at commit {commit}; do not edit.

`warpwatt predict --profile run.csv` takes one measured launch of a kernel and corrects what the time model
says of other launches, clocks and GPUs (`warpwatt.models.hybrid`). Here every measured launch plays the
profile in turn and every other launch of the same kernel is predicted from it: **the launch asked for is
never the one that was measured**. Every program on every GPU weighs the same.

- *No profile*: the model alone, with data-sheet values.
- *Scaled by threads*: measured time times the ratio of threads launched, no model at all.
- *Whole ratio*: the model times measured/modelled of the profiled launch, whatever binds.
- *Hybrid*: the ratio to the power ρ; ρ falls as other resources bind and the launches lie farther apart.
- *Hybrid, constants of other families*: the same, its three constants chosen without the family of programs
  asked for (convolution, histogram, matrix product, ...), so that nothing of the answer is known.

Data: textbook kernels (github.com/R100001/Programming-Massively-Parallel-Processors, commit a972fb5), as in
time_models.md, reductions left out (several launches timed as one); applications at ten SM clocks on a Quadro
RTX 8000 (github.com/blackjack2015/NV-DVFS-Benchmark, commit f189504), as in time_unseen.md. The package's
constants were chosen on the textbook kernels of two of the four boards (RTX 2060 and 3060 Ti); the clock
sweep had no part in that. Errors are (predicted − measured)/measured in percent; "factor" is the exponential
of the root mean square of log(predicted/measured); "held" the share within the 80 % interval.
"""
HEAD = "pairs | mean | median | p90 | ≤10 % | factor | held"
LABEL = "hybrid, constants of other families"


def page(textbook: Mapping[str, Sequence[Timed]], clocks: Mapping[str, Sequence[Timed]]) -> str:
    """Return the page; a data set that is absent is named so."""
    parts = ["# One measured launch predicts the others", _protocol()]
    for model, runs in textbook.items():
        parts += _textbook(model, runs)
    parts += ["## Other clocks of the same launch, Quadro RTX 8000"]
    for model, runs in clocks.items():
        parts += [f"### {model}", _clocks(runs)]
    return "\n\n".join(parts) + "\n"


def _protocol() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    return PROTOCOL.format(date=date, commit=found.stdout.strip() or "unknown").strip()


def _textbook(model: str, runs: Sequence[Timed]) -> list[str]:
    pairs = other_launches(runs)
    if not pairs:
        return [f"## {model}", "The data set is absent."]
    families = {one.measured.program: one.measured.code.source.stem for one in runs}
    outside = {id(pair): error for pair, error in held_out(pairs, families)}
    groups: dict[str, Callable[[Pair], bool]] = {
        "all": lambda _: True,
        "same threads, other block": lambda p: p.same_threads,
        "other size": lambda p: not p.same_threads,
        f"same resource binds (overlap ≥ {SAME})": lambda p: p.bound >= SAME,
        "another resource binds": lambda p: p.bound < SAME,
    }
    lines = [f"| pairs of launches | answer | {HEAD} |", "|---" * 9 + "|"]
    for name, chosen in groups.items():
        members = [p for p in pairs if chosen(p)]
        for method in METHODS:
            errors = [p.errors[method] for p in members]
            lines.append(f"| {name} | {method} | {_cells(members, errors, method)} |")
        errors = [outside[id(p)] for p in members]
        lines.append(f"| {name} | {LABEL} | {_cells(members, errors, LABEL)} |")
    targets = ("GeForce RTX 3060 12GB", "GeForce RTX 3060 Ti", "GeForce RTX 3070 Ti")
    return [
        f"## {model}: other launches, textbook kernels",
        "\n".join(lines),
        _constants(pairs),
        f"### {model}: program by program",
        _programs(pairs),
        f"### {model}: measured on one board of compute capability 8.6, asked on another, same launch",
        _table(other_gpus(runs, targets), ("no profile", "whole ratio", "hybrid")),
    ]


def _constants(pairs: Sequence[Pair]) -> str:
    best = ", ".join(f"{x:g}" for x in best_constants(pairs))
    used = hybrid.SAME_RESOURCE, hybrid.OTHER_RESOURCE, hybrid.FADING
    return (
        f"Constants with the smallest mean logarithmic error on all of these: {best}; the package uses "
        f"{', '.join(f'{x:g}' for x in used)} for every model (ρ where the same resource binds, what another "
        "one leaves of it, and how fast that fades)."
    )


def _programs(pairs: Sequence[Pair]) -> str:
    """One line per program, by how much the profile helps: mean size of the error before and after."""
    rows = []
    for program in sorted({p.program for p in pairs}):
        own = [p for p in pairs if p.program == program]
        before, after = (_mean(own, [p.errors[m] for p in own]) for m in ("no profile", "hybrid"))
        medians = (_median(own, [p.errors[m] for p in own]) for m in ("no profile", "hybrid"))
        rows.append((after - before, program, before, after, *medians))
    head = "program | mean, no profile | mean, hybrid | median, no profile | median, hybrid"
    lines = [f"| {head} |", "|---" * 5 + "|"]
    lines += [f"| {name} | {' | '.join(f'{x:.1f}' for x in figures)} |" for _, name, *figures in sorted(rows)]
    return "\n".join(lines)


def _clocks(runs: Sequence[Timed]) -> str:
    """Return the table of the clock sweep, with time inversely proportional to the clock as a baseline."""
    pairs = other_launches(runs)
    if not pairs:
        return "The data set or the checkout of its kernels is absent."
    inverse = [p.errors["scaled by threads"] + math.log(p.clock_ratio) for p in pairs]
    lines = [f"| answer | {HEAD} |", "|---" * 8 + "|"]
    for method in METHODS:
        name = "measured time as it is" if method == "scaled by threads" else method
        lines.append(f"| {name} | {_cells(pairs, [p.errors[method] for p in pairs], method)} |")
    lines.append(f"| measured time × f₁/f₂ | {_cells(pairs, inverse, '')} |")
    return "\n".join(lines)


def _table(pairs: Sequence[Pair], methods: Sequence[str]) -> str:
    lines = [f"| answer | {HEAD} |", "|---" * 8 + "|"]
    lines += [f"| {m} | {_cells(pairs, [p.errors[m] for p in pairs], m)} |" for m in methods]
    return "\n".join(lines)


def _cells(pairs: Sequence[Pair], errors: Sequence[float], method: str) -> str:
    if not pairs:
        return "0 | | | | | |"
    total = math.fsum(p.weight for p in pairs)
    square = math.fsum(p.weight * e * e for p, e in zip(pairs, errors, strict=True)) / total
    near = math.fsum(p.weight for p, e in zip(pairs, errors, strict=True) if abs(_percent(e)) <= 10) / total
    known = all(method in p.held for p in pairs)
    held = f"{math.fsum(p.weight for p in pairs if p.held[method]) / total:.0%}" if known else ""
    return (
        f"{len(pairs)} | {_mean(pairs, errors):.1f} | {_median(pairs, errors):.1f} "
        f"| {_median(pairs, errors, 0.9):.1f} | {near:.0%} | {math.exp(math.sqrt(square)):.2f} | {held}"
    )


def _percent(error: float) -> float:
    return 100 * (math.exp(error) - 1)


def _mean(pairs: Sequence[Pair], errors: Sequence[float]) -> float:
    total = math.fsum(p.weight for p in pairs)
    return math.fsum(p.weight * abs(_percent(e)) for p, e in zip(pairs, errors, strict=True)) / total


def _median(pairs: Sequence[Pair], errors: Sequence[float], share: float = 0.5) -> float:
    """Return the weighted quantile of the errors' sizes."""
    ordered = sorted((abs(_percent(e)), p.weight) for p, e in zip(pairs, errors, strict=True))
    total, reached = math.fsum(weight for _, weight in ordered), 0.0
    for size, weight in ordered:
        reached += weight
        if reached >= share * total:
            return size
    return ordered[-1][0]
