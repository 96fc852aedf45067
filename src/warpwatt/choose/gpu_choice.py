"""Which GPU to rent or buy for a list of kernels and applications.

A run is every task once. Time, energy, money and carbon of a run are sums over the tasks, draw by draw, so
that what is uncertain about all GPUs alike cancels between them. What the models get wrong on one GPU and not
on another does not cancel: :data:`OWN_SPREAD`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.choose.memory import buffer_bytes
from warpwatt.choose.recommend import TOLERANCE
from warpwatt.core.estimate import DRAWS, Estimate, factor_draws
from warpwatt.core.gpu import Gpu
from warpwatt.sweep.pool import outcomes

if TYPE_CHECKING:
    from warpwatt.choose.carbon import Intensity
    from warpwatt.choose.prices import Offer, Prices
    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.units import Known

GOALS = ("time", "energy", "edp", "cost", "carbon")
"""What may be made small."""
OWN_SPREAD, KERNEL_SPREAD = 0.07, 0.13
"""Standard deviation of log(measured / predicted) that a GPU has of its own, for all kernels alike and for
each kernel; what errs on every GPU alike is not in it. Source: docs/validation/time_between_gpus.md."""


EXACTLY_ONE = Estimate.exact(1.0, "")


@dataclass(frozen=True, slots=True)
class Question:
    """What makes one GPU better than another, and what it must not exceed.

    ``max_slowdown`` is against the fastest candidate: 0.5 is half as long again.
    """

    goal: str
    prices: Prices | None = None
    carbon: Intensity | None = None
    max_slowdown: float | None = None

    @property
    def pue(self) -> float:
        """Joules of the building per joule of the board."""
        energy = self.prices.energy if self.prices is not None else None
        return energy.pue if energy is not None and energy.pue is not None else 1.0

    def money(self, offer: Offer | None, seconds: float, joules: float) -> float:
        """Return what so much work costs."""
        if offer is None or self.prices is None:
            return 0.0
        energy = self.prices.energy
        rate = energy.per_joule * self.pue if offer.joules and energy is not None else 0.0
        return offer.per_second * seconds + rate * joules

    def kilograms(self, offer: Offer | None, seconds: float, joules: float) -> float:
        """Return the CO2e of so much work."""
        rate = self.carbon.per_joule * self.pue if self.carbon is not None else 0.0
        return rate * joules + (offer.embodied if offer is not None else 0.0) * seconds

    def objective(self, offer: Offer | None, seconds: float, joules: float) -> float:
        """Return what is made small."""
        return {
            "time": seconds,
            "energy": joules,
            "edp": seconds * joules,
            "cost": self.money(offer, seconds, joules),
            "carbon": self.kilograms(offer, seconds, joules),
        }[self.goal]


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A GPU and how to get it, with a run on it.

    Attributes
    ----------
    rows
        The best point for each task.
    cost, carbon
        Money and kilograms of CO2e of a run; None where prices or intensity are not known.
    probability
        Share of the draws in which no other candidate is better.
    times_best
        Its objective over that of the first candidate.
    """

    gpu: Gpu
    offer: Offer | None
    rows: tuple[Row, ...]
    time: Estimate
    energy: Estimate
    cost: Estimate | None
    carbon: Estimate | None
    objective: Estimate
    probability: float = 0.0
    times_best: Estimate = EXACTLY_ONE

    @property
    def at_power_limit(self) -> bool:
        """Whether the power limit holds the clock down in any of the tasks."""
        return any(row.at_power_limit for row in self.rows)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A GPU that is no candidate, and why; ``detail`` is its own part of a reason that others share."""

    gpu: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class GpuChoice:
    """Candidates, the best first; GPUs that are none; what was taken for granted."""

    question: Question
    tasks: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    left_out: tuple[LeftOut, ...]
    assumptions: tuple[str, ...]


def able(sweep: Sweep, question: Question) -> tuple[tuple[Gpu, ...], tuple[LeftOut, ...]]:
    """Return the GPUs that may be candidates before any prediction, and the others with their reasons."""
    needed = max(buffer_bytes(task) for task in sweep.tasks)
    out = {gpu.name: why for gpu in sweep.gpus if (why := _unfit(gpu, needed, question))}
    return (
        tuple(gpu for gpu in sweep.gpus if gpu.name not in out),
        tuple(LeftOut(name, why) for name, why in out.items()),
    )


def choose(
    sweep: Sweep,
    rows: Iterable[Row],
    question: Question,
    known: Mapping[int, Known] | None = None,
    jobs: int = 1,
) -> GpuChoice:
    """Return the candidates in the order of the objective.

    Parameters
    ----------
    sweep, rows
        What was tried, and its results.
    known
        The same with their draws, where somebody has them; else the best points are evaluated once more.
    jobs
        Processes for that.
    """
    by_gpu: dict[str, list[Row]] = {gpu.name: [] for gpu in sweep.gpus}
    for row in rows:
        by_gpu[row.gpu].append(row)
    out: list[LeftOut] = []
    points: list[tuple[Gpu, Offer | None, tuple[Row, ...]]] = []
    for gpu in sweep.gpus:
        try:
            points += [
                (gpu, offer, _best(sweep, by_gpu[gpu.name], question, offer))
                for offer in _offers(gpu, question)
            ]
        except _NoCandidateError as error:
            out.append(LeftOut(gpu.name, str(error)))
    if known is None:
        known = outcomes(sweep, {row.number for *_, chosen in points for row in chosen}, jobs)
    found = [_candidate(*point, known, question) for point in points]
    fast, slow = _fast_enough(found, question)
    return GpuChoice(question, _names(sweep, known), _ranked(fast), (*out, *slow), _notes(sweep, question))


def one_point_each(sweep: Sweep) -> bool:
    """Whether there is nothing to choose from but the GPU."""
    return len(sweep.configurations) == 1 and all(len(sweep.clocks_of(gpu)) == 1 for gpu in sweep.gpus)


class _NoCandidateError(Exception):
    """Why a GPU is no candidate."""


def _offers(gpu: Gpu, question: Question) -> tuple[Offer | None, ...]:
    """Return the ways to get a GPU; one that nothing is known of where its price does not matter."""
    found = question.prices.of(gpu.name) if question.prices is not None else ()
    return found or (None,)


def _unfit(gpu: Gpu, needed: int, question: Question) -> str:
    """Return what keeps a GPU from being a candidate before any prediction; empty if nothing does."""
    if question.goal == "cost" and question.prices is not None and not question.prices.of(gpu.name):
        return f"no price in {question.prices.file}"
    if gpu.memory_size is not None and needed > gpu.memory_size:
        return f"the buffers need {needed / 2**30:.1f} GiB, it has {gpu.memory_size / 2**30:.0f}"
    return ""


def _best(sweep: Sweep, rows: Iterable[Row], question: Question, offer: Offer | None) -> tuple[Row, ...]:
    """Return the best point of every task; clocks that the power limit would not let stand are no choice."""
    by_task: dict[int, list[Row]] = {at: [] for at in range(len(sweep.tasks))}
    for row in rows:
        by_task[row.launch].append(row)
    chosen = []
    for tried in by_task.values():
        good = [
            row for row in tried if row.time is not None and not (row.clocks_fixed and row.at_power_limit)
        ]
        if not good:
            reasons = [row.error for row in tried if row.error]
            raise _NoCandidateError(reasons[0] if reasons else "its power limit does not hold these clocks")
        chosen.append(min(good, key=lambda row: _point(row, question, offer)))
    return tuple(chosen)


def _point(row: Row, question: Question, offer: Offer | None) -> float:
    assert row.time is not None
    assert row.energy is not None
    return question.objective(offer, row.time.value, row.energy.value)


def _candidate(
    gpu: Gpu,
    offer: Offer | None,
    rows: Sequence[Row],
    known: Mapping[int, Known],
    question: Question,
) -> Candidate:
    results = [outcome for _, outcome in (known[row.number] for row in rows) if outcome is not None]
    own = [_own(gpu, row.kernel) for row in rows]
    time = _total([_spread(one.time, by) for one, by in zip(results, own, strict=True)], "s")
    energy = _total([_spread(one.energy, by) for one, by in zip(results, own, strict=True)], "J")
    unit = question.prices.currency if question.prices is not None else ""

    def of(what: Callable[[Offer | None, float, float], float], unit: str) -> Estimate:
        return time.combine(energy, lambda seconds, joules: what(offer, seconds, joules), unit)

    return Candidate(
        gpu=gpu,
        offer=offer,
        rows=tuple(known[row.number][0] for row in rows),
        time=time,
        energy=energy,
        cost=of(question.money, unit) if offer is not None else None,
        carbon=of(question.kilograms, "kg") if question.carbon is not None else None,
        objective=of(question.objective, ""),
    )


def _own(gpu: Gpu, kernel: str) -> tuple[float, ...]:
    """Return draws of what the models get wrong on this GPU and not on another one."""
    whose = f"model:gpu:{gpu.name}"
    return factor_draws({whose: OWN_SPREAD, f"{whose}:{kernel}": KERNEL_SPREAD})


def _total(parts: Sequence[Estimate], unit: str) -> Estimate:
    total = parts[0]
    for part in parts[1:]:
        total = total.combine(part, operator.add, unit)
    return total


def _spread(estimate: Estimate, factors: Sequence[float]) -> Estimate:
    """Return an estimate that errs by factors of its own too."""
    draws = estimate.draws or (estimate.value,) * DRAWS
    spread = [draw * factor for draw, factor in zip(draws, factors, strict=True)]
    return Estimate.from_draws(estimate.value, spread, estimate.unit, estimate.source, estimate.warnings)


def _fast_enough(found: Sequence[Candidate], question: Question) -> tuple[list[Candidate], list[LeftOut]]:
    """Return the candidates that are not too slow, and the others with their reasons."""
    if question.max_slowdown is None or not found:
        return list(found), []
    first = min(found, key=lambda one: one.time.value)
    limit = first.time.value * (1 + question.max_slowdown + TOLERANCE)
    why = f"takes over {100 * question.max_slowdown:.3g} % longer than {first.gpu.name}"
    slow = [
        LeftOut(one.gpu.name, why, f"{one.time.value / first.time.value:.3g} times as long")
        for one in found
        if one.time.value > limit
    ]
    return [one for one in found if one.time.value <= limit], list(dict.fromkeys(slow))


def _ranked(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates in order, with the probability that each is the best."""
    if not found:
        return ()
    ranked = sorted(found, key=lambda one: one.objective.value)
    draws = [one.objective.draws or (one.objective.value,) * DRAWS for one in ranked]
    wins = [0] * len(ranked)
    for drawn in zip(*draws, strict=True):
        wins[min(range(len(ranked)), key=drawn.__getitem__)] += 1
    return tuple(
        replace(
            one,
            probability=won / DRAWS,
            times_best=one.objective.combine(ranked[0].objective, _ratio, ""),
        )
        for one, won in zip(ranked, wins, strict=True)
    )


def _ratio(mine: float, best: float) -> float:
    return mine / best if best else 1.0


def _names(sweep: Sweep, known: Mapping[int, Known]) -> tuple[str, ...]:
    """Return the tasks' names: kernels as they are called in the source."""
    called = {row.launch: row.kernel for row, _ in known.values()}
    return tuple(called.get(at, task.name or task.source.name) for at, task in enumerate(sweep.tasks))


def _notes(sweep: Sweep, question: Question) -> tuple[str, ...]:
    """Return what was taken for granted."""
    found = ["the computer around the GPU is not counted"]
    energy = question.prices.energy if question.prices is not None else None
    paid = question.goal == "carbon" or question.carbon is not None or energy is not None
    if paid and (energy is None or energy.pue is None):
        found.append("PUE 1: the building needs no energy of its own (pue in [energy] of the prices says it)")
    unsized = [gpu.name for gpu in sweep.gpus if gpu.memory_size is None]
    if unsized:
        found.append(f"memory size not known, so not checked: {', '.join(unsized)}")
    if len(sweep.tasks) > 1:
        found.append("a run is every kernel and application once")
    return tuple(found)
