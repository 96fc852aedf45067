"""How probable an order is: properties, and a simulation of what the probability means."""

from __future__ import annotations

import math
import random

import pytest

from warpwatt.choose.odds import probability_smaller
from warpwatt.core.estimate import Estimate


def test_both_directions_sum_to_one():
    a, b = Estimate.spread(1.0, {"x": 0.3}, "s"), Estimate.spread(1.1, {"y": 0.2}, "s")
    assert probability_smaller(a, b) + probability_smaller(b, a) == pytest.approx(1.0)
    assert probability_smaller(a, b) > 0.5


def test_what_both_share_cancels():
    narrow, wide = Estimate.spread(1.0, {"x": 0.01}, "s"), Estimate.spread(1.0, {"x": 0.9}, "s")
    assert probability_smaller(wide, wide.scaled(1.2)) == pytest.approx(
        probability_smaller(narrow, narrow.scaled(1.2))
    )
    alone = Estimate.spread(1.2, {"y": 0.9}, "s")
    assert probability_smaller(wide, alone) < probability_smaller(wide, wide.scaled(1.2))


def test_the_probability_is_the_frequency():
    """Draw what the definition says: a shared factor, a factor of each, and count."""
    a, b = Estimate.spread(1.0, {"x": 0.2, "y": 0.1}, "s"), Estimate.spread(1.08, {"x": 0.2}, "s")
    draw, hits, times = random.Random(1), 0, 20_000
    for _ in range(times):
        i = draw.randrange(len(a.draws))
        hits += a.draws[i] < b.draws[i] * math.exp(draw.gauss(0, 0.1))
    assert probability_smaller(a, b, 0.1) == pytest.approx(hits / times, abs=0.02)
