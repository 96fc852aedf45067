"""The page of what tuning costs by prediction and by measuring."""

from __future__ import annotations

import random
import statistics
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from validation.autotuners.figures import ALLOWED, random_runs_needed, runs_needed
from validation.timing.page import stamp
from validation.timing.searches import IMAGE, SEARCHES
from warpwatt.choose.turns import predict_and_run

if TYPE_CHECKING:
    from collections.abc import Sequence

STRATEGIES = ("genetic_algorithm", "pso")
SEEDS, ORDERS = 5, 20
"""Of a strategy of Kernel Tuner's, and of the space for ours in turn."""
CHOSEN_ON = ("pnpoly_rtx3090", "convolution_milo_a6000_original")
RUNS = 32
"""Launches by which the hub's searches measure a configuration."""

PROTOCOL = """\
# Tuning time

Written by `python -m validation.autotuners.spent` on {date} at commit {commit}; do not edit.

**How long until a configuration within 2 % of the fastest is known?** The space of a search is the beginning
of the seeded sample of its usable rows ([sources](autotuners.md)); the fastest of it counts. *Ours* predicts
every configuration and then measures in the order of the predictions; *random* measures in any order
(expected, exact); *Kernel Tuner* is the better of its strategies {strategies} in simulation
mode on the recorded times, mean of {seeds} seeds, defaults otherwise, half the space at most. Measuring one
costs {runs} launches of the recorded time and, where compiling counts, the CPU seconds of NVRTC and ptxas
here (of all configurations on average, by their share of compiling and reading a few); starts, copies and
checks of results are left out, in favour of measuring. *Seconds* are predictions, compilations and launches
one after the other, a CPU second like a GPU second. Two processes predicted, each a search of its own, on two
cores. *Ours, in turn* is what `Guided` of `warpwatt.integrations.kernel_tuner`
does: eight predictions, then one run and one prediction in turn, what was compiled for a prediction not
compiled again; means of {orders} orders of the space, and the range of nine in ten of them. That rule was
chosen on two of the searches ({chosen}); of the others it was only looked at what came of it.
Of the A100's convolution another version of the kernel was measured than the public one, which is predicted
([tuned kernels](time_tuned.md#rows-that-contradict-each-other)): nothing is to be concluded from it.

| search | space | failed | CPU s to predict, median (mean) | reading | 95 % | GPU s | compiling |
|---|---|---|---|---|---|---|---|
{costs}

| search | how | predicted | runs until within {allowed:.0%} | share of GPU time | seconds in all | share |
|---|---|---|---|---|---|---|
{rows}

Loss after as many runs, per cent:

| search | how | 1 run | 1 % of the space | 2 % | 5 % | 10 % |
|---|---|---|---|---|---|---|
{losses}
"""


@dataclass(frozen=True)
class Searched:
    """One search: seconds predicted and measured, and the lines of its journal."""

    name: str
    compiling: float
    lines: Sequence[dict[str, Any]]

    @property
    def answered(self) -> list[dict[str, Any]]:
        """Return the configurations that were predicted."""
        return [line for line in self.lines if "time" in line]

    @property
    def measured(self) -> list[float]:
        """Seconds of each."""
        return [line["measured"] for line in self.answered]

    @property
    def predicted(self) -> list[float]:
        """Seconds of each."""
        return [line["time"] for line in self.answered]

    def order(self) -> list[float]:
        """Return the measured seconds in the order of the predictions."""
        return [m for _, m in sorted(zip(self.predicted, self.measured, strict=True))]


def page(lines: Sequence[dict[str, Any]]) -> str:
    """Return the text of the page."""
    titles = {s.file: f"{s.name}, {s.gpu}{', KTT' * (s.checkout == 'ktt')}" for s in SEARCHES}
    files = dict.fromkeys(line["search"] for line in lines)
    found = [_searched(titles[file], [line for line in lines if line["search"] == file]) for file in files]
    traced = [(one, kernel_tuner_traces(one)) for one in found]
    return PROTOCOL.format(
        **stamp(),
        strategies=", ".join(f"`{name}`" for name in STRATEGIES),
        seeds=SEEDS,
        runs=RUNS,
        orders=ORDERS,
        chosen=" and ".join(titles[file] for file in CHOSEN_ON),
        allowed=ALLOWED,
        costs="\n".join(map(_costs, found)),
        rows="\n".join(row for one, traces in traced for row in _rows(one, traces)),
        losses="\n".join(row for one, traces in traced for row in _losses(one, traces)),
    )


def _searched(title: str, lines: Sequence[dict[str, Any]]) -> Searched:
    """Return a search; ``lines`` are those of its journal, of compiling alone too.

    Of a few configurations compiling is known alone, of all together with reading: a ratio estimate.
    """
    predicted = [line for line in lines if "cpu" in line]
    load = {line["configuration"]: line["load"] for line in predicted if "load" in line}
    pairs = [(line["compiling"], load[line["configuration"]]) for line in lines if "compiling" in line]
    if not pairs:
        raise SystemExit(f"{title}: nothing says what compiling alone takes; run --compiling 12 first")
    share = sum(alone for alone, _ in pairs) / sum(both for _, both in pairs)
    return Searched(title, share * statistics.fmean(load.values()), predicted)


def _costs(one: Searched) -> str:
    cpu, load = ([line[name] for line in one.answered] for name in ("cpu", "load"))
    high = sorted(cpu)[int(0.95 * (len(cpu) - 1))]
    gpu = RUNS * statistics.median(one.measured)
    return (
        f"| {one.name} | {len(one.answered)} | {len(one.lines) - len(one.answered)} "
        f"| {statistics.median(cpu):.2f} ({statistics.fmean(cpu):.2f}) | {statistics.median(load):.2f} "
        f"| {high:.2f} | {gpu:.3f} | {one.compiling:.2f} |"
    )


def _rows(one: Searched, traces: dict[str, list[list[float]]]) -> list[str]:
    count, mean = len(one.measured), statistics.fmean(one.measured)
    everything = RUNS * sum(one.measured), count * one.compiling + RUNS * sum(one.measured)
    ours = runs_needed(one.predicted, one.measured)
    strategy, tuned = best_strategy(traces, min(one.measured))
    spent = sum(line["cpu"] for line in one.answered)
    turns = [in_turn(one, seed) for seed in range(ORDERS)]
    low, high = np.quantile([(n / count * spent + gpu) / everything[1] for n, _, gpu in turns], (0.05, 0.95))
    rows = []
    for how, predicted, runs, gpu in (
        ("everything", 0.0, float(count), everything[0]),
        ("random", 0.0, random_runs_needed(one.measured), None),
        (f"Kernel Tuner, `{strategy}`", 0.0, tuned, None),
        ("ours", float(count), float(ours), RUNS * sum(one.order()[:ours])),
        ("ours, in turn", *np.mean(turns, axis=0).tolist()),
    ):
        on_gpu = RUNS * runs * mean if gpu is None else gpu
        compiling = 0.0 if how.startswith("ours") else runs * one.compiling
        seconds = predicted / count * spent + on_gpu + compiling
        spread = f" ({low:.1%} to {high:.1%})" if how == "ours, in turn" else ""
        rows.append(
            f"| {one.name} | {how} | {predicted:.0f} | {runs:.1f} | {on_gpu / everything[0]:.2%} "
            f"| {seconds:.0f} | {seconds / everything[1]:.1%}{spread} |"
        )
    return rows


class _GoodRanError(Exception):
    """A good configuration has run."""


def in_turn(one: Searched, seed: int) -> tuple[float, float, float]:
    """Return predictions, runs and GPU seconds until one that is good has run, for one order of the space."""
    space = [dict(_parameters(line)) for line in one.answered]
    of = {str(config): number for number, config in enumerate(space)}
    good = (1 + ALLOWED) * min(one.measured)
    told, ran = list[float](), list[float]()

    def predict(config: dict[str, int]) -> float:
        told.append(one.predicted[of[str(config)]])
        return told[-1]

    def run(config: dict[str, int]) -> float:
        ran.append(one.measured[of[str(config)]])
        if ran[-1] <= good:
            raise _GoodRanError
        return ran[-1]

    with suppress(_GoodRanError):
        predict_and_run(space, predict, run, seed)
    return len(told), len(ran), RUNS * sum(ran)


def _losses(one: Searched, traces: dict[str, list[list[float]]]) -> list[str]:
    best, count = min(one.measured), len(one.measured)
    budgets = [1, *(max(1, round(share * count)) for share in (0.01, 0.02, 0.05, 0.1))]
    strategy, _ = best_strategy(traces, best)
    drawn = random.Random(0)
    blind = [drawn.sample(one.measured, count) for _ in range(200)]
    ways = {"random": blind, f"Kernel Tuner, `{strategy}`": traces[strategy], "ours": [one.order()]}
    return [
        f"| {one.name} | {how} | "
        + " | ".join(f"{100 * statistics.fmean(min(t[:n]) / best - 1 for t in orders):.1f}" for n in budgets)
        + " |"
        for how, orders in ways.items()
    ]


def best_strategy(traces: dict[str, list[list[float]]], best: float) -> tuple[str, float]:
    """Return the strategy that needs the fewest runs until one is good, and how many on average."""
    needed = {
        name: statistics.fmean(_until(trace, best * (1 + ALLOWED)) for trace in seeds)
        for name, seeds in traces.items()
    }
    name = min(needed, key=lambda one: needed[one])
    return name, needed[name]


def _until(trace: Sequence[float], good: float) -> int:
    """Return how many are run until one is good; all of them where none is.

    >>> _until([3.0, 1.0, 2.0], 1.5), _until([3.0], 1.0)
    (2, 1)
    """
    return next((k for k, seconds in enumerate(trace, start=1) if seconds <= good), len(trace))


def kernel_tuner_traces(one: Searched) -> dict[str, list[list[float]]]:
    """Return the seconds in the order in which each strategy of Kernel Tuner runs them, by seed."""
    times = {_parameters(line): line["measured"] for line in one.answered}
    with tempfile.TemporaryDirectory() as folder:
        return {
            strategy: [_traced(times, strategy, seed, Path(folder)) for seed in range(SEEDS)]
            for strategy in STRATEGIES
        }


def _parameters(line: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    pairs = (word.split("=") for word in line["configuration"].split())
    return tuple((name, int(value)) for name, value in pairs)


def _traced(
    times: dict[tuple[tuple[str, int], ...], float], strategy: str, seed: int, folder: Path
) -> list[float]:
    """Return the seconds of what one run of a strategy measures, each configuration once."""
    from kernel_tuner import tune_kernel

    from validation.autotuners.kernel_tuner import _cache

    names = [name for name, _ in next(iter(times))]
    space = {name: sorted({dict(key)[name] for key in times}) for name in names}
    milliseconds = {tuple(value for _, value in key): 1e3 * seconds for key, seconds in times.items()}

    def was_measured(p: dict[str, int]) -> bool:
        return tuple(p[name] for name in names) in milliseconds

    random.seed(seed)
    np.random.seed(seed)
    file = _cache(space, milliseconds, folder)
    results, _ = tune_kernel(
        "convolution_kernel",
        'extern "C" __global__ void convolution_kernel() {}',
        (IMAGE, IMAGE),  # what the cache file says; nothing is compiled or launched
        [],
        space,
        restrictions=[was_measured],
        strategy=strategy,
        strategy_options={"max_fevals": len(times) // 2},
        cache=str(file),
        simulation_mode=True,
        block_size_names=["block_size_x"],
        quiet=True,
        lang="CUDA",
    )
    return list({tuple(r[name] for name in names): 1e-3 * r["time"] for r in results}.values())
