"""The closed forms of Resios (2011), chapter 4: times in cycles of one SM, sizes in bytes.

(4.1), (4.3) sum overhead and execution; (4.4) sums delays; (4.5) compute; (4.6) memory; (4.8) global, (4.9)
shared memory penalties. ILP and TLP are instruction- and thread-level parallelism.
"""

from __future__ import annotations

import math

WARP = 32


def compute_delay(
    latency: float, throughput: float, most: float, parallelism: float, warp: int = WARP
) -> float:
    """Return the delay of a compute instruction (4.5); ``parallelism`` is ILP·TLP, ``most`` is max_i.

    As printed: beyond ``most`` the latency is divided by ``most`` too, which is what Figure 4.3 needs to
    level off at once.

    >>> [round(compute_delay(22, 16, 11, tlp), 3) for tlp in (11, 12, 48)]
    [2.0, 2.167, 2.042]
    """
    if parallelism <= most:
        return latency / parallelism
    return latency / (parallelism * most) + warp / throughput


def memory_delay(latency: float, penalty: float, most: float, parallelism: float) -> float:
    """Return the delay of a memory instruction (4.6); ``most`` is max_p, ``parallelism`` ILP·TLP.

    >>> [8 * (500 / 8 + global_penalty(128, c, 64)) == 500 + 16 * c for c in (1, 32)]
    [True, True]
    >>> memory_delay(500, 2, 8, 5), memory_delay(500, 2, 8, 10)
    (100.0, 52.0)
    """
    return latency / parallelism + (penalty if parallelism > most else 0.0)


def global_penalty(line: float, requests: float, bandwidth: float) -> float:
    """Return the serialisation of a global access (4.8): ``line`` bytes times requests per warp over B/cycle.

    The thesis' example, 500 + 16c, is eight times the *second* branch of (4.6) at TLP = max_p = 8: it uses
    the first branch below, not at, the threshold. ``memory_delay`` follows the formula as printed.

    >>> global_penalty(128, 3, 64)
    6.0
    """
    return line * requests / bandwidth


def shared_penalty(
    size: float, conflicts: float, bandwidth: float, banks: int = 32, warp: int = WARP
) -> float:
    """Return the serialisation of a shared access (4.9): one pass over all banks, then the conflicting ones.

    ``bandwidth`` is of one bank in bytes per cycle. Section 4.3.2 puts in 32 and gets 36 + 8·penalty =
    37 + c; section 3.2 and chapter 7 say 4, which gives 44 + 8c.

    >>> [36 + 8 * shared_penalty(4, c, bandwidth) for c in (0, 2) for bandwidth in (32, 4)]
    [37.0, 44.0, 39.0, 60.0]
    """
    return warp * size / (banks * bandwidth) + conflicts * size / bandwidth


def transfer_seconds(size: float) -> float:
    """Return the seconds of one copy over the thesis' PCI Express 2.0 link (4.2).

    The size in 100·size + 692 MB/s is read in kilobytes: in bytes the plateau of Figure 4.1 would last
    nanoseconds.

    >>> round(transfer_seconds(1e3) * 1e6, 2), round(transfer_seconds(1e9), 2)
    (1.26, 0.2)
    """
    return size / (min(5000.0, 100 * size / 1e3 + 692) * 1e6) if size > 0 else 0.0


def overhead_seconds(sizes: tuple[float, ...], context: float = 0.065, launch: float = 4e-6) -> float:
    """Return transfers, context initialisation and launch (4.3).

    >>> overhead_seconds(())
    0.065004
    """
    return sum(map(transfer_seconds, sizes)) + context + launch


def instruction_parallelism(instructions: int, longest: int) -> float:
    """Return ILP (6.1): instructions over the longest chain of dependent ones.

    >>> instruction_parallelism(3, 2)
    1.5
    """
    return instructions / longest if longest else 1.0


def even_warps(threads: int, sms: int, warp: int = WARP) -> int:
    """Return n_w¹ (5.2.1): warps per block that spread the work over all SMs, rounded up.

    >>> even_warps(1024, 7) * 32
    160
    """
    return max(1, math.ceil(threads / (sms * warp)))


def hiding_warps(factor: float, latency: float, intensity: float | None = None) -> float:
    """Return n_w³ of one instruction (5.2.1): warps that hide its latency; ``intensity`` for memory ones.

    >>> hiding_warps(4, 22), hiding_warps(4, 500, 10)
    (88, 200.0)
    """
    return factor * latency if intensity is None else factor * latency / max(intensity, 1e-9)
