"""The block model itself: two straight lines through measured launches of one kernel.

Boughzala et al. (2020), section IV.C: all blocks of a kernel do the same work, so

    T(N) = a·N + b                                       (1)
    E(N) = E_b·N + P_s·T(N)                              (3)

with N blocks, E_b the dynamic energy of a block (slope of (P - P_s)·T over N) and P_s the idle power. As SMs
take blocks in rounds, N may be rounded up to whole rounds of one block per SM, with b left out, (4)-(7).
Section IV.B sees steps of all blocks that are *resident* at once, which the paper leaves out to stay simple:
:attr:`Form.RESIDENT` takes them in, and fits its line through rounds instead of blocks. There energy is time
by the measured power, drawn straight from size to size: one E_b cannot follow small grids that draw less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from warpwatt.core.errors import InputError

LEAST_LAUNCHES = 3
"""Different grids that a fit needs (section V.B)."""
HOW = "measure three grid sizes, the smallest, a middle and the largest that matter"


class Form(StrEnum):
    """How the number of blocks counts."""

    LINEAR = "linear"
    """Equations (1) and (3): as it is."""
    ROUNDS = "rounds"
    """Equations (4) to (7): rounded up to one block for each SM."""
    RESIDENT = "resident"
    """Section IV.B: rounded up to all blocks that are resident at once; our extension."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A measured launch: its blocks, seconds, and watts where they are known."""

    blocks: int
    seconds: float
    watts: float | None = None


@dataclass(frozen=True, slots=True)
class BlockModel:
    """A fitted kernel on one GPU. ``joules_per_block`` is None where no power was measured."""

    form: Form
    seconds_per_block: float
    """a of (1)."""
    start_seconds: float
    """b of (1); 0 where the paper's rounds leave it out."""
    joules_per_block: float | None
    """E_b: what a block adds to what the idle GPU draws."""
    static_watts: float
    """P_s."""
    round_blocks: int
    """Blocks of one round; 1 for a line."""
    powers: tuple[tuple[int, float], ...] = ()
    """Measured blocks and watts, ascending, where energy follows them; empty in the paper's forms."""

    def rounds(self, blocks: int) -> int:
        """Return how many rounds a launch takes."""
        return -(-blocks // self.round_blocks)

    def time(self, blocks: int) -> float:
        """Return the seconds of a launch."""
        return self.seconds_per_block * self.rounds(blocks) * self.round_blocks + self.start_seconds

    def energy(self, blocks: int, seconds: float | None = None) -> float:
        """Return the joules of a launch, (3) or (6); of one that takes other ``seconds`` than modelled.

        Raises
        ------
        InputError
            If no power was measured.
        """
        if self.joules_per_block is None:
            raise InputError(
                "the measured launches have no power", hint="add a column power_w, or choose --model time=..."
            )
        seconds = self.time(blocks) if seconds is None else seconds
        if self.powers:
            return between(self.powers, blocks) * seconds
        return self.joules_per_block * self.rounds(blocks) * self.round_blocks + self.static_watts * seconds

    @property
    def round_seconds(self) -> float:
        """T_r (5): seconds of one more round."""
        return self.seconds_per_block * self.round_blocks

    @property
    def round_joules(self) -> float:
        """E_r (7): joules of one more round."""
        assert self.joules_per_block is not None
        return self.joules_per_block * self.round_blocks + self.static_watts * self.round_seconds

    @property
    def round_watts(self) -> float:
        """P_r: mean power of a round, which is what the platform file of SimGrid holds."""
        return self.round_joules / self.round_seconds


def fit(
    samples: Sequence[Sample],
    sm_count: int,
    static_watts: float,
    form: Form = Form.LINEAR,
    resident: int = 1,
) -> BlockModel:
    """Return the block model of measured launches of one kernel with one block size.

    Parameters
    ----------
    samples
        At least three, of different numbers of blocks.
    static_watts
        P_s, the idle power.
    resident
        Blocks that an SM holds at once (occupancy).

    Raises
    ------
    InputError
        If there are too few different launches, if time does not grow with the blocks, or if the power does
        not exceed the idle power.

    >>> from warpwatt.published.boughzala.fit import *
    >>> runs = [Sample(n, 0.5 * n + 1.0, 50.0) for n in (14, 28, 140)]
    >>> model = fit(runs, sm_count=14, static_watts=20.0)
    >>> model.time(100), round(model.energy(100), 6) == round(30 * 0.5 * 100 + 20 * 51, 6)
    (51.0, True)
    >>> fit(runs, 14, 20.0, Form.ROUNDS).time(15)
    14.0
    """
    _check(samples)
    round_blocks = {Form.LINEAR: 1, Form.ROUNDS: sm_count, Form.RESIDENT: sm_count * resident}[form]
    fitted_blocks = round_blocks if form is Form.RESIDENT else 1
    counts = [float(-(-s.blocks // fitted_blocks) * fitted_blocks) for s in samples]
    slope, start = line(counts, [s.seconds for s in samples])
    if slope <= 0:
        raise InputError("the measured times do not grow with the number of blocks", hint=HOW)
    return BlockModel(
        form=form,
        seconds_per_block=slope,
        start_seconds=0.0 if form is Form.ROUNDS else start,
        joules_per_block=_block_energy(samples, counts, static_watts),
        static_watts=static_watts,
        round_blocks=round_blocks,
        powers=_powers(samples) if form is Form.RESIDENT else (),
    )


def line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return slope and intercept of the least-squares line.

    Raises
    ------
    InputError
        If all ``xs`` are the same.

    >>> line([1.0, 2.0, 4.0], [3.0, 5.0, 9.0])
    (2.0, 1.0)
    """
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - x_mean) ** 2 for x in xs)
    if spread == 0:
        raise InputError(
            "all measured launches take the same number of rounds", hint="measure one of many more blocks"
        )
    slope = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / spread
    return slope, y_mean - slope * x_mean


def _check(samples: Sequence[Sample]) -> None:
    different = len({sample.blocks for sample in samples})
    if different < LEAST_LAUNCHES:
        found = f"{different} different of {len(samples)} launches"
        raise InputError(f"a block model needs three numbers of blocks, not {found}", hint=HOW)


def between(points: Sequence[tuple[int, float]], x: int) -> float:
    """Return the value at ``x`` on straight lines between ascending points; that of the nearest end outside.

    >>> between([(10, 50.0), (20, 100.0)], 15), between([(10, 50.0), (20, 100.0)], 99)
    (75.0, 100.0)
    """
    if x <= points[0][0]:
        return points[0][1]
    for (left, low), (right, high) in pairwise(points):
        if x <= right:
            return low + (high - low) * (x - left) / (right - left)
    return points[-1][1]


def _powers(samples: Sequence[Sample]) -> tuple[tuple[int, float], ...]:
    """Return the mean power of each number of blocks."""
    groups: dict[int, list[float]] = defaultdict(list)
    for sample in samples:
        if sample.watts is not None:
            groups[sample.blocks].append(sample.watts)
    return tuple((blocks, sum(watts) / len(watts)) for blocks, watts in sorted(groups.items()))


def _block_energy(samples: Sequence[Sample], counts: Sequence[float], static: float) -> float | None:
    """Return E_b: the slope of dynamic energy over blocks; None where power is not known."""
    powers = [sample.watts for sample in samples]
    known = [watts for watts in powers if watts is not None]
    if len(known) < len(powers):
        return None
    dynamic = [(watts - static) * s.seconds for watts, s in zip(known, samples, strict=True)]
    slope, _ = line(counts, dynamic)
    if slope <= 0:
        raise InputError(
            f"the measured power does not exceed the idle power of {static:g} W",
            hint="give the board's idle power in a column idle_w, or choose --model time=boughzala",
        )
    return slope


class RelativeErrors(NamedTuple):
    """Sizes of relative errors in percent: the largest, the smallest, the mean."""

    worst: float
    best: float
    average: float


def relative_errors(predicted: Sequence[float], measured: Sequence[float]) -> RelativeErrors:
    """Return WRE, BRE and ARE in percent; raises ValueError for no or unequally many values.

    Equation (8). As printed, it sums signed errors and does not divide by their number; the paper's tables
    can only be the mean of sizes, which is what stands here.

    >>> relative_errors([1.1, 1.9, 3.0], [1.0, 2.0, 3.0])
    RelativeErrors(worst=10.0..., best=0.0, average=5.0...)
    """
    sizes = [100 * abs(p - m) / m for p, m in zip(predicted, measured, strict=True)]
    if not sizes:
        raise ValueError("no errors to sum up")
    return RelativeErrors(max(sizes), min(sizes), sum(sizes) / len(sizes))
