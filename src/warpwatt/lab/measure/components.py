"""Coefficients of the component power model from measured runs of one GPU, or of many.

Energy is linear in the coefficients of one GPU once voltages are known, so their fit is non-negative least
squares on relative errors; numbers that GPUs share multiply each other (``products.py``). What the model
predicts for a GPU without any measurement is the prior: few or similar runs move only what they can
distinguish. The curve of the voltage is chosen from a grid, and the chip's own, by the smallest sum of
squares, where there are runs at different clocks.

Public names: :class:`PoweredRun`, ``fit_components(runs, gpu)``, ``fit_shared_numbers(runs)``,
``fit_board_factors(runs)``, ``no_work_runs(gpu)``.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.lab.measure.nonnegative import nnls
from warpwatt.lab.measure.products import Products, fit_products
from warpwatt.models.component.activity import Activity
from warpwatt.models.component.no_work import readings
from warpwatt.models.component.parameters import (
    COMPONENTS,
    PREFIX,
    UNSCALED,
    cited_numbers,
    composition,
    loads,
    scales_of,
    specification,
    with_readings,
)
from warpwatt.models.component.table import number
from warpwatt.models.component.voltage import VoltageCurve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.models.component.parameters import Parameters
    from warpwatt.models.component.voltage import Voltage

    Vector = NDArray[np.float64]

NOISE = 0.08
"""Relative deviation of one independent measurement from what the right coefficients would predict."""
OWN = 0.4
"""Deviation of the logarithm by which a coefficient of one GPU differs from what all share."""
OWN_ERROR = 0.5
"""Share of a coefficient's standard error that is kept: errors of coefficients that a fit can hardly
distinguish cancel in their sum. So intervals hold 80 % of unseen programs
(docs/validation/power_models.md)."""
NO_WORK = "no work"
"""Group of the readings of boards without work."""
UNSURE = 1.5
"""How much less sure those are: temperature and clock are often not recorded."""
INDEPENDENT = 4
"""Most measurements of one program that count as independent: its other clocks repeat its errors."""
FLAT = VoltageCurve(1.0, 0.0, 1.0)
CURVES = tuple(
    VoltageCurve(floor, knee, exponent)
    for floor, knee, exponent in itertools.product(
        (0.6, 0.7, 0.75, 0.8, 0.85, 0.9), (0.4, 0.5, 0.6, 0.7, 0.8), (1.0, 1.5, 2.0)
    )
)
"""Voltage curves tried."""


CLOCK_SPAN = 0.1
"""Share of the boost clock over which runs must differ to determine the voltage curve."""


@dataclass(frozen=True, slots=True, eq=False)
class PoweredRun:
    """A run with measured mean power: what it did, in how many seconds, at which clocks.

    ``group`` is what errors are shared by: the program. ``parts`` are the launches of the run: work, seconds
    and toggle factor of each; several where a run is more than one kernel.
    """

    group: str
    gpu: Gpu
    clocks: Clocks
    parts: tuple[tuple[Activity, float, float], ...]
    watts: float
    temperature_c: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds of all parts."""
        return math.fsum(seconds for _, seconds, _ in self.parts)


@dataclass(frozen=True, slots=True, eq=False)
class FittedComponents:
    """Coefficients of one GPU: values and standard errors by component, and what they leave unexplained.

    ``residual`` is the standard deviation of log(measured / predicted), every program weighing the same.
    """

    coefficients: Mapping[str, tuple[float, float]]
    voltage: Voltage
    residual: float

    def constants(self) -> dict[str, tuple[float, float]]:
        """Return them as constants of a calibration; a voltage that is the chip's own is left to it."""
        names = ("floor", "knee", "exponent") if isinstance(self.voltage, VoltageCurve) else ()
        curve = {name: (getattr(self.voltage, name), 0.0) for name in names}
        return {
            **{PREFIX + name: pair for name, pair in self.coefficients.items()},
            **{f"{PREFIX}voltage_{name}": pair for name, pair in curve.items()},
            PREFIX + "residual": (self.residual, 0.0),
        }


def fit_components(runs: Sequence[PoweredRun], gpu: Gpu, known: Parameters | None = None) -> FittedComponents:
    """Return the coefficients of a GPU from runs on it; ``known`` is the prior (default: specification).

    Raises
    ------
    InputError
        If there are no runs, or one without a positive finite power.
    """
    _check(runs)
    prior = known or with_readings(specification(gpu), gpu)
    values = np.array([prior.coefficients[name].value for name in COMPONENTS])
    spreads = np.array([max(prior.coefficients[name].spread, OWN) for name in COMPONENTS])
    weight, watts = _weights(runs), np.array([run.watts for run in runs])
    flat = np.array([_flat_loads(run) for run in runs]) * values
    shares = np.array([run.clocks.sm / gpu.boost_clock for run in runs])
    curves = (prior.voltage, *CURVES) if np.ptp(shares) >= CLOCK_SPAN else (prior.voltage,)
    reduced = [
        (curve, _reduced(_scale_by_voltage(flat, shares, curve), watts, weight, spreads)) for curve in curves
    ]
    curve, scales, errors = _best(reduced)
    predicted = _scale_by_voltage(flat, shares, curve) @ scales
    found = zip(COMPONENTS, values * scales, OWN_ERROR * values * errors, strict=True)
    return FittedComponents(
        {name: (float(value), float(error)) for name, value, error in found},
        curve,
        _residual(runs, predicted),
    )


def fit_shared_numbers(runs: Sequence[PoweredRun]) -> dict[str, tuple[float, float]]:
    """Return the numbers that all GPUs share, with standard errors, from runs on many GPUs.

    Energies, what boards draw without work and the factors of processes are fitted together: any of them
    alone takes over what the others should. Boards differ by a factor of their own, so that one with many
    measurements does not outweigh the others.
    """
    prior = cited_numbers()
    found, errors, _ = _fit_shared(runs)
    values = np.array([value for value, _ in prior.values()]) * np.exp(found)
    return {
        name: (float(value), float(value * error))
        for name, value, error in zip(prior, values, errors, strict=True)
    }


def fit_board_factors(runs: Sequence[PoweredRun]) -> dict[str, float]:
    """Return the factor by which each board with measured kernels draws more than shared numbers say."""
    names = sorted({run.gpu.name for run in runs})
    measured = {run.gpu.name for run in runs if run.group != NO_WORK}
    factors = np.exp(_fit_shared(runs)[2])
    return {name: float(factor) for name, factor in zip(names, factors, strict=True) if name in measured}


def _fit_shared(runs: Sequence[PoweredRun]) -> tuple[Vector, Vector, Vector]:
    """Return the logarithms of shared numbers over their priors, their errors, and of the boards' factors."""
    _check(runs)
    prior = cited_numbers()
    columns = {name: i for i, name in enumerate(prior)}
    values = np.array([value for value, _ in prior.values()])
    terms = np.array([_shared_loads(run) for run in runs])
    scales = np.array([[columns[name] for name in _shared_scales(run.gpu)] for run in runs])
    own = np.where(scales == np.arange(len(prior)), 1.0, values[scales])
    quiet = np.array([UNSURE if run.group == NO_WORK else 1.0 for run in runs])
    return fit_products(
        Products(
            terms=terms * values * own,
            scales=scales,
            spreads=np.array([spread for _, spread in prior.values()]) / values,
            measured=np.array([run.watts for run in runs]),
            weights=_weights(runs) / NOISE / quiet,
            groups=np.unique([run.gpu.name for run in runs], return_inverse=True)[1],
            apart=number("model", "between_boards"),
        )
    )


def no_work_runs(gpu: Gpu) -> list[PoweredRun]:
    """Return what is published of a board without work as runs that do nothing."""
    memory = gpu.compute_memory_clock or gpu.memory_clock
    nothing = ((Activity(0.0, {}, {}), 1.0, 1.0),)
    return [
        PoweredRun(NO_WORK, gpu, Clocks(one.clock, memory), nothing, one.watts, one.temperature_c)
        for one in readings(gpu)
    ]


def predicted_watts(run: PoweredRun, known: Parameters) -> float:
    """Return the power that the model predicts for a run."""
    return math.fsum(component_watts(run, known).values())


def component_watts(run: PoweredRun, known: Parameters) -> dict[str, float]:
    """Return the power that the model predicts for a run, by component."""
    return {name: known.coefficients[name].value * load for name, load in _loads(run, known).items()}


def total_activity(run: PoweredRun) -> Activity:
    """Return what all parts of a run do together; shares are means over time, occupancy over its launches."""
    amounts: Counter[str] = Counter()
    for work, _, _ in run.parts:
        amounts.update(work.amounts)
    active = math.fsum(work.active_sms * seconds for work, seconds, _ in run.parts) / run.seconds
    launches = [(work.occupancy, seconds) for work, seconds, _ in run.parts if work.amounts]
    busy = math.fsum(seconds for _, seconds in launches)
    occupancy = math.fsum(share * seconds for share, seconds in launches) / busy if busy else math.nan
    return Activity(active, dict(amounts), {}, occupancy=occupancy)


def predicted_spread(run: PoweredRun, known: Parameters) -> float:
    """Return the standard deviation of the logarithm of that power: coefficients and what they leave."""
    parts = [(known.coefficients[name], load) for name, load in _loads(run, known).items()]
    whole = math.fsum(coefficient.value * load for coefficient, load in parts)
    shares = [coefficient.value * load / whole * coefficient.spread for coefficient, load in parts]
    return math.hypot(known.residual, *shares)


Reduced = tuple["Vector", "Vector", float]
"""A least-squares problem as a triangle, what it should give, and the sum of squares that is left anyway."""


def _reduced(design: Vector, watts: Vector, weight: Vector, spreads: Vector) -> Reduced:
    """Return the problem in scales of the prior's values: relative errors, and the prior as further rows."""
    row = weight / watts / NOISE
    matrix = np.vstack([design * row[:, None], np.diag(1 / spreads)])
    wanted = np.concatenate([weight / NOISE, 1 / spreads])
    orthogonal, triangle = np.linalg.qr(matrix)
    projected = orthogonal.T @ wanted
    return triangle, projected, float(wanted @ wanted - projected @ projected)


def _best(problems: Sequence[tuple[Voltage, Reduced]]) -> tuple[Voltage, Vector, Vector]:
    """Return the curve with the smallest sum of squares, scales and their standard errors.

    What is left anyway bounds that sum from below, so that few problems need solving.
    """
    least, found = math.inf, None
    for curve, (triangle, projected, left) in sorted(problems, key=lambda problem: problem[1][2]):
        if left > least:
            break
        scales = nnls(triangle, projected)
        cost = left + float(((triangle @ scales - projected) ** 2).sum())
        if cost < least:
            least, found = cost, (curve, scales, triangle)
    assert found is not None
    return found[0], found[1], _errors(found[2])


def _errors(triangle: Vector) -> Vector:
    return np.sqrt(np.diag(np.linalg.inv(triangle.T @ triangle)))


@lru_cache(maxsize=16384)
def _flat_loads(run: PoweredRun) -> tuple[float, ...]:
    """Return the loads of a run at constant voltage, in the order of the components."""
    return tuple(_loads(run, replace(specification(run.gpu), voltage=FLAT)).values())


@lru_cache(maxsize=16384)
def _shared_loads(run: PoweredRun) -> tuple[float, ...]:
    """Return what each number that all GPUs share is multiplied with in a run's power, its scale aside."""
    parts = composition(run.gpu)
    row = dict.fromkeys(cited_numbers(), 0.0)
    for component, load in _loads(run, specification(run.gpu)).items():
        for name, factor in parts[component].items():
            row[name] += load * factor
    return tuple(row.values())


@lru_cache(maxsize=256)
def _shared_scales(gpu: Gpu) -> tuple[str, ...]:
    """Return the number that scales each shared number on a GPU; its own name where none does."""
    scales = scales_of(gpu)
    found = {name: name for name in cited_numbers()}
    for component, parts in composition(gpu).items():
        found.update(dict.fromkeys(parts, scales[component]) if component in scales else {})
    return tuple(found.values())


def _scale_by_voltage(flat: Vector, shares: Vector, curve: Voltage) -> Vector:
    """Return a design made at constant voltage for a curve: all but board and memory go with V²."""
    squares = np.array([curve.at(share) for share in shares]) ** 2
    scaled = np.array([name not in UNSCALED for name in COMPONENTS])
    return np.where(scaled, flat * squares[:, None], flat)


def _loads(run: PoweredRun, known: Parameters) -> dict[str, float]:
    """Return the loads of a run: of its parts, weighted by their time."""
    whole = run.seconds
    found: dict[str, float] = dict.fromkeys(COMPONENTS, 0.0)
    for work, seconds, toggle in run.parts:
        part = loads(
            run.gpu, run.clocks, work, seconds, known, toggle=toggle, temperature_c=run.temperature_c
        )
        for name, load in part.items():
            found[name] += load * seconds / whole
    return found


def _weights(runs: Sequence[PoweredRun]) -> Vector:
    """Return the square roots of the rows' weights: a program counts as a few measurements at most."""
    sizes = Counter((run.gpu.name, run.group) for run in runs)
    counts = [sizes[run.gpu.name, run.group] for run in runs]
    return np.sqrt([min(count, INDEPENDENT) / count for count in counts])


def _residual(runs: Sequence[PoweredRun], predicted: Vector) -> float:
    weight = _weights(runs) ** 2
    logs = np.log(np.array([run.watts for run in runs]) / predicted)
    return math.sqrt(float((weight * logs**2).sum() / weight.sum()))


def _check(runs: Sequence[PoweredRun]) -> None:
    if not runs:
        raise InputError("no runs with measured power", hint="measure first: warpwatt measure")
    for run in runs:
        if not (math.isfinite(run.watts) and run.watts > 0 and run.seconds > 0):
            raise InputError(f"{run.group} on {run.gpu.name}: {run.watts} W in {run.seconds} s")
