"""The Markdown page of ``validation/autotuners/savings.py``; every number on it is computed."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from validation.autotuners.figures import (
    ALLOWED,
    BUDGETS,
    MODELS,
    loss,
    number,
    random_loss,
    random_runs_needed,
    runs_needed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.autotuners.figures import Tuned

PROTOCOL = """\
Written by `python -m validation.autotuners.savings` on {date} at commit {commit}; do not edit.

**Kernel Tuner and KTT.** Public brute-force searches (`time_searches.py`), measured by others, are the truth.
The space of a search is here a seeded sample of its usable rows (the table says how many); every
configuration of it is ranked by predicted time, and the first of the ranking are run: their measured times
are looked up. *Loss*: by how many per cent the fastest of those run is slower than the fastest of the space.
*Random*: the loss expected of as many blind draws without repetition, exact. *Roofline*: our roofline model,
which knows the caches; *classic*: operations at the peak or DRAM bytes at the bandwidth. *Sample*: by how
much the fastest of the sample is slower than the fastest of the whole search, which no ranking of the sample
can mend.

No constant was fitted to these rows. Some things were chosen on rows of these searches (time_tuned.md names
them): those at the beginning of each sample, which are left out here. Samples are small: where one
configuration is within 2 %, a single rank decides.

Rows that failed in the measurement are not in the space: in a real search those that cannot launch are
pruned, too, which saves more runs.
"""
NAMES = {"pipeline": "ours", "roofline": "roofline", "classic roofline": "classic"}


def page(found: Sequence[Tuned], extra: Sequence[str], made: Mapping[str, str]) -> str:
    """Return the page; ``made`` is date and commit."""
    parts = [
        "# Autotuners: runs saved by ranking",
        PROTOCOL.format(**made).strip(),
        "## Loss by budget\n\nPer cent; the budget is the share of the space that is run.\n\n"
        + _losses(found),
        f"## Runs saved at {ALLOWED:.0%} loss\n\nRuns until one is within {ALLOWED:.0%} of the fastest, and "
        "the share of the space that need not run.\n\n".replace("%", " %")
        + _saved(found),
        *extra,
    ]
    return "\n\n".join(parts) + "\n"


def _name(found: Tuned) -> str:
    tool = "KTT" if found.search.checkout == "ktt" else "Kernel Tuner"
    return f"{found.search.name}, {found.search.gpu}, {tool}"


def _losses(found: Sequence[Tuned]) -> str:
    heads = [f"{budget:.0%}".replace("%", " %") for budget in BUDGETS]
    lines = [f"| search | space | sample | ranking | {' | '.join(heads)} |", "|---" * (4 + len(heads)) + "|"]
    for f in found:
        above = f"{100 * (min(f.measured) / f.best_of_all - 1):+.1f}"
        rows = {NAMES[m]: [loss(f.predicted[m], f.measured, k) for k in _numbers(f)] for m in MODELS}
        rows["random"] = [random_loss(f.measured, k) for k in _numbers(f)]
        for name, values in rows.items():
            cells = " | ".join(f"{100 * value:.1f}" for value in values)
            lines.append(f"| {_name(f)} | {len(f.measured)} of {f.rows} | {above} | {name} | {cells} |")
    lines += [
        f"| **median of {len(found)} searches** | | | {name} | {_medians(found, name)} |"
        for name in (*NAMES.values(), "random")
    ]
    return "\n".join(lines)


def _numbers(found: Tuned) -> list[int]:
    return [number(budget, len(found.measured)) for budget in BUDGETS]


def _medians(found: Sequence[Tuned], name: str) -> str:
    cells = []
    for place, _ in enumerate(BUDGETS):
        values = [_value(f, name, _numbers(f)[place]) for f in found]
        cells.append(f"{100 * statistics.median(values):.1f}" if values else "")
    return " | ".join(cells)


def _value(found: Tuned, name: str, runs: int) -> float:
    model = next((m for m, told in NAMES.items() if told == name), None)
    return (
        random_loss(found.measured, runs)
        if model is None
        else loss(found.predicted[model], found.measured, runs)
    )


def _saved(found: Sequence[Tuned]) -> str:
    names, percent = [*NAMES.values(), "random"], f"{100 * ALLOWED:.0f} %"
    lines = [
        f"| search | within {percent} | " + " | ".join(f"{n}: runs | saved" for n in names) + " |",
        "|---" * (2 + 2 * len(names)) + "|",
    ]
    for f in found:
        n = len(f.measured)
        good = sum(t <= min(f.measured) * (1 + ALLOWED) for t in f.measured)
        needed = [float(runs_needed(f.predicted[m], f.measured)) for m in MODELS]
        needed.append(random_runs_needed(f.measured))
        cells = " | ".join(f"{k:.0f} | {1 - k / n:.0%}".replace("%", " %") for k in needed)
        lines.append(f"| {_name(f)} | {good} of {n} | {cells} |")
    return "\n".join(lines)


def _summary(found: Sequence[Tuned]) -> str:
    """Return which ranking saved how much, and in how many searches ours saved more."""
    shares = {
        NAMES[m]: [1 - runs_needed(f.predicted[m], f.measured) / len(f.measured) for f in found]
        for m in MODELS
    }
    shares["random"] = [1 - random_runs_needed(f.measured) / len(f.measured) for f in found]
    medians = ", ".join(f"{name} {100 * statistics.median(values):.0f} %" for name, values in shares.items())
    others = [
        f"{name} in {sum(a > b for a, b in zip(shares['ours'], values, strict=True))} "
        f"(fewer in {sum(a < b for a, b in zip(shares['ours'], values, strict=True))})"
        for name, values in shares.items()
        if name != "ours"
    ]
    return (
        f"Median share saved: {medians}. Of {len(found)} searches, ours saves more than {', '.join(others)}."
    )
