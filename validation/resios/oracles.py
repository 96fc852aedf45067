"""Resios' algorithms beside brute force on seeded random cases."""

from __future__ import annotations

import itertools
import random
from functools import cache

from warpwatt.published.resios.accesses import Opportunity, bank_conflicts, greedy
from warpwatt.published.resios.analyses import spills
from warpwatt.published.resios.graph import Block, Op

SEED, CASES = 2011, 500


def min_reloads() -> tuple[int, int]:
    """Return cases, and those in which MIN reloads as little as any choice of victims does."""
    rng, equal = random.Random(SEED), 0
    for _ in range(CASES):
        k = rng.randint(2, 4)
        uses = [tuple(rng.choices(range(6), k=rng.randint(1, 2))) for _ in range(rng.randint(1, 10))]
        first = len({value for operands in uses for value in operands})
        found = len(spills(uses, [None] * len(uses), k).reloads) + first
        equal += found == fewest_loads(tuple(uses), k)
    return CASES, equal


def fewest_loads(uses: tuple[tuple[int, ...], ...], k: int) -> int:
    """Return the fewest loads into ``k`` registers over all choices of what to evict."""

    @cache
    def best(number: int, held: frozenset[int]) -> int:
        if number == len(uses):
            return 0
        wanted = frozenset(uses[number])
        whole = held | wanted
        missing = len(wanted - held)
        if len(whole) <= k:
            return missing + best(number + 1, whole)
        gone = itertools.combinations(sorted(whole - wanted), len(whole) - k)
        return missing + min(best(number + 1, whole - set(out)) for out in gone)

    return best(0, frozenset())


def greedy_gaps() -> tuple[int, int, float, float, float, float]:
    """Return cases; those equal to the literal prefix; mean and worst loss against the optimum.

    The last two are mean and worst loss of a greedy choice that goes on behind what does not fit.
    """
    rng, equal = random.Random(SEED), 0
    losses: list[float] = []
    skipping: list[float] = []
    for _ in range(CASES):
        found = [_random(rng, number) for number in range(rng.randint(1, 8))]
        room = rng.randint(1, 49152)
        order = sorted(found, key=lambda o: o.frequency / o.size, reverse=True)
        prefix = max(n for n in range(len(order) + 1) if sum(o.size for o in order[:n]) <= room)
        chosen = greedy(found, room)
        equal += chosen == tuple(order[:prefix])
        best = optimum(found, room)
        losses.append(_loss(value(chosen), best))
        skipping.append(_loss(value(skip(order, room)), best))
    mean, mean_skip = sum(losses) / CASES, sum(skipping) / CASES
    return CASES, equal, mean, max(losses), mean_skip, max(skipping)


def _random(rng: random.Random, number: int) -> Opportunity:
    return Opportunity(str(number), rng.randint(64, 32768), float(rng.randint(1, 100)), 2.0, whole=False)


def value(chosen: tuple[Opportunity, ...] | list[Opportunity]) -> float:
    """Return the reads that shared memory serves."""
    return sum(one.frequency for one in chosen)


def optimum(found: list[Opportunity], room: int) -> float:
    """Return the most reads any choice that fits serves."""
    subsets = (c for n in range(len(found) + 1) for c in itertools.combinations(found, n))
    return max(value(c) for c in subsets if sum(o.size for o in c) <= room)


def skip(order: list[Opportunity], room: int) -> list[Opportunity]:
    """Return all that still fit, in order."""
    chosen: list[Opportunity] = []
    for one in order:
        if sum(o.size for o in chosen) + one.size <= room:
            chosen.append(one)
    return chosen


def _loss(found: float, best: float) -> float:
    return 1 - found / best if best else 0.0


def conflicts() -> tuple[int, int]:
    """Return cases, and those in which the conflicts are the passes that serving lane by lane needs."""
    rng, equal = random.Random(SEED), 0
    for _ in range(CASES):
        offsets = [4 * rng.randrange(256) for _ in range(32)]
        passes = serve(offsets)
        equal += bank_conflicts(offsets) == (passes if passes > 1 else 0)
    return CASES, equal


def serve(offsets: list[int]) -> int:
    """Return the passes: in each, every bank delivers one word to all who want it."""
    waiting, passes = list(offsets), 0
    while waiting:
        served: dict[int, int] = {}
        for offset in waiting:
            served.setdefault(offset // 4 % 32, offset // 4)
        waiting = [o for o in waiting if served[o // 4 % 32] != o // 4]
        passes += 1
    return passes


def parallelism() -> tuple[int, int]:
    """Return cases, and those in which the longest chain is that over all paths."""
    rng, equal = random.Random(SEED), 0
    for _ in range(CASES):
        size = rng.randint(1, 9)
        uses = [tuple(rng.sample(range(1, n + 1), min(n, rng.randint(0, 2)))) for n in range(size)]
        block = Block(tuple(Op("add", u, n + 1, 1) for n, u in enumerate(uses)), 1.0)
        equal += block.longest == max(_longest(uses, n) for n in range(size))
    return CASES, equal


def _longest(uses: list[tuple[int, ...]], number: int) -> int:
    return 1 + max((_longest(uses, use - 1) for use in uses[number]), default=0)
