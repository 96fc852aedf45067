"""A machine whose constants are known: rows as its microbenchmarks would have given them."""

from __future__ import annotations

import numpy as np

from warpwatt.lab.measure.columns import MICRO
from warpwatt.lab.measure.device import DeviceInfo
from warpwatt.lab.measure.microbench.host import PROTOCOL, SIZES
from warpwatt.lab.measure.microbench.model import Data, Reading
from warpwatt.lab.measure.microbench.points import SWEPT
from warpwatt.lab.measure.microbench.suite import microbenchmarks
from warpwatt.lab.measure.results import ResultFile

INFO = DeviceInfo("NVIDIA Test Chip", "0123456789ab", "999.1", "sm_90", 100, 40 * 2**20, 80 * 2**30)
LEVELS = ((192 * 2**10, 33.0), (40 * 2**20, 260.0), (2**60, 640.0))
CONSTANT_LEVELS = ((2 * 2**10, 28.0), (2**60, 95.0))
LATENCIES = {"fp32_fma": 4.0, "int_mad": 5.0, "special_sin": 22.0, "fp64_fma": 8.0}
PEAKS = {"fp32_fma": 128.0, "int_mad": 64.0, "special_sin": 16.0, "fp64_fma": 64.0}
BANDWIDTHS = {"bandwidth": 120.0, "l2 bandwidth": 5.0e12, "dram bandwidth": 3.0e12}
CONSTANT_W, SM_W, IDLE_W = 60.0, 0.7, 71.0
ENERGIES = {"fp32_fma": 6e-10, "special_sin": 2e-9, "fp64_fma": 1.4e-9}
LAUNCH_BASE, LAUNCH_PER_BLOCK = 2.4e-6, 3.0e-10
PCIE, PCIE_BASE = 2.5e10, 9e-6


def value_of(one, noise):
    """Return what the machine gives for a microbenchmark: value, seconds of a launch, work of a launch."""
    name = one.probe.name.partition("_ilp")[0]
    match one.quantity:
        case "latency" if "footprint" in one.sweep:
            steps = CONSTANT_LEVELS if "constant" in name else LEVELS
            return next(v for reach, v in steps if one.sweep["footprint"] <= reach) * noise, None, None
        case "latency" if one.probe.group == "barrier":
            return (20 + 2.5 * one.sweep["warps"]) * noise, None, None
        case "throughput":
            flow = 32 * one.sweep["warps"] * one.sweep["ilp"] / LATENCIES.get(name, 6.0)
            return min(PEAKS.get(name, 32.0), flow) * noise, None, None
        case "bandwidth" | "l2 bandwidth" | "dram bandwidth":
            warps = one.sweep["warps"] * one.sweep.get("blocks", 1)
            scale = 4 if one.quantity == "bandwidth" else 400
            return BANDWIDTHS[one.quantity] * (1 - np.exp(-warps / scale)) * noise, None, None
        case "conflicts":
            return max(one.sweep["stride"] // 4, 1) * 1.0 * noise + 0.1, None, None
        case "coalescing":
            return (0.77 + 0.25 * max(one.sweep["stride"] / 4, 1)) * noise, None, None
        case _ if one.reading is Reading.POWER:
            seconds, work = 0.01, one.per_pass * one.passes
            energy = ENERGIES.get(name, 1e-9) * (0.5 if one.data is Data.ZEROS else 1.0)
            work = work if one.probe.group == "instruction" else 2e10
            work = min(work, 4e9)
            watts = CONSTANT_W + SM_W * one.sweep["active_sms"] + energy * work / seconds
            return watts * noise, seconds, work
        case _ if "launch" in one.quantity:
            return (LAUNCH_BASE + LAUNCH_PER_BLOCK * one.sweep["blocks"]) * noise, None, None
        case _:
            return LATENCIES.get(name, 30.0) * noise, None, None


def rows(seed=5, spread=0.002):
    """Yield groups of rows, one for each point."""
    random = np.random.default_rng(seed)
    groups = {}
    for one in microbenchmarks(INFO):
        value, seconds, work = value_of(one, random.normal(1, spread))
        key = (one.probe.name, one.quantity, str(one.data))
        row = _row(key, one.probe.group, one.unit, one.sweep, value, seconds, work)
        groups.setdefault(key, []).append(row)
    for kind in ("upload pageable", "download pinned"):
        for nbytes in SIZES:
            seconds = (PCIE_BASE + nbytes / PCIE) * random.normal(1, spread)
            row = _row(("host", kind, "random"), "host", "s", {"footprint": nbytes}, seconds, None, None)
            groups.setdefault(("host", kind, "random"), []).append(row)
    groups["host", "idle power", "random"] = [
        _row(("host", "idle power", "random"), "host", "W", {"active_sms": 0}, IDLE_W, None, None)
    ]
    for group in groups.values():
        yield [{**row, "rows": len(group), "launch": index} for index, row in enumerate(group)]


def _row(key, family, unit, sweep, value, seconds, work):
    program, quantity, data = key
    return {
        "protocol": PROTOCOL, "version": 1, "date": "2026-01-02T03:04:05Z", "gpu": INFO.name,
        "uuid_hash": INFO.uuid_hash, "driver": INFO.driver, "target": INFO.target, "toolkit": "13.5.37",
        "cubin": "feed", "program": program, "family": family, "size": quantity, "data": data, "seed": 0,
        "kernel": program, "status": "ok", "attempts": 1, "quantity": quantity, "unit": unit,
        **{name: sweep.get(name) for name in SWEPT}, "value": value, "standard_error": abs(value) * 1e-3,
        "repeats": 9, "launch_s": seconds, "work": work,
    }  # fmt: skip


def write(folder, **how):
    """Write a result file into a folder."""
    with ResultFile(folder / f"{PROTOCOL}.csv", MICRO) as file:
        for group in rows(**how):
            file.append(group)
