"""Native module: runtime functions that a routine calls (CALL), by way of Python."""

from __future__ import annotations

from warpwatt.emulate.native import state
from warpwatt.emulate.native.control import barrier_result
from warpwatt.emulate.native.pointers import call, i64_at

BARRIER_RESULT = 1 << 20
"""From this number on, a call asks for a barrier's result: + how × 16."""


def call_function(m: int, w: int, number: int, lanes: int) -> None:
    """Call function ``number`` on LANE_VALUES, 32 words an argument; its results replace them."""
    machine = i64_at(m, state.MACHINE_WORDS)
    if machine[state.FAULT]:
        return
    if number >= BARRIER_RESULT:
        how = (number - BARRIER_RESULT) >> 4
        for lane in range(32):
            machine[state.LANE_VALUES + lane] = barrier_result(w, machine[state.LANE_VALUES + lane], how)
    else:
        call(machine[state.CALL], number, lanes)
