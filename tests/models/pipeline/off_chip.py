"""What lies behind L1, once more: every request kept, every sum over all of them."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from warpwatt.models.pipeline.codes import Traffic

if TYPE_CHECKING:
    from types import SimpleNamespace

HIGHEST_LOAD = 0.95
SECTOR = 32.0
PACKET = 64.0


class OffChip:
    """Ports, L2 and DRAM of the oracle's SM; hits never wait for a line in flight."""

    def __init__(self, settings: SimpleNamespace) -> None:
        self.of = settings
        self.free: dict[str, float] = defaultdict(float)
        """When each server has done all that has come."""
        self.shares: dict[tuple[str, int], Fraction] = defaultdict(Fraction)
        """Sum of the probabilities to miss, of all accesses of an instruction to a level."""
        self.at_dram: list[tuple[float, float]] = []
        """Begin and service time of all requests."""
        self.bytes: dict[str, float] = defaultdict(float)

    def accepts(self) -> float:
        """Return when L1 takes an access, for all that is queued behind it."""
        return max(self.free["write"], self.free["l2"], self.free["dram"]) - self.of.backlog_cycles

    def arrival(self, code: SimpleNamespace, pc: int, time: float, sectors: float, lines: float) -> float:
        """Return when the data of an access is in L1; 0 if it is there."""
        missing = self.missing("l1", pc, code.l1_miss_rate, sectors, lines)
        if not missing:
            return 0.0
        writes = code.traffic == Traffic.WRITE
        if writes:
            addresses = PACKET * lines * missing / sectors
            packets = addresses + max(addresses, SECTOR * missing)
            sent = self.serve("write", time, packets, self.of.write_port_bytes)
        else:
            sent = self.serve("read", time, SECTOR * missing, self.of.port_bytes)
        begun = self.serve("l2", time if writes else sent, SECTOR * missing, self.of.l2_bytes)
        back = begun + code.l2_latency + SECTOR * missing / self.of.port_bytes
        if writes:
            back = max(back, sent + code.l2_latency)
        apart = min(lines * missing / sectors, self.runs(code, missing))
        further = self.missing("l2", pc, code.l2_miss_rate, missing, apart)
        if further:
            size = SECTOR * further * code.dram_slowdown
            back = max(back, self.dram(begun, size) + code.dram_latency)
        return back

    def runs(self, code: SimpleNamespace, sectors: float) -> float:
        """Return how many parts that lie side by side an access of so many sectors has."""
        return SECTOR * sectors / code.l2_run_bytes if code.l2_run_bytes else math.inf

    def missing(self, level: str, pc: int, rate: float, sectors: float, lines: float) -> float:
        """Return the sectors that miss: an access does when the sum of shares and a half passes a number."""
        if rate in (0.0, 1.0):
            return rate * sectors
        share = 1.0 - (1.0 - rate) ** max(1.0, lines) if lines > 1.0 else rate
        before = self.shares[level, pc] + Fraction(1, 2)
        self.shares[level, pc] += Fraction(share)
        passes = math.floor(before + Fraction(share)) > math.floor(before)
        return sectors * rate / share if passes else 0.0

    def serve(self, server: str, time: float, size: float, rate: float) -> float:
        """Return when a server begins with what comes at ``time``."""
        begun = max(time, self.free[server])
        self.free[server] = begun + size / rate
        self.bytes[server] += size
        return begun

    def dram(self, time: float, size: float) -> float:
        """Return when DRAM has served a request, its unloaded latency left out."""
        service, of = size / self.of.dram_bytes, self.of
        queued = self.serve("dram", time, size, of.dram_bytes)
        start = max(
            time, queued + service - service - of.burst_cycles * min(1.0, time / of.burst_after_cycles)
        )
        self.at_dram.append((start, service))
        window = of.load_window_cycles
        load = sum(s / window * math.exp((begun - start) / window) for begun, s in self.at_dram)
        load = min(load, HIGHEST_LOAD)
        return start + of.load_linear_cycles * load + of.load_queue_cycles * load / (1.0 - load)
