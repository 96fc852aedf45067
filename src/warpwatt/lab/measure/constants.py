"""Constants of a GPU from the rows of its microbenchmarks, each with the fit it comes from.

Names are ``kind.what``: ``latency.l2``, ``throughput.fp32_fma``, ``peak_warps.fp32_fma_ilp2``. Rows are those
of the ``micro`` protocol whose status is ok.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.lab.measure.fits import Fit, Parameter, fit_exponential, fit_linear
from warpwatt.lab.measure.piecewise import between, find_levels

if TYPE_CHECKING:
    from warpwatt.lab.measure.columns import Row

PEAK_THRESHOLD = 0.02
"""ε: throughput within this share of the highest counts as the peak (Alavani 2023, section 3.2)."""


@dataclass(frozen=True, slots=True)
class Constant:
    """One constant; ``r2`` is None where nothing was fitted but a median taken."""

    name: str
    value: float
    error: float
    unit: str
    points: int
    r2: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """What a picture shows: measured points and the curve through them, in named units."""

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    curve_x: tuple[float, ...] = ()
    curve_y: tuple[float, ...] = ()
    logarithmic_x: bool = False
    note: str = ""


@dataclass(slots=True)
class Extraction:
    """Everything extracted so far; ``missing`` says what could not be, and why."""

    constants: list[Constant] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def add(self, name: str, value: Parameter, unit: str, points: int, r2: float | None = None) -> None:
        """Add a constant."""
        self.constants.append(Constant(name, value.value, value.error, unit, points, r2))

    @contextmanager
    def attempt(self, what: str) -> Iterator[None]:
        """Note something as missing where there are too few points for it."""
        try:
            yield
        except InputError as error:
            self.missing.append(f"{what}: {error.message}")


@dataclass(frozen=True, slots=True)
class Curve:
    """Rows of one probe and quantity, along one swept column."""

    rows: tuple[Row, ...]

    def column(self, name: str) -> list[float]:
        """Return a column's values."""
        return [float(str(row[name])) for row in self.rows]

    @property
    def values(self) -> list[float]:
        """Return what was measured."""
        return self.column("value")

    def where(self, **wanted: float | str) -> Curve:
        """Return the rows whose columns have these values."""
        return Curve(tuple(r for r in self.rows if all(r.get(k) == v for k, v in wanted.items())))


def extract(rows: Sequence[Row]) -> Extraction:
    """Return all constants that the rows hold; a curve too poor to fit is named in ``missing``."""
    everything = Curve(tuple(row for row in rows if row["status"] == "ok"))
    found = Extraction()
    for step in _STEPS:
        step(everything, found)
    return found


def _each(rows: Curve, quantity: str, family: str) -> Iterator[tuple[str, Curve]]:
    """Yield every program of a quantity and family with its rows."""
    chosen = rows.where(quantity=quantity, family=family)
    for program in dict.fromkeys(str(row["program"]) for row in chosen.rows):
        yield program, chosen.where(program=program)


def _instructions(rows: Curve, found: Extraction) -> None:
    """Latency of each class; peak throughput and peak warps for each ILP."""
    for program, curve in _each(rows, "latency", "instruction"):
        row = curve.rows[0]
        found.add(
            f"latency.{program.removesuffix('_ilp1')}", _measured(row), "cycle", int(row["repeats"] or 0)
        )
    best: dict[str, Constant] = {}
    for program, curve in _each(rows, "throughput", "instruction"):
        warps, rates = curve.column("warps"), curve.values
        top = int(np.argmax(rates))
        peak = min(
            w for w, rate in zip(warps, rates, strict=True) if rate >= (1 - PEAK_THRESHOLD) * rates[top]
        )
        found.add(f"peak_warps.{program}", Parameter(peak, _grid_error(warps, peak)), "warp", len(rates))
        one = _measured(curve.rows[top])
        name = f"throughput.{program.rpartition('_ilp')[0]}"
        constant = Constant(name, one.value, one.error, "1/cycle", len(rates))
        if name not in best or one.value > best[name].value:
            best[name] = constant
        title = f"{program}: results per cycle and SM"
        found.plots.append(
            Plot(title, "warps", "1/cycle", tuple(warps), tuple(rates), note=f"peak at {peak:g} warps")
        )
    found.constants += best.values()


def _grid_error(values: Sequence[float], chosen: float) -> float:
    """Return the uncertainty of a value known only to the grid it was measured on."""
    below = [v for v in values if v < chosen]
    return (chosen - max(below)) / 12**0.5 if below else 0.0


def _measured(row: Row) -> Parameter:
    return Parameter(float(str(row["value"])), float(str(row["standard_error"] or 0.0)))


def _memory(rows: Curve, found: Extraction) -> None:
    """Levels of the pointer chases: latency of each, and where each ends."""
    cases = (
        ("chase_global_ca", ("l1", "l2", "l2_far", "dram")),
        ("chase_constant", ("constant_l1", "constant_l2")),
    )
    for program, names in cases:
        curve = rows.where(program=program, quantity="latency")
        with found.attempt(program):
            _levels(curve, program, names, found)
    for program, curve in _each(rows, "latency", "latency"):
        if program.startswith(("atomic", "chase_shared")):
            first = curve.rows[0]
            found.add(f"latency.{program.removeprefix('chase_')}", _measured(first), "cycle", 1)


def _levels(curve: Curve, program: str, names: Sequence[str], found: Extraction) -> None:
    x, y = curve.column("footprint"), curve.values
    flat = find_levels(x, y)
    # Between the second level and the last there may be one more: the far partition of L2.
    chosen = {0: names[0], 1: names[1], len(flat) - 1: names[-1]} if len(flat) > 2 else dict(enumerate(names))
    if len(flat) > 3 and len(names) > 3:
        chosen[2] = names[2]
    for index, level in enumerate(flat):
        if name := chosen.get(index):
            found.add(f"latency.{name}", level.height, "cycle", level.points)
        if name and index + 1 < len(flat):
            following = min(v for v in x if v > level.high)
            found.add(f"reach.{name}", between(level.high, following), "B", level.points)
    curve_x = tuple(edge for level in flat for edge in (level.low, level.high))
    curve_y = tuple(level.height.value for level in flat for _ in range(2))
    found.plots.append(
        Plot(f"{program}: latency", "footprint, B", "cycles", tuple(x), tuple(y), curve_x, curve_y, True)
    )


def _bandwidths(rows: Curve, found: Extraction) -> None:
    """Growth of every bandwidth with warps to its plateau; the value is the curve at the most warps."""
    for quantity in ("bandwidth", "l2 bandwidth", "dram bandwidth"):
        chosen = rows.where(quantity=quantity)
        for program in dict.fromkeys(str(row["program"]) for row in chosen.rows):
            curve = chosen.where(program=program)
            name = f"bandwidth.{quantity.removesuffix('bandwidth').strip() or 'sm'}_{program}"
            if len(curve.rows) == 1:  # a mix of loads and stores: measured at full occupancy only
                row = curve.rows[0]
                found.add(name, _measured(row), str(row["unit"]), 1)
                continue
            with found.attempt(name):
                _growth(curve, name, found)


def _growth(curve: Curve, name: str, found: Extraction) -> None:
    """Fit growth against warps in flight on the chip."""
    blocks = [float(str(row["blocks"] or 1)) for row in curve.rows]
    x = [b * w for b, w in zip(blocks, curve.column("warps"), strict=True)]
    fit = fit_exponential(x, curve.values)
    plateau = Parameter(fit(max(x)), fit.rmse / len(x) ** 0.5)
    unit = str(curve.rows[0]["unit"])
    found.add(name, plateau, unit, len(x), fit.r2)
    found.plots.append(_plot(name, "warps", unit, x, curve.values, fit))


def _plot(title: str, x_label: str, y_label: str, x: Sequence[float], y: Sequence[float], fit: Fit) -> Plot:
    curve_x = np.linspace(min(x), max(x), 60)
    shown = ", ".join(f"{name} = {value}" for name, value in fit.parameters.items())
    note = f"{fit.model}: {shown}; R² = {fit.r2:.4f}, RMSE = {fit.rmse:.3g}"
    curve_y = tuple(float(v) for v in fit.curve(curve_x))
    return Plot(title, x_label, y_label, tuple(x), tuple(y), tuple(map(float, curve_x)), curve_y, note=note)


def _lines(rows: Curve, found: Extraction) -> None:
    """Everything that is a straight line: what it costs at none, and each more."""
    cases = [
        ("conflicts", "shared_4B_16r0w", "stride", 4.0, "conflict", "cycle"),
        ("coalescing", "strided_4B", "stride", 4.0, "coalescing", "cycle"),
        *(("latency", p, "warps", 1.0, p, "cycle") for p in ("barrier_block", "fence_block", "fence_gpu")),
        *(
            (f"{mode} launch, 256 threads", "micro_empty", "blocks", 1.0, f"launch_{mode}", "s")
            for mode in ("batch", "graph", "seconds")
        ),
        *(
            (f"{way} {kind}", "host", "footprint", 1.0, f"{way}_{kind}", "s")
            for way in ("upload", "download")
            for kind in ("pageable", "pinned")
        ),
    ]
    for quantity, program, swept, per, name, unit in cases:
        curve = rows.where(quantity=quantity, program=program)
        if swept == "stride":  # broadcast, and spacings below a word, are not on the line
            curve = Curve(tuple(r for r in curve.rows if float(str(r["stride"] or 0)) >= per))
        with found.attempt(name):
            _line(curve, swept, per, name, unit, found)


def _line(curve: Curve, swept: str, per: float, name: str, unit: str, found: Extraction) -> None:
    x = [v / per for v in curve.column(swept)]
    fit = fit_linear(x, curve.values)
    found.add(f"{name}.base", fit.parameters["a"], unit, len(x), fit.r2)
    found.add(f"{name}.per_{_PER[swept]}", fit.parameters["b"], unit, len(x), fit.r2)
    found.plots.append(_plot(name, f"{swept} / {per:g}" if per != 1 else swept, unit, x, curve.values, fit))


_PER = {"stride": "word", "warps": "warp", "blocks": "block", "footprint": "byte"}


def _singles(rows: Curve, found: Extraction) -> None:
    """Take over what is one number: atomics, context, idle power."""
    for program, curve in _each(rows, "atomics", "atomics"):
        for row in curve.rows:
            where = "chip" if float(str(row["blocks"] or 1)) > 1 else "sm"
            found.add(f"atomics.{program}_{where}_stride{row['stride']}", _measured(row), "1/cycle", 1)
    for quantity, name in (("context", "context"), ("idle power", "power.idle")):
        for row in rows.where(program="host", quantity=quantity).rows:
            found.add(name, _measured(row), str(row["unit"]), int(row["repeats"] or 1))


_STEPS = (_instructions, _memory, _bandwidths, _lines, _singles)
