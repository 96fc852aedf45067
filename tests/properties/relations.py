"""What holds of predictions of any kernel: more work takes no less time, small shifts change little.

Each property takes a launch and its time and yields other launches with the bounds that their times keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.properties.kernels import Launch, permuted

if TYPE_CHECKING:
    from warpwatt.core.estimate import Estimate

FASTER, ALONE = 0.02, 0.05
"""Shares by which more work may take less time, and a block alone more than with others, which bring code."""
SHARED = ("repeated", "broadcast", "gather", "(i * 8) % n")
"""Statements by which blocks share data: one finds what others brought, and another grid shares otherwise."""


@dataclass(frozen=True)
class Variant:
    """A launch and the seconds between which it has to lie."""

    launch: Launch
    least: float
    most: float


def more_rounds(launch: Launch, time: Estimate) -> Iterator[Variant]:
    """Yield twice the rounds of the loop: no less time."""
    yield Variant(replace(launch, trips=2 * launch.trips), time.value * (1 - FASTER), float("inf"))


def shares_data(launch: Launch) -> bool:
    """Whether blocks reach the same data."""
    return any(part in text for part in SHARED for text in (*launch.statements, launch.store))


def more_blocks(launch: Launch, time: Estimate) -> Iterator[Variant]:
    """Yield one block more and twice the blocks, each with its data: no less time."""
    least = time.low if shares_data(launch) else time.value * (1 - FASTER)
    for grid in (launch.grid + 1, 2 * launch.grid):
        yield Variant(replace(launch, grid=grid), least, float("inf"))


def block_alone(launch: Launch, time: Estimate) -> Iterator[Variant]:
    """Yield one block alone: no more time than the grid that contains it."""
    most = time.high if shares_data(launch) else time.value * (1 + ALONE)
    yield Variant(replace(launch, grid=1), 0.0, most)


def shifted(launch: Launch, time: Estimate) -> Iterator[Variant]:
    """Yield data that begin one element later, and a period longer by one: within the interval."""
    yield Variant(replace(launch, off=1), time.low, time.high)
    if "repeated" in launch.statements:
        yield Variant(replace(launch, period=launch.period + 1), time.low, time.high)


def renamed(launch: Launch, time: Estimate) -> Iterator[Variant]:
    """Yield other names of parameters, the same time; also in another order, which compiles otherwise."""
    same = time.value * (1 - 1e-9), time.value * (1 + 1e-9)
    yield Variant(replace(launch, name=f"{launch.name}r", prefix="arg_"), *same)
    yield Variant(permuted(launch, launch.grid), time.low, time.high)


Property = Callable[[Launch, "Estimate"], Iterator[Variant]]
PROPERTIES: dict[str, Property] = {
    "more rounds take no less time": more_rounds,
    "more blocks take no less time": more_blocks,
    "a block alone takes no more time than the grid": block_alone,
    "a shift by one element stays within the interval": shifted,
    "renamed and permuted parameters change nothing": renamed,
}
