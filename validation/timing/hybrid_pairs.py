"""Pairs of measured launches: one is the profile, the other is predicted and was left out."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from validation.timing.hybrid_runs import by_program
from warpwatt.models import hybrid
from warpwatt.models.hybrid import binding, corrected, overlap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from validation.timing.hybrid_runs import Timed

METHODS = ("no profile", "scaled by threads", "whole ratio", "hybrid")
"""Answers compared. *Whole ratio* applies measured/modelled of the profiled launch to every other one."""
SAME = 0.8
"""From this overlap on the same resource counts as binding both launches."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One launch predicted after another: log(predicted / measured) by method, and whether intervals hold.

    ``weight`` makes every program on every GPU count the same. The correlation is made of
    log(measured / modelled) of both, the overlap of what binds and the distance of the modelled times.
    """

    gpu: str
    program: str
    errors: dict[str, float]
    held: dict[str, bool]
    weight: float
    of_profile: float
    of_asked: float
    bound: float
    apart: float
    same_threads: bool
    clock_ratio: float
    """SM clock of the profile over that asked for."""

    def with_constants(self, same: float, other: float, fading: float) -> float:
        """Return the hybrid's error with other constants."""
        rho = same * (self.bound + (1 - self.bound) * other * math.exp(-self.apart / fading))
        return rho * self.of_profile - self.of_asked


def other_launches(runs: Iterable[Timed]) -> list[Pair]:
    """Return every ordered pair of runs of one program on one GPU."""
    return [pair for group in by_program(runs).values() for pair in _within(group)]


def other_gpus(runs: Iterable[Timed], gpus: Sequence[str]) -> list[Pair]:
    """Return pairs of the same configuration on two of these GPUs."""
    groups: dict[tuple[str, str], list[Timed]] = {}
    for one in runs:
        if one.measured.gpu in gpus:
            groups.setdefault((one.measured.program, one.measured.configuration), []).append(one)
    programs: dict[str, list[Pair]] = {}
    for (program, _), group in groups.items():
        programs.setdefault(program, []).extend(_within(group))
    return [replace(p, weight=1.0 / len(pairs)) for pairs in programs.values() for p in pairs]


def _within(group: Sequence[Timed]) -> Iterator[Pair]:
    count = len(group) * (len(group) - 1)
    for profiled, asked in itertools.permutations(group, 2):
        yield _pair(profiled, asked, 1.0 / count)


def _pair(profiled: Timed, asked: Timed, weight: float) -> Pair:
    before = asked.run.timing.time
    after = corrected(replace(asked.run, measured=None), profiled.run).time
    truth, taught = asked.measured.seconds, profiled.measured.seconds
    ratio = taught / profiled.run.timing.time.value
    answers = (before.value, taught * asked.threads / profiled.threads, before.value * ratio, after.value)
    return Pair(
        gpu=asked.measured.gpu,
        program=asked.measured.program,
        errors={name: math.log(value / truth) for name, value in zip(METHODS, answers, strict=True)},
        held={"no profile": before.low <= truth <= before.high, "hybrid": after.low <= truth <= after.high},
        weight=weight,
        of_profile=math.log(ratio),
        of_asked=math.log(truth / before.value),
        bound=overlap(binding(asked.run.timing), binding(profiled.run.timing)),
        apart=abs(math.log(before.value / profiled.run.timing.time.value)),
        clock_ratio=profiled.run.clocks.sm / asked.run.clocks.sm,
        same_threads=math.isclose(asked.threads, profiled.threads, rel_tol=hybrid.SAME_SIZE - 1),
    )


GRID = (
    (0.80, 0.86, 0.92, 0.96, 1.0),
    (0.0, 0.25, 0.5, 0.75, 1.0),
    (0.75, 1.5, 3.0),
)
"""Constants tried: ``SAME_RESOURCE``, ``OTHER_RESOURCE``, ``FADING``."""


def best_constants(pairs: Sequence[Pair]) -> tuple[float, float, float]:
    """Return the constants of :data:`GRID` with the smallest mean size of the logarithmic error."""

    def size(constants: tuple[float, float, float]) -> float:
        return math.fsum(p.weight * abs(p.with_constants(*constants)) for p in pairs)

    return min(itertools.product(*GRID), key=size)


def held_out(pairs: Sequence[Pair], families: dict[str, str]) -> list[tuple[Pair, float]]:
    """Return every pair with the error under constants chosen on the other families of programs."""
    found = []
    for family in sorted(set(families.values())):
        constants = best_constants([p for p in pairs if families[p.program] != family])
        found += [(p, p.with_constants(*constants)) for p in pairs if families[p.program] == family]
    return found
