"""Coefficients of the component model for one GPU, and the loads that they are multiplied with.

Coefficients are watts and joules, with how sure each one is: numbers that all GPUs share (``component.toml``,
and ``fitted.toml`` where a fit to public measurements replaced them) scaled to the GPU's process, size and
memory; then the ``component.*`` constants of the GPU's calibration. Power is linear in them: that makes
calibration a linear fit, and the watts of each component its coefficient times its load.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from warpwatt.core.arguments import Fill
from warpwatt.core.gpu import Calibration, Clocks, Gpu
from warpwatt.models.specification import power_limit

if TYPE_CHECKING:
    from warpwatt.models.component.activity import Activity


@dataclass(frozen=True, slots=True)
class VoltageCurve:
    """Voltage relative to that at the boost clock, against the clock relative to the boost clock.

    Guerreiro et al. (HPCA 2018) and Mei et al. (2017) measured such curves: flat at low clocks, then rising.
    Beyond ``end`` a board holds its voltage: what is clocked higher is an offset.
    """

    floor: float
    knee: float
    exponent: float
    end: float = math.inf

    def at(self, share: float) -> float:
        """Return V / V(boost) at that share of the boost clock; above 1 the curve continues up to its end.

        >>> curve = VoltageCurve(floor=0.7, knee=0.5, exponent=1.0)
        >>> [round(curve.at(share), 6) for share in (0.3, 0.5, 0.75, 1.0)]
        [0.7, 0.7, 0.85, 1.0]
        """
        rise = max(0.0, (min(share, self.end) - self.knee) / (1.0 - self.knee))
        return self.floor + (1.0 - self.floor) * math.pow(rise, self.exponent)


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
UNSCALED = ("board", "memory", DRAM)
"""Components that the chip's voltage does not scale."""
COMPONENTS = (*STATIC, *SWITCHING, DRAM)
"""Names of all components, in the order they are shown."""
SHARED = ("board", "energy_pj", "memory_watts_per_tbs", "dram_pj_per_byte")
"""Tables of ``component.toml`` with the numbers that coefficients are made of."""
PICO = 1e-12
FITTED_FLOOR_SPREAD = 0.03
"""Deviation of the voltage floor of a curve that was fitted to the GPU: the distance of the curves tried."""
REFERENCE_LANES = 64
"""FP32 lanes of the SM that the watts per SM are given for."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """Watts per unit of load at the boost clock's voltage; ``spread`` is the deviation of its logarithm."""

    value: float
    spread: float


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """Everything the model knows of one GPU.

    ``floor_spread`` is the deviation of the voltage curve's floor, ``residual`` the standard deviation of
    log(measured / predicted) that no coefficient explains.
    ``scope`` is part of the names of the parameters that draws share: coefficients of one scope err together.
    """

    coefficients: Mapping[str, Coefficient]
    voltage: VoltageCurve
    floor_spread: float
    toggles: Mapping[Fill, float]
    toggle_spread: float
    temperature_c: float
    leakage_per_kelvin: float
    residual: float
    scope: str
    calibrated: bool


@lru_cache(maxsize=64)
def parameters(gpu: Gpu) -> Parameters:
    """Return the parameters of a GPU.

    Raises
    ------
    UnsupportedGpuError
        If the GPU's board power is not known.
    """
    found = specification(gpu)
    for layer in gpu.calibration.layers if gpu.calibration else ():
        found = calibrated(found, layer)
    return found


def specification(gpu: Gpu, values: Mapping[str, tuple[float, float]] | None = None) -> Parameters:
    """Return the parameters that follow from a GPU's process, size and memory, without any measured power.

    ``values`` stand for those of :func:`shared_numbers`, by the same names.
    """
    table = _table()
    model = table["model"]
    known = shared_numbers() if values is None else values
    curve = table["voltage"]["default"]
    return Parameters(
        coefficients={name: _coefficient(parts, known) for name, parts in composition(gpu).items()},
        voltage=VoltageCurve(
            curve["floor"], curve["knee"], curve["exponent"], float(table["voltage"]["end"]["value"])
        ),
        floor_spread=float(table["voltage"]["floor_spread"]["value"]),
        toggles={fill: float(table["toggle"][fill.value]["value"]) for fill in Fill},
        toggle_spread=float(table["toggle"]["spread"]["value"]),
        temperature_c=float(model["temperature_c"]["value"]),
        leakage_per_kelvin=float(model["leakage_per_kelvin"]["value"]),
        residual=float(model["residual"]["value"]),
        scope="specification",
        calibrated=False,
    )


def _coefficient(parts: Mapping[str, float], known: Mapping[str, tuple[float, float]]) -> Coefficient:
    """Return the sum of shared numbers times their factors."""
    value = math.fsum(known[part][0] * factor for part, factor in parts.items())
    error = math.hypot(*(known[part][1] * factor for part, factor in parts.items()))
    return Coefficient(value, min(1.0, error / value) if value > 0 else 0.0)


def composition(gpu: Gpu) -> dict[str, dict[str, float]]:
    """Return component to what its coefficient on a GPU is made of: shared number to factor.

    Process and size of the SM scale switching, bandwidth the memory's background, the power limit the board.

    Raises
    ------
    UnsupportedGpuError
        If the GPU's board power is not known.
    """
    limit = power_limit(gpu)
    scale = float(_of(_table()["process"], gpu)["value"])
    lanes = gpu.capability.fp32_lanes / REFERENCE_LANES
    return {
        "board": {"board.watts": 1.0, "board.share": limit},
        "memory": {_typed("memory_watts_per_tbs", gpu): gpu.memory_bandwidth / 1e12},
        "leakage": {"board.leakage_share": limit},
        "clocks": {"board.clocks_watts": scale * lanes},
        "active SMs": {"board.active_watts": scale * lanes},
        **{name: {f"energy_pj.{name}": PICO * scale} for name in SWITCHING},
        DRAM: {_typed("dram_pj_per_byte", gpu): PICO},
    }


@lru_cache(maxsize=1)
def shared_numbers() -> Mapping[str, tuple[float, float]]:
    """Return value and deviation of the numbers that all GPUs share, by ``table.key``."""
    text = files("warpwatt.models.component").joinpath("fitted.toml").read_text(encoding="utf-8")
    fitted = {
        f"{table}.{key}": (float(entry["value"]), float(entry["error"]))
        for table, entries in tomllib.loads(text).items()
        for key, entry in entries.items()
    }
    return {**cited_numbers(), **fitted}


@lru_cache(maxsize=1)
def cited_numbers() -> Mapping[str, tuple[float, float]]:
    """Return value and deviation of the shared numbers before any fit: the fit's prior."""
    table, spreads = _table(), _table()["spread"]
    component = {"memory_watts_per_tbs": "memory", "dram_pj_per_byte": DRAM, "energy_pj": "switching"}
    found = {}
    for name in SHARED:
        for key, entry in table[name].items():
            spread = float(entry.get("spread", spreads.get(component.get(name, key), 0.5)))
            found[f"{name}.{key}"] = (float(entry["value"]), float(entry["value"]) * spread)
    return found


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
    curve = {k: own.get(f"voltage_{k}", (value, 0.0))[0] for k, value in asdict(base.voltage).items()}
    return replace(
        base,
        coefficients=coefficients,
        voltage=VoltageCurve(**curve),
        floor_spread=FITTED_FLOOR_SPREAD,
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


def _typed(table: str, gpu: Gpu) -> str:
    """Return the name of a table's number for the GPU's type of memory."""
    key = gpu.memory_type if gpu.memory_type in _table()[table] else "default"
    return f"{table}.{key}"


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    text = files("warpwatt.models.component").joinpath("component.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


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
