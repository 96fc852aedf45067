"""Instruction tables and streams written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warpwatt.models.pipeline.codes import Operation, Reason
from warpwatt.models.pipeline.simulator import Inputs, record_type
from warpwatt.models.pipeline.table import empty_table

if TYPE_CHECKING:
    from warpwatt.models.pipeline.simulator import Records


def table(size: int, **fields: float) -> Records:
    """Return ``size`` instructions that need nothing but what ``fields`` say."""
    rows = empty_table(size)
    rows["dram_slowdown"] = 1.0
    for name, value in fields.items():
        rows[name] = value
    return rows


def shared_load(rows: Records, at: int, board: int = 0, cycles: float = 2.0) -> None:
    """Make an instruction a shared-memory load that sets a scoreboard; of no cycles: one of a constant."""
    row = rows[at]
    row["operation"], row["throttle_stall"] = Operation.MEMORY, Reason.MIO_THROTTLE
    row["write_barrier"], row["shared_memory"] = board, cycles > 0
    row["lsu_cycles"], row["latency"], row["operand_read_latency"] = cycles, 24.0, 9.0


def inputs(
    rows: Records, *, warps: int = 1, repeats: int = 1, blocks: int = 1, resident: int = 1, **settings: float
) -> Inputs:
    """Return what runs the whole table ``repeats`` times in each warp.

    Every memory access costs its ``lsu_cycles`` and touches one line of four sectors; nothing but what
    ``settings`` say limits it beyond L1.
    """
    given = np.zeros((), record_type("Settings"))
    defaults = {
        "sub_cores": 4, "resident_blocks": resident, "warps_per_block": warps, "queue_depth": 5,
        "address_cycles": 4, "l0_lines": 1000, "read_window": 3, "off_cycles": 12, "l1i_lines": 1000,
        **dict.fromkeys(("port_bytes", "write_port_bytes", "l2_bytes", "dram_bytes"), 1e9),
        **dict.fromkeys(("backlog_cycles", "load_window_cycles", "burst_cycles", "burst_after_cycles"), 1e9),
    }  # fmt: skip
    for name, value in {**defaults, **settings}.items():
        given[name] = value
    memory = [i for i, row in enumerate(rows) if row["operation"] == Operation.MEMORY]
    once = [(0, len(rows), len(memory) * k) for k in range(repeats)]
    steps = [(a, b, n + w * repeats * len(memory)) for w in range(warps) for a, b, n in once]
    of = np.array(memory * repeats * warps, np.int64)
    accesses = np.column_stack((rows["lsu_cycles"][of], np.ones(len(of)) * 4, np.ones(len(of))))
    return Inputs(
        given, rows, np.arange(warps + 1) * repeats, np.array(steps, np.int64).reshape(-1, 3), of,
        np.ascontiguousarray(accesses), np.zeros(blocks, np.int64),
    )  # fmt: skip
