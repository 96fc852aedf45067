"""Coefficients of the component model for one GPU: watts and joules, with how sure each one is.

From ``component.toml`` scaled to the GPU's process and size, replaced by the ``component.*`` constants of the
GPU's calibration where it has them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from warpwatt.core.arguments import Fill
from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.models.power.component.voltage import VoltageCurve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.gpu import Calibration, Gpu

PREFIX = "component."
"""Of the constants in a calibration that belong to this model."""
STATIC = ("board", "memory", "leakage", "clocks", "active SMs")
"""Components that cost power however little the launch does."""
SWITCHING = (
    "issue", "registers", "int", "imad", "fp32", "fp16", "fp64", "sfu", "tensor", "uniform",
    "shared", "l1", "l2",
)  # fmt: skip
"""Components inside the chip, whose energy goes with the square of its voltage."""
DRAM = "dram"
"""Device memory has a supply of its own."""
COMPONENTS = (*STATIC, *SWITCHING, DRAM)
"""Names of all components, in the order they are shown."""
PICO = 1e-12


@dataclass(frozen=True, slots=True)
class Coefficient:
    """Watts per unit of load at the boost clock's voltage; ``spread`` is the deviation of its logarithm."""

    value: float
    spread: float


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """Everything the model knows of one GPU.

    ``residual`` is the standard deviation of log(measured / predicted) that no coefficient explains.
    ``scope`` is part of the names of the parameters that draws share: coefficients of one scope err together.
    """

    coefficients: Mapping[str, Coefficient]
    voltage: VoltageCurve
    toggles: Mapping[Fill, float]
    toggle_spread: float
    temperature_c: float
    leakage_per_kelvin: float
    residual: float
    scope: str
    calibrated: bool


def parameters(gpu: Gpu) -> Parameters:
    """Return the parameters of a GPU.

    Raises
    ------
    UnsupportedGpuError
        If the GPU's board power is not known.
    """
    found = specification(gpu)
    return found if gpu.calibration is None else calibrated(found, gpu.calibration)


def specification(gpu: Gpu) -> Parameters:
    """Return what process, size and memory of a GPU say, without any measurement of its power."""
    if gpu.power_limit is None:
        fix = "add power_limit to a user GPU file, or choose another power model"
        raise UnsupportedGpuError(f"the board power of {gpu.name} is not known", hint=fix)
    table = _table()
    board = table["board"]
    spreads = table["spread"]
    coefficients = {
        name: Coefficient(value, float(spreads.get(name, spreads["switching"])))
        for name, value in _values(gpu, gpu.power_limit).items()
    }
    curve = _of(table["voltage"], gpu)
    return Parameters(
        coefficients=coefficients,
        voltage=VoltageCurve(curve["floor"], curve["knee"], curve["exponent"]),
        toggles={fill: float(table["toggle"][fill.value]["value"]) for fill in Fill},
        toggle_spread=float(table["toggle"]["spread"]["value"]),
        temperature_c=float(board["temperature_c"]["value"]),
        leakage_per_kelvin=float(board["leakage_per_kelvin"]["value"]),
        residual=float(board["residual"]["value"]),
        scope="specification",
        calibrated=False,
    )


def _values(gpu: Gpu, power_limit: float) -> dict[str, float]:
    """Return component to watts per unit of load: process, size of the SM and type of memory applied."""
    table = _table()
    energies, board = table["energy_pj"], table["board"]
    scale = float(_of(table["process"], gpu)["value"])
    lanes = gpu.capability.fp32_lanes / 64
    memory = table["memory_watts_per_tbs"]
    dram = table["dram_pj_per_byte"]
    values = {
        "board": float(board["board_watts"]["value"]) + power_limit * float(board["board_share"]["value"]),
        "memory": float(_typed(memory, gpu)) * gpu.memory_bandwidth / 1e12,
        "leakage": power_limit * float(board["leakage_share"]["value"]),
        "clocks": float(board["clocks_watts"]["value"]) * scale * lanes,
        "active SMs": float(board["active_watts"]["value"]) * scale * lanes,
    }
    values |= {name: float(energies[name]["value"]) * PICO * scale for name in SWITCHING}
    return values | {DRAM: float(_typed(dram, gpu)) * PICO}


def calibrated(base: Parameters, calibration: Calibration) -> Parameters:
    """Return parameters with the coefficients that were measured on the GPU put in."""
    own = {
        name.removeprefix(PREFIX): pair
        for name, pair in calibration.constants.items()
        if name.startswith(PREFIX)
    }
    if not own:
        return base
    coefficients = dict(base.coefficients)
    for name in COMPONENTS:
        if name in own:
            value, error = own[name]
            coefficients[name] = Coefficient(value, min(1.0, error / value) if value > 0 else 0.0)
    shape = base.voltage
    given = {"floor": shape.floor, "knee": shape.knee, "exponent": shape.exponent}
    curve = {key: own.get(f"voltage_{key}", (value, 0.0))[0] for key, value in given.items()}
    return Parameters(
        coefficients=coefficients,
        voltage=VoltageCurve(**curve),
        toggles=base.toggles,
        toggle_spread=base.toggle_spread,
        temperature_c=base.temperature_c,
        leakage_per_kelvin=base.leakage_per_kelvin,
        residual=own.get("residual", (base.residual, 0.0))[0],
        scope=calibration.gpu,
        calibrated=True,
    )


def _of(table: Mapping[str, Any], gpu: Gpu) -> Mapping[str, Any]:
    """Return the entry of the capability, else of the architecture, else the default."""
    for key in (gpu.capability.version, gpu.arch):
        if key in table:
            entry: Mapping[str, Any] = table[key]
            return entry
    default: Mapping[str, Any] = table["default"]
    return default


def _typed(table: Mapping[str, Any], gpu: Gpu) -> float:
    return float(table.get(gpu.memory_type, table["default"])["value"])


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    text = files("warpwatt.models.power.component").joinpath("component.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
