"""Equations (5.1)–(5.4) of Alavani's thesis and the quantities they need, each in both readings.

Threads, blocks and instructions are plain numbers; latencies are in cycles, throughputs in MB/s (bytes per
microsecond) as in Table 4.5. Where the released data follow another formula than the one printed, the
function ends in ``_published``; the docstring says what differs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

WARP_SIZE = 32
GLOBAL_ACCESS_BYTES = 128
"""Paper, section 3.2: bytes per memory instruction for global memory."""
SHARED_ACCESS_BYTES = 4
"""Paper, section 3.2: bytes per memory instruction for shared memory."""


@dataclass(frozen=True, slots=True)
class ThroughputFit:
    """Throughput in MB/s of ``n`` memory requests, ``a·(b − exp(−c·n))`` (Table 4.5).

    The text writes the latency for ``n``; the table and the released data take instructions per SM.
    """

    a: float
    b: float
    c: float

    def __call__(self, n: float) -> float:
        """Return the throughput in MB/s.

        >>> round(ThroughputFit(76363.8, 1.04, 0.00021342)(473))
        10387
        """
        return self.a * (self.b - math.exp(-self.c * n))


def round_half_up(x: float) -> int:
    """Round to the nearest whole number, halves upwards, as a spreadsheet does.

    >>> round_half_up(2.5), round_half_up(3.49)
    (3, 3)
    """
    return math.floor(x + 0.5)


def average(total: float, count: float) -> float:
    """Return ``total / count``, 0 where there is nothing to average.

    >>> average(1256, 38), average(0, 0)
    (33.05263157894737, 0.0)
    """
    return total / count if count else 0.0


def pfea_waves(blocks: int, threads_per_block: int, sm_count: int, max_threads_per_sm: int) -> int:
    """Return the waves of Algorithm 10 (lines 3–16): threads of one SM over what it holds at once.

    The loop is read as ``while nTh_sched > 0``: as printed (``≥ 0``) the thesis' example of 78 blocks
    would take four waves instead of its three. Registers and shared memory do not count here.

    >>> pfea_waves(78, 1024, 13, 2048)
    3
    """
    remaining = -(-blocks * threads_per_block // sm_count)
    return -(-remaining // max_threads_per_sm)


def block_waves_published(blocks: int, sm_count: int) -> int:
    """Return the released ``waves`` (K20): blocks per SM, however many fit at once.

    >>> block_waves_published(168, 13)
    13
    """
    return -(-blocks // sm_count)


def issue_cycles(threads: float, instructions: float, warp_schedulers: int, dispatch_units: int) -> float:
    """Return (5.1): batches of warps times batches of instructions.

    ``warp_schedulers`` and ``dispatch_units`` are per SM.

    >>> issue_cycles(43008, 170, 4, 8)
    7140.0
    """
    return threads / (warp_schedulers * WARP_SIZE) * instructions / dispatch_units


def issue_cycles_published(threads: float, instructions: float, dispatch_units: int) -> int:
    """Return the released ``inst_issue_cycles``: T·I/(32·nDU)², rounded.

    Against (5.1) the warp size stands squared and nDU in place of nWS.

    >>> issue_cycles_published(43008, 170, 8)
    112
    """
    return round_half_up(threads * instructions / (WARP_SIZE * dispatch_units) ** 2)


def wave_estimate_published(threads: float, slope: float, intercept: float) -> int:
    """Return the released ``wtotal``, the waves of the cache penalty: a rounded straight line in the threads.

    >>> wave_estimate_published(1024, 2.865e-5, 1.056), wave_estimate_published(67108864, 2.865e-5, 1.056)
    (1, 1924)
    """
    return round_half_up(threads * slope + intercept)


def cache_penalty(
    threads: float, global_per_sm: float, waves: float, l2_bytes: float, access_bytes: float, latency: float
) -> float:
    """Return (5.2) in cycles: accesses over the accesses that L2 holds in all waves, times the latency.

    The released data take ``wtotal`` for ``waves``, 4 for ``access_bytes``, and on the V100 the latency
    of all accesses of an SM together for ``latency``.

    >>> round(cache_penalty(16384, 473, 2, 1310720, 4, 170618 / 473), 2)
    4265.45
    """
    return threads * global_per_sm / (waves * l2_bytes / access_bytes) * latency


def global_penalty(
    threads: float, global_per_sm: float, throughput: float, load_store_units: int, access_bytes: float
) -> float:
    """Return (5.3), in µs as bytes per MB/s are.

    >>> round(global_penalty(2048, 2, 3087.14, 32, 128), 3)
    5.307
    """
    return threads / load_store_units * access_bytes / throughput * global_per_sm


def memory_penalty_published(
    threads: float, per_sm: float, throughput: float, memory_clock_ghz: float, batch: int | None
) -> float:
    """Return the released ``glb_penalty``, and ``sh_penalty`` without bank conflicts.

    One access moves as many bytes as there are load-store units, so both cancel; the threads are rounded
    up to whole ``batch``es of load-store units on all SMs (None: not rounded). The memory clock should turn
    µs into cycles, but GHz against MB/s leaves the result a thousand times too small.

    >>> round(memory_penalty_published(16384, 473, 10386.9777, 2.6, 32 * 13), 3)
    1970.147
    """
    whole = threads if batch is None else math.ceil(threads / batch) * batch
    return whole * per_sm * memory_clock_ghz / throughput


def shared_penalty(
    threads: float, shared_per_sm: float, throughput: float, load_store_units: int, sm_count: int
) -> float:
    """Return (5.4) in µs: like (5.3), but the threads are spread over the SMs and an access has 4 bytes."""
    batches = threads / (load_store_units * sm_count)
    return batches * SHARED_ACCESS_BYTES / throughput * shared_per_sm
