"""The Markdown page of ``validation/power/models.py``; every number on it is computed."""

from __future__ import annotations

import datetime
import math
import statistics
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING

from validation import ROOT
from validation.power.by_hand import ACCELWATTCH, GEMM, ROOFLINE, TUNER, VECTORS
from validation.power.cases import BETWEEN, GAP, GAPS, STEADY, TIME_MODEL
from warpwatt.models.component.parameters import cited_numbers, shared_numbers

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from validation.power.by_hand import PowerCase
    from validation.power.judge import Answer, Floor, Judged

Z80 = 1.2816
"""Deviations on either side of the mean that hold 80 % of a normal distribution."""
PROTOCOL = """\
Written by `python -m validation.power.models` on {date} at commit {commit}; do not edit.
Launches were analysed and their times predicted at commit {analysed}.

Measured board power against what the models say. Errors are |predicted − measured| / measured in percent:
mean over the rows of a program (its clocks), then over programs, so that each weighs the same. "Held": share
of measured values in the 10-90 % interval, every program weighing the same; the wish is 75-85 %. Width: upper
over lower end of the interval.

- **From specification**: no power of that GPU, of another board with the same chip, or of that program was
  used. The numbers that all GPUs share (joules per operation and byte, watts per SM) were fitted to the
  other programs on the other GPUs and to boards without work, with published values as prior, and scaled to
  the GPU by process, voltage, size and memory; bytes inside the chip by voltage alone. Where the board itself
  was read without work (`no_work.toml`), that reading sets its floor; *no reading of the board*: as if nobody
  had. The shape of the voltage of GV100, GA100, GP100 and GM204 comes from how power rises with the clock on
  such boards (`voltage.toml`). The factors that boards with measured kernels keep in the package
  (`board_factor` of `fitted.toml`, from rows of the tables below) take no part in any column.
- **Calibrated**: the component coefficients of the GPU and its voltage curve fitted by non-negative least
  squares to the other programs of the same data set on that GPU, with the former as prior; programs are left
  out one at a time, the same kernel under two names and kernels of one program together.
- *Time as measured*: our analysis says what the launch does, the data say in how many seconds. *Before
  anything runs*: the seconds are `{time_model}`'s too, power cut at the board's limit.
- *specification*: the older built-in model, same seconds. *Constant*: the mean over the training programs, of
  the same GPU (calibrated) or as a share of the power limit (from specification).

Launches of nv_dvfs_benchmark and its branch wsl are those of `time_dvfs.toml` and `counters.toml`. The
programs' hosts wait for each round of the loop whose mean power is measured: {gaps}, others {gap:.0f} µs, and
{between:.0f} µs between launches that they do not wait for (SM-active counters of short kernels and of
mergeSort; the GTX 980's, on Windows, is what fits the power of its short kernels). Rows whose DRAM counter
differs threefold from our bytes are left out: another launch was measured. What buffers hold in the long run
({steady}; {tuner}: ones)
is read off the public host code; the section on contents says what that is worth. V100 below 705 MHz is left
out (clocks not as labelled). {roofline}, {tuner}, {vectors} and {accelwattch} are counted by hand or from
counters (see the script); the last two and {gemm} enter no fit, and the
counters of the last hold no instruction mix. The roofline's power is the largest of 21 readings less 3 %. The
matrix product is analysed from its source (ccglib), the fastest configuration of each tile; its matrices are
zeros. gpuptxmodel_titanx is absent: it has neither launches nor counters, and static opcode counts of code
compiled without optimisation do not say how often anything runs.

The form of the component model, its voltage curve and toggle factors were chosen with these data in view, so
programs unlike these may fare worse. Kept back and not looked at: wsl's GTX 1080 Ti and 2070 Super,
AccelWattch's Turing, powersensor3 rows with M_PER_BLOCK = 64.
"""


def page(
    cases: Sequence[PowerCase],
    judged: Judged,
    random: Sequence[Answer | None],
    floors: Sequence[Floor],
    values: Mapping[str, tuple[float, float]],
    left_out: Counter[str],
    analysed: str,
) -> str:
    """Return the page; ``random`` are answers with all data random, ``analysed`` made the cases."""
    spec = [(c, a) for c, a in zip(cases, judged.specification, strict=True) if a is not None]
    own = [(c, a) for c, a in zip(cases, judged.calibrated, strict=True) if a is not None]
    parts = [
        "# Power models on public measurements",
        _protocol(analysed),
        "## From specification, GPU and program unseen",
        _table(spec, "share of power limit"),
        "## Calibrated, program unseen",
        _table(own, "constant"),
        "## Energy before anything runs",
        _energy(spec, own),
        "## From specification, program by program",
        _programs(spec),
        "## Calibrated, program by program",
        _programs(own),
        "## Boards without work",
        _floors(floors),
        "## A board's own factor",
        _own_factor(spec),
        "## Contents of buffers",
        _contents(spec, random),
        "## Fitted numbers",
        _fitted(values),
        "## Rows left out",
        "\n".join(["| rows | why |", "|---|---|", *(f"| {n} | {w} |" for w, n in left_out.most_common())]),
    ]
    return "\n\n".join(parts) + "\n"


def commit() -> str:
    """Return the commit of the checkout that makes a page."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def _protocol(analysed: str) -> str:
    return PROTOCOL.format(
        date=datetime.datetime.now(tz=datetime.UTC).date(),
        commit=commit(),
        analysed=analysed,
        time_model=TIME_MODEL,
        gaps=", ".join(f"{gpu} {seconds * 1e6:.0f} µs" for (_, gpu), seconds in GAPS.items()),
        gap=GAP * 1e6,
        between=BETWEEN * 1e6,
        steady=", ".join(f"{name}: {fill}" for name, fill in STEADY.items()),
        roofline=ROOFLINE,
        tuner=TUNER,
        vectors=VECTORS,
        gemm=GEMM,
        accelwattch=ACCELWATTCH,
    ).strip()


Pair = tuple["PowerCase", "Answer"]


def _table(pairs: Sequence[Pair], constant: str) -> str:
    head = (
        "data | GPU | rows | programs | component, time as measured | bias | held | width | component, "
        "before anything runs | no reading of the board | specification, time as measured | "
        f"specification, before anything runs | {constant} | power limit"
    )
    lines = [f"| {head} |", "|---" * (head.count("|") + 1) + "|"]
    groups: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair[0].data, pair[0].gpu].append(pair)
    whole = [pair for pair in pairs if pair[0].predicted is not None]
    for (data, gpu), members in groups.items():
        lines.append(f"| {data} | {gpu} | {_cells(members)} |")
    lines.append(f"| **all analysed launches** | | {_cells(whole)} |")
    lines.append(f"| **everything** | | {_cells(pairs)} |")
    return "\n".join(lines)


def _cells(pairs: Sequence[Pair]) -> str:
    programs = len({(c.data, c.gpu, c.program) for c, _ in pairs})
    ours = [p for p in pairs if p[1].watts_predicted_time is not None]
    old = [p for p in pairs if not math.isnan(p[0].specification[0])]
    numbers = (
        f"{_mean(pairs, lambda _, a: a.watts):.1f}",
        f"{_mean(pairs, lambda _, a: a.watts, signed=True):+.1f}",
        f"{_held(pairs):.0%}",
        f"×{_width(pairs):.2f}",
        f"{_mean(ours, lambda _, a: a.watts_predicted_time or 0.0):.1f}" if ours else "",
        "" if any(math.isnan(a.unread) for _, a in pairs) else f"{_mean(pairs, lambda _, a: a.unread):.1f}",
        f"{_mean(old, lambda c, _: c.specification[0]):.1f}" if old else "",
        f"{_mean(old, lambda c, _: c.specification[1]):.1f}" if old else "",
        f"{_mean(pairs, lambda _, a: a.constant):.1f}",
        f"{_mean(pairs, lambda c, _: c.measured.gpu.power_limit or math.nan):.1f}",
    )
    return f"{len(pairs)} | {programs} | " + " | ".join(numbers)


def _mean(pairs: Iterable[Pair], of: Callable[[PowerCase, Answer], float], *, signed: bool = False) -> float:
    """Return the mean error in percent, every program weighing the same."""
    errors: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for case, answer in pairs:
        error = of(case, answer) / case.measured.watts - 1
        errors[case.data, case.gpu, case.program].append(error if signed else abs(error))
    return 100 * statistics.fmean(statistics.fmean(group) for group in errors.values())


def _held(pairs: Iterable[Pair]) -> float:
    inside: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for case, answer in pairs:
        off = abs(math.log(case.measured.watts / answer.watts))
        inside[case.data, case.gpu, case.program].append(off <= Z80 * answer.spread)
    return statistics.fmean(statistics.fmean(group) for group in inside.values())


def _width(pairs: Iterable[Pair]) -> float:
    """Return the upper over the lower end of the interval, the geometric mean over programs."""
    logs: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for case, answer in pairs:
        logs[case.data, case.gpu, case.program].append(2 * Z80 * answer.spread)
    return math.exp(statistics.fmean(statistics.fmean(group) for group in logs.values()))


def _energy(spec: Sequence[Pair], own: Sequence[Pair]) -> str:
    """Return one line per data set and GPU: error of power times time, as predicted and as measured."""
    head = (
        "data | GPU | energy, from specification | energy, calibrated | time alone | from specification, "
        "time as measured | calibrated, time as measured | constant power, time as measured"
    )
    lines = [f"| {head} |", "|---" * (head.count("|") + 1) + "|"]
    keys = list(dict.fromkeys((c.data, c.gpu) for c, _ in spec if c.predicted is not None))
    for data, gpu in [*keys, ("", "")]:
        of = [[p for p in pairs if _chosen(p[0], data, gpu)] for pairs in (spec, own)]
        cells = [f"{_mean(pairs, _energy_as_watts):.1f}" for pairs in of]
        cells.append(f"{_mean(of[0], lambda c, _: c.measured.watts * _time_ratio(c)):.1f}")
        cells += [f"{_mean(pairs, lambda _, a: a.watts):.1f}" for pairs in of]
        cells.append(f"{_mean(of[1], lambda _, a: a.constant):.1f}")
        lines.append(f"| {data or '**all**'} | {gpu} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _chosen(case: PowerCase, data: str, gpu: str) -> bool:
    return case.predicted is not None and (not data or (case.data, case.gpu) == (data, gpu))


def _time_ratio(case: PowerCase) -> float:
    """Return predicted over measured seconds, both without the gaps between launches."""
    assert case.predicted is not None
    measured, ours = (
        math.fsum(seconds for work, seconds, _ in run.parts if work.amounts)
        for run in (case.measured, case.predicted)
    )
    return ours / measured


def _energy_as_watts(case: PowerCase, answer: Answer) -> float:
    """Return predicted energy over measured seconds, so that it compares with measured watts."""
    return (answer.watts_predicted_time or 0.0) * _time_ratio(case)


def _floors(floors: Sequence[Floor]) -> str:
    """Return one line per board and clock: watts read, said without its chip's readings, and as shipped."""
    head = "board | MHz | °C | W read | said, chip unread | error | said by the package | error"
    lines = [f"| {head} |", "|---" * (head.count("|") + 1) + "|"]
    for one in floors:
        run, errors = one.run, [100 * (said / one.run.watts - 1) for said in (one.unread, one.said)]
        celsius = "" if run.temperature_c is None else f"{run.temperature_c:.0f}"
        lines.append(
            f"| {run.gpu.name} | {run.clocks.sm / 1e6:.0f} | {celsius} | {run.watts:.1f} "
            f"| {one.unread:.0f} | {errors[0]:+.0f} | {one.said:.0f} | {errors[1]:+.0f} |"
        )
    unread = [abs(one.unread / one.run.watts - 1) for one in floors]
    said = [abs(one.said / one.run.watts - 1) for one in floors]
    for name, of in (("mean", statistics.fmean), ("median", statistics.median)):
        lines.append(f"| **{name}** | | | | | {100 * of(unread):.0f} | | {100 * of(said):.0f} |")
    return "\n".join(lines)


def _programs(pairs: Sequence[Pair]) -> str:
    """Return one line per program: mean signed error by GPU, time as measured."""
    pairs = [p for p in pairs if p[0].predicted is not None]
    columns = list(dict.fromkeys((c.data, c.gpu) for c, _ in pairs))
    head = "program | " + " | ".join(f"{gpu} ({data})" for data, gpu in columns)
    lines = [f"| {head} |", "|---" * (len(columns) + 1) + "|"]
    for name in sorted({c.program for c, _ in pairs}):
        cells = []
        for key in columns:
            own = [p for p in pairs if (p[0].data, p[0].gpu) == key and p[0].program == name]
            cells.append(f"{_mean(own, lambda _, a: a.watts, signed=True):+.0f}" if own else "")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _contents(spec: Sequence[Pair], random: Sequence[Answer | None]) -> str:
    """Return the errors from specification with contents as listed, and with all data random."""
    answers = [answer for answer in random if answer is not None]
    pairs = [(c, r) for (c, _), r in zip(spec, answers, strict=True) if c.predicted is not None]
    listed = [pair for pair in spec if pair[0].predicted is not None]
    return (
        "Component model from specification, time as measured, analysed launches: "
        f"{_mean(listed, lambda _, a: a.watts):.1f} % with contents as listed above, "
        f"{_mean(pairs, lambda _, a: a.watts):.1f} % with all data taken as random."
    )


def _own_factor(spec: Sequence[Pair]) -> str:
    """Return what the sum of vectors says of the board that multiplied matrices, too."""
    vectors, products = ([p for p in spec if p[0].data == data] for data in (VECTORS, GEMM))
    factor = statistics.fmean(case.measured.watts / answer.watts for case, answer in vectors)
    scaled = [
        _mean(products, lambda _, answer: factor * answer.watts, signed=signed) for signed in (False, True)
    ]
    return (
        f"The sum of vectors says that {vectors[0][0].gpu} draws {factor:.2f} of what it would as any board. "
        f"With this factor the matrix product is {scaled[0]:.1f} % off ({scaled[1]:+.1f}), without "
        f"{_mean(products, lambda _, answer: answer.watts):.1f} %: one program says little of a board. The "
        "package gives boards such factors, of all their programs together, but not by the synthetic kernel, "
        "which adds constants."
    )


def _fitted(values: Mapping[str, tuple[float, float]]) -> str:
    """Return the shared numbers that the data moved, beside their prior."""
    held = shared_numbers()
    apart = {name: abs(held[name][0] / value - 1) for name, (value, _) in values.items()}
    most, mean = max(apart, key=apart.__getitem__), statistics.fmean(apart.values())
    lines = [
        "At 0.95 V before the factor of the process, all data in; what the data say nothing of is left out.",
        f"What the package held then is {mean:.1%} off these in the mean, {most} {apart[most]:.0%}.",
        "",
        "| number | prior | fitted |",
        "|---|---|---|",
    ]
    for name, (value, error) in values.items():
        prior, deviation = cited_numbers()[name]
        if error < 0.999 * deviation:
            lines.append(f"| {name} | {prior:.3g} ± {deviation:.2g} | {value:.3g} ± {error:.2g} |")
    return "\n".join(lines)
