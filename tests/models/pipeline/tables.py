"""Instruction tables and streams written by hand, and the simulator run as plain Python."""

from __future__ import annotations

import numpy as np

from warpwatt.models.pipeline import layout as c
from warpwatt.models.pipeline.simulator import simulate
from warpwatt.models.pipeline.state import Inputs, State, new_state


def table(size: int, **columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ints and floats of ``size`` plain instructions with stall 1; ``columns`` by lower-case name."""
    ints = np.zeros((size, c.INT_COLUMNS), np.int64)
    ints[:, [c.WRITE_BARRIER, c.READ_BARRIER, c.PIPE, c.OTHER_PIPE, c.SHARED_PIPE]] = -1
    ints[:, c.STALL], ints[:, c.THROTTLE], ints[:, c.REASON] = 1, c.R_MATH, c.R_SHORT
    ints[:, c.AFTER] = c.R_WAIT
    for name, value in columns.items():
        ints[:, getattr(c, name.upper())] = value
    floats = np.zeros((size, c.FLOAT_COLUMNS))
    floats[:, c.DRAM_TIMES] = 1.0
    return ints, floats


def shared_load(ints: np.ndarray, floats: np.ndarray, at: int, board: int = 0, cycles: float = 2.0) -> None:
    """Make an instruction a shared-memory load that sets a scoreboard."""
    ints[at, c.KIND], ints[at, c.THROTTLE], ints[at, c.WRITE_BARRIER] = c.MEMORY, c.R_MIO, board
    floats[at, c.COST], floats[at, c.LATENCY], floats[at, c.READ_LATENCY] = -cycles, 24.0, 9.0


def inputs(
    ints: np.ndarray, floats: np.ndarray, *, warps: int = 1, repeats: int = 1, blocks: int = 1,
    resident: int = 1, **numbers: int,
) -> Inputs:  # fmt: skip
    """Return what runs the whole table ``repeats`` times in each warp; every memory access costs its COST."""
    settings = np.zeros(c.INT_SETTINGS, np.int64)
    defaults = {
        "sub_cores": 4, "resident": resident, "warps_per_block": warps, "queue_depth": 5,
        "address_cycles": 4, "l0_lines": 1000, "read_window": 3, "off_cycles": 12, "l1i_lines": 1000,
    }  # fmt: skip
    for name, value in {**defaults, **numbers}.items():
        settings[getattr(c, name.upper())] = value
    rates = np.zeros(c.FLOAT_SETTINGS)
    rates[:] = 1e9  # nothing beyond L1 unless a test says so
    rates[c.DISPATCH] = 0.0
    memory = [i for i in range(len(ints)) if ints[i, c.KIND] == c.MEMORY]
    once = [(0, len(ints), len(memory) * k) for k in range(repeats)]
    steps = np.array([(a, b, n + w * repeats * len(memory)) for w in range(warps) for a, b, n in once])
    of = np.array(memory * repeats * warps, np.int64)
    accesses = np.column_stack((np.abs(floats[of, c.COST]), np.ones(len(of)) * 4, np.ones(len(of))))
    return Inputs(
        ints, floats, np.arange(warps + 1) * repeats, steps.reshape(-1, 3).astype(np.int64), of,
        accesses.reshape(-1, 3), np.zeros(blocks, np.int64), settings, rates,
    )  # fmt: skip


def run(given: Inputs) -> State:
    """Return the state after a simulation in Python."""
    state = new_state(given)
    simulate(given, state)
    return state
