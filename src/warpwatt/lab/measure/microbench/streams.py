"""Probes of bandwidth: independent loads and stores at every memory level, copies, and what slows them down.

One kernel shape serves L1, L2 and DRAM: each warp reads chunks of a window of ``footprint`` bytes, ``step``
bytes apart, and begins again at its end. Where the window lies (``block_stride``, ``warp_stride``) decides
which level answers.
"""

from __future__ import annotations

from warpwatt.lab.measure.microbench import ptx
from warpwatt.lab.measure.microbench.model import Expected, Probe

ACCESSES = 16
"""Loads and stores in one pass."""
WINDOW = ("block_stride", "warp_stride", "spacing", "step", "footprint", "target")
"""Bytes between blocks' windows, between warps' chunks, between lanes, between passes, in a window; and where
stores go, relative to where loads come from."""
MIXES = ((16, 0), (12, 4), (8, 8), (4, 12), (0, 16))
"""Loads and stores of a pass."""
_KIND = {4: "u32", 8: "v2.u32", 16: "v4.u32"}
_SUFFIX = {4: "", 8: r"\.64", 16: r"\.128"}


def probes() -> tuple[Probe, ...]:
    """Return the probes of this module."""
    return (
        *(_global("", width, MIXES[0]) for width in (4, 8, 16)),
        *(_global("cg", 4, mix) for mix in MIXES[:1]),
        *(_global("cg", 16, mix) for mix in MIXES),
        *(_shared(width, mix) for width in (4, 8, 16) for mix in (MIXES[0], MIXES[-1])),
        _strided(),
        _reductions("global"), _reductions("shared"),
        _copies(waits=False), _copies(waits=True),
    )  # fmt: skip


def _braced(names: list[str]) -> str:
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def _loads(operation: str, address: str, width: int, count: int) -> tuple[list[str], list[str]]:
    """Return statements of ``count`` loads, a warp's width apart, and the registers that are loaded."""
    words = width // 4
    loads = [[f"%v{k * words + m}" for m in range(words)] for k in range(count)]
    statements = [
        f"{operation}.{_KIND[width]} {_braced(names)}, [{address}+{k * 32 * width}];"
        for k, names in enumerate(loads)
    ]
    return statements, [name for names in loads for name in names]


def _accumulate(loaded: list[str]) -> list[str]:
    """Return statements that take loaded values in, two of them with one three-input operation."""
    pairs = [loaded[i : i + 2] for i in range(0, len(loaded), 2)]
    return [
        f"lop3.b32 %sum, %sum, {pair[0]}, {pair[-1]}, {0x96 if len(pair) == 2 else 0x3C};" for pair in pairs
    ]


def _global(operator: str, width: int, mix: tuple[int, int]) -> Probe:
    loads, stores = mix
    words = width // 4
    name = f"stream_{operator or 'ca'}_{width}B_{loads}r{stores}w"
    operator_suffix = f".{operator}" if operator else ""
    values = _braced([f"%stored{m}" for m in range(words)])
    body = ["add.u64 %at, %source, %moved;", "add.u64 %to, %sink, %moved;"]
    reads, loaded = _loads(f"ld.global{operator_suffix}", "%at", width, loads)
    body += reads
    offsets = [(loads + k) * 32 * width for k in range(stores)]
    body += [f"st.global.{_KIND[width]} [%to+{offset}], {values};" for offset in offsets]
    body += _accumulate(loaded)
    body += [
        "add.u64 %moved, %moved, %step;", "setp.ge.u64 %wraps, %moved, %footprint;",
        "selp.b64 %moved, 0, %moved, %wraps;",
    ]  # fmt: skip
    opcodes = {}
    if loads:
        opcodes[rf"LDG\.E{_SUFFIX[width]}(\.STRONG\.GPU|\.SYS)?"] = loads
    if stores:
        opcodes[rf"STG\.E{_SUFFIX[width]}(\.SYS)?"] = stores
    others = len(_accumulate(loaded)) + 20
    frame = ptx.Frame(
        registers=[
            f".reg .u32 %v<{max(loads * words, 1)}>;", ".reg .u32 %sum, %stored<4>, %gap;",
            ".reg .u64 %at, %to, %source, %sink, %moved, %part;", ".reg .pred %wraps;",
        ],
        before=[
            "cvt.u64.u32 %part, %cta;", "mad.lo.u64 %source, %part, %block_stride, %in;",
            "cvt.u64.u32 %part, %warp;", "mad.lo.u64 %source, %part, %warp_stride, %source;",
            "cvt.u64.u32 %part, %lane;", "mad.lo.u64 %source, %part, %spacing, %source;",
            "add.u64 %sink, %source, %target;", "mov.u64 %moved, 0;", "mov.u32 %sum, %lane;",
            "and.b32 %gap, %thread, 255;", "mad.wide.u32 %part, %gap, 16, %in;",
            *(f"ld.global.u32 %stored{m}, [%part+{4 * m}];" for m in range(4)),
        ],
        body=body,
        keep=[("u32", "%sum"), ("u64", "%moved")],
        parameters=WINDOW,
    )  # fmt: skip
    where = "L2 or DRAM" if operator else "L1"
    meaning = f"{where}: {loads} loads and {stores} stores of {width} bytes a thread and pass"
    moves = 2 * ACCESSES  # for sm_75 ptxas copies the address ahead of accesses
    expected = {75: Expected(opcodes, others + moves, chains=0), 80: Expected(opcodes, others, chains=0)}
    return Probe.of(name, "bandwidth", meaning, frame, expected, ACCESSES)


def _shared(width: int, mix: tuple[int, int]) -> Probe:
    loads, stores = mix
    words = width // 4
    name = f"shared_{width}B_{loads}r{stores}w"
    values = _braced([f"%stored{m}" for m in range(words)])
    body, loaded = _loads("ld.shared", "%cell", width, loads)
    body += [f"st.shared.{_KIND[width]} [%cell+{k * 32 * width}], {values};" for k in range(stores)]
    body += [*_accumulate(loaded), "xor.b32 %cell, %cell, %flip;"]
    opcodes = {rf"LDS(\.U)?{_SUFFIX[width]}": loads} if loads else {rf"STS{_SUFFIX[width]}": stores}
    frame = ptx.Frame(
        registers=[
            f".reg .u32 %v<{max(loads * words, 1)}>;", ".reg .u32 %sum, %cell, %gap, %flip, %stored<4>;",
            ".reg .u64 %part;",
            f".shared .align 16 .b8 {name}_cells[32768];",
        ],
        before=[
            "cvt.u32.u64 %gap, %spacing;", "cvt.u32.u64 %flip, %step;", f"mov.u32 %cell, {name}_cells;",
            "mad.lo.u32 %cell, %lane, %gap, %cell;", "mov.u32 %sum, %lane;", "st.shared.u32 [%cell], %sum;",
            "mad.wide.u32 %part, %lane, 16, %in;",
            *(f"ld.global.u32 %stored{m}, [%part+{4 * m}];" for m in range(4)),
        ],
        body=body,
        keep=[("u32", "%sum"), ("u32", "%cell")],
        parameters=["spacing", "step"],
    )  # fmt: skip
    verb = "loads" if loads else "stores"
    meaning = f"shared memory: {verb} of {width} bytes; bank conflicts by the spacing of lanes"
    expected = {75: Expected(opcodes, len(_accumulate(loaded)) + 6, chains=0)}
    return Probe.of(name, "bandwidth", meaning, frame, expected, ACCESSES)


def _strided() -> Probe:
    """Return loads whose lanes are ``spacing`` bytes apart, all of them L1 hits."""
    name, loads = "strided_4B", 8
    loaded = [f"%v{k}" for k in range(loads)]
    body = [f"ld.global.u32 {v}, [%at+{4096 * k}];" for k, v in enumerate(loaded)]
    body += [*_accumulate(loaded), "add.u64 %at, %at, %step;"]
    frame = ptx.Frame(
        registers=[f".reg .u32 %v<{loads}>;", ".reg .u32 %sum;", ".reg .u64 %at, %part;"],
        before=["cvt.u64.u32 %part, %lane;", "mad.lo.u64 %at, %part, %spacing, %in;", "mov.u32 %sum, %lane;"],
        body=body,
        keep=[("u32", "%sum")],
        parameters=["spacing", "step"],
    )
    meaning = "coalescing: L1 cost of a load by the spacing of lanes"
    expected = {75: Expected({r"LDG\.E(\.SYS)?": loads}, overhead=12, chains=0)}
    return Probe.of(name, "coalescing", meaning, frame, expected, loads)


def _reductions(space: str) -> Probe:
    """Return atomics without a result: throughput, contended where the spacing is 0."""
    name = f"reduction_{space}_add_u32"
    if space == "global":
        registers = [".reg .u64 %at;", ".reg .u32 %gap;"]
        before = ["cvt.u32.u64 %gap, %spacing;", "mad.wide.u32 %at, %gtid, %gap, %in;"]
        opcode = r"(RED|REDG)\.E\.ADD\..*"
    else:
        registers = [".reg .u32 %at, %gap;", f".shared .align 16 .b8 {name}_cells[16384];"]
        before = [
            "cvt.u32.u64 %gap, %spacing;", "mul.lo.u32 %gap, %thread, %gap;", "and.b32 %gap, %gap, 16380;",
            f"mov.u32 %at, {name}_cells;", "add.u32 %at, %at, %gap;",
        ]  # fmt: skip
        opcode = r"ATOMS\.ADD"
    frame = ptx.Frame(
        registers=registers,
        before=before,
        body=[f"red.{space}.add.u32 [%at], %thread;"] * ACCESSES,
        keep=[],
        parameters=["spacing"],
    )
    meaning = f"reductions (atomics without result) in {space} memory, contended where spacing is 0"
    expected = {75: Expected({opcode: ACCESSES}, overhead=6, chains=0)}
    return Probe.of(name, "atomics", meaning, frame, expected, ACCESSES)


def _copies(*, waits: bool) -> Probe:
    """Return asynchronous copies from global to shared memory, each awaited or all of a pass together."""
    name = f"async_copy_16B_{'latency' if waits else 'throughput'}"
    commit = ["cp.async.commit_group;", "cp.async.wait_group 0;"]
    body: list[str] = []
    for k in range(ACCESSES):
        body.append(f"cp.async.cg.shared.global [%cell+{512 * k}], [%at+{512 * k}], 16;")
        body += commit if waits else []
    body += [] if waits else commit
    groups = ACCESSES if waits else 1
    frame = ptx.Frame(
        registers=[".reg .u32 %cell;", ".reg .u64 %at;", f".shared .align 16 .b8 {name}_cells[8192];"],
        before=[
            f"mov.u32 %cell, {name}_cells;", "mad.lo.u32 %cell, %lane, 16, %cell;",
            "mad.wide.u32 %at, %lane, 16, %in;",
        ],
        body=[*body, "add.u64 %at, %at, %step;"],
        keep=[],
        parameters=["step"],
    )  # fmt: skip
    opcodes = {r"LDGSTS\..*": ACCESSES, "LDGDEPBAR": groups, r"DEPBAR\.LE": groups}
    expected = {80: Expected(opcodes, overhead=24)}
    meaning = f"cp.async of 16 bytes a thread, {'one awaited after the other' if waits else 'all in flight'}"
    return Probe.of(name, "asynchronous copy", meaning, frame, expected, ACCESSES)
