"""Remember what a case has at any clock: models are asked about one workload at hundreds of clocks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from warpwatt.core.case import Case
from warpwatt.core.execution import Workload
from warpwatt.core.gpu import Gpu
from warpwatt.core.program import Kernel

Result = TypeVar("Result")
REMEMBERED = 8
"""Workloads whose results are kept: advice goes through the clocks of one before it takes the next."""


@dataclass(frozen=True, slots=True)
class _AnyClock:
    """A case as a key: the same at every clock and with any profile."""

    workload: Workload
    kernel: Kernel
    gpu: Gpu
    case: Case = field(compare=False)


def at_any_clock(function: Callable[[Case], Result]) -> Callable[[Case], Result]:
    """Return ``function``, remembering its results: it may not look at the case's clocks or profile.

    Callers share the result and must not change it.
    """

    @functools.lru_cache(maxsize=REMEMBERED)
    def remembered(key: _AnyClock) -> Result:
        return function(key.case)

    @functools.wraps(function)
    def look_up(case: Case) -> Result:
        return remembered(_AnyClock(case.workload, case.kernel, case.gpu, case))

    return look_up
