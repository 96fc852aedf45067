"""Shares of capacity misses as smooth functions of oversubscription.

``O`` = bytes used over bytes of the cache, ``miss = a·exp(−b·exp(−c·O))`` (Gompertz). Curves from Ernst,
Holzer, Hager and Wellein, "Analytical performance estimation during code generation on modern GPUs" (2022).

And what L2 writes back while a launch runs. It begins to once a share of its lines is dirty, with those that
were written first. A flush leaves dirty lines behind (Nsight Compute's does, before each kernel that it
measures), which what follows drives out: a kernel that only reads, much more than L2 holds, writes them all
the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.emulate.caches.policy import Policy


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


@dataclass(frozen=True, slots=True)
class WrittenBack:
    """Share of what a launch writes that reaches DRAM before it ends; bytes from before it that do."""

    own: float
    before: float


def written_back(written: float, moved: float, rules: Policy) -> WrittenBack:
    """Return what reaches DRAM of the lines that a launch writes and of those it finds dirty.

    ``written`` and ``moved`` are bytes of whole lines: a line of which one sector is dirty takes as much room
    as any other. Where L2 holds all that passes, the lines found dirty give way to those written; where its
    contents are exchanged, they all go, and so many of the launch's own stay as are dirty among the last.

    >>> from warpwatt.emulate.caches.policy import policy
    >>> from warpwatt.gpus import find
    >>> rules = policy(find("rtx3080"))
    >>> [round(written_back(0.0, moved, rules).before / 1e6, 1) for moved in (1e6, 2e6, 3e6, 1e7)]
    [0.0, 0.1, 0.4, 1.9]
    """
    found, limit = rules.left_by_flush, rules.dirty_limit
    exchanged = -math.expm1(-((moved / (rules.exchange * rules.l2_bytes)) ** 3))
    last = rules.dirty_stay * rules.l2_bytes * written / moved if moved else limit
    kept = (1 - exchanged) * min(written, limit) + exchanged * min(written, limit, last)
    displaced = _over(written + found - limit, rules.dirty_spread) - _over(found - limit, rules.dirty_spread)
    before = min(found, (1 - exchanged) * displaced + exchanged * found)
    return WrittenBack(1.0 - kept / written if written else 1.0, before)


def _over(excess: float, spread: float) -> float:
    """Return by how much sets of lines exceed a limit in all where they do by ``excess`` on average.

    >>> [round(_over(excess, 1.0), 3) for excess in (-10.0, 0.0, 10.0)]
    [0.0, 0.693, 10.0]
    """
    return max(0.0, excess) + spread * math.log1p(math.exp(-abs(excess) / spread))
