"""How much longer a kernel may take at a lower clock than predicted: what advice allows for.

Predicted seconds go with the clock to the power of −e, 0 where only device memory counts and 1 where only the
SMs do. On measured sweeps the kernels between the two slow down more than predicted, because what is taken to
overlap wholly does so in part; a kernel at e = 1 cannot. Advice that trusts the prediction goes too low: it
gains little power where it is right, and loses all of the time where it is wrong.
"""

from __future__ import annotations

import math

MARGIN = 0.07
"""Share of 1 − e that is added to the exponent e. Measured exponents exceed predicted ones by a tenth to a
quarter of it, by board (docs/validation/power_profiled.md); meanwhile the board draws the half of its power
that does not go with the work."""


def slowdown_margin(point: tuple[float, float], top: tuple[float, float]) -> float:
    """Return by what factor the time at a clock may exceed the prediction, seen from a higher one.

    Both are an SM clock in hertz and the seconds predicted there.

    >>> top = 1.4e9, 1e-3
    >>> round(slowdown_margin((0.7e9, 1e-3), top), 3), slowdown_margin((0.7e9, 2e-3), top)
    (1.05, 1.0)
    """
    (clock, seconds), (highest, least) = point, top
    fall = math.log(highest / clock)
    if fall <= 0.0:
        return 1.0
    exponent = min(1.0, max(0.0, math.log(seconds / least) / fall))
    return math.exp(MARGIN * (1.0 - exponent) * fall)
