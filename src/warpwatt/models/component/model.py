"""The power model ``component``: watts by component, attributed to instructions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.case import Case, Power, Timing
from warpwatt.core.estimate import DRAWS, Estimate, Source, factor_draws, standard_draws
from warpwatt.models.component.activity import fill_assumed, toggle_factor
from warpwatt.models.component.counters import measured_work
from warpwatt.models.component.parameters import STATIC, UNSCALED, loads, parameters
from warpwatt.models.component.table import number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.models.component.activity import Activity
    from warpwatt.models.component.parameters import Parameters


class Component:
    """Board power as the sum of its components."""

    name = "component"
    summary = "constant, clock, leakage and switching power by component from predicted work; every GPU"

    def predict(self, case: Case, timing: Timing) -> Power:
        """Return the mean power while the kernel runs.

        A profile's counters replace predicted ones. Not clipped at the power limit: the clock fixed
        point of :func:`warpwatt.compose.predict` lowers the clock instead.

        Raises
        ------
        UnsupportedGpuError
            If the GPU's board power is not known.
        """
        known = parameters(case.gpu)
        profile = case.profile
        work, seconds = measured_work(case, timing)
        found = loads(
            case.gpu,
            case.clocks,
            work,
            seconds,
            known,
            toggle=toggle_factor(case, known.toggles),
            tensor_toggle=toggle_factor(case, known.tensor_toggles),
            temperature_c=profile.counters.get("temperature_c") if profile is not None else None,
        )
        watts = {name: known.coefficients[name].value * load for name, load in found.items()}
        watts = {name: value for name, value in watts.items() if value > 0}
        power = Estimate.from_draws(
            math.fsum(watts.values()),
            _draws(case, timing, known, watts),
            "W",
            Source.MODELLED if known.calibrated else Source.ASSUMED,
        )
        return Power(self.name, power, watts, _shares(case, timing, work, watts))


def _draws(case: Case, timing: Timing, known: Parameters, watts: Mapping[str, float]) -> list[float]:
    """Return draws of the power; switching energy is spent whether the kernel is quick or slow."""
    times = np.array(timing.time.draws or (timing.time.value,) * DRAWS)
    spread = known.toggle_spread if fill_assumed(case) else 0.0
    static = {name: own for name, own in watts.items() if name in STATIC}
    switching = {name: own for name, own in watts.items() if name not in STATIC}
    paces = timing.time.value / times * np.array(factor_draws({"toggle": spread}))
    squares = voltage_draws(known, case.clocks.sm / case.gpu.boost_clock)
    totals = drawn_watts(static, known, squares) + drawn_watts(switching, known, squares) * paces
    found: list[float] = (totals * np.array(factor_draws({"model:component": known.residual}))).tolist()
    return found


def voltage_draws(known: Parameters, share: float) -> NDArray[np.float64]:
    """Return draws of V² around 1 at a share of the boost clock: neither its floor nor its slope is sure."""
    floor, middle = known.voltage.floor, known.voltage.at(share)
    draws = np.array(standard_draws(f"voltage:{known.scope}"))
    floors = np.clip(floor + known.floor_spread * draws, number("voltage", "lowest"), 1.0)
    # V is a floor and a share of what lies between it and 1, so that it moves with the floor by the rest.
    far = (1.0 - middle) / (1.0 - floor) if floor < 1.0 else 0.0
    slopes = number("voltage", "slope") * np.array(standard_draws(f"voltage slope:{known.scope}"))
    squares: NDArray[np.float64] = ((middle + (floors - floor) * far) / middle) ** 2 * share**slopes
    return squares


def drawn_watts(
    watts: Mapping[str, float], known: Parameters, squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return draws of the sum of some components under the spread of coefficients and voltage."""
    scaled = [name not in UNSCALED for name in watts]
    rows = np.where(np.array(scaled)[:, None], squares, 1.0) * _factors(tuple(watts), known)
    return np.array(list(watts.values())) @ rows


@lru_cache(maxsize=32)
def _factors(names: tuple[str, ...], known: Parameters) -> NDArray[np.float64]:
    """Return a row of draws of each component's coefficient around 1."""
    rows = [factor_draws({f"power:{name}:{known.scope}": known.coefficients[name].spread}) for name in names]
    return np.array(rows).reshape(len(names), DRAWS)


def _shares(case: Case, timing: Timing, work: Activity, watts: Mapping[str, float]) -> tuple[float, ...]:
    """Return each instruction's share of the energy: its own operations and bytes, static power by time."""
    size = len(case.workload.execution.counts)
    names, parts = _parts(work, size)
    switching = np.array([watts.get(name, 0.0) for name in names])
    own = switching @ parts
    left = math.fsum(watts.values()) - float(switching.sum())
    spent = float(own.sum())
    if not spent + left:
        return ()
    times = np.array(timing.shares) if timing.shares else own / spent if spent else np.full(size, 1.0 / size)
    return tuple(((own + left * times) / (spent + left)).tolist())


@lru_cache(maxsize=8)
def _parts(work: Activity, size: int) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the components that instructions switch, and for each a row of their shares of it."""
    names, rows = [], []
    for name, amounts in work.by_instruction.items():
        whole = math.fsum(amounts.values())
        if name not in STATIC and whole:
            row = np.zeros(size)
            row[list(amounts)] = np.array(list(amounts.values())) / whole
            names.append(name)
            rows.append(row)
    return tuple(names), np.array(rows).reshape(len(names), size)
