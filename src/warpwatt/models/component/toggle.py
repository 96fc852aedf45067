"""Data-toggle factor: how much of the switching energy of random data a launch's own data cost.

Energy of wires and logic grows with the bits that change. Random buffers are the reference (1); zeros and
constants leave most bits as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.arguments import Buffer, Fill
from warpwatt.models.component.activity import reads_by_buffer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.case import Case


def toggle_factor(case: Case, factors: Mapping[Fill, float]) -> float:
    """Return the factor of a launch: the mean over the buffers it reads, weighted by bytes read.

    A launch that reads no buffer we know of computes its data from indices or scalars; it counts as random.
    """
    weights = {name: read for name, read in reads_by_buffer(case).items() if _fill(case, name) is not None}
    whole = sum(weights.values())
    if not whole:
        return 1.0
    return sum(factors[fill] * read for name, read in weights.items() if (fill := _fill(case, name))) / whole


def fill_assumed(case: Case) -> bool:
    """Whether the contents of a buffer that the launch reads are assumed."""
    arguments = case.launch.arguments
    return any(
        isinstance(a := arguments.get(name), Buffer) and a.assumed_fill for name in reads_by_buffer(case)
    )


def _fill(case: Case, buffer: str) -> Fill | None:
    argument = case.launch.arguments.get(buffer)
    return argument.fill if isinstance(argument, Buffer) else None
