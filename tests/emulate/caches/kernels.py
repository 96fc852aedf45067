"""Kernels as functions from a block to the addresses its lanes touch, and their traces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.execution import AccessPattern, Execution
from warpwatt.core.launch import Dim3, L2State, Launch
from warpwatt.core.program import Access, Instruction, Level, MemoryAccess, Program, Space, Unit
from warpwatt.emulate.caches.reuse import reuse_of
from warpwatt.emulate.caches.sampled_blocks import SampledBlocks
from warpwatt.emulate.run import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NO_SECTORS = np.uint64(0)


def slot(number: int) -> int:
    return number << 40


@dataclass
class TracedKernel:
    """``accesses(x, y, z)`` yields for each warp of a block a list of (instruction, 32 addresses)."""

    grid: Dim3
    block: Dim3
    instructions: tuple[tuple[Access, int, str], ...]
    accesses: Callable[[int, int, int], Iterable[Any]]
    buffers: dict[int, tuple[str, float | None]]

    @property
    def program(self) -> Program:
        listed = [
            Instruction(i, opcode, unit=Unit.LSU, memory=MemoryAccess(Space.GLOBAL, access, size))
            for i, (access, size, opcode) in enumerate(self.instructions)
        ]
        return Program("traced", Level.PTX, "sm_90", tuple(listed))

    def trace(self, numbers) -> Trace:
        accesses, starts, lines, line_start = [], [0], [], [0]
        for number in numbers:
            x, y = number % self.grid.x, number // self.grid.x % self.grid.y
            for warp in self.accesses(int(x), int(y), int(number // (self.grid.x * self.grid.y))):
                for instruction, addresses in warp:
                    size = self.instructions[instruction][1]
                    accesses.append(instruction)
                    lines.extend(lines_of(np.asarray(addresses), size))
                    line_start.append(len(lines))
                starts.append(len(accesses))
        count = len(accesses)
        return Trace(
            step_start=np.zeros(len(starts), np.int64),
            step_block=np.zeros(0, np.int32),
            step_mask=np.zeros(0, np.uint32),
            access_start=np.array(starts),
            access_instruction=np.array(accesses, np.int32),
            access_mask=np.full(count, 2**32 - 1, np.uint32),
            access_wavefronts=np.zeros(count, np.uint8),
            access_step=np.zeros(count, np.int64),
            line_start=np.array(line_start),
            lines=np.array(lines, np.uint64),
            complete=True,
        )

    def execution(self, numbers=None, launch: Launch | None = None, weights=None) -> Execution:
        """Return the execution of the grid, known from some blocks and how many each stands for."""
        grid = self.grid
        numbers = np.arange(grid.count) if numbers is None else np.asarray(numbers)
        weights = np.full(len(numbers), grid.count / len(numbers)) if weights is None else weights
        blocks = SampledBlocks(grid, numbers, weights)
        trace = self.trace(numbers)
        reuse = reuse_of(trace, self.program, blocks, self.buffers)
        factor = grid.count / len(numbers)
        requests = np.bincount(trace.access_instruction, minlength=len(self.instructions)) * factor
        touched = np.bitwise_count(trace.lines & np.uint64(15)).astype(float)
        of = np.repeat(trace.access_instruction, np.diff(trace.line_start))
        sectors = np.bincount(of, touched, len(self.instructions)) * factor
        names = {int(i): int(line >> np.uint64(40)) for i, line in zip(of, trace.lines, strict=True)}
        patterns = {
            i: AccessPattern(sectors[i] / requests[i], 1, 1, 1, None, self.buffers[names[i]][0])
            for i in range(len(self.instructions))
            if requests[i]
        }
        return Execution(
            self.program,
            launch or Launch(grid, self.block, l2=L2State.PREVIOUS),
            tuple(requests),
            (32.0,) * len(requests),
            accesses=patterns,
            reuse=reuse,
        )

    def replaced(self, **changes):
        return replace(self, **changes)


def lines_of(addresses, size: int) -> list[int]:
    """Return line addresses with sector masks, as a trace holds them."""
    found: dict[int, int] = {}
    for address in np.asarray(addresses).tolist():
        for sector in range(address >> 5, (address + size - 1 >> 5) + 1):
            found[sector >> 2] = found.get(sector >> 2, 0) | 1 << (sector & 3)
    return [(line << 7) | mask for line, mask in found.items()]


LANES = np.arange(32)


def copy(blocks: int, warps: int = 4, size: int = 4) -> TracedKernel:
    """y[i] = x[i], one element per thread."""

    def accesses(x, y, z):
        for warp in range(warps):
            at = ((x * warps + warp) * 32 + LANES) * size
            yield [(0, slot(2) + at), (1, slot(3) + at)]

    whole = blocks * warps * 32 * size
    return TracedKernel(
        Dim3(blocks),
        Dim3(warps * 32),
        ((Access.LOAD, size, "ld.global.f32"), (Access.STORE, size, "st.global.f32")),
        accesses,
        {2: ("x", whole), 3: ("y", whole)},
    )


def strided(blocks: int, stride: int) -> TracedKernel:
    """Each lane reads one float, ``stride`` bytes from the next one's, and writes them side by side."""

    def accesses(x, y, z):
        at = (x * 32 + LANES) * stride
        yield [(0, slot(2) + at), (1, slot(3) + (x * 32 + LANES) * 4)]

    return TracedKernel(
        Dim3(blocks),
        Dim3(32),
        ((Access.LOAD, 4, "ld.global.f32"), (Access.STORE, 4, "st.global.f32")),
        accesses,
        {2: ("x", blocks * 32 * stride), 3: ("y", blocks * 128)},
    )


def byte_columns(columns: int, rows: int) -> TracedKernel:
    """Each block reads and writes a column of bytes, as wide as one thread, 32 rows high."""

    def accesses(x, y, z):
        at = (y * 32 + LANES) * columns + x
        yield [(0, slot(2) + at), (1, slot(3) + at)]

    return TracedKernel(
        Dim3(columns, rows // 32),
        Dim3(1, 32),
        ((Access.LOAD, 1, "ld.global.u8"), (Access.STORE, 1, "st.global.u8")),
        accesses,
        {2: ("x", columns * rows), 3: ("y", columns * rows)},
    )


def scattered(blocks: int, span: int) -> TracedKernel:
    """Every thread reads and writes 8 bytes of its own, anywhere in ``span`` bytes: a hash table."""

    def accesses(x, y, z):
        for places in np.random.default_rng(x).integers(0, span // 8, (4, 32)):
            at = slot(2) + places * 8
            yield [(0, at), (1, at)]

    return TracedKernel(
        Dim3(blocks),
        Dim3(128),
        ((Access.LOAD, 8, "ld.global.u64"), (Access.STORE, 8, "st.global.u64")),
        accesses,
        {2: ("table", span)},
    )


def table(blocks: int, entries: int, lookups: int) -> TracedKernel:
    """Every warp reads the same table, one entry for all lanes at a time."""

    def accesses(x, y, z):
        for warp in range(2):
            reads = [(0, np.full(32, slot(2) + 4 * (k % entries))) for k in range(lookups)]
            yield [*reads, (1, slot(3) + ((x * 2 + warp) * 32 + LANES) * 4)]

    return TracedKernel(
        Dim3(blocks),
        Dim3(64),
        ((Access.LOAD, 4, "ld.global.f32"), (Access.STORE, 4, "st.global.f32")),
        accesses,
        {2: ("table", entries * 4), 3: ("y", blocks * 256)},
    )


def matmul(tiles: int, tile: int = 16) -> TracedKernel:
    """C = A B in square tiles kept in shared memory: each tile row and column is read once per block."""
    n = tiles * tile

    def accesses(x, y, z):
        for warp in range(tile * tile // 32):
            thread = warp * 32 + LANES
            row, column = y * tile + thread // tile, x * tile + thread % tile
            work = []
            for k in range(tiles):
                work.append((0, slot(2) + (row * n + k * tile + thread % tile) * 4))
                work.append((1, slot(3) + ((k * tile + thread // tile) * n + column) * 4))
            yield [*work, (2, slot(4) + (row * n + column) * 4)]

    load, store = (Access.LOAD, 4, "ld.global.f32"), (Access.STORE, 4, "st.global.f32")
    whole = 4 * n * n
    return TracedKernel(
        Dim3(tiles, tiles),
        Dim3(tile, tile),
        (load, load, store),
        accesses,
        {2: ("a", whole), 3: ("b", whole), 4: ("c", whole)},
    )


def stencil(width: int, height: int) -> TracedKernel:
    """Five-point stencil on tiles of 32 by 8; borders are read as padding."""
    pitch = (width * 32 + 2) * 4

    def accesses(x, y, z):
        for warp in range(8):
            row, column = y * 8 + warp + 1, x * 32 + LANES + 1
            at = row * pitch + column * 4
            reads = [at, at - 4, at + 4, at - pitch, at + pitch]
            yield [*((k, slot(2) + a) for k, a in enumerate(reads)), (5, slot(3) + at)]

    load, store = (Access.LOAD, 4, "ld.global.f32"), (Access.STORE, 4, "st.global.f32")
    whole = pitch * (height * 8 + 2)
    return TracedKernel(
        Dim3(width, height),
        Dim3(32, 8),
        (*[load] * 5, store),
        accesses,
        {2: ("x", whole), 3: ("y", whole)},
    )


def interleaved(width: int, height: int) -> TracedKernel:
    """One byte from three interleaved ones, tiles of 16 by 16: a row of a tile is a sector and a half."""
    pitch = width * 16

    def accesses(x, y, z):
        for warp in range(8):
            row, column = y * 16 + 2 * warp + LANES // 16, x * 16 + LANES % 16
            at = row * pitch + column
            yield [*((k, slot(2) + 3 * at + k) for k in range(3)), (3, slot(3) + at)]

    load, store = (Access.LOAD, 1, "ld.global.u8"), (Access.STORE, 1, "st.global.u8")
    whole = pitch * height * 16
    return TracedKernel(
        Dim3(width, height),
        Dim3(16, 16),
        (*[load] * 3, store),
        accesses,
        {2: ("x", 3 * whole), 3: ("y", whole)},
    )


def exact_footprint(kernel: TracedKernel, buffer: int) -> float:
    """Return the distinct sector bytes of a buffer over the whole grid."""
    lines = kernel.trace(range(kernel.grid.count)).lines
    lines = lines[lines >> np.uint64(40) == buffer]
    found: dict[int, int] = {}
    for line in lines.tolist():
        found[line >> 7] = found.get(line >> 7, 0) | line & 15
    return 32.0 * sum(mask.bit_count() for mask in found.values())


def rewriting(blocks: int, lines: int, rounds: int, warps: int = 2) -> TracedKernel:
    """Each warp writes ``lines`` lines of its own, one after the other, several times over."""

    def accesses(x, y, z):
        for warp in range(warps):
            first = (x * warps + warp) * lines
            at = [slot(2) + (first + k) * 128 + LANES * 4 for k in range(lines)]
            yield [(0, address) for address in at * rounds]

    return TracedKernel(
        Dim3(blocks),
        Dim3(warps * 32),
        ((Access.STORE, 4, "st.global.f32"),),
        accesses,
        {2: ("x", blocks * warps * lines * 128)},
    )


def corners(blocks: int, warps: int = 2, space: Access = Access.STORE) -> TracedKernel:
    """Each lane reaches eight bytes of an element of its own of 64 bytes, corner after corner."""

    def accesses(x, y, z):
        for warp in range(warps):
            element = (x * warps + warp) * 32 + LANES
            yield [(0, slot(2) + element * 64 + 8 * corner) for corner in range(8)]

    name = "st.global.f64" if space is Access.STORE else "ld.global.f64"
    return TracedKernel(
        Dim3(blocks),
        Dim3(warps * 32),
        ((space, 8, name),),
        accesses,
        {2: ("x", blocks * warps * 32 * 64)},
    )


def corner_gathers(edge: int, order: np.ndarray | None = None) -> TracedKernel:
    """A thread of each cell of a cube gathers the eight nodes at its corners, and reads 64 bytes of its own.

    ``order`` numbers the nodes otherwise than by rows and planes.
    """
    nodes = edge + 1
    corners = [x + nodes * (y + nodes * z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]

    def accesses(x, y, z):
        for warp in range(8):
            cell = (x * 8 + warp) * 32 + LANES
            node = cell % edge + nodes * (cell // edge % edge + nodes * (cell // edge**2))
            own = [(8, slot(3) + cell * 64 + 32 * half) for half in (0, 1)]
            at = [node + corner if order is None else order[node + corner] for corner in corners]
            yield [*((k, slot(2) + 8 * each) for k, each in enumerate(at)), *own]

    return TracedKernel(
        Dim3(edge**3 // 256),
        Dim3(256),
        tuple((Access.LOAD, 8, "ld.global.f64") for _ in range(9)),
        accesses,
        {2: ("nodes", 8 * nodes**3), 3: ("own", 64 * edge**3)},
    )
