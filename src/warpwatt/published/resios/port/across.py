"""Reductions that many blocks share: partial results in device memory, or atomics on the result itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from warpwatt.core.launch import WARP_SIZE, Dim3
from warpwatt.published.resios.c_loops.cuda import KernelWriter
from warpwatt.published.resios.c_loops.nest import Assign, Element, Loop
from warpwatt.published.resios.port.reduction import (
    Combining,
    Sharing,
    added_atomically,
    fits,
    reduction,
    unguarded,
)

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.cuda import Generated
    from warpwatt.published.resios.c_loops.mapping import Mapping
    from warpwatt.published.resios.c_loops.nest import Statement
    from warpwatt.published.resios.port.reduction import Reduction

BLOCKS = 256
"""Blocks that share a result: a few for every multiprocessor of a large GPU."""
MOST_LOOPS = 2
"""Mapped loops beside the dimension of the blocks that share a result."""
_SHARED_PLACES = ("blockIdx.y", "blockIdx.z")
_PLACES = ("blockIdx.x", "blockIdx.y")
_PLACE, _STEP = "blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x"


class Across(StrEnum):
    """How blocks that share a reduction combine their results."""

    ATOMICS = "many blocks per result, atomics in device memory"
    TWO_KERNELS = "many blocks per result, a second kernel combines them"


def grid_reduction(
    bound: BoundFunction, mapping: Mapping, across: Across, threads: int, results: int
) -> Generated | None:
    """Return kernels that deal loops of reduction to many blocks; None where their body is no such loop.

    ``threads`` is a block's size, ``results`` those of the largest launch. What stands before and after the
    loops runs in the kernel that combines, or in kernels of its own.
    """
    body, condition = unguarded(mapping.body)
    if condition is not None or len(mapping.loops) > MOST_LOOPS or not fits(body):
        return None
    written = _Across(bound, mapping, body, threads, results)
    return written.two_kernels() if across is Across.TWO_KERNELS else written.with_atomics()


@dataclass(frozen=True, slots=True)
class _Across:
    bound: BoundFunction
    mapping: Mapping
    body: Sequence[Statement]
    threads: int
    results: int

    def two_kernels(self) -> Generated:
        """Return a kernel that writes the partial result of every block, and one that combines them."""
        first, second = self._writer("_parts"), self._writer("_combine")
        one_way, other_way = self._sharing(first), self._sharing(second)
        lines = list(first.positions(*_SHARED_PLACES[: self._loops]))
        more = list(second.positions(*_PLACES[: self._loops]))
        for number, statement in enumerate(self.body):
            one = _reduction(statement)
            if one is None:
                lines += [] if _stores(statement) else one_way.statement(statement)
                more += other_way.statement(statement)
                continue
            parts = f"{first.name}_parts{number or ''}"
            for writer in (first, second):
                writer.scratch.append((parts, one.target.type, self.results * BLOCKS))
            at = f"{parts}[(blockIdx.y + gridDim.y * blockIdx.z) * gridDim.x + blockIdx.x]"
            lines += one_way.shared(one, _PLACE, _STEP, f"{at} = {first.fresh('partial')};")
            head = f"for (int block = threadIdx.x; block < {BLOCKS}; block += {self.threads})"
            value = f"{parts}[(blockIdx.x + gridDim.x * blockIdx.y) * {BLOCKS} + block]"
            more += other_way.dealt(one, head, value)
        block = Dim3(self.threads)
        then = second.kernel(more, block, Dim3(1))
        return replace(first.kernel(lines, block, Dim3(1), BLOCKS), then=(then,))

    def with_atomics(self) -> Generated | None:
        """Return a kernel whose blocks add to the results, between what comes before and after it.

        None where a result is no sum, or lives in a thread.
        """
        places = [n for n, statement in enumerate(self.body) if _reduction(statement) is not None]
        sums = [one for s in self.body if (one := _reduction(s)) is not None]
        private = any(not isinstance(one.target, Element) or not added_atomically(one) for one in sums)
        if private or places != list(range(places[0], places[0] + len(places))):
            return None
        writer = self._writer("_sum")
        sharing = self._sharing(writer)
        lines = list(writer.positions(*_SHARED_PLACES[: self._loops]))
        for statement in self.body[: places[0]]:
            lines += [] if _stores(statement) else sharing.statement(statement)
        for one in sums:
            add = f"atomicAdd(&{writer.printer.expression(one.target)}, {writer.fresh('partial')});"
            lines += sharing.shared(one, _PLACE, _STEP, add)
        chain = [
            *self._alone("_before", self.body[: places[0]]),
            writer.kernel(lines, Dim3(self.threads), Dim3(1), BLOCKS),
            *self._alone("_after", self.body[places[-1] + 1 :]),
        ]
        return replace(chain[0], then=tuple(chain[1:]))

    def _alone(self, suffix: str, body: Sequence[Statement]) -> Iterator[Generated]:
        """Yield a kernel of one thread per result for statements that store something."""
        if any(_stores(statement) for statement in body):
            writer, block = self._writer(suffix), Dim3(WARP_SIZE)
            lines = [*writer.positions(), *writer.printer.statements(tuple(body), 1)]
            yield writer.kernel(lines, block, block)

    @property
    def _loops(self) -> int:
        return len(self.mapping.loops)

    def _writer(self, suffix: str) -> KernelWriter:
        return KernelWriter(self.bound, self.mapping, suffix)

    def _sharing(self, writer: KernelWriter) -> Sharing:
        return Sharing(writer, Combining.TREE, self.threads)


def _reduction(statement: Statement) -> Reduction | None:
    return reduction(statement) if isinstance(statement, Loop) else None


def _stores(statement: Statement) -> bool:
    return isinstance(statement, Assign) and isinstance(statement.target, Element)
