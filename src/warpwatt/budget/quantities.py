"""The quantities that budgets and tests speak of: name, unit, and how to read them off a prediction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import Prediction
from warpwatt.models.efficiency import banking, coalescing

SHARE = "share"
"""Unit of numbers from 0 to 1."""
COUNT = ""
BYTES = "B"


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity; ``unit`` is ``"s"``, ``"W"``, ``"J"``, ``"B"``, :data:`SHARE` or empty for a count."""

    name: str
    unit: str
    summary: str
    read: Callable[[Prediction], Estimate | None]


def _exact(unit: str, read: Callable[[Prediction], float | None]) -> Callable[[Prediction], Estimate | None]:
    def estimate(prediction: Prediction) -> Estimate | None:
        value = read(prediction)
        return None if value is None else Estimate.exact(float(value), unit)

    return estimate


def _spills(p: Prediction) -> float:
    held = p.case.kernel.resources
    return held.spill_stores + held.spill_loads


def _shared(p: Prediction) -> float:
    return p.case.kernel.resources.static_shared + p.case.launch.dynamic_shared


_EXACT: tuple[tuple[str, str, str, Callable[[Prediction], float | None]], ...] = (
    ("registers", COUNT, "registers per thread", lambda p: p.case.kernel.resources.registers),
    ("spills", BYTES, "register spills per thread, loads and stores", _spills),
    ("stack", BYTES, "local memory per thread", lambda p: p.case.kernel.resources.local),
    ("shared", BYTES, "shared memory per block, static and dynamic", _shared),
    (
        "occupancy",
        SHARE,
        "resident warps over the most an SM holds",
        lambda p: p.case.workload.occupancy.theoretical,
    ),
    (
        "coalescing",
        SHARE,
        "least possible sectors over those asked for off chip",
        lambda p: coalescing(p.case.workload.execution),
    ),
    (
        "bank_efficiency",
        SHARE,
        "least possible wavefronts over those of shared memory",
        lambda p: banking(p.case.workload.execution),
    ),
    (
        "instructions",
        COUNT,
        "warp instructions of the whole grid",
        lambda p: p.case.workload.execution.warp_instructions,
    ),
    ("l2_traffic", BYTES, "bytes between L1 and L2, both ways", lambda p: p.case.workload.l2.total),
    ("dram_traffic", BYTES, "bytes between L2 and DRAM, both ways", lambda p: p.case.workload.dram.total),
)
QUANTITIES: Mapping[str, Quantity] = {
    "time": Quantity("time", "s", "duration of the kernel, launch overhead excluded", lambda p: p.time),
    "power": Quantity("power", "W", "mean power of the board while it runs", lambda p: p.power),
    "energy": Quantity("energy", "J", "energy of one launch", lambda p: p.energy),
    **{name: Quantity(name, unit, text, _exact(unit, read)) for name, unit, text, read in _EXACT},
}
"""Name to quantity."""
