"""The ways to write one kernel that are worth a prediction: blocks, shared tiles, shared reductions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.launch import Dim3
from warpwatt.published.resios.c_loops.cuda import generate
from warpwatt.published.resios.port.across import Across, grid_reduction
from warpwatt.published.resios.port.reduction import Combining, shared_reduction
from warpwatt.published.resios.port.tiling import tiled

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.cuda import Generated
    from warpwatt.published.resios.c_loops.mapping import Mapping

BLOCKS = {
    1: (Dim3(64), Dim3(256)),
    2: (Dim3(32, 8), Dim3(64, 4)),
    3: (Dim3(32, 8), Dim3(32, 4, 2)),
}
"""Blocks tried beside the thesis' choice, by the dimensions of a kernel's threads."""
TILES = (16, 32)
MOST_RESULTS = 1 << 16
"""Results above which a thread for each already fills a GPU: sharing reductions has nothing to gain."""
MOST_SHARED_RESULTS = 256
"""Results above which a block for each already fills a GPU."""
SHARED_THREADS = 256
"""Threads of a block that shares reductions."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to write a kernel; ``reorders`` says that its sums come in another order than the source's."""

    name: str
    generated: Generated
    reorders: bool = False


def variants(
    bound: BoundFunction, mapping: Mapping, block: Dim3, *, reorder: bool = True, most_results: int = 0
) -> tuple[Variant, ...]:
    """Return the ways to write a kernel, the thesis' block first.

    ``reorder`` allows reductions that add in another order; ``most_results`` are those of its largest launch,
    by default that of the mapping.
    """
    return tuple(_named(_variants(bound, mapping, block, reorder=reorder, most_results=most_results)))


def _variants(
    bound: BoundFunction, mapping: Mapping, block: Dim3, *, reorder: bool, most_results: int
) -> Iterator[Variant]:
    one = sum(loop.most for loop in mapping.loops) == len(mapping.loops)
    blocks = dict.fromkeys((block, *(() if one else BLOCKS[len(mapping.loops)])))
    for shape in blocks:
        yield Variant(f"a thread per iteration, {_shape(shape)}", generate(bound, mapping, shape))
    for side in TILES:
        made = tiled(bound, mapping, side)
        if made is not None:
            yield Variant(f"tiles of {side}×{side} in shared memory", replace(made, fixed=True))
    results = math.prod(loop.most for loop in mapping.loops)
    for combining in Combining if reorder and results <= MOST_RESULTS else ():
        made = shared_reduction(bound, mapping, combining, SHARED_THREADS)
        if made is not None:
            yield Variant(str(combining.value), made, reorders=True)
    most = max(most_results, results)
    for across in Across if reorder and most <= MOST_SHARED_RESULTS else ():
        made = grid_reduction(bound, mapping, across, SHARED_THREADS, most)
        if made is not None:
            yield Variant(str(across.value), made, reorders=True)


def _named(found: Iterator[Variant]) -> Iterator[Variant]:
    """Yield variants with names of their own for their kernels."""
    for number, one in enumerate(found):
        yield replace(one, generated=one.generated.renamed(f"{{}}_v{number}".format))


def _shape(block: Dim3) -> str:
    sides = [block.x, block.y, block.z]
    while len(sides) > 1 and sides[-1] == 1:
        sides.pop()
    return f"blocks of {'×'.join(map(str, sides))}"
