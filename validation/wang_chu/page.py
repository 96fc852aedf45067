"""The Markdown page of ``validation/wang_chu/clock_scaling.py``; every number on it is computed."""

from __future__ import annotations

import datetime
import statistics
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation import ROOT
from validation.wang_chu import controller, oracle
from validation.wang_chu import errors as e
from warpwatt.gpus import find
from warpwatt.published.wang_chu.breakdown import KINDS, breakdown_of_counters
from warpwatt.published.wang_chu.parameters import parameters, published_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from validation.wang_chu.measurements import Kernel, Pair
    from validation.wang_chu.unprofiled import Swept

PROTOCOL = """\
Written by `python -m validation.wang_chu.clock_scaling` on {date} at commit {commit}; do not edit.

Data: github.com/blackjack2015/NV-DVFS-Benchmark, branch wsl (GTX 980 in two campaigns, P100, V100: times,
board power, nvprof counters) and branch master (V100 from 705 MHz, Quadro RTX 8000). Left out by design:
GTX 1080 Ti and RTX 2070 Super. Every kernel weighs the same; errors are |predicted / measured − 1| in
percent, averaged over all pairs of clocks **but the one of the profile**.

- *wang-chu, profile*: counters and time at one pair of clocks, nothing else: no source, no run at other
  clocks.
- *counters alone*: as in the paper, counters but no time; *scaled*: multiplied so that the baseline is
  right.
- *wang-chu*, *pipeline*: no run at all, from the source (kernels whose source is public and compiles);
  *scaled*: shape alone, multiplied by the one time measured at the baseline. *pipeline + profile* is the
  hybrid of hybrid.md.
- *time ∝ 1/core clock*, *constant time*: no model, one measured time.

The memory parameters of GTX 980 are the paper's, those of the other GPUs published latencies and
bandwidths. Three constants are not in the paper and were chosen on the 30 kernels of GTX 980 shown here:
the exponent of the knee (4), the usual excess of computation over its busiest unit (0.3 ± 0.3 in the
logarithm) and the spread of DRAM's efficiency (0.03). No row of P100 or V100 had a part in that. Rounds of
active warps follow one another without a gap (equation 6 as printed pays the latency once per round).
"""
THIRD = """\
Table III with equal frequencies: delay × efficiency is close to the 8 core cycles of a 32-byte sector on an
SM's sixteenth of the bus."""
ORACLE = """\
{count} random rounds (seed {seed}); one serial compute server and one first-come-first-served memory server.
Errors in percent."""
CONTROLLED = 1
"""Place of the campaign whose kernels the controller runs: GTX 980 around its usual clocks."""
EXAMPLES = ("vectorAdd", "transpose", "matrixMulShared", "matrixMulGlobal", "BlackScholes")


@dataclass(frozen=True, slots=True)
class Measured:
    """A campaign: its kernels, and for those with a source what the models say."""

    name: str
    gpu: str
    baseline: Pair
    kernels: tuple[Kernel, ...]
    swept: tuple[Swept, ...]
    counters: bool = True


def page(campaigns: Sequence[Measured]) -> str:
    """Return the page; what is absent is said to be."""
    parts = ["# Wang and Chu (2018): core and memory frequency", _protocol(), *_published(), *_oracle()]
    if not campaigns:
        parts.append("The measured data were not there.")
    parts += _summary(campaigns)
    for one in campaigns:
        parts += [f"## {one.name}", _times(one)]
    if any(one.swept for one in campaigns):
        parts += ["## Energy regret", REGRET, _regrets(campaigns)]
        parts += controller.section(campaigns[CONTROLLED].swept, campaigns[CONTROLLED].baseline)
    parts += _mixes(campaigns)
    return "\n\n".join(parts) + "\n"


REGRET = """\
Measured energy (time × board power) at the clocks with the least *predicted* energy, over the least
measured energy of the kernel, less 1, in percent. Predicted power is the `component` model's, whose
constants were fitted to powers of these boards (docs/validation/power_models.md), so the power side is not
unseen. *Measured time* chooses with the true times: what is left is the power model's alone. *Fastest* takes
the highest clocks.\
"""


def _protocol() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    git = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    return PROTOCOL.format(date=date, commit=git.stdout.strip() or "unknown")


def _published() -> list[str]:
    gpu = find("GeForce GTX 980")
    memory = parameters(gpu)
    rows = published_rows(gpu)
    second = [
        f"| {r['memory_mhz']} | {r['cycles']} | {memory.dram_latency(4e8, r['memory_mhz'] * 1e6):.1f} "
        f"| {memory.dram_latency(r['core_mhz'] * 1e6, r['memory_mhz'] * 1e6):.1f} |"
        for r in rows["minimum_dram_latency"]
    ]
    third = [
        f"| {r['memory_mhz']} | {r['cycles']} | {r['efficiency_percent']} | {_at_peak(r):.2f} "
        f"| {memory.dram_delay(r['core_mhz'] * 1e6, r['memory_mhz'] * 1e6):.2f} |"
        for r in rows["dram_delay"]
    ]
    return [
        "## Tables II and III",
        "Equation (4) gives Table II with the core at 400 MHz, not at the core frequency printed beside it:",
        "\n".join(
            ["| memory MHz | printed cycles | core 400 MHz | core = memory |", "|---|---|---|---|", *second]
        ),
        THIRD,
        "\n".join(
            [
                "| memory MHz | printed delay | efficiency % | delay × efficiency | ours |",
                "|" + "---|" * 5,
                *third,
            ]
        ),
    ]


def _at_peak(row: Mapping[str, float]) -> float:
    return row["cycles"] * row["efficiency_percent"] / 100.0


def _oracle() -> list[str]:
    return [
        "## Closed forms against the exact simulation",
        ORACLE.format(count=oracle.CASES, seed=oracle.SEED),
        oracle.table(oracle.drawn()),
    ]


def _methods(one: Measured) -> list[tuple[str, list[Kernel], list[Mapping[Pair, float]]]]:
    """Return the methods with the kernels they answer and their times."""
    found: dict[str, tuple[list[Kernel], list[Mapping[Pair, float]]]] = {}
    for kernel in one.kernels:
        said = (e.from_profile if one.counters else e.without_model)(kernel, one.baseline)
        for name, times in said.items():
            own = found.setdefault(name, ([], []))
            own[0].append(kernel)
            own[1].append(times)
    for sweep in one.swept:
        for name, times in e.from_source(sweep, one.baseline).items():
            own = found.setdefault(name, ([], []))
            own[0].append(sweep.kernel)
            own[1].append(times)
    return [(name, kernels, times) for name, (kernels, times) in found.items()]


def _times(one: Measured) -> str:
    head = [
        f"Profile and scaling at core {one.baseline[0]:g}, memory {one.baseline[1]:g} MHz.",
        "",
        "| method | kernels | mean error % | median | answers ≤ 10 % | worst kernel | factor |",
        "|" + "---|" * 7,
    ]
    for name, kernels, times in _methods(one):
        found = e.error(kernels, times, one.baseline)
        head.append(
            f"| {name} | {found.kernels} | {found.mean:.1f} | {found.median:.1f} | {found.ninety:.0%} "
            f"| {found.worst} {found.worst_error:.0f} | {2.718281828 ** e.spread(kernels, times):.2f} |"
        )
    return "\n".join(head)


def _summary(campaigns: Sequence[Measured]) -> list[str]:
    if not campaigns:
        return []
    names = (e.ONE_PROFILE, e.HYBRID, e.NO_PROFILE + e.SCALED, e.PIPELINE + e.SCALED, e.INVERSE, e.CONSTANT)
    rows = [f"| campaign | {' | '.join(names)} |", "|" + "---|" * (len(names) + 1)]
    for one in campaigns:
        found = {name: e.error(kernels, times, one.baseline).mean for name, kernels, times in _methods(one)}
        cells = (f"{found[name]:.1f}" if name in found else "" for name in names)
        rows.append(f"| {one.name} | {' | '.join(cells)} |")
    text = "Mean error in percent. Goals: one profile 3.5 (the paper's own figure), no profile (scaled) 6."
    return ["## Summary", text, "\n".join(rows)]


def _regrets(campaigns: Iterable[Measured]) -> str:
    rows = ["| campaign | clocks chosen by | kernels | mean | median | worst |", "|" + "---|" * 6]
    for one in campaigns:
        for name, choose in _choosers(one).items():
            values = [100.0 * choose(sweep) for sweep in one.swept]
            if values:
                rows.append(
                    f"| {one.name} | {name} | {len(values)} | {statistics.fmean(values):.1f} "
                    f"| {statistics.median(values):.1f} | {max(values):.1f} |"
                )
    return "\n".join(rows)


def _choosers(one: Measured) -> dict[str, Callable[[Swept], float]]:
    def by(name: str, source: Callable[[Swept, Pair], Mapping[str, e.Times]]) -> Callable[[Swept], float]:
        return lambda s: e.regret(s.kernel, e.energies(source(s, one.baseline)[name], s))

    found: dict[str, Callable[[Swept], float]] = {}
    if one.counters:
        found[e.ONE_PROFILE] = by(e.ONE_PROFILE, lambda s, at: e.from_profile(s.kernel, at))
    found |= {name: by(name, e.from_source) for name in (e.HYBRID, e.NO_PROFILE, e.PIPELINE)}
    found |= {name: by(name, lambda s, at: e.without_model(s.kernel, at)) for name in (e.INVERSE, e.CONSTANT)}
    found["measured time"] = lambda s: e.regret(s.kernel, e.energies(e.measured(s.kernel), s))
    found["fastest"] = lambda s: e.regret(s.kernel, {max(s.kernel.points): 0.0})
    return found


def _mixes(campaigns: Sequence[Measured]) -> list[str]:
    """Return the breakdown of instructions of Figure 12 for some kernels of GTX 980."""
    if not campaigns:
        return []
    one = campaigns[0]
    rows = [f"| kernel | {' | '.join(KINDS)} |", "|" + "---|" * (len(KINDS) + 1)]
    for kernel in one.kernels:
        if kernel.name in EXAMPLES:
            mix = breakdown_of_counters(kernel.points[one.baseline].counters)
            rows.append(f"| {kernel.name} | {' | '.join(f'{mix[kind]:.0%}' for kind in KINDS)} |")
    return ["## Instructions by type (Figure 12), from counters of GTX 980", "\n".join(rows)]
