"""Remember what models say of a case: one workload is asked about at hundreds of clocks, and again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from warpwatt.core.case import Case
from warpwatt.core.execution import Workload
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.launch import Launch
from warpwatt.core.program import Kernel

Result = TypeVar("Result")
REMEMBERED = 8
"""Workloads whose results are kept: advice goes through the clocks of one before it takes the next."""
REMEMBERED_CLOCKS = 128
"""Cases at one clock whose results are kept: SM clocks that a driver offers, up to 110 in 15 MHz steps, and
those tried on the way to what a power limit sustains. With one too few, a second round finds none of them."""


@dataclass(frozen=True, slots=True)
class _Key:
    """A case as a key: the same with any profile, and without ``clocks`` at every clock."""

    workload: Workload
    kernel: Kernel
    gpu: Gpu
    launch: Launch
    clocks: Clocks | None
    case: Case = field(compare=False)


def at_any_clock(function: Callable[[Case], Result]) -> Callable[[Case], Result]:
    """Return ``function``, remembering its results: it may not look at the case's clocks or profile.

    Callers share the result and must not change it.
    """
    remembered = functools.lru_cache(maxsize=REMEMBERED)(lambda key: function(key.case))

    @functools.wraps(function)
    def look_up(case: Case) -> Result:
        return remembered(_Key(case.workload, case.kernel, case.gpu, case.launch, None, case))

    return look_up


def at_each_clock(function: Callable[[Case], Result]) -> Callable[[Case], Result]:
    """Return ``function``, remembering its results clock by clock: it may not look at the case's profile."""
    remembered = functools.lru_cache(maxsize=REMEMBERED_CLOCKS)(lambda key: function(key.case))

    @functools.wraps(function)
    def look_up(case: Case) -> Result:
        return remembered(_Key(case.workload, case.kernel, case.gpu, case.launch, case.clocks, case))

    return look_up
