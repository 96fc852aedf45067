"""Memory as a first-come-first-served queue (Wang and Chu 2018, section IV), in core cycles.

Table II prints a core frequency beside each memory frequency that cannot be the one it was measured at:
equation (4) gives its seven values within 0.1 cycle with the core at 400 MHz, and 500.1 in every row with
both frequencies equal. Equation (5a) scales all of the DRAM latency by f_core/f_mem, equation (4) only the
part that DRAM takes; here (4) holds, with (5a) for the hit rate alone. Table III is consistent with equal
frequencies: delay times efficiency is 7.6 to 7.7 core cycles, close to the 8 in which an SM's sixteenth of
the bus moves a sector of 32 bytes. So ``dm_del`` is per sector and SM.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryParameters:
    """Latencies and delays of one GPU; core cycles, hertz, delays per 32-byte sector and SM.

    ``latency_slope`` and ``latency_intercept`` are those of equation (4). ``delays`` are pairs of a memory
    frequency and ``dm_del`` at equal core frequency, ascending. ``fabric_delay`` is not in the paper: the
    least cycles between two sectors that an SM gets through L2, hit or miss; it binds where memory is much
    faster than the cores, outside the paper's range.
    """

    latency_slope: float
    latency_intercept: float
    l2_latency: float
    l2_delay: float
    delays: tuple[tuple[float, float], ...]
    shared_latency: float
    fabric_delay: float = 0.0
    sources: tuple[str, ...] = ()

    def dram_latency(self, core: float, memory: float) -> float:
        """Return ``dm_lat``, equation (4).

        >>> gtx980 = MemoryParameters(222.78, 277.32, 222, 1, ((7e8, 9.31),), 28)
        >>> round(gtx980.dram_latency(400e6, 700e6), 1), round(gtx980.dram_latency(700e6, 700e6), 1)
        (404.6, 500.1)
        """
        return self.latency_slope * core / memory + self.latency_intercept

    def dram_delay(self, core: float, memory: float) -> float:
        """Return ``dm_del`` · f_core/f_mem of equation (5b), ``dm_del`` from Table III between its rows.

        >>> round(MemoryParameters(1, 1, 1, 1, ((4e8, 10.06), (5e8, 9.76)), 1).dram_delay(9e8, 4.5e8), 2)
        19.82
        """
        return _between(self.delays, memory) * core / memory

    def latency(self, core: float, memory: float, l2_hit_rate: float) -> float:
        """Return ``agl_lat``, equation (5a) with the DRAM latency of equation (4)."""
        return self.l2_latency * l2_hit_rate + self.dram_latency(core, memory) * (1.0 - l2_hit_rate)

    def delay(self, core: float, memory: float, l2_hit_rate: float, share: float = 1.0) -> float:
        """Return ``agl_del``, equation (5b), no less than the way through L2 allows.

        ``share`` of the SMs are active: DRAM serves them alone.
        """
        dram = self.dram_delay(core, memory) * share
        return max(self.l2_delay * l2_hit_rate + dram * (1.0 - l2_hit_rate), self.fabric_delay)


def infrequent_requests(interval: float, warps: float, latency: float, transactions: float) -> float:
    """Return T_lat where memory is mostly idle, equation (2).

    >>> infrequent_requests(10.0, 4, 500.0, 2)
    1040.0
    """
    return interval * warps + latency * transactions


def intensive_requests(delay: float, warps: float, latency: float, transactions: float) -> float:
    """Return T_lat where requests queue, equation (3).

    >>> intensive_requests(9.0, 64, 500.0, 2)
    1652.0
    """
    return latency + delay * transactions * warps


def _between(points: Sequence[tuple[float, float]], at: float) -> float:
    """Interpolate linearly; the end values hold beyond the ends."""
    if at <= points[0][0]:
        return points[0][1]
    if at >= points[-1][0]:
        return points[-1][1]
    upper = bisect_left(points, (at,))
    (x0, y0), (x1, y1) = points[upper - 1], points[upper]
    return y0 + (y1 - y0) * (at - x0) / (x1 - x0)
