"""A :class:`Launch`: everything the host specifies when it starts a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from warpwatt.core.arguments import Argument
from warpwatt.core.errors import LaunchError

WARP_SIZE = 32


@dataclass(frozen=True, slots=True, order=True)
class Dim3:
    """A grid, block or cluster extent in x, y and z.

    Raises
    ------
    LaunchError
        If an extent is below 1.
    """

    x: int = 1
    y: int = 1
    z: int = 1

    def __post_init__(self) -> None:
        for axis, extent in (("x", self.x), ("y", self.y), ("z", self.z)):
            if extent < 1:
                raise LaunchError(f"dimension {axis} is {extent}", hint="every dimension must be at least 1")

    @property
    def count(self) -> int:
        """Number of elements.

        >>> Dim3(4, 2).count
        8
        """
        return self.x * self.y * self.z

    @classmethod
    def parse(cls, text: str) -> Dim3:
        """Read ``X[,Y[,Z]]`` (``x`` works as a separator too).

        >>> Dim3.parse("16,16"), Dim3.parse("128x2")
        (Dim3(x=16, y=16, z=1), Dim3(x=128, y=2, z=1))
        """
        parts = text.lower().replace("x", ",").split(",")
        try:
            extents = [int(part) for part in parts]
        except ValueError:
            extents = []
        if not 1 <= len(extents) <= 3:
            raise LaunchError(f"not a dimension: {text!r}", hint="write X, X,Y or X,Y,Z with whole numbers")
        return cls(*extents)

    def __str__(self) -> str:
        return f"{self.x},{self.y},{self.z}"


class L2State(StrEnum):
    """What the L2 cache holds before the launch.

    COLD: nothing, as Nsight Compute leaves it before each kernel it measures (Nsight Compute CLI,
    ``--cache-control``, whose default is ``all``: "flush all GPU caches before each replay iteration").
    WARM: what the same launch, just before, has left of its data, as in a loop that measures.
    PREVIOUS: other data, of what the application ran before, which is written back as this launch's come.
    """

    COLD = "cold"
    WARM = "warm"
    PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel.

    ``dynamic_shared`` is in bytes; ``carveout`` is the preferred shared-memory share of the L1 pool in
    percent, or None for the driver's choice. ``arguments`` maps parameter names (or ``"0"``, ``"1"``, ...)
    and constant-memory symbols to their descriptions.
    """

    grid: Dim3
    block: Dim3
    dynamic_shared: int = 0
    cluster: Dim3 = field(default_factory=Dim3)
    carveout: int | None = None
    cooperative: bool = False
    graph: bool = False
    repeats: int = 1
    l2: L2State = L2State.COLD
    in_l2: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Share of each buffer's data that L2 holds before the launch, where other launches left it there."""
    arguments: Mapping[str, Argument] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.dynamic_shared < 0:
            raise LaunchError(
                f"dynamic shared memory is {self.dynamic_shared} bytes", hint="--shared must be at least 0"
            )
        if self.repeats < 1:
            raise LaunchError(f"repeats is {self.repeats}", hint="a launch runs at least once")

    @property
    def threads(self) -> int:
        """Threads in the whole grid."""
        return self.grid.count * self.block.count

    @property
    def warps_per_block(self) -> int:
        """Warps of one block, the last one possibly partial."""
        return -(-self.block.count // WARP_SIZE)

    @property
    def warps(self) -> int:
        """Warps of the whole grid.

        >>> Launch(Dim3(10), Dim3(100)).warps
        40
        """
        return self.grid.count * self.warps_per_block
