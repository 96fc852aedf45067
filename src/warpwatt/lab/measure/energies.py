"""Energies per instruction and byte, and constant powers, from the power of microbenchmarks.

Energy of a launch = P_const·t + P_SM·(active SMs)·t + Σ work·e, all of them at least 0 (see
:mod:`~warpwatt.lab.measure.nonnegative`). One row of each class fixes its energy; the constant powers come
from the rows that run one class on parts of the chip. Work is warp instructions, or bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.lab.measure.constants import Curve, Extraction, Plot
from warpwatt.lab.measure.nonnegative import NonNegative, fit_nonnegative

if TYPE_CHECKING:
    from warpwatt.lab.measure.columns import Row

USABLE = ("ok", "capped")
"""A run at the power limit counts: its power and its time are as measured."""
CONSTANT, PER_SM = "power.constant", "power.active_sm"


def add_energies(rows: Sequence[Row], found: Extraction) -> None:
    """Add the constants of energy and power; note it as missing where there are too few rows."""
    chosen = Curve(tuple(row for row in rows if _is_power(row)))
    if not chosen.rows:
        found.missing.append("energies: no power was measured")
        return
    names = [_name(row) for row in chosen.rows]
    seconds, watts, work = (np.array(chosen.column(name)) for name in ("launch_s", "value", "work"))
    columns = {CONSTANT: seconds, PER_SM: seconds * np.array(chosen.column("active_sms"))}
    for name in dict.fromkeys(names):
        columns[name] = np.where(np.array(names) == name, work, 0.0)
    with found.attempt("energies"):
        fit = fit_nonnegative(columns, seconds * watts, sigma=seconds * watts)
        units = {_name(row): "J" if str(row["family"]) == "instruction" else "J/B" for row in chosen.rows}
        for name, parameter in fit.parameters.items():
            found.add(name, parameter, units.get(name, "W"), names.count(name) or len(names), fit.r2)
        found.plots.append(_plot(fit, watts))


def _plot(fit: NonNegative, watts: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Plot:
    title, label = "power, fitted against measured", "measured, W"
    predicted, ends = tuple(watts * (1 - fit.residuals)), (float(watts.min()), float(watts.max()))
    note = f"R² = {fit.r2:.4f}, RMSE = {fit.rmse:.2%} of each"
    return Plot(title, label, "W", tuple(watts), predicted, ends, ends, note=note)


def _is_power(row: Row) -> bool:
    quantity = str(row["quantity"])
    return quantity.endswith("power") and row["program"] != "host" and row["status"] in USABLE


def _name(row: Row) -> str:
    """Return the name of the energy a row fixes: level, class or stream, and zeros if they were the data."""
    program = str(row["program"]).rpartition("_ilp")[0] or str(row["program"])
    level = str(row["quantity"]).removesuffix("power").replace(" bandwidth", "").strip()
    parts = [part for part in (level, program, "zeros" if row["data"] == "zeros" else "") if part]
    return "energy." + "_".join(parts)
