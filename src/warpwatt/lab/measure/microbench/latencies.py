"""Probes of latency: chains of loads and atomics, each address the last one's result; barriers; launches.

Pointer chasing is by Saavedra and Smith (1995); Alavani 2023, section 3.3, and RRZE-HPC's gpu-latency use it
on GPUs. Which level answers is up to the chain that the buffer holds: its footprint and stride.
"""

from __future__ import annotations

from warpwatt.lab.measure.microbench import ptx
from warpwatt.lab.measure.microbench.model import Expected, Probe

STEPS = 60
EMPTY = "micro_empty"
"""Name of the kernel that does nothing."""
SPACING = "spacing"
"""Bytes from one thread's start to the next one's."""
_START = "mad.wide.u32 %at, %gtid, %gap, %in;"
_GAP = "cvt.u32.u64 %gap, %spacing;"


def probes() -> tuple[Probe, ...]:
    """Return the chains."""
    return (
        *(_global(operator, opcode) for operator, opcode in _OPERATORS.items()),
        _shared(), _constant(), _texture(),
        *(_atomic(*row) for row in _ATOMICS),
    )  # fmt: skip


def barriers() -> tuple[Probe, ...]:
    """Return the probes of barriers and fences, and the kernel that does nothing."""
    gpu = "fence within the GPU"
    return (
        _barrier("barrier_block", "bar.sync 0;", r"BAR\.SYNC.*", "barrier of a block"),
        _barrier("fence_block", "membar.cta;", r"MEMBAR\.(ALL|SC)\.CTA", "fence within a block"),
        _barrier("fence_gpu", "membar.gl;", r"MEMBAR\.(ALL|SC)\.GPU", gpu, others=4 * STEPS),
        _empty(),
    )


_OPERATORS = {
    "": r"LDG\.E\.64(\.SYS)?",
    "cg": r"LDG\.E\.64\.STRONG\.GPU",
    "nc": r"LDG\.E\.64\.CONSTANT(\.SYS)?",
}
"""Cache operator (PTX ISA 8.7, section 9.7.9.1) -> opcode."""
_ATOMICS = (
    ("global", "add", "u32", r"ATOMG\.E\.ADD\..*"),
    ("global", "cas", "b32", r"ATOMG\.E\.CAS\..*"),
    ("global", "add", "f32", r"ATOMG\.E\.ADD\.F32\..*"),
    ("shared", "add", "u32", r"ATOMS\.ADD"),
    ("shared", "cas", "b32", r"ATOMS\.CAS"),
)


def _probe(
    name: str, meaning: str, frame: ptx.Frame, opcode: str, needs: frozenset[str] = frozenset()
) -> Probe:
    moves = STEPS if "_cas_" in name else 0  # compare and value lie in neighbouring registers
    expected = {75: Expected({opcode: STEPS}, overhead=6 + moves, chains=1)}
    return Probe.of(name, "latency", meaning, frame, expected, STEPS, needs=needs)


def _global(operator: str, opcode: str) -> Probe:
    frame = ptx.Frame(
        registers=[".reg .u64 %at;", ".reg .u32 %gap;"],
        before=[_GAP, _START],
        body=[f"ld.global{'.' if operator else ''}{operator}.u64 %at, [%at];"] * STEPS,
        keep=[("u64", "%at")],
        parameters=[SPACING],
    )
    through = {"": "L1", "cg": "L2, past L1", "nc": "the read-only path"}[operator]
    return _probe(f"chase_global_{operator or 'ca'}", f"global load latency through {through}", frame, opcode)


def _shared() -> Probe:
    """Return a chain in which every thread reads a word of its own that holds its own address."""
    frame = ptx.Frame(
        registers=[".reg .u32 %gap, %cell, %base;", ".shared .align 16 .b8 cells[16384];"],
        before=[
            _GAP, "mov.u32 %base, cells;", "mul.lo.u32 %cell, %thread, %gap;", "and.b32 %cell, %cell, 16380;",
            "add.u32 %cell, %cell, %base;", "st.shared.u32 [%cell], %cell;",
        ],
        body=["ld.shared.u32 %cell, [%cell];"] * STEPS,
        keep=[("u32", "%cell")],
        parameters=[SPACING],
    )  # fmt: skip
    return _probe(
        "chase_shared", "shared load latency; more than one thread: with conflicts", frame, r"LDS(\.U)?"
    )


def _constant() -> Probe:
    table = ptx.CONSTANT_TABLE
    frame = ptx.Frame(
        registers=[".reg .u32 %gap, %cell;", ".reg .u64 %at, %table, %wide;"],
        before=[_GAP, "mul.lo.u32 %cell, %gtid, %gap;", f"mov.u64 %table, {table};"],
        body=["cvt.u64.u32 %wide, %cell;", "add.u64 %at, %table, %wide;", "ld.const.u32 %cell, [%at];"]
        * STEPS,
        keep=[("u32", "%cell")],
        parameters=[SPACING],
    )
    return _probe("chase_constant", "constant load latency with an index", frame, r"LDC")


def _texture() -> Probe:
    fetch = "tex.1d.v4.u32.s32 {%cell, %r1, %r2, %r3}, [%texture, {%cell}];"
    frame = ptx.Frame(
        registers=[".reg .u32 %gap, %cell, %r1, %r2, %r3;"],
        before=[_GAP, "mul.lo.u32 %cell, %gtid, %gap;"],
        body=[fetch] * STEPS,
        keep=[("u32", "%cell")],
        parameters=[SPACING, "texture"],
    )
    meaning = "texture fetch latency, one-dimensional, by integer coordinate"
    return _probe("chase_texture", meaning, frame, r"TEX\..*|TLD\..*", needs=frozenset({"texture"}))


def _atomic(space: str, operation: str, kind: str, opcode: str) -> Probe:
    """Return a chain of atomics on one word of each thread, or of all threads where the spacing is 0."""
    operands = "%old, %old" if operation == "cas" else "%old"
    name = f"atomic_{space}_{operation}_{kind}"
    if space == "global":
        registers = [f".reg .{kind} %old;", ".reg .u64 %at;", ".reg .u32 %gap;"]
        before = [_GAP, _START, f"ld.global.{kind} %old, [%at];"]
    else:
        registers = [
            f".reg .{kind} %old;",
            ".reg .u32 %at, %gap;",
            f".shared .align 16 .b8 {name}_cells[16384];",
        ]
        before = [
            _GAP, f"mov.u32 %at, {name}_cells;", "mul.lo.u32 %old, %thread, %gap;",
            "and.b32 %old, %old, 16380;", "add.u32 %at, %at, %old;", "st.shared.u32 [%at], 0;",
        ]  # fmt: skip
    frame = ptx.Frame(
        registers=registers,
        before=before,
        body=[f"atom.{space}.{operation}.{kind} %old, [%at], {operands};"] * STEPS,
        keep=[(kind, "%old")],
        parameters=[SPACING],
    )
    return _probe(name, f"atomic {operation} in {space} memory, contended where spacing is 0", frame, opcode)


def _barrier(name: str, statement: str, opcode: str, meaning: str, others: int = 6) -> Probe:
    frame = ptx.Frame(registers=[], before=[], body=[statement] * STEPS, keep=[])
    expected = {75: Expected({opcode: STEPS}, others)}
    return Probe.of(name, "barrier", meaning, frame, expected, STEPS)


def _empty() -> Probe:
    return Probe(
        EMPTY, "launch", "launch and dispatch of blocks: a kernel that does nothing",
        ptx.empty(EMPTY), {}, (), 0,
    )  # fmt: skip
