"""The Markdown page of ``validation/alavani/peers.py``; every number on it is computed."""

from __future__ import annotations

import datetime
import math
import subprocess
from typing import TYPE_CHECKING

from validation import ROOT
from validation.alavani.peers_table import LATENCIES, SCHEDULERS, ours, printed, recovered
from validation.timing.statistics import HELD, errors, spread_that_holds
from warpwatt.published.alavani import rooflines as roofline_bandwidth
from warpwatt.published.volkov import model as volkov

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from validation.alavani.peers_table import Printed
    from validation.timing.cases import Compared

INTRODUCTION = """\
Written by `python -m validation.alavani.peers` on {date} at commit {commit}; do not edit.

The models that Alavani (2023) compares with: Volkov's throughput model (`volkov`; section 4.4.11, Table 4.10,
page 105) and the roofline P = min(π, I·β) with the vendor's bandwidth and with a fitted one
(`roofline-vendor`, `roofline-fitted`; appendix B, pages 206-208). *Fitted* needs a bandwidth measured on the
very GPU: a calibration, the thesis' growth curve (Table 4.5: K20, K4200, M60, GTX 1050) or a published stream
benchmark; GPUs with none of them are refused.

## What Table 4.10 holds

The thesis prints neither unit nor inputs of this table. From its numbers alone:

- *Actual* and *Proposed* are one count divided by the times of Table 4.8: value × time of both columns agrees
  to {identity:.4%} in every one of the {rows} cases. So the comparison of throughputs is the comparison of
  times once more; the counts themselves are not printed.
- *Volkov* = 32·α·n/(mem_lat + α·alu_lat) in the rows below, with Volkov's latencies for Kepler ({k20}) and
  Maxwell ({m60} cycles, memory and arithmetic): both GPUs' values give the same α and n, and n comes out as a
  power of two, the resident warps of one of the SM's {schedulers} schedulers. (The two values of a row fix n
  and the ratio of the latencies; the latencies themselves are taken from Volkov.)
- In most other rows the K20's value over the M60's is one number: they are bound by memory throughput,
  α·mem_thru, with one mem_thru for each GPU. The thesis prints neither; only their ratio can be recovered.
- In what is left the ratio lies between: latency on one GPU, memory throughput on the other.
"""
HEAD = "cases | programs | mean | median | p90 | bias | factor | held"


def page(thesis: Sequence[Compared], textbook: Sequence[Compared]) -> str:
    """Return the page."""
    rows = printed()
    parts = ["# Peers: Volkov's model and two rooflines", _introduction(rows), _recovered(rows)]
    parts += ["## Table 4.10 beside ours", TABLE_NOTE.strip(), _table(rows)]
    parts += ["## Times of Table 4.8", THESIS_NOTE.strip(), _errors(thesis, lambda c: c.measured.gpu)]
    parts += ["## Textbook kernels on modern boards"]
    if textbook:
        parts += [MODERN_NOTE.strip(), _errors(textbook, lambda c: c.measured.gpu), _widths(textbook)]
    else:
        parts += ["The data set is absent."]
    return "\n\n".join(parts) + "\n"


TABLE_NOTE = """
All figures are arithmetic instructions per cycle and SM, times the 32 threads of a warp. *Ours* uses our own
kernels in place of the benchmark's, compiled for sm_75, with launches inferred (launches.toml), so α and the
resident warps differ from the thesis' unknown ones; mem_thru is the data sheet's bandwidth at 128 bytes per
warp instruction, over all schedulers of the SM. *Measured, our count* is our count of arithmetic instructions
over the printed time at the boost clock: what ours should be compared with. Two kernels (merge sort and the
flux of the CFD solver) have no counterpart of ours.
"""
THESIS_NOTE = """
Our kernels, launches inferred, caches left out: orders of magnitude, not accuracy (alavani_time.md).
Throughput is count over time, so these are also the errors of the throughputs. The fitted bandwidth is Table
4.5 at the launch's requests, one per warp and global instruction: the thesis does not say what it counts.
"""
MODERN_NOTE = """
Data-sheet values, programs that nothing was fitted to but the widths below, protocol of time_models.md. No
one has published a stream figure of these very boards: `roofline-fitted` refuses them.
"""


def _introduction(rows: Sequence[Printed]) -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    latencies = {gpu: " and ".join(f"{x:g}" for x in pair) for gpu, pair in LATENCIES.items()}
    return INTRODUCTION.format(
        date=datetime.datetime.now(tz=datetime.UTC).date(),
        commit=found.stdout.strip() or "unknown",
        identity=max(abs(row.identity - 1) for row in rows),
        rows=len(rows),
        k20=latencies["K20"],
        m60=latencies["M60"],
        schedulers=SCHEDULERS,
    ).strip()


def _pairs(rows: Sequence[Printed]) -> list[tuple[Printed, Printed]]:
    """Return the rows of both GPUs side by side."""
    return list(zip(rows[::2], rows[1::2], strict=True))


def _recovered(rows: Sequence[Printed]) -> str:
    lines = ["| kernel | Volkov, K20 | Volkov, M60 | K20 / M60 | α | n |", "|---" * 6 + "|"]
    both = _pairs(rows)
    common = max(k20.volkov / m60.volkov for k20, m60 in both)
    for k20, m60 in both:
        found = recovered(k20.volkov, m60.volkov)
        one = math.isclose(k20.volkov / m60.volkov, common, rel_tol=1e-4)
        other = "memory throughput | " if one else "latency on one, memory on the other | "
        cells = other if found is None else f"{found[0]:.3f} | {found[1]:.3f}"
        lines.append(
            f"| {k20.benchmark}, {k20.kernel} | {k20.volkov:g} | {m60.volkov:g} "
            f"| {k20.volkov / m60.volkov:.4f} | {cells} |"
        )
    return "\n".join(lines)


def _table(rows: Sequence[Printed]) -> str:
    mine = ours()
    head = (
        "kernel | GPU | Volkov printed | proposed printed | actual printed | α, ours | warps per SM, ours "
        "| Volkov, ours | bound by | measured, our count"
    )
    lines = [f"| {head} |", "|---" * 10 + "|"]
    for row in rows:
        own = mine.get((row.benchmark, row.kernel, row.gpu))
        figures = (
            f"{own.intensity:.2f} | {own.resident_warps:.0f} | {own.volkov:.2f} | {own.volkov_bound} "
            f"| {own.measured:.2f}"
            if own
            else " | | | |"
        )
        lines.append(
            f"| {row.benchmark}, {row.kernel} | {row.gpu} | {row.volkov:g} | {row.proposed:g} "
            f"| {row.actual:g} | {figures} |"
        )
    return "\n".join(lines)


def _errors(compared: Sequence[Compared], key: Callable[[Compared], str]) -> str:
    lines = [f"| GPU | model | {HEAD} |", "|---" * 10 + "|"]
    groups = {name: [c for c in compared if key(c) == name] for name in dict.fromkeys(map(key, compared))}
    groups["all"] = list(compared)
    models = tuple(dict.fromkeys(model for c in compared for model in c.answers))
    for name, members in groups.items():
        for model in models:
            found = errors(members, model)
            if found is not None:
                lines.append(
                    f"| {name} | {model} | {found.cases} | {found.programs} | {found.mean:.1f} "
                    f"| {found.median:.1f} | {found.p90:.1f} | {found.bias:+.1f} | {found.factor:.2f} "
                    f"| {found.held:.0%} |"
                )
    return "\n".join(lines)


def _widths(compared: Sequence[Compared]) -> str:
    """Return the spreads with which the intervals hold, beside those of the package."""
    held = spread_that_holds(compared, "volkov", volkov.MODEL_SPREAD)
    vendor = spread_that_holds(compared, "roofline-vendor", roofline_bandwidth.MODEL_SPREAD)
    return (
        f"Width: {HELD:.0%} of the times (every program weighing the same) are held by a `MODEL_SPREAD` of "
        f"{held:.2f} for `volkov` (the package uses {volkov.MODEL_SPREAD}) and {vendor:.2f} for the two-roof "
        f"rooflines ({roofline_bandwidth.MODEL_SPREAD})."
    )
