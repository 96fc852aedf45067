"""Energies per instruction and byte, and constant powers, from the power of microbenchmarks.

Energy of a launch = P_const·t + P_SM·(active SMs)·t + Σ work·e, all of them at least 0 (see
:mod:`~warpwatt.lab.measure.nonnegative`). One row of each class fixes its energy; the constant powers come
from the rows that run one class on parts of the chip. Work is warp instructions, or bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.lab.measure.constants import Found, Plot
from warpwatt.lab.measure.nonnegative import NonNegative, fit_nonnegative

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwatt.lab.measure.results import Row

USABLE = ("ok", "capped")
"""A run at the power limit counts: its power and its time are as measured."""
CONSTANT, PER_SM = "power.constant", "power.active_sm"


def add_energies(rows: Sequence[Row], found: Found) -> None:
    """Add the constants of energy and power; note it as missing where there are too few rows."""
    chosen = [row for row in rows if _is_power(row)]
    if not chosen:
        found.missing.append("energies: no power was measured")
        return
    names = [_name(row) for row in chosen]
    seconds, watts = _column(chosen, "launch_s"), _column(chosen, "value")
    columns = {CONSTANT: seconds, PER_SM: seconds * _column(chosen, "active_sms")}
    for name in dict.fromkeys(names):
        columns[name] = np.where(np.array(names) == name, _column(chosen, "work"), 0.0)
    energy = seconds * watts
    try:
        fit = fit_nonnegative(columns, energy, sigma=energy)
    except InputError as error:
        found.missing.append(f"energies: {error.message}")
        return
    _add(fit, chosen, names, found)


def _add(fit: NonNegative, rows: Sequence[Row], names: Sequence[str], found: Found) -> None:
    units = {_name(row): "J" if str(row["family"]) == "instruction" else "J/B" for row in rows}
    for name, parameter in fit.parameters.items():
        found.add(name, parameter, units.get(name, "W"), names.count(name) or len(rows), fit.r2)
    watts = _column(rows, "value")
    predicted = watts * (1 - fit.residuals)
    ends = (float(watts.min()), float(watts.max()))
    note = f"R² = {fit.r2:.4f}, RMSE = {fit.rmse:.2%} of each"
    found.plots.append(
        Plot(
            "power, fitted against measured",
            "measured, W",
            "W",
            tuple(watts),
            tuple(predicted),
            ends,
            ends,
            note=note,
        )
    )


def _is_power(row: Row) -> bool:
    quantity = str(row["quantity"])
    return quantity.endswith("power") and row["program"] != "host" and row["status"] in USABLE


def _name(row: Row) -> str:
    """Return the name of the energy a row fixes: level, class or stream, and zeros if they were the data."""
    program = str(row["program"]).rpartition("_ilp")[0] or str(row["program"])
    level = str(row["quantity"]).removesuffix("power").replace(" bandwidth", "").strip()
    parts = [part for part in (level, program, "zeros" if row["data"] == "zeros" else "") if part]
    return "energy." + "_".join(parts)


def _column(rows: Sequence[Row], name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([float(str(row[name])) for row in rows])
