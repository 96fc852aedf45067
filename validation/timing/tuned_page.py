"""The Markdown page of ``validation/timing/tuned.py``; every number on it is computed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from validation.timing.cases import BASELINES, MODELS
from validation.timing.page import rows_left_out, stamp
from validation.timing.screen import FACTOR, by_both
from validation.timing.statistics import errors
from validation.timing.tuning import SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.timing.cases import Compared
    from validation.timing.searches import Search
    from validation.timing.statistics import Errors
    from validation.timing.tuned import Found

PROTOCOL = """\
Written by `python -m validation.timing.tuned` on {date} at commit {commit}; do not edit.

**Unseen programs, data-sheet values**: searches over the compile-time parameters of three public kernels,
sources in `time_searches.py`. The public kernel is compiled for each configuration by the toolkit of the
measurement's time; median of the repeats (KTT: one run), caches as the previous repeat leaves them. A seeded
sample (seed {seed}) of each search, the same for every model; the Alavani models, which need PTX emulated for
them alone, see its beginning. Error is (predicted − measured)/measured in percent. "Order": Spearman's rank
correlation over the configurations. "Top 10": by how many percent the fastest of the model's first ten is
slower than the fastest of the sample. "Held": share of measured times inside the 10–90 % interval.

No constant was fitted to these rows. Five things were chosen on rows of them: which of the ready warps a
sub-core issues (the first half of the RTX A6000's convolution, later the first 20 rows of each search beside
the textbook kernels), that special functions pass the memory queue (the first 20 rows of both dedispersions),
that blocks are the oldest in turn where one wave stands for many (the first 60 rows of six searches, and
simulations of whole blocks), the toolkits (registers of rows of KTT, the A6000's metadata), where spilled
registers go (hardware counters of KTT's rows on the RTX 2080 Ti). The other rows were not looked at before
the last of these choices, see below.
"""

HEAD = "cases | mean | median | p90 | bias | ≤10 % | ≤30 % | order | top 10 | held"
OWN_CLOCK = """\
Clocks were not locked. Where the measurement shows its own SM clock, the same rows again at that clock, by
which an error of the clock is told from one of the model:

- RTX 2080 Ti, KTT: executed instructions over issue activity and duration, hardware counters of the same
  rows: 1.79 GHz (median; 1.74 to 1.82 from the 1st to the 99th percentile).
- RTX 2080 Ti, Kernel Tuner: without padding both searches hold the same 2,640 kernels, and these take 1.32
  times as long (long ones; 1.24 to 1.34 from the 5th to the 95th percentile): 1.35 GHz, the base clock.
- RTX A6000: recorded by nvidia-smi, 1.80 GHz, which is the default.
"""


PARTS = """\
The configurations at the beginning of each sample, whose errors were seen while the model was made, and the
others. **The same programs, other configurations.**
"""

SCREEN = """\
Two settings of the convolutions differ only in the instruction that reads global memory; the rest of the code
is the same. Times of such twins more than a factor of {factor} apart contradict each other, whatever a model
says. In the A100's convolution many do: another version of the kernel was measured than the public one, whose
macros it has more of. Its clock does not explain its times, since its fastest row makes 13.6 TFLOP/s and the
base clock 10.6. Nothing is concluded from it, and the development sample leaves it out.
"""

BOTH = """\
Kernel Tuner and KTT measured point in polygon on an RTX 3090 with sources that differ in names only. Kernel
Tuner's time over KTT's in the same configuration, the median over blocks and ways to compare, by points per
thread and by the way to count crossings (use_method). With one point per thread they agree, so clock and data
were the same; with many Kernel Tuner's take up to 1.35 times as long in way 2 and hardly longer in way 0: the
code was not the same. Toolkits 11.7 to 12.2 make one code, which the model finds as fast as KTT's, 13.x
another, whose jump in way 0 (16 to 18 points) is elsewhere; older ones are not to be had, and the rows
(January 2023) say no compiler. KTT's fastest row counts in way 2, Kernel Tuner's in way 0: what is first with
the one compiler is 20 % slower than the fastest with the other.
"""


def page(found: Sequence[Found]) -> str:
    """Return the page."""
    protocol = PROTOCOL.format(**stamp(), seed=SEED)
    reasons = {_name(f): _reasons(f) for f in found}
    parts = ["# Tuned kernels: every model on public searches", protocol.strip()]
    parts += [
        f"## {f.search.name.capitalize()}, {f.search.gpu}, {_tool(f.search)}\n\n{_table(f)}" for f in found
    ]
    parts += ["## At the clock of the measurement", OWN_CLOCK.strip(), _own_clock(found)]
    parts += [
        "## Configurations looked at, and the others",
        PARTS.strip(),
        _parts(found),
    ]
    parts += ["## Rows that contradict each other", SCREEN.format(factor=FACTOR).strip(), _screened(found)]
    parts += ["## One kernel in two searches", BOTH.strip(), _both(found)]
    return "\n\n".join([*parts, "## Rows left out", rows_left_out(reasons)]) + "\n"


def _tool(search: Search) -> str:
    return "KTT" if search.checkout == "ktt" else "Kernel Tuner"


def _name(found: Found) -> str:
    return f"{found.search.name.capitalize()}, {found.search.gpu}, {_tool(found.search)}"


def _reasons(found: Found) -> Counter[str]:
    return found.left_out + Counter({"not computed yet": found.waiting})


def _table(found: Found) -> str:
    return _lines(found.compared, (*MODELS, *BASELINES))


def _lines(group: Sequence[Compared], models: Sequence[str], title: str = "model") -> str:
    lines = [f"| {title} | {HEAD} |", "|---" * (HEAD.count("|") + 2) + "|"]
    return "\n".join([*lines, *(f"| {m} | {_cells(errors(group, m), m)} |" for m in models)])


def _own_clock(found: Sequence[Found]) -> str:
    lines = [f"| search | model | {HEAD} |", "|---" * (HEAD.count("|") + 3) + "|"]
    for f in found:
        for model in ("pipeline", "roofline") if f.at_own_clock else ():
            figures = errors(f.at_own_clock, model)
            lines.append(f"| {f.search.gpu}, {_tool(f.search)} | {model} | {_cells(figures, model)} |")
    return "\n".join(lines)


def _parts(found: Sequence[Found]) -> str:
    lines = [f"| search | configurations | {HEAD} |", "|---" * (HEAD.count("|") + 3) + "|"]
    for f in found:
        seen = f.search.looked_at
        for name, group in (("looked at", f.compared[:seen]), ("others", f.compared[seen:])):
            lines.append(f"| {_name(f)} | {name} | {_cells(errors(group, 'pipeline'), 'pipeline')} |")
    return "\n".join(lines)


def _screened(found: Sequence[Found]) -> str:
    lines = [f"| search | twins | median | p95 | rows | {HEAD} |", "|---" * (HEAD.count("|") + 6) + "|"]
    for f in found:
        if f.screen is None:
            continue
        kept = [c for c in f.compared if c.measured.configuration not in f.screen.contradicted]
        name = f"{f.search.gpu}, {_tool(f.search)}"
        twins = f"{f.screen.pairs} | {f.screen.median:.3f} | {f.screen.p95:.3f}"
        for rows, group in (("all", f.compared), ("without contradicted", kept)):
            lines.append(f"| {name} | {twins} | {rows} | {_cells(errors(group, 'pipeline'), 'pipeline')} |")
    return "\n".join(lines)


def _both(found: Sequence[Found]) -> str:
    ours, theirs = ([r for f in found if _is_polygon(f, tool) for r in f.usable] for tool in ("hub", "ktt"))
    ratios = by_both(ours, theirs, ("use_method", "tile_size"))
    ways, tiles = (sorted({key[i] for key in ratios}, key=int) for i in range(2))
    lines = [f"| use_method | {' | '.join(tiles)} |", "|---" * (len(tiles) + 1) + "|"]
    return "\n".join(
        [*lines, *(f"| {way} | {' | '.join(f'{ratios[way, tile]:.2f}' for tile in tiles)} |" for way in ways)]
    )


def _is_polygon(found: Found, checkout: str) -> bool:
    return found.search.name == "point in polygon" and found.search.checkout == checkout


def _cells(found: Errors | None, model: str) -> str:
    if found is None:
        return "refused or not computed" + " |" * HEAD.count("|")
    order = "" if found.spearman is None else f"{found.spearman:.3f}"
    top = "" if found.top is None else f"{found.top:+.1f}"
    held = "" if model in BASELINES else f"{found.held:.0%}"
    shares = " | ".join(f"{share:.0%}" for share in found.within[:2])
    return (
        f"{found.cases} | {found.mean:.1f} | {found.median:.1f} | {found.p90:.1f} | {found.bias:+.1f} "
        f"| {shares} | {order} | {top} | {held}"
    )
