"""``volkov``: concurrency against latency and throughput (Volkov 2016).

V. Volkov, Understanding Latency Hiding on GPUs, PhD thesis, University of California, Berkeley,
UCB/EECS-2016-143, chapters 4 and 5; the same model in "A microbenchmark to study GPU
performance models", PPoPP 2018. A warp does one thing at a time: every instruction waits for the one before
it. So n resident warps, each of which needs ``mem_lat + α·alu_lat``
cycles for a memory instruction and the α arithmetic ones that go with it, finish n of these groups in that
time (Little's law), as long as neither the memory system nor the arithmetic units are full.

The documents at hand cite the model without printing it: the equations stand here as we know them from the
2016 thesis, and :mod:`validation.alavani.peers` recovers from Table 4.10 of Alavani (2023), page 105, that
its "Volkov" columns were computed by them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.case import Case, Timing
from warpwatt.core.errors import LaunchError
from warpwatt.core.estimate import Estimate, Source
from warpwatt.core.execution import with_assumed
from warpwatt.core.program import Level
from warpwatt.models.latency import Latencies
from warpwatt.models.roofs import imbalance, roofs
from warpwatt.published.alavani.opclass import rates

if TYPE_CHECKING:
    from warpwatt.models.roofs import Roof

MODEL_SPREAD = 0.46
"""Standard deviation of log(measured / predicted): with it the interval holds 80 % of the times of
docs/validation/peers.md, every program weighing the same."""
NOT_IN_THE_MODEL = ("latency", "l2", "l1", "lsu", "atomics", "dispatch")
"""Roofs of ours that Volkov's model does not have: it knows DRAM alone and no caches."""


@dataclass(frozen=True, slots=True)
class Throughputs:
    """The model of one kernel on one SM, in cycles and warp instructions per cycle (IPC per SM).

    ``intensity`` is α, arithmetic instructions per memory instruction; ``warps`` is n, resident on the SM.
    """

    intensity: float
    warps: float
    memory_latency: float
    memory_throughput: float
    arithmetic_latency: float
    arithmetic_throughput: float

    @property
    def latency_bound(self) -> float:
        """Memory instructions per cycle if nothing is ever full: n/(mem_lat + α·alu_lat).

        >>> round(Throughputs(10, 64, 368, 0.08, 6, 4).latency_bound, 4)
        0.1495
        """
        return self.warps / (self.memory_latency + self.intensity * self.arithmetic_latency)

    @property
    def memory(self) -> float:
        """Memory instructions per cycle: min(n/(mem_lat + α·alu_lat), mem_thru, alu_thru/α).

        >>> few, many = (Throughputs(100, n, 368, 0.08, 6, 4).memory for n in (8, 64))
        >>> round(few, 4), many
        (0.0083, 0.04)
        """
        full = self.arithmetic_throughput / self.intensity if self.intensity else math.inf
        return min(self.latency_bound, self.memory_throughput, full)

    @property
    def arithmetic(self) -> float:
        """Arithmetic instructions per cycle: α times :attr:`memory`."""
        return self.intensity * self.memory

    @property
    def warps_needed(self) -> float:
        """Resident warps that hide all latency: Little's law at the full rate."""
        full = self.arithmetic_throughput / self.intensity if self.intensity else math.inf
        rate = min(self.memory_throughput, full)
        return rate * (self.memory_latency + self.intensity * self.arithmetic_latency)


class Volkov:
    """The throughput model over a whole launch, with one bound for every class of instruction.

    Where the microbenchmark has one kind of arithmetic and one of memory instruction, a kernel has several:
    the latency of a warp is the sum over all it executes, and every pipe, the issue slots, shared memory and
    DRAM have a bound of their own. With two kinds this is :class:`Throughputs`. Latencies are those of
    ``roofline``: memory's is weighted by where the loads hit.
    """

    name = "volkov"
    document = "Volkov 2016, chapters 4 and 5"
    summary = "occupancy against latency and throughput by Little's law (Volkov 2016); every GPU"
    levels = (Level.SASS, Level.PTX)

    def predict(self, case: Case) -> Timing:
        """Return the timing; ``breakdown`` holds the seconds under each bound alone.

        Raises
        ------
        LaunchError
            If not even one block fits an SM.
        """
        found = bounds(case)
        binding, seconds = max(found.items(), key=lambda item: item[1])
        spreads = with_assumed({"model:volkov": MODEL_SPREAD}, case.workload.assumptions)
        full = {roof.key: roof.seconds for roof in _throughput_bounds(case)}
        return Timing(
            model=self.name,
            time=Estimate.spread(seconds, spreads, "s", Source.MODELLED),
            bottleneck=binding,
            breakdown=found,
            utilisation={key: min(1.0, busy / seconds) for key, busy in full.items()} if seconds else {},
            shares=_shares(case),
            instructions_per_cycle=rates(case, seconds),
        )


def bounds(case: Case) -> dict[str, float]:
    """Return bound to the seconds the launch takes if only it binds, ``"latency"`` among them."""
    return {"latency": latency_seconds(case)} | {r.name: r.seconds for r in _throughput_bounds(case)}


def latency_seconds(case: Case) -> float:
    """Return the seconds of the fullest SM: its warps, each for its whole latency, n at a time.

    Raises
    ------
    LaunchError
        If not even one block fits an SM.
    """
    resident = case.workload.occupancy.resident_blocks * case.launch.warps_per_block
    if resident < 1:
        raise LaunchError("no block fits an SM", hint="use smaller blocks or less shared memory per block")
    warps = case.launch.warps / case.gpu.sm_count * imbalance(case)
    return max(1.0, warps / resident) * sum(warp_cycles(case)) / case.clocks.sm


def warp_cycles(case: Case) -> tuple[float, ...]:
    """Return, per instruction, the cycles one warp spends on it: each waits for the one before."""
    execution, latencies = case.workload.execution, Latencies(case)
    return tuple(
        count / case.launch.warps * max(1.0, latencies.of(i)) if count else 0.0
        for i, count in zip(execution.program.instructions, execution.counts, strict=True)
    )


def _throughput_bounds(case: Case) -> list[Roof]:
    return [roof for roof in roofs(case) if roof.key not in NOT_IN_THE_MODEL]


def _shares(case: Case) -> tuple[float, ...]:
    """Every instruction's part of the latency of a warp: what it costs where latency is not hidden."""
    cycles = warp_cycles(case)
    whole = sum(cycles)
    return tuple(own / whole for own in cycles) if whole else cycles
