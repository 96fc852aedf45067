"""A power model corrected by measured launches of the same kernel.

What a model does not know of a launch (coefficients, voltages, how often bits toggle) are parameters with
draws by name, which launches share: the model's errors about two launches correlate as far as the same
parameters make them. With x the logarithm of the power asked for and y those of the measured launches, under
the same draws, the best correction is the conditional mean of x

    x + K·(log measured − y),   K = cov(x, y)·(cov(y) + noise²)⁻¹

taken draw by draw: the ensemble Kalman update (Evensen 2003). What floor, switching and voltage have in
common with the measured launches is corrected, each in its measure, and the rest keeps its width. At the
measured launch itself that is the measurement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.estimate import DRAWS, Estimate, Source, standard_draws
from warpwatt.models.hybrid import CLOCK_TOLERANCE, alike

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.case import Case, Power, PowerModel, Timing
    from warpwatt.core.gpu import Clocks
    from warpwatt.core.launch import Launch

    Floats = NDArray[np.float64]

SENSOR_SPREAD = 0.02
"""Deviation of the logarithm of a measured power: NVML readings of one kernel repeat to 1-3 %."""
ELSEWHERE_SPREAD = 0.03
"""The same of a corrected power where nothing was measured, beside what the model's unknowns leave open: that
is next to nothing between two measured clocks, and power 3 % off (docs/validation/power_profiled.md)."""


@dataclass(frozen=True, slots=True, eq=False)
class PoweredLaunch:
    """A measured launch: what the model says it draws in the time it took, and what it drew, in watts."""

    said: Estimate
    watts: float
    origin: str
    gpu: str
    launch: Launch
    clocks: Clocks

    def is_of(self, case: Case) -> bool:
        """Whether this is the very launch of a case, at the same clocks."""
        mine, asked = (self.clocks.sm, self.clocks.memory), (case.clocks.sm, case.clocks.memory)
        near = all(map(partial(math.isclose, rel_tol=CLOCK_TOLERANCE), mine, asked))
        return near and self.gpu == case.gpu.name and alike(self.launch, case.launch)


class MeasuredPower:
    """A power model that knows measured launches; a :class:`~warpwatt.core.case.PowerModel` itself."""

    def __init__(self, base: PowerModel, launches: Sequence[PoweredLaunch]) -> None:
        self.base, self.launches = base, tuple(launches)
        self.name = f"{base.name}+profile"
        self.summary = f"{base.summary}; corrected by measured launches"
        self._said = np.array([_logarithms(one.said) for one in launches])
        self._seen = np.log([one.watts for one in launches])
        noise = [standard_draws(_sensor(one)) for one in launches]
        self._noise = SENSOR_SPREAD * np.array(noise)
        own = np.cov(self._said).reshape(len(launches), len(launches))
        self._precision = np.linalg.inv(own + SENSOR_SPREAD**2 * np.eye(len(launches)))

    def predict(self, case: Case, timing: Timing) -> Power:
        """Return the model's power, corrected; components keep their shares."""
        power = self.base.predict(case, timing)
        own = next((one for one in self.launches if one.is_of(case)), None)
        found = self.corrected(power.power) if own is None else _measured(own)
        factor = found.value / power.power.value
        return replace(
            power,
            model=self.name,
            power=found,
            components={name: watts * factor for name, watts in power.components.items()},
            warnings=(
                *power.warnings,
                self._note(factor) if own is None else f"power measured ({own.origin})",
            ),
        )

    def corrected(self, power: Estimate) -> Estimate:
        """Return a power that the model says, of any launch of the kernel, corrected."""
        asked = _logarithms(power)
        gain = self._gain(asked)
        centre = np.log([one.said.value for one in self.launches])
        value = power.value * math.exp(gain @ (self._seen - centre))
        rest = ELSEWHERE_SPREAD * np.array(standard_draws("profile:power:elsewhere"))
        draws = np.exp(asked + gain @ (self._seen[:, None] + self._noise - self._said) + rest)
        return Estimate.from_draws(value, draws.tolist(), "W", Source.MODELLED, power.warnings)

    def _gain(self, asked: Floats) -> Floats:
        """Return how much of each launch's deviation the launch asked for shares."""
        if not np.ptp(self._said, axis=1).any():  # a model without draws: its errors are taken to be alike
            return np.full(len(self.launches), 1.0 / len(self.launches))
        apart = self._said - self._said.mean(axis=1, keepdims=True)
        shared: Floats = apart @ (asked - asked.mean()) / (DRAWS - 1)
        gain: Floats = shared @ self._precision
        return gain

    def _note(self, factor: float) -> str:
        first = self.launches[0]
        ratio = first.watts / first.said.value
        also = f" and {len(self.launches) - 1} more" if len(self.launches) > 1 else ""
        origin = first.origin or "the profile"
        return (
            f"power corrected by a factor of {factor:.3g}: the launch of {origin}{also} drew {ratio:.3g} "
            "times what the model says of it"
        )


def _measured(launch: PoweredLaunch) -> Estimate:
    spreads = {_sensor(launch): SENSOR_SPREAD}
    return Estimate.spread(launch.watts, spreads, "W", Source.MEASURED)


def _sensor(launch: PoweredLaunch) -> str:
    """Return the name of the draws of a reading's error."""
    return f"profile:power:{launch.origin}"


def _logarithms(power: Estimate) -> Floats:
    logarithms: Floats = np.log(np.array(power.draws or (power.value,) * DRAWS))
    return logarithms
