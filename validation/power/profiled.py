"""Power and energy at other clocks from one or two measured launches, and what the clock they advise costs.

Run ``python -m validation.power.profiled --data FOLDER --checkouts FOLDER --cache FILE`` from the repository
root, with the cache of ``validation.power.models``. Writes ``docs/validation/power_profiled.md``.
"""

from __future__ import annotations

import argparse
import math
import pickle
import statistics
import sys
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation import ROOT
from validation.power.advice import GOALS, advised, offered, regret, usual_clocks, with_margins
from validation.power.cases import OLDER, power_cases
from validation.power.judge import die, fit_shared, same_program, with_fit
from validation.power.models_page import commit
from validation.power.other_sweeps import other_sweeps, with_work
from warpwatt.core.estimate import Estimate, factor_draws
from warpwatt.core.launch import Dim3, Launch
from warpwatt.lab.measure.components import component_watts, fit_components
from warpwatt.models.component.model import drawn_watts, voltage_draws
from warpwatt.models.component.parameters import Parameters, specification, with_readings
from warpwatt.models.measured_power import MeasuredPower, PoweredLaunch
from warpwatt.models.registry import power_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.power.by_hand import PowerCase
    from warpwatt.lab.measure.components import PoweredRun

PAGE = ROOT / "docs" / "validation" / "power_profiled.md"
FEWEST_CLOCKS = 4
"""Clocks that a program needs on a GPU."""
LAUNCH = Launch(Dim3(1), Dim3(1))
SETTINGS = ("nothing run", "one launch", "two launches")
NOISY = OLDER, "Tesla V100 PCIe 16GB"
"""The campaign with readings that are too low; means are given without it, too."""
Found = dict[str, dict[tuple[str, str, str], list[float]]]
"""Setting to errors by data set, GPU and program."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--checkouts", type=Path, default=ROOT.parent / "fetched")
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args(list(arguments))
    if options.cache and options.cache.exists():
        cases, _ = pickle.loads(options.cache.read_bytes())
    else:
        cases, _ = power_cases(options.data, options.checkouts)
    text = page([case for case in cases if case.fits], other_sweeps(cases, options.data))
    PAGE.write_text(text)
    print(text)


def page(cases: Sequence[PowerCase], others: Mapping[tuple[str, str, str], Sequence[PowerCase]]) -> str:
    """Return the page: power by GPU in each setting, intervals, regret of the advised clock."""
    lines = [f"{HEAD}\n\nMade on {datetime.now(tz=UTC).date()} at commit {commit()}.", *_scatter(cases)]
    for title, priors in (
        ("Calibrated, program unseen", Calibrated(cases)),
        ("From specification, GPU and program unseen", Specified(cases)),
    ):
        errors, regrets, ratios, intervals = judged(cases, priors)
        lines += [f"\n## {title}\n", *_table("power", errors)]
        lines += ["", *_intervals(intervals), "", *_programs(errors["one launch"])]
        for goal, found in regrets.items():
            lines += ["", *_table(f"regret, {goal}", found)]
        off = statistics.pstdev(ratios)
        lines.append(
            f"\nPredicted over measured ratio of the joules at two clocks, nothing run: ± {off:.3f} (log)."
        )
    return "\n".join([*lines, OTHERS, *_others(cases, others), ""])


HEAD = """# Power from measured launches

Written by `python -m validation.power.profiled`; do not edit. Public sweeps over clocks (nv_dvfs_benchmark
and its branch wsl), as in [power models](power_models.md). Errors are
|predicted − measured| / measured in percent: mean over the clocks between a program's lowest and highest,
then over programs. Seconds are as measured. One launch: the highest clocks are measured; two: the lowest too.

Regret: joules (joules × seconds) at the clock with the least predicted ones over the least measured, less 1,
in percent (mean over programs, largest in brackets). The seconds behind the advice are the time model's, and
with the advice "seconds measured" the data's; watts are those in these seconds. Time at lower clocks counts
with `recommend`'s margin (`choose/margin.py`) but in the columns "no margin" and "seconds measured".
Of clocks predicted to cost within 1 % of the least, the highest is advised, as `recommend` does. Within 10 %
more time: predicted for the choice, measured for the best; what takes longer than that is no choice for
either. No advice: the clocks nearest to those that the board runs at by itself; maximum: the highest. SM
clocks at the board's own memory clock, which is what `recommend` chooses among; with memory clocks too, those
of the GTX 980 go down to a seventh of its own."""


SCATTER = """
## Scatter of the measurements

Exponent of power over the clock between neighbouring clocks: its scatter over programs, step by step, and the
least seen. Power rises alike with the clock but in the older V100 campaign, where single readings lie 10 to
20 % low, the highest clock's among them (from 1237 to 1380 MHz the power of compute-bound programs rises by a
fifth to a third in the newer campaign, at the same times). A launch measured there says little of others."""


OTHERS = """
## Other sweeps

Advice from what no board of the GPU's chip and none of these programs told; seconds as measured. Power: after
one launch, at the highest clock, is measured. synergy_v100: a V100 SXM2 at the 142 clocks from 470 MHz up, at
which nothing is known of the kernels' work: what they draw there beyond the board without work is taken to go
with the chip's voltage. Its joules scatter by 4 % from clock to clock; each is the median of seven. No regret
is known of kernel_tuner vector add (one clock) and gpupowermodel (power without times)."""


class Specified:
    """Parameters without the GPU, boards of its chip and the program."""

    def __init__(self, cases: Sequence[PowerCase]) -> None:
        self.cases, self._known = cases, dict[Any, Parameters]()

    def of(self, case: PowerCase) -> Parameters:
        """Return what is known of a case's GPU."""
        gpu, program = case.measured.gpu, same_program(case.program)
        if (gpu.name, program) not in self._known:
            others = [c for c in self.cases if c.measured.gpu.die != gpu.die]
            training = [c for c in others if same_program(c.program) != program]
            fitted = fit_shared(training, without=die(gpu))
            self._known[gpu.name, program] = with_readings(specification(gpu, fitted), gpu)
        return self._known[gpu.name, program]


class Calibrated:
    """Parameters fitted to the other programs of the case's data set on its GPU."""

    def __init__(self, cases: Sequence[PowerCase]) -> None:
        self.cases, self._known, self._priors = cases, dict[Any, Parameters](), dict[str, Any]()

    def of(self, case: PowerCase) -> Parameters:
        """Return what is known of a case's GPU."""
        gpu, program = case.measured.gpu, same_program(case.program)
        key = case.data, gpu.name, program
        if gpu.name not in self._priors:
            others = [c for c in self.cases if c.measured.gpu.die != gpu.die]
            self._priors[gpu.name] = fit_shared(others, without=die(gpu))
        if key not in self._known:
            own = [c for c in self.cases if (c.data, c.gpu) == key[:2] and same_program(c.program) != program]
            base = with_readings(specification(gpu, self._priors[gpu.name]), gpu)
            self._known[key] = with_fit(base, fit_components([c.measured for c in own], gpu, base))
        return self._known[key]


Intervals = dict[str, list[tuple[bool, float]]]
"""Setting to whether an interval held the measured watts, and its upper over its lower end."""


def judged(
    cases: Sequence[PowerCase], priors: Specified | Calibrated
) -> tuple[Found, dict[str, Found], list[float], Intervals]:
    """Return errors by setting, regrets by goal and setting, ratios, and intervals by setting.

    Ratios are logarithms of predicted over measured ratios of the joules at a program's SM clocks and at its
    highest, nothing run.
    """
    sweeps: dict[tuple[str, str, str], list[PowerCase]] = defaultdict(list)
    for case in (case for case in cases if case.predicted is not None):
        sweeps[case.data, case.gpu, case.program].append(case)
    errors: Found = defaultdict(dict)
    regrets: dict[str, Found] = {goal: defaultdict(dict) for goal in GOALS}
    ratios: list[float] = []
    intervals: Intervals = defaultdict(list)
    for key, sweep in sweeps.items():
        if len(sweep) < FEWEST_CLOCKS:
            continue
        ordered = sorted(sweep, key=lambda c: (c.measured.clocks.memory, c.measured.clocks.sm))
        known, top, low = priors.of(ordered[0]), ordered[-1], ordered[0]
        unseen = ordered[1:-1]
        for setting, seen in zip(SETTINGS, ([], [top], [top, low]), strict=True):
            said = {case: _said(case, known, seen) for case in ordered}
            errors[setting][key] = [said[c].value / c.measured.watts - 1 for c in unseen]
            predicted = {c: (_predicted_seconds(c), _before(c, known, seen)) for c in ordered}
            careful = with_margins(predicted, ordered)
            timed = {c: (c.measured.seconds, said[c].value) for c in ordered}
            for goal in GOALS:
                choice = ordered if "memory" in goal else offered(ordered)
                by_goal = regrets[goal]
                by_goal[setting][key] = [regret(goal, advised(goal, careful, choice), choice)]
                if not seen:
                    bold = advised(goal, predicted, choice)
                    by_goal["no margin"][key] = [regret(goal, bold, choice)]
                    by_goal["seconds measured"][key] = [regret(goal, advised(goal, timed, choice), choice)]
                    by_goal["no advice"][key] = [regret(goal, usual_clocks(choice), choice)]
                    by_goal["maximum"][key] = [regret(goal, choice[-1], choice)]
            if not seen:
                own = offered(ordered)
                ratios += [_ratio(predicted[c], predicted[own[-1]], c, own[-1]) for c in own[:-1]]
            ends = [(said[c].low, c.measured.watts, said[c].high) for c in unseen]
            intervals[setting] += [(low <= watts <= high, high / low) for low, watts, high in ends]
    return errors, regrets, ratios, intervals


def _ratio(one: tuple[float, float], other: tuple[float, float], case: PowerCase, top: PowerCase) -> float:
    said = one[0] * one[1] / (other[0] * other[1])
    seen = case.measured.seconds * case.measured.watts / (top.measured.seconds * top.measured.watts)
    return math.log(said / seen)


def _said(case: PowerCase, known: Parameters, seen: Sequence[PowerCase]) -> Estimate:
    """Return what the model says of a case after seeing others of its sweep."""
    plain = _plain(case, known)
    if not seen:
        return plain
    launches = [
        PoweredLaunch(_plain(c, known), c.measured.watts, str(i), c.gpu, LAUNCH, c.measured.clocks)
        for i, c in enumerate(seen)
    ]
    return MeasuredPower(power_model("component"), launches).corrected(plain)


def _plain(case: PowerCase, known: Parameters) -> Estimate:
    run = case.measured
    watts = {name: own for name, own in component_watts(run, known).items() if own > 0}
    squares = voltage_draws(known, run.clocks.sm / run.gpu.boost_clock)
    rest = factor_draws({"model:component": known.residual})
    draws = drawn_watts(watts, known, squares) * rest
    return Estimate.from_draws(math.fsum(watts.values()), draws.tolist(), "W")


def _before(case: PowerCase, known: Parameters, seen: Sequence[PowerCase]) -> float:
    """Return the watts that are said before anything runs: at the time model's seconds, cut at the limit."""
    assert case.predicted is not None
    limit = case.measured.gpu.power_limit or math.inf
    return min(limit, _said(replace(case, measured=case.predicted), known, seen).value)


def _predicted_seconds(case: PowerCase) -> float:
    assert case.predicted is not None
    return case.predicted.seconds


def _others(
    cases: Sequence[PowerCase], sweeps: Mapping[tuple[str, str, str], Sequence[PowerCase]]
) -> list[str]:
    """Return tables of power and, by goal, of regrets of sweeps whose seconds are measured."""
    fitted = {
        chip: fit_shared([c for c in cases if die(c.measured.gpu) != chip], without=chip)
        for chip in {die(sweep[0].measured.gpu) for sweep in sweeps.values()}
    }
    errors: Found = defaultdict(dict)
    regrets: dict[str, Found] = {goal: defaultdict(dict) for goal in GOALS if "memory" not in goal}
    for key, plain in sweeps.items():
        gpu = plain[0].measured.gpu
        known = with_readings(specification(gpu, fitted[die(gpu)]), gpu)
        sweep = with_work(plain, known)
        for setting, seen in zip(SETTINGS[:2], ([], [sweep[-1]]), strict=True):
            said = {case: _said(case, known, seen).value for case in sweep}
            errors[setting][key] = [said[case] / case.measured.watts - 1 for case in sweep[:-1]]
            points = {case: (case.measured.seconds, said[case]) for case in sweep}
            for goal, found in regrets.items():
                found[setting][key] = [regret(goal, advised(goal, points, sweep), sweep)]
                found["no advice"][key] = [regret(goal, usual_clocks(sweep), sweep)]
                found["maximum"][key] = [regret(goal, sweep[-1], sweep)]
    lines = ["", *_table("power", errors)]
    for goal, found in regrets.items():
        lines += ["", *_table(f"regret, {goal}", found)]
    return lines


def _intervals(found: Intervals) -> list[str]:
    """Return a table of what the intervals held and how wide they are."""
    lines = ["| interval | held | width |", "|---|---|---|"]
    for setting, rows in found.items():
        held = statistics.fmean(inside for inside, _ in rows)
        width = statistics.geometric_mean([width for _, width in rows])
        lines.append(f"| {setting} | {held:.0%} | ×{width:.2f} |")
    return lines


def _programs(errors: Mapping[tuple[str, str, str], Sequence[float]]) -> list[str]:
    """Return one line per program: its mean absolute error after one launch, by data set and GPU."""
    columns = sorted({key[:2] for key in errors})
    lines = [f"| one launch | {' | '.join(f'{gpu} ({data})' for data, gpu in columns)} |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    for program in sorted({key[2] for key in errors}):
        own = [errors.get((data, gpu, program)) for data, gpu in columns]
        cells = [f"{100 * statistics.fmean(map(abs, found)):.1f}" if found else "" for found in own]
        lines.append(f"| {program} | {' | '.join(cells)} |")
    return lines


STEP = 1.05
"""Ratio of two neighbouring clocks from which on the rise of power between them is looked at."""


def _scatter(cases: Sequence[PowerCase]) -> list[str]:
    """Return a table of how alike power rises with the clock, by data set: no model enters it."""
    sweeps: dict[tuple[str, str, str, float], list[PoweredRun]] = defaultdict(list)
    for case in (case for case in cases if case.predicted is not None):
        run = case.measured
        sweeps[case.data, case.gpu, case.program, run.clocks.memory].append(run)
    rises: dict[tuple[str, str], dict[tuple[float, float], list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for (data, gpu, _, _), runs in sweeps.items():
        ordered = sorted(runs, key=lambda run: run.clocks.sm)
        for one, other in pairwise(ordered):
            low, high = one.clocks.sm, other.clocks.sm
            if high / low > STEP:
                rise = math.log(other.watts / one.watts) / math.log(high / low)
                rises[data, gpu][low, high].append(rise)
    lines = [SCATTER, "", "| data | GPU | steps | scatter of the exponent | least | last step: mean, least |"]
    lines.append("|---" * 6 + "|")
    for (data, gpu), steps in rises.items():
        every = [rise for own in steps.values() for rise in own]
        apart = statistics.fmean(statistics.pstdev(own) for own in steps.values() if len(own) > 2)
        last = steps[max(steps, key=lambda step: step[1])]
        lines.append(
            f"| {data} | {gpu} | {len(every)} | {apart:.2f} | {min(every):.2f} "
            f"| {statistics.fmean(last):.2f}, {min(last):.2f} |"
        )
    return lines


def _table(what: str, found: Found) -> list[str]:
    """Return a table of means by GPU and setting, with the largest where it is regret."""
    groups = sorted({key[:2] for own in found.values() for key in own})
    lines = [f"| {what} | GPU | programs | {' | '.join(found)} |", "|---" * (3 + len(found)) + "|"]
    for group in [*groups, ("all", ""), ("all but older V100", "")]:
        cells, count = [], 0
        for own in found.values():
            values = [
                statistics.fmean(abs(e) for e in errors)
                for key, errors in own.items()
                if key[:2] == group or (not group[1] and (group[0] == "all" or key[:2] != NOISY))
            ]
            count = len(values)
            worst = f" ({100 * max(values):.1f})" if what.startswith("regret") else ""
            cells.append(f"{100 * statistics.fmean(values):.1f}{worst}")
        lines.append(f"| {group[0]} | {group[1]} | {count} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
