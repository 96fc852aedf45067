"""Shares of capacity misses as smooth functions of oversubscription.

``O`` = bytes used over bytes of the cache, ``miss = a·exp(−b·exp(−c·O))`` (Gompertz). Curves from Ernst,
Holzer, Hager and Wellein, "Analytical performance estimation during code generation on modern GPUs" (2022).
"""

from __future__ import annotations

import math


def gompertz(oversubscription: float, a: float, b: float, c: float) -> float:
    """Return the share of capacity misses among accesses that could have hit.

    >>> round(gompertz(0.2, 0.66, 6.77, 1.45), 3), round(gompertz(10, 0.66, 6.77, 1.45), 3)
    (0.004, 0.66)
    """
    return a * math.exp(-b * math.exp(-c * oversubscription))


def l1_miss(oversubscription: float) -> float:
    """Return the capacity-miss share of L1 reads."""
    return gompertz(oversubscription, 0.66, 6.77, 1.45)


def overlap_miss(oversubscription: float) -> float:
    """Return the share of what two waves have in common that L2 has lost by the second."""
    return gompertz(oversubscription, 1.0, 37.1, 3.2)


def l2_miss(oversubscription: float) -> float:
    """Return the capacity-miss share of L2 reads."""
    return gompertz(oversubscription, 0.2, 7.56, 0.67)


def l2_store_miss(oversubscription: float) -> float:
    """Return the share of repeated L2 stores that reach DRAM again."""
    return gompertz(oversubscription, 0.38, 3.79, 0.55)


def left_dirty(moved: float, dirty_bytes: float) -> float:
    """Return the share of what a launch writes that L2 still holds, not written back, when it ends.

    ``moved`` bytes pass through L2 in all; which of those that L2 keeps are written back first is left to
    chance, so that the number kept approaches ``dirty_bytes`` exponentially.

    >>> round(left_dirty(1e6, 1e6), 3), round(left_dirty(1e9, 1e6), 3), left_dirty(0.0, 1e6)
    (0.632, 0.001, 1.0)
    """
    return -math.expm1(-moved / dirty_bytes) * dirty_bytes / moved if moved else 1.0
