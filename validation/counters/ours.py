"""What our analysis says of a launch, by the names that NVIDIA's profilers use.

The definitions are those of the CUDA Profiler User's Guide (metrics reference) and of the Nsight Compute
Kernel Profiling Guide: transactions are 32-byte sectors from compute capability 5.0 on and 128-byte lines
before, shared transactions are passes with bank conflicts, flops count a fused multiply-add twice and only
threads that a predicate leaves on, executed instructions are warp instructions, predicated off or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.program import Access, Flow, Space, Unit
from warpwatt.emulate.workload import SECTOR, pattern_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warpwatt.core.execution import AccessPattern, Execution, Workload
    from warpwatt.core.program import Instruction

GLOBAL = (Space.GLOBAL, Space.GENERIC)
READ, WRITE = (Access.LOAD, Access.COPY), (Access.STORE,)
DRAM_TOTAL = "DRAM sectors read and written"
"""A column of our own: the sum of two."""


@dataclass(frozen=True, slots=True)
class Counter:
    """One quantity: what kind it is, the measured columns that name it, and how we get it.

    ``value(execution, workload, capability)`` is None where our figure does not mean the same.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    value: Callable[[Execution, Workload | None, str], float | None]


def _memory(
    execution: Execution, spaces: tuple[Space, ...], accesses: tuple[Access, ...]
) -> Iterator[tuple[Instruction, float, AccessPattern]]:
    """Yield the executed memory instructions with count and pattern."""
    for i in execution.program.instructions:
        count = execution.counts[i.index]
        if count and i.memory is not None and i.memory.space in spaces and i.memory.access in accesses:
            yield i, count, pattern_of(execution, i)


def _transactions(
    accesses: tuple[Access, ...],
) -> Callable[[Execution, Workload | None, str], float | None]:
    def value(execution: Execution, _: Workload | None, capability: str) -> float | None:
        if accesses == READ and capability[0] in "56":
            return None  # these count something smaller than sectors, see counters_quads
        found = _memory(execution, GLOBAL, accesses)
        if capability[0] == "3":
            return sum(count * pattern.lines for _, count, pattern in found)
        return sum(count * pattern.sectors for _, count, pattern in found)

    return value


def _requests(execution: Execution, _: Workload | None, __: str) -> float:
    return sum(count for _, count, _ in _memory(execution, GLOBAL, READ))


def _shared(
    accesses: tuple[Access, ...],
) -> Callable[[Execution, Workload | None, str], float | None]:
    def value(execution: Execution, _: Workload | None, __: str) -> float:
        found = _memory(execution, (Space.SHARED,), accesses)
        return sum(count * pattern.wavefronts for _, count, pattern in found)

    return value


def _flops(unit: Unit) -> Callable[[Execution, Workload | None, str], float | None]:
    def value(execution: Execution, _: Workload | None, __: str) -> float:
        return sum(
            i.flops * execution.counts[i.index] * execution.lanes[i.index]
            for i in execution.program.instructions
            if i.flops and i.unit is unit
        )

    return value


def _executed(execution: Execution, _: Workload | None, __: str) -> float:
    return execution.warp_instructions


def _threads(unit: Unit) -> Callable[[Execution, Workload | None, str], float | None]:
    """Return thread instructions of a unit, predicated on."""

    def value(execution: Execution, _: Workload | None, __: str) -> float:
        return sum(
            execution.counts[i.index] * execution.lanes[i.index]
            for i in execution.program.instructions
            if i.unit is unit and i.flow is Flow.NEXT
        )

    return value


def _both_ways(_: Execution, workload: Workload | None, __: str) -> float | None:
    return None if workload is None else workload.dram.total / SECTOR


def _traffic(level: str, side: str) -> Callable[[Execution, Workload | None, str], float | None]:
    def value(_: Execution, workload: Workload | None, __: str) -> float | None:
        return None if workload is None else getattr(getattr(workload, level), side) / SECTOR

    return value


COUNTERS = (
    Counter("global load transactions", "transactions", ("gld_transactions",), _transactions(READ)),
    Counter("global store transactions", "transactions", ("gst_transactions",), _transactions(WRITE)),
    Counter(
        "global load requests",
        "transactions",
        ("gld_request", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
        _requests,
    ),
    Counter(
        "shared load transactions",
        "shared",
        ("shared_load_transactions", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
        _shared(READ),
    ),
    Counter(
        "shared store transactions",
        "shared",
        ("shared_store_transactions", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
        _shared(WRITE),
    ),
    Counter("single-precision flops", "flops", ("flop_count_sp",), _flops(Unit.FP32)),
    Counter("double-precision flops", "flops", ("flop_count_dp",), _flops(Unit.FP64)),
    Counter(
        "fp32 thread instructions",
        "flops",
        ("smsp__sass_thread_inst_executed_op_fp32_pred_on.sum",),
        _threads(Unit.FP32),
    ),
    Counter("warp instructions", "instructions", ("inst_executed", "smsp__inst_executed.sum"), _executed),
    Counter(
        "L2 sectors read",
        "L2",
        ("l2_read_transactions", "lts__t_sectors_op_read.sum"),
        _traffic("l2", "read"),
    ),
    Counter(
        "L2 sectors written",
        "L2",
        ("l2_write_transactions", "lts__t_sectors_op_write.sum"),
        _traffic("l2", "written"),
    ),
    Counter("DRAM sectors", "DRAM", (DRAM_TOTAL,), _both_ways),
    Counter(
        "DRAM sectors read",
        "DRAM",
        ("dram_read_transactions", "dram__sectors_read.sum"),
        _traffic("dram", "read"),
    ),
    Counter(
        "DRAM sectors written",
        "DRAM",
        ("dram_write_transactions", "dram__sectors_write.sum"),
        _traffic("dram", "written"),
    ),
)
