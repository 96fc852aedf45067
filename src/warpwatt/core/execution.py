"""What a launch does: :class:`Execution` for a target, :class:`Workload` once the GPU is known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from warpwatt.core.blocks import BlockClasses
from warpwatt.core.estimate import OneSided
from warpwatt.core.launch import Launch
from warpwatt.core.program import Program, SourceLine
from warpwatt.core.reuse import Reuse
from warpwatt.core.streams import WarpStreams


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something assumed because neither the program nor the user specifies it.

    ``parameter`` names the shared draws, ``spread`` the standard deviation of the logarithm of the time it
    may cost; ``fix`` is the flag that removes the assumption. ``one_sided``: it cannot
    make the time shorter, as what it leaves out (waits for others) takes nothing or more.
    """

    message: str
    parameter: str
    spread: float
    line: SourceLine | None = None
    fix: str = ""
    one_sided: bool = False


def with_assumed(
    spreads: Mapping[str, float], assumptions: Iterable[Assumption]
) -> dict[str | OneSided, float]:
    """Return spreads and what assumptions may cost beside them, the largest of each parameter.

    >>> with_assumed({"model": 0.1}, [Assumption("a lock is free", "waits", 3.0, one_sided=True)])
    {'model': 0.1, OneSided(name='waits'): 3.0}
    """
    found: dict[str | OneSided, float] = dict(spreads.items())
    for one in assumptions:
        parameter = OneSided(one.parameter) if one.one_sided else one.parameter
        found[parameter] = max(found.get(parameter, 0.0), one.spread)
    return found


@dataclass(frozen=True, slots=True)
class LoopTrips:
    """One natural loop: iterations per entry, averaged over warps (a warp runs as long as its longest lane).

    ``expression`` is the trip count in terms of arguments and indices; ``known`` is False where it depends
    on data and ``trips`` is an assumption or the user's ``--loop``.
    """

    header: int
    """Index of the loop header's first instruction."""
    trips: float
    lanes: float
    """Iterations per entry averaged over threads; below ``trips`` where lanes leave early."""
    known: bool
    expression: str = ""
    line: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class AccessPattern:
    """How the lanes of a warp spread over memory in one memory instruction, averages per execution.

    ``sectors`` are distinct 32-byte sectors and ``lines`` distinct 128-byte lines (global, local);
    ``wavefronts`` are shared-memory passes (1 without bank conflicts). ``ideal`` is the least possible
    value of the same measure. ``stride`` in bytes between neighbouring lanes, None if irregular.
    """

    sectors: float
    lines: float
    wavefronts: float
    ideal: float
    stride: int | None
    buffer: str = ""
    footprint: float | None = None
    """Distinct bytes the whole launch touches through this instruction, None if unknown."""
    known: bool = True
    collisions: float = 1.0
    """Lanes of a warp on one address, which an atomic takes one after the other; 1 for an address that the
    compiler sees to be the same in all lanes, because it combines them."""
    l1_passes: float = 0.0
    """Passes through L1's tags or data banks, whichever are more (global, local), 0 if not known."""
    uniform: float | None = None
    """Share of requests whose lanes all have one address, None if not known."""
    requests: float = 1.0
    """Requests per execution: below 1 where all lanes of some executions are off."""
    busiest: float | None = None
    """Share of an atomic's sectors that the busiest aligned 256 bytes take; None: not more than others."""


@dataclass(frozen=True, slots=True)
class ConstantReads:
    """What an instruction reads of constant banks at computed addresses, averages per execution.

    ``addresses``: different ones, which the cache looks up one after the other. ``misses``: of the indexed
    constant cache, in constants that do not fit into it; ``far_misses``: of them, of the L1.5 constant cache.
    """

    addresses: float
    misses: float
    far_misses: float


@dataclass(frozen=True, slots=True)
class Footprint:
    """Off-chip memory that some instructions reach together, in distinct bytes of whole 32-byte sectors."""

    buffer: str
    instructions: tuple[int, ...]
    bytes: float
    """Over the whole launch."""
    block_bytes: float
    """By one block."""
    limit: float | None = None
    """Size of the buffer, None if unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class Execution:
    """f(kernel, target, launch): the same for every GPU of that target.

    ``counts[i]`` is how often warps execute instruction ``i`` in the whole grid; ``lanes[i]`` the mean
    number of active lanes when they do. ``accesses`` is keyed by instruction index. ``footprints`` are
    those of the accesses whose addresses are known.
    """

    program: Program
    launch: Launch
    counts: tuple[float, ...]
    lanes: tuple[float, ...]
    loops: tuple[LoopTrips, ...] = ()
    accesses: Mapping[int, AccessPattern] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    footprints: tuple[Footprint, ...] = ()
    constants: Mapping[int, ConstantReads] = field(default_factory=dict)
    """By instruction that the constant caches keep waiting."""
    streams: WarpStreams | None = None
    """What warps of sampled blocks did, in order; None where nothing was traced."""
    reuse: Reuse | None = None
    """Lines that emulated blocks touch, None where nothing was emulated."""
    classes: BlockClasses | None = None
    """Blocks by their work, None where it is much the same in all or not known."""
    blocks_run: int = 0
    """Blocks that were emulated to their end and scaled to the grid, 0 where counts come from analysis."""
    remarks: tuple[str, ...] = ()
    """What cannot be right in the kernel or its launch, though a prediction can be made."""

    @property
    def warp_instructions(self) -> float:
        """Warp instructions of the whole grid."""
        return sum(self.counts)

    @property
    def flops(self) -> float:
        """Floating-point operations of the whole grid (active lanes only)."""
        instructions = self.program.instructions
        return sum(i.flops * c * n for i, c, n in zip(instructions, self.counts, self.lanes, strict=True))


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Resident blocks and warps per SM and what limits them (NVIDIA's occupancy calculator).

    ``blocks_per_sm`` is what an SM can hold, as NVIDIA's calculator reports it. A grid with fewer blocks
    does not lower it: it makes ``limiter`` ``"grid"``, and ``resident_blocks`` is what an SM really gets.
    """

    blocks_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    limiter: str
    """``"warps"``, ``"blocks"``, ``"registers"``, ``"shared memory"``, ``"barriers"`` or ``"grid"``."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Blocks per SM that each resource alone would allow."""
    shared_per_block: int = 0
    registers_per_block: int = 0
    shared_carveout: int = 0
    """Shared memory the driver configures per SM, in bytes; the rest of a unified pool is L1."""

    @property
    def resident_blocks(self) -> int:
        """Blocks on the fullest SM once the grid is spread over all of them."""
        return min(self.blocks_per_sm, self.limits.get("grid", self.blocks_per_sm))

    @property
    def resident_warps(self) -> int:
        """Warps of the blocks on the fullest SM."""
        return self.warps_per_sm // max(1, self.blocks_per_sm) * self.resident_blocks

    @property
    def theoretical(self) -> float:
        """Warps that an SM holds of this kernel, whatever the grid, over the most it can hold."""
        return self.warps_per_sm / self.max_warps_per_sm

    @property
    def resident(self) -> float:
        """Resident warps of the fullest SM over the most that it can hold."""
        return self.resident_warps / self.max_warps_per_sm


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that cross one level of the memory hierarchy in the whole grid."""

    read: float = 0.0
    written: float = 0.0

    @property
    def total(self) -> float:
        """Bytes both ways."""
        return self.read + self.written


@dataclass(frozen=True, slots=True)
class LevelHits:
    """What one off-chip memory instruction does to the memory hierarchy in the whole grid.

    ``requests`` are warp executions with a lane on, ``sectors`` the 32-byte sectors they ask for,
    ``l1_hits`` the share of them that L1 has (0 for stores, which L1 writes through), ``l2_hits`` the share
    that L2 has of those L1 passes on. ``dram`` are the bytes it moves, write-backs of what it wrote included.
    ``uniform`` is the share of requests whose lanes all have one address, None if not known.
    """

    buffer: str
    requests: float
    sectors: float
    l1_hits: float
    l2_hits: float
    l1: Traffic
    l2: Traffic
    dram: Traffic
    uniform: float | None = None
    run: float = math.inf
    """Contiguous bytes requested at about the same time."""
    in_flight: float = 0.0
    """Part of ``l1_hits`` whose line another warp has requested and that has not arrived yet."""
    l2_in_flight: float = 0.0
    """Part of ``l2_hits`` that another SM has requested and that has not arrived from DRAM yet."""
    displaced: float = 0.0
    """Bytes of ``dram`` that were written before the launch; L2 writes them back to make room."""


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """f(execution, GPU, residency): what the memory hierarchy and the SMs see."""

    execution: Execution
    occupancy: Occupancy
    active_sms: int
    waves: float
    """Blocks over blocks resident at once, not rounded: 1.5 means a half-filled second wave."""
    shared_wavefronts: float
    """Shared-memory passes of the whole grid, bank conflicts included."""
    l1: Traffic
    l2: Traffic
    dram: Traffic
    assumptions: tuple[Assumption, ...] = ()
    """Those of the execution and those added here."""
    hits: Mapping[int, LevelHits] = field(default_factory=dict)
    """Off-chip memory instruction -> what each level sees of it; they add up to ``l1``, ``l2`` and, with the
    code that an empty L2 fetches, ``dram``."""
