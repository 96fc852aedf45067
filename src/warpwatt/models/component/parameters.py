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
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from warpwatt.core.arguments import Fill
from warpwatt.core.gpu import Calibration, Clocks, Gpu
from warpwatt.core.units import GIB
from warpwatt.models.component.no_work import Reading, readings
from warpwatt.models.component.table import component_table, number
from warpwatt.models.component.voltage import REFERENCE_VOLTS, Voltage, VoltageCurve, chip_voltage
from warpwatt.models.specification import power_limit

if TYPE_CHECKING:
    from warpwatt.models.component.activity import Activity


PREFIX = "component."
"""Of the constants in a calibration that belong to this model."""
STATIC = ("board", "memory", "leakage", "clocks", "active SMs")
"""Components that cost power however little the launch does."""
SWITCHING = (
    "issue", "registers", "int", "imad", "fp32", "fp16", "fp64", "sfu", "tensor", "uniform",
    "shared", "l1", "l2",
)  # fmt: skip
"""Components inside the chip, whose energy goes with the square of its voltage."""
WIRES = ("shared", "l1", "l2")
"""Switching components that move bytes over wires: at one voltage their way costs alike in every process."""
DRAM = "dram"
"""Device memory has a supply of its own."""
UNSCALED = ("board", "memory", DRAM)
"""Components that the chip's voltage does not scale."""
COMPONENTS = (*STATIC, *SWITCHING, DRAM)
"""Names of all components, in the order they are shown."""
SHARED = (
    "board", "energy_pj", "memory_watts_per_tbs", "memory_watts_per_gib", "dram_pj_per_byte",
    "process", "leakage",
)  # fmt: skip
"""Tables of ``component.toml`` with the numbers that coefficients are made of."""
OWN = "board_factor"
"""Table of ``fitted.toml``: what boards with measured kernels draw over what shared numbers say."""
USUAL_GIB = 16.0
"""Capacity of the device memory of a board whose data sheet is silent."""
PICO = 1e-12
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

    ``voltage_read`` says whether the voltage was read from boards of the chip or fitted to this one, and
    ``floor_spread`` is the deviation of the voltage's floor. ``tensor_toggles`` hold for tensor instructions,
    ``toggles`` for everything else. ``residual`` is the standard deviation of
    log(measured / predicted) that no coefficient explains.
    ``scope`` is part of the names of the parameters that draws share: coefficients of one scope err together.
    """

    coefficients: Mapping[str, Coefficient]
    voltage: Voltage
    voltage_read: bool
    floor_spread: float
    toggles: Mapping[Fill, float]
    tensor_toggles: Mapping[Fill, float]
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
    found = with_readings(with_own_factor(specification(gpu), gpu), gpu)
    for layer in gpu.calibration.layers if gpu.calibration else ():
        found = calibrated(found, layer)
    return found


def specification(gpu: Gpu, values: Mapping[str, tuple[float, float]] | None = None) -> Parameters:
    """Return the parameters that follow from a GPU's process, size and memory, without any measured kernel.

    ``values`` stand for those of :func:`shared_numbers`, by the same names.
    """
    table = component_table()
    known = shared_numbers() if values is None else values
    chip = chip_voltage(gpu)
    scales = scales_of(gpu)
    toggles = {fill: float(table["toggle"][fill.value]["value"]) for fill in Fill}
    tensor = {Fill(name): float(entry["value"]) for name, entry in table["tensor_toggle"].items()}
    return Parameters(
        coefficients={
            name: _coefficient(parts, known, scales.get(name)) for name, parts in composition(gpu).items()
        },
        voltage=chip.table,
        voltage_read=chip.read,
        floor_spread=number("voltage", "read" if chip.read else "unread"),
        toggles=toggles,
        tensor_toggles={**toggles, **tensor},
        toggle_spread=number("toggle", "spread"),
        temperature_c=number("model", "temperature_c"),
        leakage_per_kelvin=number("model", "leakage_per_kelvin"),
        residual=number("model", "residual"),
        scope="specification",
        calibrated=False,
    )


def with_own_factor(known: Parameters, gpu: Gpu) -> Parameters:
    """Return parameters times what kernels on the board were measured to draw over what these say."""
    factor = float(_fitted()[OWN].get(gpu.name, 1.0))
    coefficients = {name: replace(own, value=own.value * factor) for name, own in known.coefficients.items()}
    return replace(known, coefficients=coefficients)


def with_readings(known: Parameters, gpu: Gpu) -> Parameters:
    """Return parameters whose static components add up to what the board was seen to draw without work."""
    found = readings(gpu)
    if not found:
        return known
    deviations = [math.log(one.watts / _without_work(known, gpu, one)) for one in found]
    factor = math.exp(number("model", "reading_trust") * math.fsum(deviations) / len(deviations))
    coefficients, spread = dict(known.coefficients), number("model", "between_boards")
    for name in STATIC:
        own = coefficients[name]
        if name != "active SMs":
            coefficients[name] = Coefficient(own.value * factor, min(own.spread, spread))
    return replace(known, coefficients=coefficients)


def _without_work(known: Parameters, gpu: Gpu, reading: Reading) -> float:
    """Return the watts that parameters say of a board with no SM at work."""
    clocks = Clocks(reading.clock, gpu.compute_memory_clock or gpu.memory_clock)
    found = static_loads(gpu, clocks, known, active_sms=0.0, temperature_c=reading.temperature_c)
    return math.fsum(known.coefficients[name].value * load for name, load in found.items())


def _coefficient(
    parts: Mapping[str, float], known: Mapping[str, tuple[float, float]], scale: str | None
) -> Coefficient:
    """Return the sum of shared numbers times their factors, times the number that scales them all."""
    value = math.fsum(known[part][0] * factor for part, factor in parts.items())
    error = math.hypot(*(known[part][1] * factor for part, factor in parts.items()))
    if value <= 0:
        return Coefficient(value, 0.0)
    times, doubt = known[scale] if scale else (1.0, 0.0)
    return Coefficient(value * times, min(1.0, math.hypot(error / value, doubt / times)))


def composition(gpu: Gpu) -> dict[str, dict[str, float]]:
    """Return component to what its coefficient on a GPU is made of: shared number to factor.

    The voltage at the boost clock and the size of the SM scale switching, bandwidth and capacity the
    memory's background, the power limit the board. :func:`scales_of` names what is multiplied on top.

    Raises
    ------
    UnsupportedGpuError
        If the GPU's board power is not known.
    """
    limit = power_limit(gpu)
    square = (chip_voltage(gpu).at_boost / REFERENCE_VOLTS) ** 2
    lanes = gpu.capability.fp32_lanes / REFERENCE_LANES
    capacity = (gpu.memory_size or USUAL_GIB * GIB) / GIB
    kind = "HBM" if gpu.memory_type.startswith("HBM") else "default"
    return {
        "board": {"board.watts": 1.0, "board.share": limit},
        "memory": {
            _typed("memory_watts_per_tbs", gpu): gpu.memory_bandwidth / 1e12,
            f"memory_watts_per_gib.{kind}": capacity,
        },
        "leakage": {"board.leakage_share": limit * square},
        "clocks": {"board.clocks_watts": square * lanes},
        "active SMs": {"board.active_watts": square * lanes},
        **{name: {f"energy_pj.{name}": PICO * square} for name in SWITCHING},
        DRAM: {_typed("dram_pj_per_byte", gpu): PICO},
    }


def scales_of(gpu: Gpu) -> dict[str, str]:
    """Return component to the shared number that its coefficient is multiplied with: that of the process.

    Transistors shrink and their energies with them; :data:`WIRES` do not.
    """
    node = _of(component_table()["node"], gpu)
    shrinking = (name for name in SWITCHING if name not in WIRES)
    switching = dict.fromkeys(("clocks", "active SMs", *shrinking), f"process.{node}")
    return {"leakage": f"leakage.{node}", **switching}


@lru_cache(maxsize=1)
def shared_numbers() -> Mapping[str, tuple[float, float]]:
    """Return value and deviation of the numbers that all GPUs share, by ``table.key``."""
    fitted = {
        f"{table}.{key}": (float(entry["value"]), float(entry["error"]))
        for table, entries in _fitted().items()
        for key, entry in entries.items()
        if table != OWN
    }
    return {**cited_numbers(), **fitted}


@lru_cache(maxsize=1)
def _fitted() -> Mapping[str, Mapping[str, Any]]:
    text = files("warpwatt.models.component").joinpath("fitted.toml").read_text(encoding="utf-8")
    return {OWN: {}, **tomllib.loads(text)}


@lru_cache(maxsize=1)
def cited_numbers() -> Mapping[str, tuple[float, float]]:
    """Return value and deviation of the shared numbers before any fit: the fit's prior."""
    table, spreads = component_table(), component_table()["spread"]
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
    floor, knee, exponent = (
        own.get(f"voltage_{name}", (math.nan, 0.0))[0] for name in ("floor", "knee", "exponent")
    )
    fitted = not any(map(math.isnan, (floor, knee, exponent)))
    return replace(
        base,
        coefficients=coefficients,
        voltage=VoltageCurve(floor, knee, exponent, base.voltage.end) if fitted else base.voltage,
        voltage_read=base.voltage_read or fitted,
        floor_spread=number("voltage", "fitted") if fitted else base.floor_spread,
        residual=own.get("residual", (base.residual, 0.0))[0],
        scope=calibration.gpu,
        calibrated=True,
    )


def _of(table: Mapping[str, str], gpu: Gpu) -> str:
    """Return the entry of the capability, else of the architecture, else the default."""
    keys = (gpu.capability.version, gpu.arch)
    return next((table[key] for key in keys if key in table), table["default"])


def _typed(table: str, gpu: Gpu) -> str:
    """Return the name of a table's number for the GPU's type of memory."""
    key = gpu.memory_type if gpu.memory_type in component_table()[table] else "default"
    return f"{table}.{key}"


GIGA = 1e9


def loads(
    gpu: Gpu,
    clocks: Clocks,
    work: Activity,
    seconds: float,
    known: Parameters,
    *,
    toggle: float = 1.0,
    tensor_toggle: float | None = None,
    temperature_c: float | None = None,
) -> Mapping[str, float]:
    """Return component to load: P = Σ coefficient · load.

    ``board`` 1; ``memory`` 1 at the nominal memory clock; ``leakage`` V² and temperature; ``clocks`` and
    ``active SMs`` SMs × GHz × V²; the others operations or bytes per second × V² (DRAM without) × toggle:
    ``tensor_toggle`` for tensor instructions, where given.
    """
    voltage = known.voltage.at(clocks.sm / gpu.boost_clock) ** 2
    found = static_loads(gpu, clocks, known, active_sms=work.active_sms, temperature_c=temperature_c)
    for name in SWITCHING:
        if name in work.amounts:
            own = tensor_toggle if name == "tensor" and tensor_toggle is not None else toggle
            found[name] = work.amounts[name] / seconds * voltage * own
    if DRAM in work.amounts:
        found[DRAM] = work.amounts[DRAM] / seconds * toggle
    return found


def memory_load(gpu: Gpu, clocks: Clocks) -> float:
    """Return what memory draws in the background over that at its nominal clock.

    Part of it goes with the clock, part is that of driving terminated lines: GDDR at low clocks does without.

    >>> from warpwatt.gpus import find
    >>> board = find("gtx 980")
    >>> [round(memory_load(board, Clocks(7e8, share * board.memory_clock)), 2) for share in (0.2, 0.6, 1.0)]
    [0.11, 0.78, 1.0]
    """
    share = clocks.memory / gpu.memory_clock
    if not gpu.memory_type.startswith("GDDR"):
        return share
    lines = number("model", "terminated")
    on = share > number("model", "terminated_from")
    return (1.0 - lines) * share + (lines if on else 0.0)


def static_loads(
    gpu: Gpu, clocks: Clocks, known: Parameters, *, active_sms: float, temperature_c: float | None = None
) -> dict[str, float]:
    """Return static component to load, with so many SMs at work; see :func:`loads`."""
    voltage = known.voltage.at(clocks.sm / gpu.boost_clock) ** 2
    celsius = known.temperature_c if temperature_c is None else temperature_c
    warmth = 1.0 + known.leakage_per_kelvin * (celsius - known.temperature_c)
    pace = clocks.sm / GIGA * voltage
    return {
        "board": 1.0,
        "memory": memory_load(gpu, clocks),
        "leakage": voltage * warmth,
        "clocks": gpu.sm_count * pace,
        "active SMs": active_sms * pace,
    }
