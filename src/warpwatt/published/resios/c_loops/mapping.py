"""Which loops of a nest become threads: the outermost one, or the two outermost of a perfect nest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.launch import WARP_SIZE, Dim3
from warpwatt.published.resios.c_loops.dependence import carried, check_aliases
from warpwatt.published.resios.c_loops.nest import Loop

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction, BoundLoop, BoundNest
    from warpwatt.published.resios.c_loops.nest import Statement


@dataclass(frozen=True, slots=True)
class Mapping:
    """The loops that become threads, outermost first: one along x, two along y and x, three along z too.

    ``body`` is what every thread executes.
    """

    nest: BoundNest
    loops: tuple[BoundLoop, ...]

    @property
    def body(self) -> tuple[Statement, ...]:
        """What one thread executes."""
        return self.loops[-1].loop.body

    @property
    def lane(self) -> BoundLoop:
        """The loop whose iterations are neighbouring threads."""
        return self.loops[-1]

    @property
    def threads(self) -> int:
        """Iterations of the mapped loops."""
        total = 1
        for loop in self.loops:
            total *= loop.most
        return total

    def block(self, warps: int) -> Dim3:
        """Return the block of so many warps: in a line, or a warp wide and ``warps`` high.

        The thesis writes the second one (warps, 32); the warp lies along the inner loop, CUDA's x.

        >>> Mapping.block(Mapping(None, (None,)), 5), Mapping.block(Mapping(None, (None, None)), 4)
        (Dim3(x=160, y=1, z=1), Dim3(x=32, y=4, z=1))
        """
        return Dim3(WARP_SIZE * warps) if len(self.loops) == 1 else Dim3(WARP_SIZE, warps)

    def grid(self, block: Dim3) -> Dim3:
        """Return the blocks that cover all iterations."""
        return grid_of(tuple(loop.most for loop in self.loops), block)


def grid_of(extents: tuple[int, ...], block: Dim3) -> Dim3:
    """Return the blocks that cover so many iterations, outermost loop first.

    >>> grid_of((10, 100), Dim3(32, 4))
    Dim3(x=4, y=3, z=1)
    """
    pairs = zip(reversed(extents), (block.x, block.y, block.z), strict=False)
    return Dim3(*(-(-extent // size) for extent, size in pairs))


def grid_for(extents: tuple[int, ...], tile: Dim3, blocks: int) -> Dim3:
    """Return the grid of a kernel; with ``blocks``, so many share each iteration, which lie along y and z.

    >>> grid_for((10, 100), Dim3(1), 256)
    Dim3(x=256, y=100, z=10)
    """
    return grid_of((*extents, blocks), Dim3(1)) if blocks else grid_of(extents, tile)


def mapped(bound: BoundFunction, nest: BoundNest, *, assume_no_alias: bool = False) -> Mapping:
    """Return how a nest is mapped to threads.

    Raises
    ------
    DependenceError
        If the outermost loop carries a dependence.
    UnportableError
        If pointers may alias.
    """
    if not assume_no_alias:
        check_aliases(bound.function, bound.written(nest))
    outer = nest.loop
    found = carried(bound, nest, (outer,))
    if found is not None:
        raise found.error(bound.function.file, _hint(bound, nest))
    inner = _only_loop(outer)
    if inner is None or not nest.of(inner).rectangular or carried(bound, nest, (outer, inner)) is not None:
        return Mapping(nest, (nest.of(outer),))
    return Mapping(nest, (nest.of(outer), nest.of(inner)))


def _only_loop(outer: Loop) -> Loop | None:
    """Return the loop that is all of the body of another one."""
    only = outer.body[0] if len(outer.body) == 1 else None
    return only if isinstance(only, Loop) else None


def _hint(bound: BoundFunction, nest: BoundNest) -> str:
    """Name a loop inside that is data parallel: it could stand outermost."""
    stack: list[tuple[Loop, ...]] = [(nest.loop,)]
    while stack:
        around = stack.pop(0)
        for statement in around[-1].body:
            if isinstance(statement, Loop):
                loops = (*around, statement)
                if carried(bound, nest, loops) is None:
                    name, line = statement.variable.name, statement.line
                    return f"the loop over {name!r} on line {line} is: put it into a function of its own"
                stack.append(loops)
    return ""
