"""From the measured launches of a case to its block model: which of them are alike, and what is assumed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from warpwatt.core.case import Case, Profile
from warpwatt.core.errors import InputError
from warpwatt.core.estimate import Source, weakest
from warpwatt.models.specification import idle_watts
from warpwatt.published.boughzala.fit import LEAST_LAUNCHES, BlockModel, Form, Sample, fit

FIX = (
    "measure three launches with this block and different grids, and give --profile FILE.csv with columns "
    "grid,block,duration_us,power_w; or let WarpWatt predict three, each with --format csv, and give those"
)
CLOCK_TOLERANCE = 0.01
"""SM clocks that differ less count as the same."""
IDLE_COLUMN = "idle_w"
"""Column of a profile with the board's idle power."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A block model, what it was fitted to, and what the reader should know about that."""

    model: BlockModel
    source: Source
    notes: tuple[str, ...]


def fit_case(case: Case, form: Form) -> Fitted:
    """Return the block model of a case from ``case.measured``.

    Only launches on the same GPU with the same block and dynamic shared memory count, and of each grid the
    ones at the clock nearest to the case's. A board at its power limit chooses another clock for each size.

    Raises
    ------
    InputError
        If fewer than three different grids were measured, or no line goes through them.
    """
    profiles, blocks = _alike(case), case.launch.grid.count
    given = [p.counters[IDLE_COLUMN] for p in profiles if IDLE_COLUMN in p.counters]
    static = given[0] if given else idle_watts(case.gpu)
    resident = case.workload.occupancy.blocks_per_sm
    model = fit([_sample(p) for p in profiles], case.gpu.sm_count, static, form, resident)
    if model.time(blocks) <= 0:
        raise InputError(
            f"the line through the measured times gives {model.time(blocks):.3g} s for {blocks} blocks",
            hint="measure a launch of about as few blocks",
        )
    notes = [_origin(profiles), *_beyond(profiles, blocks), *_other_clock(profiles, case.clocks.sm)]
    if model.joules_per_block is not None and not given and case.gpu.idle_power is None:
        notes.append(f"idle power of {static:.3g} W is assumed; give it in a column {IDLE_COLUMN}")
    return Fitted(model, weakest(Source.MODELLED, *(p.source for p in profiles)), tuple(notes))


def _alike(case: Case) -> tuple[Profile, ...]:
    """Return the measured launches that one line may go through."""
    launch, clock = case.launch, case.clocks.sm
    own = [
        p
        for p in case.measured
        if p.gpu == case.gpu.name
        and p.time is not None
        and p.launch is not None
        and (p.launch.block, p.launch.dynamic_shared) == (launch.block, launch.dynamic_shared)
    ]
    by_grid: dict[int, list[Profile]] = defaultdict(list)
    for profile in own:
        assert profile.launch is not None
        by_grid[profile.launch.grid.count].append(profile)
    if len(by_grid) < LEAST_LAUNCHES:
        what = f"blocks of {launch.block.count} threads on {case.gpu.name}"
        raise InputError(
            f"the block model needs three measured grids with {what}, not {len(by_grid)}", hint=FIX
        )
    return tuple(profile for group in by_grid.values() for profile in _nearest(group, clock))


def _nearest(profiles: Sequence[Profile], clock: float) -> list[Profile]:
    """Return those whose SM clock is nearest to another, and all that ran at the same."""
    best = min((_apart(profile, clock) for profile in profiles), default=0.0)
    return [profile for profile in profiles if _apart(profile, clock) < best + CLOCK_TOLERANCE]


def _apart(profile: Profile, clock: float) -> float:
    """Return how far a launch's SM clock lies from another, as the size of a logarithm."""
    return abs(math.log(profile.clocks.sm / clock))


def _sample(profile: Profile) -> Sample:
    assert profile.launch is not None
    assert profile.time is not None
    return Sample(profile.launch.grid.count, profile.time, profile.power)


def _origin(profiles: Sequence[Profile]) -> str:
    counts = sorted({p.launch.grid.count for p in profiles if p.launch is not None})
    what = "measured" if all(p.source is Source.MEASURED for p in profiles) else "predicted, not measured"
    return f"block model of {len(profiles)} {what} launches of {counts[0]} to {counts[-1]} blocks"


def _beyond(profiles: Sequence[Profile], blocks: int) -> list[str]:
    counts = [p.launch.grid.count for p in profiles if p.launch is not None]
    if min(counts) <= blocks <= max(counts):
        return []
    return [f"{blocks} blocks lie outside what the block model was fitted to"]


def _other_clock(profiles: Sequence[Profile], clock: float) -> list[str]:
    if all(p.clocks.sustained or _apart(p, clock) < CLOCK_TOLERANCE for p in profiles):
        return []
    low, high = (round(f(p.clocks.sm for p in profiles) / 1e6) for f in (min, max))
    where = f"{low} MHz" if low == high else f"{low} to {high} MHz"
    return [f"the block model knows no clocks: it is of launches at {where}"]
