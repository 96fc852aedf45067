"""What warps of sampled blocks do, one after the other, as flat arrays: the input of cycle models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class WarpStreams:
    """The executed code and memory accesses of some blocks of a grid, warp by warp.

    Warp ``w`` of sampled block ``b`` is number ``n = b * warps_per_block + w``. It takes the steps
    ``starts[n]:starts[n + 1]``; each is a row (first instruction, behind the last, number of its first
    access) of ``steps``. An access is an executed memory instruction with at least one lane on; a warp's
    accesses follow one another, so that a step's come from its first on.
    """

    warps_per_block: int
    blocks: tuple[int, ...]
    """Linear numbers of the sampled blocks in the grid."""
    starts: NDArray[np.int64]
    steps: NDArray[np.int64]
    access_instruction: NDArray[np.int64]
    lanes: NDArray[np.float64]
    """Per access, as those that follow: lanes on."""
    wavefronts: NDArray[np.float64]
    """Passes through shared memory; 0 for other spaces."""
    sectors: NDArray[np.float64]
    """32-byte sectors touched beyond shared memory."""
    lines: NDArray[np.float64]
    """128-byte lines touched beyond shared memory."""
    objects: NDArray[np.int64] | None = None
    """Per access: shared address of the barrier object (mbarrier) that it concerns, -1 for none; None: of no
    access."""
    changes: NDArray[np.float64] | None = None
    """What it does with that: by how much the word changes, the parity that a wait is for, a copy's bytes."""
    weights: tuple[float, ...] = ()
    """How many blocks of the grid each sampled block stands for; empty where all stand for as many."""
    waits: Mapping[int, float] = field(default_factory=dict)
    """Instruction -> cycles that its warp waits behind it: rounds of loops that watch the clock."""
    waited: float = 0.0
    """Warp instructions of a sampled block, on average, that ``waits`` stand for; ``steps`` lack them."""

    @property
    def instructions_per_block(self) -> float:
        """Warp instructions of a sampled block, on average, all counting alike."""
        return float((self.steps[:, 1] - self.steps[:, 0]).sum()) / len(self.blocks)

    @property
    def work_of_blocks(self) -> NDArray[np.float64]:
        """Warp instructions of each sampled block."""
        import numpy as np  # not before streams exist: the command line's help has none

        return np.add.reduceat(self.work_of_warps, np.arange(len(self.blocks)) * self.warps_per_block)

    @property
    def work_of_warps(self) -> NDArray[np.float64]:
        """Instructions of each warp of the sampled blocks."""
        import numpy as np  # not before streams exist: the command line's help has none

        done = np.concatenate(([0.0], np.cumsum(self.steps[:, 1] - self.steps[:, 0])))
        return np.diff(done[self.starts])

    def only(self, places: Sequence[int]) -> WarpStreams:
        """Return the streams of some of the sampled blocks, by their places; all accesses are kept."""
        import numpy as np  # not before streams exist: the command line's help has none

        warps = [place * self.warps_per_block + w for place in places for w in range(self.warps_per_block)]
        spans = [(int(self.starts[n]), int(self.starts[n + 1])) for n in warps]
        return replace(
            self,
            blocks=tuple(self.blocks[place] for place in places),
            starts=np.cumsum([0, *(stop - start for start, stop in spans)]).astype(np.int64),
            steps=np.concatenate([self.steps[start:stop] for start, stop in spans]),
            weights=tuple(self.weights[place] for place in places) if self.weights else (),
        )
