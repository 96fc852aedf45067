"""The Markdown page of ``validation/timing/models.py``; every number on it is computed."""

from __future__ import annotations

import datetime
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING

from validation import ROOT
from validation.timing.cases import BASELINES, MODELS
from validation.timing.statistics import HELD, errors, spread_that_holds
from validation.timing.thesis import NAME as THESIS
from validation.timing.tuning import SEED
from warpwatt.models.registry import DEFAULT_TIME
from warpwatt.models.roofline import MODEL_SPREAD

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence

    from validation.timing.cases import Compared
    from validation.timing.statistics import Errors

SAMPLE_OF_TUNED = 30
"""Configurations of each search; `time_tuned` takes 500."""
PROTOCOL = """\
Written by `python -m validation.timing.models` on {date} at commit {commit}; do not edit.

**Development rows, data-sheet values**: no GPU was calibrated, but these rows were looked at all along. The
causes of large errors were looked for in them and mended, mostly where a published fact was missing; chosen
on them were the order of issue, L2's clock (0.94 of the SMs') and its 2.5 clocks per sector of atomics, the
way of special functions through the memory queue, the default model and the width of its interval. Programs
unlike these may fare worse: see time_unseen.md. For that test remain, not looked at: the textbook
kernels on RTX 3080 and GTX 1650 and their scans, the tuned kernels on A4000, RTX 3060 Laptop and Titan RTX.

- *Textbook kernels*: NVBench times on GeForce boards (github.com/R100001/Programming-Massively-Parallel-
  Processors, commit a972fb5). Our own kernels after the description of each variant, compiled for the
  board; sizes, blocks, zero-filled buffers and the cold L2 as measured. The events around a kernel add
  5-8 µs: the time of the smallest problem of the same family on the same board, less 1.1 µs, is taken
  off. Between the launches of a reduction the host copies vectors: the intercept of time against elements,
  97-106 µs, is taken off. The RTX 2060 of these data streams at 60 % of its bandwidth, the other boards at
  91-95 %: it stands as it is.
- *Tuned kernels*: seeded samples (seed {seed}) of {sample} configurations of each of nine public searches,
  the beginning of those of time_tuned.md, where protocol and causes stand.
- *Thesis, Table 4.8*: our kernels in place of the benchmark's, launches inferred, caches left out: orders of
  magnitude, not accuracy (see alavani_time.md). They do not enter the choices.

Clocks are the package's default clocks: the boost clock of the data sheet; for GeForce boards the clock that
somebody observed where the power limit does not bind, and the memory clock that the driver sets for CUDA.
None of the measurements locked or recorded them, and none of these clocks comes from the measurements.
Baselines:
*classic roofline*, FLOPs at the peak and DRAM bytes at the theoretical bandwidth; *bytes asked for /
bandwidth*, every byte the lanes of the kernel ask for, caches ignored.

Error is (predicted − measured)/measured in percent: mean and median of its size, 90th percentile, bias
(median with sign). "Factor": exponential of the root mean square of log(predicted/measured). "Order":
Spearman's rank correlation within the configurations of one kernel on one GPU, mean over kernels.
"Top 10": by how many percent the fastest of the model's first ten is slower than the fastest of the sample
(searches of 100 configurations and more). "Held": share of measured times inside the model's 10–90 %
interval, every program weighing the same; baselines have none.
"""

HEAD = "cases | programs | mean | median | p90 | bias | ≤10 % | ≤30 % | ≤2× | factor | order | top 10 | held"


def page(compared: Sequence[Compared], left_out: Mapping[str, Counter[str]]) -> str:
    """Return the page."""
    modern = [c for c in compared if c.measured.data != THESIS]
    parts = ["# Time models on public measurements", _protocol(), "## Rows left out", rows_left_out(left_out)]
    for name, group in grouped(compared, lambda c: c.measured.data).items():
        parts += [f"## {name[0].upper()}{name[1:]}", table(group, "GPU", lambda c: c.measured.gpu)]
    if modern:
        parts += ["## Textbook and tuned kernels together", table(modern, "", lambda _: "all")]
        parts += ["## Roofline, program by program", programs(modern), "## Choices", _choices(modern)]
    return "\n\n".join(parts) + "\n"


def _protocol() -> str:
    return PROTOCOL.format(**stamp(), seed=SEED, sample=SAMPLE_OF_TUNED).strip()


def stamp() -> dict[str, str]:
    """Return today's ``date`` and the ``commit``."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    return {"date": str(date), "commit": found.stdout.strip() or "unknown"}


def rows_left_out(left_out: Mapping[str, Counter[str]]) -> str:
    """Return how many rows of each data set were left out, by reason."""
    lines = ["| data | rows | why |", "|---|---|---|"]
    lines += [f"| {d} | {n} | {why} |" for d, reasons in left_out.items() for why, n in reasons.most_common()]
    return "\n".join(lines)


def table(group: Sequence[Compared], title: str, key: Callable[[Compared], str]) -> str:
    """Return the figures of every model for each value of ``key``, and for all."""
    lines = [f"| {title} | model | {HEAD} |", "|---" * (HEAD.count("|") + 3) + "|"]
    parts = grouped(group, key)
    if len(parts) > 1:
        parts["all"] = list(group)
    for name, members in parts.items():
        for model in (*MODELS, *BASELINES):
            found = errors(members, model)
            lines.append(f"| {name} | {model} | {_cells(found, model) if found else 'refused'} |")
    return "\n".join(lines)


def programs(group: Sequence[Compared], model: str = "roofline") -> str:
    """One line per program, worst first, with what the model says limits it most often."""
    rows = []
    for name, members in grouped(group, lambda c: c.measured.program).items():
        found = errors(members, model)
        if found is None:
            continue
        limits = [c.answers[model].bottleneck for c in members if model in c.answers]
        most = max(sorted(set(limits)), key=limits.count)
        rows.append((-found.factor, f"| {name} | {most} | {_cells(found, model)} |"))
    lines = [f"| program | limited by | {HEAD} |", "|---" * (HEAD.count("|") + 3) + "|"]
    return "\n".join([*lines, *(row for _, row in sorted(rows))])


def _choices(group: Sequence[Compared]) -> str:
    factors = {}
    for model in MODELS:
        found = errors(group, model)
        if found is not None and found.cases > 0.99 * len(group):
            factors[model] = found.factor
    best = min(factors, key=factors.__getitem__)
    held = spread_that_holds(group, "roofline", MODEL_SPREAD)
    now = errors(group, "roofline")
    assert now is not None
    return (
        f"Default: the model with the smallest factor among those that answer nearly everywhere is `{best}` "
        f"(the package uses `{DEFAULT_TIME}`).\n\n"
        f"Width: with `MODEL_SPREAD` = {held:.2f} roofline's interval holds {HELD:.0%} of the times (every "
        f"program weighing the same); the package uses {MODEL_SPREAD}, which holds {now.held:.0%}."
    )


def _cells(found: Errors, model: str) -> str:
    order = "" if found.spearman is None else f"{found.spearman:.2f}"
    top = "" if found.top is None else f"{found.top:+.1f}"
    held = "" if model in BASELINES else f"{found.held:.0%}"
    shares = " | ".join(f"{share:.0%}" for share in found.within)
    return (
        f"{found.cases} | {found.programs} | {found.mean:.1f} | {found.median:.1f} | {found.p90:.1f} "
        f"| {found.bias:+.1f} | {shares} | {found.factor:.2f} | {order} | {top} | {held}"
    )


def grouped(group: Sequence[Compared], key: Callable[[Compared], str]) -> dict[str, list[Compared]]:
    """Return the comparisons by ``key``, in the order of their first."""
    found: dict[str, list[Compared]] = defaultdict(list)
    for c in group:
        found[key(c)].append(c)
    return dict(found)
