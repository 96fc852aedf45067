"""Power of a board between the kernels of a program: clocks and voltages are up, no SM works."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.gpus import default_clocks
from warpwatt.models.component.parameters import parameters, static_loads

if TYPE_CHECKING:
    from warpwatt.core.gpu import Gpu


@lru_cache(maxsize=64)
def waiting_watts(gpu: Gpu) -> float:
    """Return the power in watts while a program's context is open and nothing runs.

    It holds for as long as the driver keeps the clocks up, which is for seconds on GeForce boards and for as
    long as the context lives on those of data centres. Idle power without a program is far lower.

    Raises
    ------
    UnsupportedGpuError
        If the GPU's board power is not known.

    >>> from warpwatt.gpus import find
    >>> 45 < waiting_watts(find("rtx 4090")) < 75
    True
    """
    known = parameters(gpu)
    found = static_loads(gpu, default_clocks(gpu), known, active_sms=0.0)
    return math.fsum(known.coefficients[name].value * load for name, load in found.items())
