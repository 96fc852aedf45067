"""``specification``: power of any GPU from its data sheet, public energies and the predicted utilisation.

    P = P_idle + P_active + (Σ operations · e_class + Σ bytes · e_level) · V² / t

Every parameter is data (``specification.toml``) and most are assumed, so the result says ``assumed`` and is
wide. It needs no calibration and covers every GPU; a calibrated component model replaces it where one exists.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from warpwatt.core.case import Case, Power, Timing
from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.core.estimate import Estimate, Source, factor_draws
from warpwatt.core.gpu import Gpu
from warpwatt.core.program import Instruction, Space, Unit
from warpwatt.emulate.workload import off_chip_bytes
from warpwatt.models.memo import at_any_clock

PICO = 1e-12
MODEL_SPREAD = 0.35
"""Standard deviation of the logarithm of the dynamic part: energies are assumed, values toggle or not."""
_FLOP_ENERGY = {
    Unit.FP64: "fp64_flop",
    Unit.FP32: "fp32_flop",
    Unit.FP16: "fp16_flop",
    Unit.TENSOR: "tensor_flop",
}
_OPERATION_ENERGY = {Unit.INT: "int_operation", Unit.SFU: "sfu_operation", Unit.UNIFORM: "int_operation"}


class Specification:
    """Board power from specification and utilisation."""

    name = "specification"
    summary = (
        "data-sheet power, public energies per operation and byte, predicted utilisation; every GPU, wide"
    )

    def predict(self, case: Case, timing: Timing) -> Power:
        """Return the mean power while the kernel runs.

        Not clipped at the power limit: the clock fixed point of :func:`warpwatt.compose.predict` lowers the
        clock instead.

        Raises
        ------
        UnsupportedGpuError
            If the GPU's board power is not known.
        """
        static = static_watts(case.gpu, case.workload.active_sms)
        inside, per_instruction = instruction_picojoules(case)
        moved = memory_picojoules(case)
        scale = _number("process_scale", case.gpu.arch, "Ampere") * relative_voltage(case) ** 2
        watts = {
            # DRAM devices have their own supply: neither the chip's process nor its voltage scales them
            name: energy * PICO * (1.0 if name == "DRAM" else scale) / timing.time.value
            for name, energy in (inside | moved).items()
        }
        power = Estimate.from_draws(
            sum(static.values()) + sum(watts.values()),
            _draws(case, timing, static, watts),
            "W",
            Source.ASSUMED,
        )
        shares = _shares(
            case, timing, per_instruction, sum(moved.values()), sum(static.values()) / power.value
        )
        return Power(self.name, power, static | watts, shares)


def _draws(
    case: Case, timing: Timing, static: Mapping[str, float], watts: Mapping[str, float]
) -> list[float]:
    """Return draws of the power; the switching energy is spent whether the kernel is quick or slow."""
    idle = factor_draws({f"idle:{case.gpu.name}": 0.15})
    activity = factor_draws({"model:specification": MODEL_SPREAD})
    pace = [draw / timing.time.value for draw in timing.time.draws] or [1.0] * len(idle)
    fixed, dynamic = sum(static.values()), sum(watts.values())
    return [fixed * i + dynamic * a / p for i, a, p in zip(idle, activity, pace, strict=True)]


def _shares(
    case: Case, timing: Timing, inside: Sequence[float], moved: float, static_share: float
) -> tuple[float, ...]:
    """Return each instruction's share of the energy: static by time, traffic by bytes, the rest its own."""
    loads = off_chip_bytes(case)
    total_bytes = sum(loads) or 1.0
    dynamic = [own + moved * load / total_bytes for own, load in zip(inside, loads, strict=True)]
    total = sum(dynamic) or 1.0
    times = timing.shares or tuple(own / total for own in dynamic)
    return tuple(
        static_share * time + (1 - static_share) * own / total
        for time, own in zip(times, dynamic, strict=True)
    )


def static_watts(gpu: Gpu, active_sms: int) -> dict[str, float]:
    """Return the power drawn however little the kernel does: board idle, clocks running, SMs switched on."""
    return {
        "idle": idle_watts(gpu),
        "active": power_limit(gpu) * _board("active_share"),
        "SMs": active_sms * _board("sm_idle_watts"),
    }


def idle_watts(gpu: Gpu) -> float:
    """Return the power of the board with nothing to do: measured, else a usual share of its limit."""
    return gpu.idle_power if gpu.idle_power is not None else power_limit(gpu) * _board("idle_share")


def dram_joules_per_byte(gpu: Gpu) -> float:
    """Return the energy of one byte between device memory and the SMs."""
    return 8 * _number("dram_pj_per_bit", gpu.memory_type, "default") * PICO


def flop_joules(gpu: Gpu, unit: Unit) -> float:
    """Return the energy of one operation of a library at the boost clock, its instruction's part included.

    A multiply-add is two. Those of tensor cores are of large FP16 products, by the largest instruction that
    the chip has for them.
    """
    scale = _number("process_scale", gpu.arch, "Ampere") * PICO
    if unit is Unit.TENSOR:
        largest = {"9": "wgmma", "10": "tcgen05"}.get(gpu.capability.version.partition(".")[0], "mma_sync")
        return _number("product_pj", largest, largest) * scale
    return (_energy(_FLOP_ENERGY[unit]) + _energy("thread_instruction") / 2) * scale


def power_limit(gpu: Gpu) -> float:
    """Return the data sheet's power limit in W: what the board is built for, whatever limit is set.

    Raises
    ------
    UnsupportedGpuError
        If it is not known.
    """
    if gpu.rated_power is None:
        fix = "add power_limit to a user GPU file, or choose another power model"
        raise UnsupportedGpuError(f"the board power of {gpu.name} is not known", hint=fix)
    return gpu.rated_power


def relative_voltage(case: Case) -> float:
    """Return V / V(boost): a floor up to the knee, then linear in the clock."""
    share = case.clocks.sm / case.gpu.boost_clock
    floor, knee = _board("voltage_floor"), _board("voltage_knee")
    return max(floor, floor + (1 - floor) * (share - knee) / (1 - knee))


@at_any_clock
def instruction_picojoules(case: Case) -> tuple[dict[str, float], list[float]]:
    """Return the switching energy inside the SMs of one launch, by component and by instruction."""
    execution = case.workload.execution
    components: dict[str, float] = defaultdict(float)
    per_instruction = []
    for instruction, count, lanes in zip(
        execution.program.instructions, execution.counts, execution.lanes, strict=True
    ):
        costs = _thread_picojoules(instruction)
        for name, cost in costs.items():
            components[name] += cost * count * lanes
        per_instruction.append(sum(costs.values()) * count * lanes)
    return components, per_instruction


def _thread_picojoules(instruction: Instruction) -> dict[str, float]:
    """Return what one active thread spends on one instruction, memory other than shared memory excluded."""
    costs = {"instructions": _energy("thread_instruction")}
    unit = instruction.unit
    if unit in _FLOP_ENERGY and instruction.flops:
        costs[str(unit)] = instruction.flops * _energy(_FLOP_ENERGY[unit])
    elif unit in _OPERATION_ENERGY:
        costs[str(unit)] = _energy(_OPERATION_ENERGY[unit])
    if instruction.memory is not None and instruction.memory.space == Space.SHARED:
        costs["shared memory"] = instruction.memory.bytes * 8 * _energy("shared_bit")
    return costs


@at_any_clock
def memory_picojoules(case: Case) -> dict[str, float]:
    """Return the energy of moving the launch's bytes, each counted at the level that serves it.

    The published energy of a DRAM bit holds its way through L2 and L1, and that of an L2 bit its way
    through L1.
    """
    work = case.workload
    moved = {
        "L1": max(0.0, work.l1.total - work.l2.total) * 8 * _energy("l1_bit"),
        "L2": max(0.0, work.l2.total - work.dram.total) * 8 * _energy("l2_bit"),
        "DRAM": work.dram.total * dram_joules_per_byte(case.gpu) / PICO,
    }
    return {name: energy for name, energy in moved.items() if energy > 0}


@lru_cache
def _parameters() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    text = Path(__file__).with_name("specification.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@lru_cache
def _number(table: str, key: str, default: str) -> float:
    entries = _parameters()[table]
    return float(entries.get(key, entries[default])["value"])


def _energy(key: str) -> float:
    return _number("energy_pj", key, key)


def _board(key: str) -> float:
    return _number("board", key, key)
