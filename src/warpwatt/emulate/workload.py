"""From an :class:`Execution` to a :class:`Workload`: occupancy, waves, and bytes at L1, L2 and DRAM.

Where the launch was emulated, the lines of sampled blocks decide (:mod:`warpwatt.emulate.caches`). Where it
was analysed only, reuse is decided by footprints. What one block touches more than once is caught by L1 as
far as its working set fits, what several blocks share is caught by L2; what does not fit misses along a
Gompertz curve of the oversubscription ``O`` = footprint / capacity, ``miss = a·exp(−b·exp(−c·O))``. Curves
from Ernst, Holzer, Hager and Wellein, "Analytical performance estimation during code generation on modern
GPUs" (2022).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from warpwatt.core.arguments import Buffer, Fill, TensorMap
from warpwatt.core.case import Case
from warpwatt.core.errors import InputError
from warpwatt.core.execution import (
    AccessPattern,
    Assumption,
    Execution,
    Footprint,
    LevelHits,
    Occupancy,
    Traffic,
    Workload,
)
from warpwatt.core.gpu import Gpu
from warpwatt.core.launch import L2State, Launch
from warpwatt.core.program import Access, Instruction, Program, Resources, Space, Unknown
from warpwatt.emulate.caches.code import cold_code_bytes
from warpwatt.emulate.caches.curves import (
    l1_miss,
    l2_miss,
    l2_store_miss,
    left_dirty,
    overlap_miss,
    written_back,
)
from warpwatt.emulate.caches.policy import buffer_size, l1_capacity, policy
from warpwatt.emulate.missing import ASSUMED_BYTES
from warpwatt.gpus.occupancy import occupancy

STAND_IN = "machine code of a relative"
"""Parameter of the assumption that another target's machine code does what the GPU's own does."""
SECTOR = 32
"""Bytes of the smallest piece L1 asks L2 for."""
REUSE_WINDOW = 8
"""Iterations over which a block's warps drift apart, hence the depth of the working set of a loop."""
LITTLE, LARGE = 0.05, 1 << 20
"""Share of a buffer below which little of it is touched, and bytes from which on that is said."""
OFF_CHIP = frozenset({Space.GLOBAL, Space.GENERIC, Space.LOCAL, Space.TEXTURE, Space.SURFACE})
_READS = frozenset({Access.LOAD, Access.COPY, Access.ATOMIC, Access.REDUCTION})
_WRITES = frozenset({Access.STORE, Access.ATOMIC, Access.REDUCTION})


@dataclass(frozen=True, slots=True)
class Stream:
    """Off-chip memory instructions that reach together, over the whole grid; quantities in bytes.

    ``footprint`` and ``block_footprint`` are distinct bytes of the launch and of one block.
    """

    buffer: str
    requested: float
    footprint: float
    block_footprint: float
    executions_per_warp: float
    reads: bool
    writes: bool
    cached_in_l1: bool


@lru_cache(maxsize=8)
def workload(
    execution: Execution, gpu: Gpu, resources: Resources, unknown: Unknown = Unknown.ESTIMATE
) -> Workload:
    """Return what the memory hierarchy and the SMs of ``gpu`` see of an execution.

    Raises
    ------
    LaunchError
        If the GPU cannot run such a block (see :func:`warpwatt.gpus.occupancy.occupancy`).
    """
    from warpwatt.emulate.assumptions import (
        retry_assumptions,
        system_assumptions,
        texture_assumptions,
        wait_assumptions,
    )

    launch = execution.launch
    residency = occupancy(gpu, resources, launch)
    hits = _hits(execution, gpu, residency)
    l1, l2, dram = _totals(hits) if hits else _by_footprints(execution, gpu, residency)
    dram = Traffic(dram.read + cold_code_bytes(execution), dram.written)
    resident = max(1, residency.blocks_per_sm) * gpu.sm_count
    return Workload(
        execution=execution,
        occupancy=residency,
        active_sms=min(gpu.sm_count, launch.grid.count),
        waves=launch.grid.count / resident,
        shared_wavefronts=_shared_wavefronts(execution),
        l1=l1,
        l2=l2,
        dram=dram,
        hits=hits,
        assumptions=(
            *execution.assumptions,
            *wait_assumptions(execution),
            *retry_assumptions(execution),
            *texture_assumptions(execution),
            *system_assumptions(execution),
            *_fill_assumptions(launch),
            *_unknown_assumptions(execution, unknown),
        ),
    )


def _hits(execution: Execution, gpu: Gpu, residency: Occupancy) -> dict[int, LevelHits]:
    """Return what each level sees of each off-chip instruction, nothing where no block was emulated."""
    if execution.reuse is None:
        return {}
    from warpwatt.emulate.caches.hierarchy import level_hits

    return level_hits(
        execution, gpu, residency, {i.index: pattern_of(execution, i) for i in _off_chip(execution)}
    )


def _totals(hits: dict[int, LevelHits]) -> tuple[Traffic, Traffic, Traffic]:
    """Return the bytes at L1, L2 and DRAM of all instructions."""
    levels = zip(*((h.l1, h.l2, h.dram) for h in hits.values()), strict=True)
    l1, l2, dram = (Traffic(sum(t.read for t in of), sum(t.written for t in of)) for of in levels)
    return l1, l2, dram


def _by_footprints(execution: Execution, gpu: Gpu, residency: Occupancy) -> tuple[Traffic, Traffic, Traffic]:
    """Return the bytes at L1, L2 and DRAM from footprints alone."""
    streams = tuple(_streams(execution))
    l1, l2 = _l1_and_l2(streams, gpu, residency, execution.launch)
    return l1, l2, _dram(streams, l2, gpu, execution.launch)


def pattern_of(execution: Execution, instruction: Instruction) -> AccessPattern:
    """Return the known access pattern, or the coalesced one where nothing is known.

    Coalesced means neighbouring lanes on neighbouring elements; :func:`static_execution` has already listed
    the assumption for instructions it could not follow.
    """
    known = execution.accesses.get(instruction.index)
    if known is not None:
        return known
    assert instruction.memory is not None
    lanes = execution.lanes[instruction.index]
    touched = instruction.memory.bytes * lanes
    sectors = max(1.0, touched / SECTOR)
    return AccessPattern(
        sectors, max(1.0, touched / 128), max(1.0, touched / 128), sectors, None, known=False
    )


def off_chip_bytes(case: Case) -> tuple[float, ...]:
    """Return the off-chip bytes each instruction requests in the whole grid, whole sectors."""
    return _off_chip_bytes(case.workload.execution)


@lru_cache(maxsize=8)
def _off_chip_bytes(execution: Execution) -> tuple[float, ...]:
    loads = [0.0] * len(execution.counts)
    for instruction in execution.program.instructions:
        count = execution.counts[instruction.index]
        if instruction.memory is not None and instruction.memory.space in OFF_CHIP and count:
            loads[instruction.index] = pattern_of(execution, instruction).sectors * SECTOR * count
    return tuple(loads)


def _off_chip(execution: Execution) -> Iterator[Instruction]:
    """Yield the executed instructions that access memory off the chip."""
    for i in execution.program.instructions:
        if i.memory is None or i.memory.space not in OFF_CHIP or i.memory.access is Access.PREFETCH:
            continue
        if execution.counts[i.index] > 0:
            yield i


def _streams(execution: Execution) -> Iterator[Stream]:
    """Group the off-chip accesses by footprint; one without a known footprint stands alone."""
    loose = {i.index: i for i in _off_chip(execution)}
    for footprint in execution.footprints:
        members = [loose.pop(index) for index in footprint.instructions if index in loose]
        if members:
            yield _stream(execution, members, footprint)
    for instruction in loose.values():
        yield _stream(execution, [instruction], None)


def _stream(execution: Execution, members: list[Instruction], footprint: Footprint | None) -> Stream:
    blocks, warps = execution.launch.grid.count, execution.launch.warps
    accesses = {m.memory.access for m in members if m.memory is not None}
    patterns = [pattern_of(execution, m) for m in members]
    counts = [execution.counts[m.index] for m in members]
    requested = sum(p.sectors * SECTOR * c for p, c in zip(patterns, counts, strict=True))
    buffer = patterns[0].buffer
    limit = buffer_size(execution.launch, buffer)
    whole = footprint.bytes if footprint is not None else patterns[0].footprint or requested
    per_block = footprint.block_bytes if footprint is not None else requested / blocks
    return Stream(
        buffer=buffer or f"#{members[0].index}",
        requested=requested,
        footprint=min(whole, requested, limit),
        block_footprint=min(per_block, requested / blocks, limit),
        executions_per_warp=sum(counts) / warps,
        reads=bool(accesses & _READS),
        writes=bool(accesses & _WRITES),
        cached_in_l1=accesses <= {Access.LOAD, Access.COPY},
    )


def _l1_and_l2(
    streams: Iterable[Stream], gpu: Gpu, residency: Occupancy, launch: Launch
) -> tuple[Traffic, Traffic]:
    """Return bytes requested from L1 and bytes L1 exchanges with L2 (L1 writes through)."""
    capacity = l1_capacity(gpu, residency)
    l1_read = l1_written = l2_read = l2_written = 0.0
    for stream in streams:
        if stream.writes:
            l1_written += stream.requested
            l2_written += stream.requested
        if stream.reads:
            l1_read += stream.requested
            l2_read += _l2_reads(stream, capacity, max(1, residency.blocks_per_sm), launch.grid.count)
    return Traffic(l1_read, l1_written), Traffic(l2_read, l2_written)


def _l2_reads(stream: Stream, capacity: float, resident_blocks: int, blocks: int) -> float:
    if not stream.cached_in_l1 or capacity <= 0:
        return stream.requested
    compulsory = min(stream.requested, stream.block_footprint * blocks)
    window = min(1.0, REUSE_WINDOW / max(1.0, stream.executions_per_warp))
    oversubscription = resident_blocks * stream.block_footprint * window / capacity
    return compulsory + (stream.requested - compulsory) * l1_miss(oversubscription)


def _dram(streams: Iterable[Stream], l2: Traffic, gpu: Gpu, launch: Launch) -> Traffic:
    """Return DRAM bytes: each buffer once, plus what does not fit in L2."""
    first_read = min(_distinct([s for s in streams if s.reads], launch), l2.read)
    first_written = min(_distinct([s for s in streams if s.writes], launch), l2.written)
    oversubscription = (first_read + first_written) / gpu.l2_size
    read = first_read + (l2.read - first_read) * l2_miss(oversubscription)
    written = first_written + (l2.written - first_written) * l2_store_miss(oversubscription)
    lost = overlap_miss(oversubscription) if launch.l2 == L2State.WARM else 1.0 - _in_l2(streams, launch)
    read, written = read * lost, written * lost
    rules = policy(gpu)
    if launch.l2 != L2State.COLD:
        return Traffic(read, written)
    if rules.left_by_flush and not launch.in_l2:
        back = written_back(written, read + written, rules)
        return Traffic(read, written * back.own + back.before)
    return Traffic(read, written * (1.0 - left_dirty(read + written, rules.dirty_bytes)))


def _in_l2(streams: Iterable[Stream], launch: Launch) -> float:
    """Return the share of the launch's data that L2 holds before it."""
    found = sum(stream.footprint * launch.in_l2.get(stream.buffer, 0.0) for stream in streams)
    return found / max(1.0, sum(stream.footprint for stream in streams))


def footprints(execution: Execution) -> dict[str, float]:
    """Return the distinct bytes that a launch touches of each buffer, without local memory."""
    if execution.reuse is None:
        found: dict[str, float] = {}
        for stream in _streams(execution):
            found[stream.buffer] = max(found.get(stream.buffer, 0.0), stream.footprint)
        return found
    from warpwatt.emulate.caches.waves import Waves

    shared = [growth for growth in execution.reuse.growths if not growth.private]
    blocks = execution.launch.grid.count
    return Waves(execution.launch, blocks, 1.0, shared).footprints(blocks)


def barely_touched(execution: Execution) -> tuple[str, ...]:
    """Return a remark for each given buffer of which the launch touches little or nothing.

    A size is often wrong then: of the buffer, of the grid, or of what the buffer is indexed with.
    """
    if execution.reuse is None:
        return ()
    touched, found = footprints(execution), []
    for index, parameter in enumerate(execution.program.parameters):
        name = parameter.source_name or str(index)
        buffer = execution.launch.arguments.get(name)
        if not isinstance(buffer, Buffer) or isinstance(buffer, TensorMap) or buffer.nbytes >= ASSUMED_BYTES:
            continue  # a buffer that nobody gave is as large as the address space
        own = touched.get(name, 0.0)
        if own < LITTLE * buffer.nbytes and (not own or buffer.nbytes > LARGE):
            some = f"about {max(1, round(own / buffer.dtype.size)):,}" if own else "none"
            found.append(
                f"{name}: {some} of {buffer.elements:,} elements are touched; check the grid, the sizes and "
                "the values that index it"
            )
    return tuple(found)


def _distinct(streams: Iterable[Stream], launch: Launch) -> float:
    """Return the distinct bytes of several streams: those of one buffer add up to its size at most."""
    totals: dict[str, float] = {}
    for stream in streams:
        together = totals.get(stream.buffer, 0.0) + stream.footprint
        totals[stream.buffer] = min(together, buffer_size(launch, stream.buffer))
    return sum(totals.values())


def _shared_wavefronts(execution: Execution) -> float:
    total = 0.0
    for instruction in execution.program.instructions:
        if instruction.memory is not None and instruction.memory.space == Space.SHARED:
            total += pattern_of(execution, instruction).wavefronts * execution.counts[instruction.index]
    return total


def _fill_assumptions(launch: Launch) -> Iterator[Assumption]:
    """Yield which buffers hold random numbers because their contents are not given, one line per seed."""
    by_seed: dict[int, list[str]] = {}
    for name, argument in launch.arguments.items():
        if isinstance(argument, Buffer) and argument.assumed_fill and argument.fill is Fill.RANDOM:
            by_seed.setdefault(argument.seed, []).append(name)
    for seed, names in by_seed.items():
        one = len(names) == 1
        message = f"{'buffer' if one else 'buffers'} {', '.join(names)} {'holds' if one else 'hold'} "
        message += f"random numbers (seed {seed})"
        fix = f"--arg {names[0]}=TYPE[SHAPE]:zeros|ones|arange|FILE.npy"
        yield Assumption(message, f"fill:{','.join(names)}", 0.0, fix=fix)


def check_known(program: Program, unknown: Unknown) -> None:
    """Raise :class:`InputError` for the first unknown opcode if the user wants that."""
    if unknown != Unknown.ERROR:
        return
    for instruction in program.instructions:
        if not instruction.known:
            where = instruction.line
            raise InputError(
                f"unknown opcode {instruction.opcode}",
                file=where.file if where else None,
                line=where.line if where else None,
                hint="--unknown=estimate counts it and widens the interval",
            )


def _unknown_assumptions(execution: Execution, unknown: Unknown) -> Iterator[Assumption]:
    instructions = execution.program.instructions
    missing = sorted({i.opcode for i in instructions if not i.known})
    if not missing:
        return
    executed = sum(execution.counts[i.index] for i in instructions if not i.known)
    share = executed / (execution.warp_instructions or 1.0)
    names = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
    message = f"{execution.program.unknown} instructions with unknown opcodes ({names}) counted as moves"
    spread = 0.0 if unknown == Unknown.SKIP else min(1.0, 0.1 + share)
    yield Assumption(
        message, "unknown opcodes", spread, fix="--unknown=error stops, --unknown=skip does not widen"
    )
