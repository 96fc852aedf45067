"""Measured counters in place of predicted work: nvprof's, Nsight Compute's and DCGM's names.

Per launch: instructions and transactions are counts, DCGM's are busy shares between 0 and 1 which the peak
rate of their unit turns into work.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.models.component.activity import activity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.case import Case, Timing
    from warpwatt.models.component.activity import Activity

SECTOR = 32
SHARED_PASS = 128
COUNTS: Mapping[str, tuple[tuple[tuple[str, ...], float], ...]] = {
    "issue": (((("inst_executed", "smsp__inst_executed.sum")), 1.0),),
    "registers": (((("thread_inst_executed", "smsp__thread_inst_executed.sum")), 1.0),),
    "dram": (
        (("dram_read_transactions", "dram__sectors_read.sum"), SECTOR),
        (("dram_write_transactions", "dram__sectors_write.sum"), SECTOR),
    ),
    "l2": (
        (("l2_read_transactions", "lts__t_sectors_op_read.sum"), SECTOR),
        (("l2_write_transactions", "lts__t_sectors_op_write.sum"), SECTOR),
    ),
    "shared": (
        (("shared_load_transactions", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), SHARED_PASS),
        (("shared_store_transactions", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"), SHARED_PASS),
    ),
    "fp32": ((("inst_fp_32", "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum"), 1.0),),
    "fp64": ((("inst_fp_64", "smsp__sass_thread_inst_executed_op_fp64_pred_on.sum"), 1.0),),
    "int": ((("inst_integer", "smsp__sass_thread_inst_executed_op_integer_pred_on.sum"), 1.0),),
}
"""Component to what adds up to it: names of one counter, and the amount each count stands for."""

RATES: Mapping[str, tuple[str, float]] = {
    "fp32": ("fp32_add_mul_fma", 1.0),
    "fp64": ("fp64_add_mul_fma", 1.0),
    "fp16": ("fp16_add_mul_fma", 1.0),
    "int": ("int32_add_sub", 1.0),
    "imad": ("int32_mul_mad", 1.0),
    "sfu": ("fp32_special", 1.0),
    "tensor": ("tensor_fp16_fma", 2.0),
}
"""Pipe to the throughput class that gives its peak, and what one result counts for."""
BUSY = {"FP32A": "fp32", "FP64A": "fp64", "FP16A": "fp16", "TENSO": "tensor"}
"""DCGM's busy share to the pipe that it is of."""


def with_counters(work: Activity, case: Case, seconds: float) -> Activity:
    """Return the activity with amounts that the case's profile measured in place of predicted ones."""
    profile = case.profile
    if profile is None or not profile.counters:
        return work
    found = {**_busy(case, seconds), **_counted(profile.counters)}
    active = profile.counters.get("sm_active", profile.counters.get("SMACT"))
    return replace(
        work,
        amounts={**work.amounts, **found},
        active_sms=work.active_sms if active is None else active * case.gpu.sm_count,
        measured=frozenset(found),
    )


def measured_work(case: Case, timing: Timing) -> tuple[Activity, float]:
    """Return what a case does and in how many seconds, measured by its profile or else predicted."""
    profile = case.profile
    seconds = profile.time if profile is not None and profile.time else timing.time.value
    return with_counters(activity(case), case, seconds), seconds


def _counted(counters: Mapping[str, float]) -> dict[str, float]:
    """Return the amounts of components all of whose counters are there."""
    found = {}
    for component, parts in COUNTS.items():
        values = [next((counters[n] * each for n in names if n in counters), None) for names, each in parts]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            found[component] = sum(known)
    return found


def _busy(case: Case, seconds: float) -> dict[str, float]:
    """Return the amounts that DCGM's busy shares stand for."""
    assert case.profile is not None
    gpu, counters = case.gpu, case.profile.counters
    cycles = gpu.sm_count * case.clocks.sm * seconds
    found = {}
    for name, pipe in BUSY.items():
        if name in counters:
            throughput, each = RATES[pipe]
            found[pipe] = counters[name] * (each * cycles * gpu.capability.throughput.get(throughput, 0.0))
    if "DRAMA" in counters:
        bandwidth = gpu.memory_bandwidth * case.clocks.memory / gpu.memory_clock
        found["dram"] = counters["DRAMA"] * (bandwidth * seconds)
    return found
