"""Loads: what each coefficient of the component model is multiplied with. Power is linear in coefficients.

That makes calibration a linear fit, and the watts of each component its coefficient times its load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.models.component.parameters import DRAM, SWITCHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.gpu import Clocks, Gpu
    from warpwatt.models.component.activity import Activity
    from warpwatt.models.component.parameters import Parameters

GIGA = 1e9


def loads(
    gpu: Gpu,
    clocks: Clocks,
    work: Activity,
    seconds: float,
    known: Parameters,
    *,
    toggle: float = 1.0,
    temperature_c: float | None = None,
) -> Mapping[str, float]:
    """Return component to load: P = Σ coefficient · load.

    ``board`` 1; ``memory`` memory clock over its nominal one; ``leakage`` V² and temperature; ``clocks`` and
    ``active SMs`` SMs × GHz × V²; the others operations or bytes per second × V² (DRAM without) × toggle.
    """
    voltage = known.voltage.at(clocks.sm / gpu.boost_clock) ** 2
    celsius = known.temperature_c if temperature_c is None else temperature_c
    warmth = 1.0 + known.leakage_per_kelvin * (celsius - known.temperature_c)
    pace = clocks.sm / GIGA * voltage
    found = {
        "board": 1.0,
        "memory": clocks.memory / gpu.memory_clock,
        "leakage": voltage * warmth,
        "clocks": gpu.sm_count * pace,
        "active SMs": work.active_sms * pace,
    }
    for name in SWITCHING:
        if name in work.amounts:
            found[name] = work.amounts[name] / seconds * voltage * toggle
    if DRAM in work.amounts:
        found[DRAM] = work.amounts[DRAM] / seconds * toggle
    return found
