"""Remember what models say of a case: one workload is asked about at hundreds of clocks, and again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from warpwatt.core.case import Case
from warpwatt.core.execution import Workload
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.launch import Launch
from warpwatt.core.program import Kernel

Result = TypeVar("Result")
REMEMBERED = 8
"""Workloads whose results are kept: advice goes through the clocks of one before it takes the next. With each
stays what its warps do: tens of megabytes."""
REMEMBERED_CLOCKS = 128
"""Clocks of each whose results are kept: those that a driver offers, up to 110 in steps of 15 MHz, and those
tried on the way to what a power limit sustains. With one too few, a second round finds none of them."""


@dataclass(frozen=True, slots=True)
class _Key:
    """A case as a key: the same at every clock and with any profile."""

    workload: Workload
    kernel: Kernel
    gpu: Gpu
    launch: Launch
    case: Case = field(compare=False)

    @classmethod
    def of(cls, case: Case) -> _Key:
        return cls(case.workload, case.kernel, case.gpu, case.launch, case)


def at_any_clock(function: Callable[[Case], Result]) -> Callable[[Case], Result]:
    """Return ``function``, remembering its results: it may not look at the case's clocks or profile.

    Callers share the result and must not change it.
    """
    remembered = functools.lru_cache(maxsize=REMEMBERED)(lambda key: function(key.case))
    return functools.wraps(function)(lambda case: remembered(_Key.of(case)))


def at_each_clock(function: Callable[[Case], Result]) -> Callable[[Case], Result]:
    """Return ``function``, remembering its results clock by clock: it may not look at the case's profile."""

    @functools.lru_cache(maxsize=REMEMBERED)
    def by_clocks(key: _Key) -> Callable[[Clocks], Result]:
        at = functools.partial(replace, key.case)
        return functools.lru_cache(maxsize=REMEMBERED_CLOCKS)(lambda clocks: function(at(clocks=clocks)))

    return functools.wraps(function)(lambda case: by_clocks(_Key.of(case))(case.clocks))
