"""Conservation: what bytes, operations, times and energies obey on any GPU, checked on every answer.

DRAM moves at least the distinct bytes that a launch reads and writes, at most what L2 asks it for; no level
of memory passes on more than it was asked for; no rate exceeds a peak; power lies between that of an idle
board and the limit. A violation is a fault of the models: the answer names it and is as wide as it is large.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from warpwatt.core.case import Case, Timing
from warpwatt.core.estimate import Estimate, Source, factor_draws
from warpwatt.core.execution import Execution, Traffic
from warpwatt.core.launch import WARP_SIZE, L2State
from warpwatt.core.units import si
from warpwatt.emulate.caches.code import cold_code_bytes
from warpwatt.emulate.caches.policy import policy
from warpwatt.models.bounds import bounds, dram_peak

ROUNDING = 1e-3
"""Share by which a bound may be missed: sums of many floats, times settled to this accuracy."""
NOTICED = 0.03
"""Share of the time from which on a difference of estimated bytes counts."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A bound that an answer breaks: which, by what factor, in words."""

    kind: str
    factor: float
    text: str


def violations(case: Case, timing: Timing, power: Estimate) -> tuple[Violation, ...]:
    """Return the bounds that an answer breaks, most often none; ``power`` is the board's in W.

    A published model's time is its own: the bound stands beside it (``Timing.bound``).
    """
    found = [*_of_bytes(case, timing.time.value), *_of_power(case, power)]
    if timing.bound is None:
        found += [*_of_rates(case, timing.time.value), *_of_width(timing.time)]
    return tuple(found)


def widened(estimate: Estimate, broken: tuple[Violation, ...]) -> Estimate:
    """Return the estimate as wide as the violations are large."""
    if not broken:
        return estimate
    spread = {f"conservation:{violation.kind}": math.log(violation.factor) for violation in broken}
    draws = estimate.draws or (estimate.value,) * len(factor_draws(spread))
    wide = [draw * factor for draw, factor in zip(draws, factor_draws(spread), strict=True)]
    return Estimate.from_draws(estimate.value, wide, estimate.unit, estimate.source, estimate.warnings)


def compulsory(case: Case) -> Traffic:
    """Return the bytes that DRAM moves at least: what lanes ask for, each byte once, less what L2 holds.

    Reads of memory that the launch also writes may find what it wrote; writes may stay in L2.
    """
    if case.launch.l2 is L2State.WARM:
        return Traffic()
    read, written = _distinct(case.workload.execution)
    held = case.launch.in_l2
    needed = sum(
        max(0.0, size - written.get(name, 0.0)) * (1.0 - held.get(name, 0.0)) for name, size in read.items()
    )
    return Traffic(needed, max(0.0, sum(written.values()) - case.gpu.l2_size))


def with_compulsory(case: Case, least: Traffic) -> Case:
    """Return a case whose DRAM moves at least these bytes."""
    dram = case.workload.dram
    more = Traffic(max(dram.read, least.read), max(dram.written, least.written))
    return case if more == dram else replace(case, workload=replace(case.workload, dram=more))


@lru_cache(maxsize=8)
def _distinct(execution: Execution) -> tuple[dict[str, float], dict[str, float]]:
    """Return the distinct bytes of each buffer that lanes read, and that they write."""
    sides: tuple[dict[str, float], dict[str, float]] = defaultdict(float), defaultdict(float)
    for growth in execution.reuse.growths if execution.reuse else ():
        if not growth.private:
            asked = sum(_asked(execution, i) * growth.parts.get(i, 1.0) for i in growth.instructions)
            sides[growth.written][growth.buffer] += min(growth.total, asked)
    return dict(sides[0]), dict(sides[1])


def _asked(execution: Execution, index: int) -> float:
    """Return the bytes that the lanes of an instruction ask for; sectors where one lane asks for many."""
    memory, pattern = execution.program.instructions[index].memory, execution.accesses.get(index)
    lanes = execution.counts[index] * execution.lanes[index]
    if memory is None or pattern is None or pattern.sectors * 32 > memory.bytes * WARP_SIZE:
        return math.inf
    return lanes * memory.bytes


def _of_bytes(case: Case, seconds: float) -> Iterator[Violation]:
    """Yield what levels pass on beyond what they are asked for, and distinct bytes that DRAM does not move.

    Those are estimated from sampled blocks: a difference counts where it moves the time.
    """
    work, least = case.workload, compulsory(case)
    pieces = policy(case.gpu).dram_granule / 32
    yield from _more("L2 reads above L1 reads", work.l2.read, work.l1.read, "B")
    yield from _more("L2 writes above L1 writes", work.l2.written, work.l1.written, "B")
    asked = pieces * (work.l2.read + work.l2.written) + cold_code_bytes(work.execution)
    yield from _more("DRAM reads above what L2 asks for", work.dram.read, asked, "B")
    missing = max(0.0, least.read - work.dram.read) + max(0.0, least.written - work.dram.written)
    if missing / dram_peak(case) > NOTICED * seconds:
        yield from _more("distinct bytes above DRAM's", work.dram.total + missing, work.dram.total, "B")


def _of_rates(case: Case, seconds: float) -> Iterator[Violation]:
    """Yield the resources that would work above their peak; what was measured of the kernel is right."""
    if case.profile is not None or case.measured:
        return
    for name, needed in bounds(case).items():
        yield from _more(f"time below {name} at its peak", needed, seconds, "s")


def _of_power(case: Case, power: Estimate) -> Iterator[Violation]:
    idle, limit = case.gpu.idle_power, case.gpu.power_limit
    if idle is not None:
        yield from _more("power below the idle board's", idle, power.value, "W")
    if limit is not None:
        yield from _more("power above the limit", power.value, limit, "W")


def _of_width(time: Estimate) -> Iterator[Violation]:
    if time.source is not Source.MEASURED and time.low >= time.high:
        yield Violation("interval without width", 1.1, "the interval of a modelled time has no width")


def _more(kind: str, value: float, most: float, unit: str) -> Iterator[Violation]:
    """Yield that a value exceeds what bounds it."""
    if value > most * (1 + ROUNDING) and value - most > 1e-12:
        factor = value / most if most > 0 else math.e
        yield Violation(kind, factor, f"{kind}: {si(value, unit)} against {si(most, unit)}")
