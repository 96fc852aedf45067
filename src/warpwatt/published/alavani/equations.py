"""Equations of chapter 4 of Alavani's thesis, one function each. Delays in SM cycles.

Symbols are the thesis': 𝓛 latency, 𝓣𝓟 throughput, nB blocks of the grid, nT_b threads per block, R[LSU]
load-store units per SM, nGM and nShM global and shared memory instructions per thread, v_gpu the SM clock.
"""

from __future__ import annotations

BYTES_PER_GLOBAL_ACCESS = 128
"""accessGm_sz: bytes of one global access of a batch of threads (power paper, section 3.2)."""
BYTES_PER_SHARED_ACCESS = 4
"""accessSm_sz: bytes of one shared access (power paper, section 3.2)."""
BYTES_PER_MEGABYTE = 1e6


def compute_delay(
    latency: float, ilp: float, tlp: float, peak_warps: float, throughput: float, warp_size: int = 32
) -> float:
    """Return d_i^c of (4.3), the delay of a compute instruction.

    𝓛/(ILP·TLP) while ILP·TLP ≤ peakWarps, else 𝓛/(ILP·TLP·peakWarps) + Sz_w/𝓣𝓟. The second branch divides by
    peakWarps as well; the thesis itself (4.3.7) finds the result too low. Kept as written.

    >>> compute_delay(9, ilp=1, tlp=18, peak_warps=36, throughput=122)
    0.5
    >>> round(compute_delay(9, ilp=1, tlp=64, peak_warps=36, throughput=122), 4)
    0.2662
    """
    parallelism = ilp * tlp
    if parallelism <= peak_warps:
        return latency / parallelism
    return latency / (parallelism * peak_warps) + warp_size / throughput


def memory_delay(latency: float, ilp: float, tlp: float, peak_warps: float, penalty: float) -> float:
    """Return d_i^m of (4.4), the delay of a memory instruction: 𝓛/(ILP·TLP), plus p^m beyond peakWarps.

    >>> memory_delay(320, ilp=1, tlp=64, peak_warps=64, penalty=2), memory_delay(320, 1, 64, 40, 2)
    (5.0, 7.0)
    """
    delay = latency / (ilp * tlp)
    return delay if ilp * tlp <= peak_warps else delay + penalty


def coalescing_penalty(requests: float, bandwidth: float, transaction: int = 128) -> float:
    """Return gm_penalty of (4.5), Sz_gm·c/BW_g: ``requests`` c transactions at BW_g bytes per cycle.

    >>> coalescing_penalty(requests=32, bandwidth=256.0)
    16.0
    """
    return transaction * requests / bandwidth


def bank_conflict_penalty(
    size: float, conflicts: float, bank_width: float = 4.0, banks: int = 32, warp_size: int = 32
) -> float:
    """Return sm_penalty of section 4.3.2.5: Sz_w·Sz_sm/(n_sb·BW_s) + n_bc·size/BW_s.

    ``size`` bytes per thread, ``conflicts`` n_bc further passes, BW_s = ``bank_width`` bytes per cycle.

    >>> bank_conflict_penalty(size=4, conflicts=0), bank_conflict_penalty(size=4, conflicts=31)
    (1.0, 32.0)
    """
    return warp_size * size / (banks * bank_width) + conflicts * size / bank_width


def memory_access_parallel_degree(latency: float, bytes_per_warp: float, bandwidth: float) -> float:
    """Return MPD (section 4.3.3.2): how many warps' accesses the bandwidth carries at once.

    The GPU's bandwidth over the bandwidth of one warp, ``bytes_per_warp`` in 𝓛 cycles. ``bandwidth`` in
    bytes per cycle: the SM's share for global memory, that of all banks for shared memory.

    >>> memory_access_parallel_degree(latency=320, bytes_per_warp=128, bandwidth=16.0)
    40.0
    """
    return bandwidth * latency / bytes_per_warp


def bottleneck_penalty(latency: float, tlp: float, degree: float) -> float:
    """Return the cycles one memory instruction waits for bandwidth in a wave: 𝓛·(TLP/MPD − 1), at least 0.

    The thesis gives the idea (groups of MPD warps run one after the other, 𝓛 each) and no formula. This one
    is continuous and makes TLP warps take the time their bytes need.

    >>> bottleneck_penalty(latency=320, tlp=60, degree=40.0), bottleneck_penalty(320, 20, 40.0)
    (160.0, 0.0)
    """
    return max(0.0, latency * (tlp / degree - 1.0))


def thread_time(delay: float, clock: float) -> float:
    """Return t_thread of (4.6), seconds: d_k/v_gpu.

    >>> thread_time(706e3, 706e6)
    0.001
    """
    return delay / clock


def global_penalty(threads: int, lsu: float, throughput: float, instructions: float) -> float:
    """Return gm_penalty of (4.10): (nB·nT_b/R[LSU]) · (accessGm_sz/𝓣𝓟(gm)) · nGM; 0 if nGM is 0.

    Bytes over ``throughput``: seconds for bytes per second, cycles for bytes per cycle.

    >>> global_penalty(threads=3200, lsu=32, throughput=128e6, instructions=3)
    0.0003
    """
    if instructions == 0:
        return 0.0  # fits with b = 1 give 0/0 here
    return threads / lsu * (BYTES_PER_GLOBAL_ACCESS / throughput) * instructions


def shared_penalty(threads: int, lsu: float, sms: int, throughput: float, instructions: float) -> float:
    """Return sm_penalty of (4.11): (nB·nT_b/(R[LSU]·nSM)) · (accessSm_sz/𝓣𝓟(sm)) · nShM; 0 if nShM is 0.

    >>> shared_penalty(threads=41600, lsu=32, sms=13, throughput=4e8, instructions=2)
    2e-06
    """
    if instructions == 0:
        return 0.0
    return threads / (lsu * sms) * (BYTES_PER_SHARED_ACCESS / throughput) * instructions


def cache_penalty(
    threads: int, instructions: float, waves: int, l2_size: int, latency: float, access: int
) -> float:
    """Return cm_penalty of (4.12), cycles: nT_b·nB·nGM / (waves·L2_sz/access_sz) · 𝓛(gm).

    >>> cache_penalty(threads=10240, instructions=1, waves=1, l2_size=1310720, latency=300, access=128)
    300.0
    """
    return threads * instructions / (waves * l2_size / access) * latency
