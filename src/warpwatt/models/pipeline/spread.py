"""How far a measured time may lie from the simulated one: as far as what binds it is known.

Standard deviations of log(measured / predicted) beyond what rates, clocks and assumptions explain, chosen by
program on the development data of ``docs/validation/time_development.md`` (never on its test fifth).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from warpwatt.models.pipeline.reasons import busiest

LATENCY = 0.15
"""Where no unit is busy all the time: latencies, and what hides them, decide."""
UNITS = {
    "dram": 0.06,
    "fp64": 0.04,
    "xu": 0.08,
    "fma": 0.10,
    "alu": 0.10,
    "shared": 0.08,
    "lsu": 0.11,
    "l1": 0.17,
    "issue": 0.22,
    "atomics": 0.20,
    "hot lines": 0.20,
    "dispatch": 0.20,
    "l2": 0.20,
}
"""By the unit that is busy all the time. Where it binds eight programs or more: about what holds 80 % of
their rows, each program weighing the same, whichever is left out (of DRAM and shared memory 0.01 more, as
applications at other clocks were held at 70 %); elsewhere how far off programs are, L2's rate apart."""
STEEPNESS = 4
"""Power of a unit's busy share that counts as its part: at 0.84 half of the time is its own."""
CLOCK = 0.21
"""Of a time that DRAM binds, by the logarithm of the SM clock over the default one: what lies between SMs
and DRAM slows down with the clock by more than we say. It holds 80 % of what seven programs on two boards
err more at a low clock than at the highest (NV-DVFS-Benchmark, branch master, V100 and RTX 8000 at 0.41 to
0.79 of it); 0.16 to 0.26 with a program left out."""
OWN = 0.5
"""Part of the variance that is each kernel's own, and does not cancel between unlike ones."""


def model_spreads(busy: Mapping[str, float], kernel: str, clock: float = 1.0) -> dict[str, float]:
    """Return parameter to spread of a kernel whose units are ``busy`` for these shares of the time.

    ``clock``: the SM clock over the board's default one; below it all clocks err to the same side.

    >>> streaming = model_spreads({"dram": 1.0, "lsu": 0.2}, "copy")
    >>> round(sum(spread**2 for spread in streaming.values()) ** 0.5, 2)
    0.06
    >>> sorted(streaming.keys() & model_spreads({"dram": 1.0}, "reduce").keys())
    ['clock:dram', 'model:pipeline']
    """
    unit, share = busiest(busy)
    part = min(1.0, share) ** STEEPNESS
    spread = ((part * UNITS.get(unit, LATENCY)) ** 2 + ((1.0 - part) * LATENCY) ** 2) ** 0.5
    return {
        "model:pipeline": spread * (1.0 - OWN) ** 0.5,
        f"model:pipeline:{kernel}": spread * OWN**0.5,
        "clock:dram": -CLOCK * math.log(clock) * busy.get("dram", 0.0) ** 2,
    }
