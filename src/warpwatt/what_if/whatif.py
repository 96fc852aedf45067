"""All changes to a case, and what each would take."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from warpwatt.core.advice import TOGETHER, Change, WhatIf
from warpwatt.core.case import Case, TimeModel, Timing
from warpwatt.core.errors import reason
from warpwatt.core.estimate import Estimate
from warpwatt.core.execution import Traffic
from warpwatt.models.bounds import within_bounds
from warpwatt.models.conservation import compulsory, with_compulsory
from warpwatt.what_if.arithmetic import double_precision, special_functions
from warpwatt.what_if.chains import chains
from warpwatt.what_if.coalescing import bank_conflicts, coalescing
from warpwatt.what_if.divergence import divergence
from warpwatt.what_if.residency import occupancy, tail
from warpwatt.what_if.tiling import tiling
from warpwatt.what_if.traffic import atomics, dram, reuse, spills

T = TypeVar("T")
Kind = Callable[[Case], Iterable[Change]]
KINDS: tuple[Kind, ...] = (
    coalescing, bank_conflicts, tiling, reuse, divergence, occupancy, chains, spills, dram, atomics,
    double_precision, special_functions, tail,
)  # fmt: skip
WORTH = 0.01
"""Share of the time that a change must save to be told."""
CHANGE_SPREAD = 0.1
"""Standard deviation of log(edited kernel / changed case), both predicted, of a change that saves little; it
grows with the logarithm of how many times faster a change is said to be, since ever less of what is left was
simulated (docs/validation/explained.md, advice_followed.md)."""


def changes(case: Case) -> tuple[Change, ...]:
    """Return the case without each of its troubles, as far as its execution was traced."""
    return tuple(change for kind in _kinds(case) for change in kind(case))


def _kinds(case: Case) -> Iterator[Kind]:
    """Yield those of :data:`KINDS` that can change a case; no two of them share a name of a kind."""
    if case.workload.execution.streams is not None:
        yield from KINDS


def unless_it_fails(what: str, make: Callable[[], T], remark: Callable[[str], None]) -> T | None:
    """Return what ``make`` does; None and a remark where that fails: no advice must end a prediction."""
    try:
        return make()
    except Exception as error:  # noqa: BLE001 - whatever a changed case is refused by
        remark(f"whether {what} would help is not known: {reason(error)}")
        return None


def what_ifs(
    case: Case, model: TimeModel, timing: Timing, remark: Callable[[str], None]
) -> tuple[WhatIf, ...]:
    """Return what the launch would take without each of its troubles, the most helpful change first.

    Only changes that save :data:`WORTH` of the time, which ``timing`` says, and some of it at the low end of
    the interval, too. Where several kinds save :data:`WORTH`, surely or not, and all together save more than
    the best alone, the last one makes them all. What cannot be found out is left out, and ``remark`` told.
    """
    now = timing.time.value
    made, tried = _made_and_tried(case, model, now, remark)
    found = [w for w in tried if now - w.timing.time.value >= WORTH * now]
    found.sort(key=lambda w: w.timing.time.value)

    def all_at_once() -> WhatIf | None:
        whole = together(case, [w.change for w in found if not w.change.part], made)
        return None if whole is None else _tried(whole, model, now, compulsory(case))

    last = unless_it_fails("all of these together", all_at_once, remark)
    if last is not None and found[0].timing.time.value - last.timing.time.value >= WORTH * now:
        found.append(last)
    return tuple(w for w in found if _saves(w.timing, timing))


def _made_and_tried(
    case: Case, model: TimeModel, now: float, remark: Callable[[str], None]
) -> tuple[list[tuple[Kind, tuple[Change, ...]]], list[WhatIf]]:
    """Return what each kind changes and what that would take: one is simulated while the next is made."""
    made: list[tuple[Kind, tuple[Change, ...]]] = []
    least = compulsory(case)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        trying: list[tuple[Change, Future[WhatIf]]] = []
        for kind in _kinds(case):
            name = f"a change of {kind.__name__.replace('_', ' ')}"
            own = unless_it_fails(name, lambda kind=kind: tuple(kind(case)), remark)  # type: ignore[misc]
            made.append((kind, own or ()))
            trying += [(change, pool.submit(_tried, change, model, now, least)) for change in own or ()]
        found = [unless_it_fails(change.text, one.result, remark) for change, one in trying]
    return made, [one for one in found if one is not None]


def _saves(then: Timing, now: Timing) -> bool:
    """Whether the whole interval of what a change saves lies above nothing."""
    return now.time.combine(then.time, operator.sub, "s").low > 0.0


def _tried(change: Change, model: TimeModel, now: float, least: Traffic) -> WhatIf:
    """Return what a change would take; an edit that makes it may do a little more or less.

    No change takes less than the ``least`` bytes of DRAM, and its own operations, need at their peaks.
    """
    case = with_compulsory(change.case, least)
    timing = model.predict(case)
    spread = CHANGE_SPREAD * (1.0 + max(0.0, math.log(now / timing.time.value)))
    edited = Estimate.spread(1.0, {f"change:{change.kind}": spread}, "")
    time = timing.time.combine(edited, lambda seconds, factor: seconds * factor, "s")
    return WhatIf(replace(change, case=case), within_bounds(replace(timing, time=time), case))


def together(
    case: Case, helpful: Collection[Change], made: Iterable[tuple[Kind, tuple[Change, ...]]]
) -> Change | None:
    """Return the change that makes all helpful ones, one after the other; None for fewer than two.

    ``made`` is what each kind changes of the case as it is.
    """
    kinds = {change.kind for change in helpful}
    if len(kinds) < 2:
        return None
    whole = case
    for kind, own in made:
        if not any(change.kind in kinds for change in own):
            continue
        found = own if whole is case else kind(whole)
        one = next((c for c in found if not c.part and c.kind in kinds), None)
        whole = whole if one is None else one.case
    return Change(TOGETHER, "all of these together", whole)
