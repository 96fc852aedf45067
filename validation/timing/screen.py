"""Rows of a search that contradict each other: configurations of nearly the same code, far apart in time.

The convolutions have a parameter that only says by which instruction global memory is read, ``ld.global`` or
``ld.global.nc``; the code of the two settings is otherwise the same. Their ratio needs no model: it shows how
well a search repeats itself.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.timing.cases import Measured

TWINS = ("read_only", "READ_ONLY")
"""Parameters that do not change what is computed nor how."""
FACTOR = 1.2


@dataclass(frozen=True, slots=True)
class Screen:
    """Pairs of twins, median and 95th percentile of the slower's time over the faster's, and rows far apart.

    ``contradicted``: configurations whose twin is more than :data:`FACTOR` slower or faster.
    """

    pairs: int
    median: float
    p95: float
    contradicted: frozenset[str]


def screen(runs: Sequence[Measured]) -> Screen | None:
    """Return the screen of all usable rows of a search, None where it has no twins."""
    twins: dict[tuple[str, ...], list[Measured]] = defaultdict(list)
    for run in runs:
        parts = run.configuration.split()
        rest = [p for p in parts if p.partition("=")[0] not in TWINS]
        if len(rest) < len(parts):
            twins[tuple(rest)].append(run)
    pairs = [pair for pair in twins.values() if len(pair) == 2]
    if not pairs:
        return None
    ratios = sorted(_ratio(pair) for pair in pairs)
    far = [run.configuration for pair in pairs if _ratio(pair) > FACTOR for run in pair]
    return Screen(
        len(pairs), statistics.median(ratios), ratios[int(0.95 * (len(ratios) - 1))], frozenset(far)
    )


def by_both(
    ours: Sequence[Measured], theirs: Sequence[Measured], parameters: Sequence[str]
) -> dict[tuple[str, ...], float]:
    """Return the median of our time over theirs in the same configuration, by values of some parameters."""
    others = {frozenset(_values(run).items()): run.seconds for run in theirs}
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for run in ours:
        values = _values(run)
        if seconds := others.get(frozenset(values.items())):
            found[tuple(values[name] for name in parameters)].append(run.seconds / seconds)
    return {key: statistics.median(ratios) for key, ratios in found.items()}


def _values(run: Measured) -> dict[str, str]:
    """Return the values of a configuration by parameter, whose names tools write in small or in capitals."""
    return dict(part.split("=") for part in run.configuration.lower().split())


def _ratio(pair: Sequence[Measured]) -> float:
    times = sorted(run.seconds for run in pair)
    return times[1] / times[0]
