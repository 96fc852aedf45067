"""How much each block of a grid works, by analysis: which blocks pass which code, how often.

Guards and loop bounds that depend on the block's index are evaluated for many blocks at once, and for a few
threads of each. What depends on data is taken to be alike in all blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.arrays import GOLDEN, unique
from warpwatt.core.errors import ArgumentError
from warpwatt.core.launch import WARP_SIZE, Dim3, Launch
from warpwatt.program.alike_blocks import alike_blocks
from warpwatt.program.arithmetic import SCALAR, most_of_lanes
from warpwatt.program.evaluation import Evaluator
from warpwatt.program.expression import BLOCK
from warpwatt.program.iterations import count_iterations
from warpwatt.program.outside import Met, blocks_outside, has_open_accesses
from warpwatt.program.pointers import pointer_parameters
from warpwatt.program.sampling import WarpSample
from warpwatt.program.symbolic import expressions
from warpwatt.program.trips import TripCounts
from warpwatt.program.walk import Walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.program import Instruction
    from warpwatt.program.arithmetic import Array
    from warpwatt.program.binding import BoundLaunch
    from warpwatt.program.controls import ExitTest
    from warpwatt.program.expression import Node
    from warpwatt.program.iterations import Iterations
    from warpwatt.program.symbolic import Symbols
    from warpwatt.program.walk import Context, LoopEntry

FEW, MANY = 8192, 131_072
"""Blocks looked at; the second where the first leave the work of the grid uncertain by :data:`UNCERTAIN`."""
UNCERTAIN = 0.02
ENDS = 1024
"""Blocks looked at one by one at either end of a large grid: work often fills its beginning only."""
WARPS = 3
"""Warps of a block looked at (first, middle, last): guards on indices split between them."""
DATA_TRIPS = 10
"""Iterations of loops whose count depends on data. All blocks get as many."""
_ITERATIONS = 8


@dataclass(frozen=True, slots=True, eq=False)
class BlockWork:
    """What some blocks of a grid do.

    Attributes
    ----------
    blocks
        Their linear numbers, ascending.
    weights
        Blocks of the grid that each stands for.
    paths
        Equal where two blocks pass the same code, and both or neither seem to leave their buffers.
    instructions
        Warp instructions of a block.
    """

    blocks: NDArray[np.int64]
    weights: NDArray[np.float64]
    paths: NDArray[np.int64]
    instructions: NDArray[np.float64]

    @property
    def total(self) -> float:
        """Warp instructions of the grid."""
        return float(self.weights @ self.instructions)

    @property
    def uncertainty(self) -> float:
        """Standard error of :attr:`total` relative to it, for blocks drawn from slices of the grid."""
        apart = np.diff(self.instructions) * np.minimum(self.weights[1:], self.weights[:-1])
        drawn = (self.weights[1:] > 1) & (self.weights[:-1] > 1)
        return float(np.sqrt((apart[drawn] ** 2).sum() / 2) / max(1.0, self.total))


def block_work(bound: BoundLaunch) -> BlockWork | None:
    """Return the work of the blocks of a launch of a PTX program; None where they differ in nothing.

    >>> from warpwatt.core.launch import Dim3, Launch
    >>> from warpwatt.isa.ptx import lower, parse
    >>> from warpwatt.program.binding import bind
    >>> text = '''.target sm_90 .entry k() { .reg .u32 %r; .reg .pred %p; mov.u32 %r, %ctaid.x;
    ... setp.ge.u32 %p, %r, 30; @%p bra END; add.u32 %r, %r, 1; add.u32 %r, %r, 1; END: ret; }'''
    >>> found = block_work(bind(lower(parse(text), "k"), Launch(Dim3(100), Dim3(32))))
    >>> found.instructions[[0, 29, 30, 99]].tolist(), found.total
    ([6.0, 6.0, 4.0, 4.0], 460.0)
    """
    launch, symbols = bound.launch, expressions(bound.program)
    if launch.grid.count < 2 or not (_depends_on_block(symbols) or has_open_accesses(symbols)):
        return None
    for most in (FEW, MANY):
        found = _evaluated(bound, symbols, *_drawn(launch.grid.count, most))
        if found is None or len(found.blocks) == launch.grid.count or found.uncertainty < UNCERTAIN:
            break
    return found


def _depends_on_block(symbols: Symbols) -> bool:
    traits = symbols.algebra.traits_of
    return any(traits(guard) & BLOCK for guard in symbols.guards.values())


def _drawn(count: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return blocks and their weights: all, or the ends of the grid and one of each slice between them.

    >>> _drawn(4, 8)[0].tolist(), float(_drawn(10**6, 8192)[1].sum())
    ([0, 1, 2, 3], 1000000.0)
    """
    if count <= most:
        return np.arange(count), np.ones(count)
    edges = np.linspace(ENDS, count - ENDS, most - 2 * ENDS + 1).astype(np.int64)
    widths = np.diff(edges)
    inside = edges[:-1] + (np.arange(1, len(widths) + 1) * GOLDEN % 1 * widths).astype(np.int64)
    ends = np.ones(ENDS)
    blocks = np.concatenate([np.arange(ENDS), inside, np.arange(count - ENDS, count)])
    return blocks, np.concatenate([ends, widths.astype(float), ends])


def _evaluated(
    bound: BoundLaunch, symbols: Symbols, blocks: NDArray[np.int64], weights: NDArray[np.float64]
) -> BlockWork | None:
    """Walk the program for some blocks, one of those alike; None where an argument is missing."""
    sample = _threads(bound.launch, blocks, weights)
    bindings = bound.bindings(pointer_parameters(symbols))
    try:
        with np.errstate(all="ignore"):  # wrap-around is what machines do
            # accesses that depend on the block by more than a sum may leave buffers in any
            apart = has_open_accesses(symbols)
            kinds = None if apart else alike_blocks(Evaluator(symbols, sample, bindings))
            walked = sample if kinds is None else sample.of(kinds.walked)
            instructions, paths = _walked(Evaluator(symbols, walked, bindings), len(blocks))
    except ArgumentError:
        return None
    of = slice(None) if kinds is None else kinds.kind
    return BlockWork(blocks, weights, paths[of], instructions[of])


def _walked(evaluator: Evaluator, stand_for: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the warp instructions and the paths of an evaluator's blocks, which stand for so many."""
    counts = _BlockCounts(evaluator, len(evaluator.sample.block_weights))
    counts.trips.stand_for(stand_for)
    Walk(evaluator, counts.trips, counts).run()
    flow = evaluator.symbols.flow
    sizes = np.array([b.stop - b.start for b in flow.blocks], float)
    outside = blocks_outside(evaluator, counts.met, counts.warps.shape[1])
    passed = np.packbits(np.concatenate([counts.warps > 0, *counts.reached, outside[None]]), axis=0).T
    return sizes @ counts.warps, _numbered(passed)


def _numbered(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the place of each row among the different ones in order: few among thousands.

    >>> _numbered(np.array([[1, 2], [0, 255], [1, 2]], np.uint8)).tolist()
    [1, 0, 1]
    """
    fresh = np.ones(len(rows), bool)
    fresh[1:] = (rows[1:] != rows[:-1]).any(axis=1)  # neighbours are mostly alike
    each = [row.tobytes() for row in rows[fresh]]
    place = {row: number for number, row in enumerate(sorted(set(each)))}
    found: NDArray[np.int64] = np.array([place[row] for row in each], np.int64)[np.cumsum(fresh) - 1]
    return found


def _threads(launch: Launch, blocks: NDArray[np.int64], weights: NDArray[np.float64]) -> WarpSample:
    """Return the blocks with a few threads of each."""
    last = launch.warps_per_block - 1
    warps = unique([0, last // 2, last][:WARPS])
    lanes = corner_lanes(launch.block)
    thread = warps[None, :, None] * WARP_SIZE + lanes
    grid, block = launch.grid, launch.block
    registers: dict[str, Array] = {
        "%tid.x": thread % block.x,
        "%tid.y": thread // block.x % block.y,
        "%tid.z": thread // (block.x * block.y),
        "%laneid": lanes[None, None, :],
        "%warpid": warps[None, :, None],
        "%ctaid.x": (blocks % grid.x)[:, None, None],
        "%ctaid.y": (blocks // grid.x % grid.y)[:, None, None],
        "%ctaid.z": (blocks // (grid.x * grid.y))[:, None, None],
    }
    for axis in "xyz":
        registers[f"%ntid.{axis}"] = np.full(SCALAR, getattr(block, axis))
        registers[f"%nctaid.{axis}"] = np.full(SCALAR, getattr(grid, axis))
    return WarpSample(
        {name: values.astype(np.uint32) for name, values in registers.items()},
        weights,
        np.full(len(warps), launch.warps_per_block / len(warps)),
        float(grid.count),
        float(launch.warps_per_block),
        thread < block.count,
    )


def corner_lanes(block: Dim3) -> NDArray[np.int64]:
    """Return the lanes at the corners of the box of threads that a warp is: guards on indices split there.

    >>> [corner_lanes(Dim3(*block)).tolist() for block in ((256,), (16, 16), (8, 4, 2), (4, 4, 4))]
    [[0, 31], [0, 15, 16, 31], [0, 7, 24, 31], [0, 3, 12, 15, 16, 19, 28, 31]]
    """
    ends, size = np.zeros(1, np.int64), 1
    for extent in (block.x, block.y, block.z):
        along = max(1, min(extent, WARP_SIZE // size))
        ends = unique(np.concatenate([ends, ends + (along - 1) * size]))
        size *= along
    return ends


class _BlockCounts:
    """The visitor that counts ``warps[basic block, block of the grid]``.

    ``reached`` says of each basic block which of the lanes looked at come there.
    """

    def __init__(self, evaluator: Evaluator, blocks: int) -> None:
        self.evaluator = evaluator
        self.symbols = evaluator.symbols
        self.trips = TripCounts(evaluator)
        self.warps = np.zeros((len(self.symbols.flow.blocks), blocks))
        self.reached: list[NDArray[np.bool_]] = []
        self.met: list[Met] = []

    def block(self, block: int, presence: Array, context: Context) -> None:
        """Add the warps that execute a basic block."""
        self.met.append(Met(block, presence, context.environment))
        weighted = (most_of_lanes(presence) > 0) * context.weight
        by_warp = weighted.sum(axis=(*range(weighted.ndim - 3), -1))
        sample = self.evaluator.sample
        one = by_warp.shape[1] == 1
        self.warps[block] += by_warp[:, 0] * sample.warp_total if one else by_warp @ sample.warp_weights
        if presence.shape[0] > 1 and presence.ndim == 3:
            some = np.broadcast_to(presence > 0, (self.warps.shape[1], *presence.shape[1:]))
            self.reached.append(some.reshape(len(some), -1).T)

    def enter(self, entry: LoopEntry, context: Context) -> Iterations:
        """Look at few iterations of loops that vary."""
        last = entry.leaving.iteration
        assert last is not None
        control, active = entry.control, entry.presence > 0
        return count_iterations(
            last, active, bottom=control.bottom, varies=control.varies, depth=context.depth, limit=_ITERATIONS
        )

    def assumed_last(self, _loop: int, _tests: tuple[ExitTest, ...], *, known: bool) -> int | None:
        """Return the same count in all blocks where analysis found none."""
        return None if known else DATA_TRIPS

    def undecided(self, node: Node, terminator: Instruction) -> None:
        """Let a branch that depends on data go both ways, in all blocks alike."""
