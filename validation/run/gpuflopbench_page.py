"""The page of :mod:`validation.run.gpuflopbench`; every number on it is computed."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validation.run.gpuflopbench_programs import Program, Row, is_test
from validation.timing.page import stamp

PROTOCOL = """\
Written by `python -m validation.run.gpuflopbench CHECKOUT JOURNAL --page` on {date}, journal of commit
{made}; do not edit.

Programs of HeCBench as github.com/Scientific-Computing-Lab/gpuFLOPBench has them (commit 4738733b), run
whole and unmodified under `warpwatt run --gpu rtx3080 --clock 1440,9501 --l2 cold`, beside what Nsight
Compute measured there: the first two launches of each kernel, caches flushed, base clock. Only the half of
the programs is looked at whose name's SHA-256 begins with an even digit; the others are kept back. Of ours,
those whose second digit is 0, 1 or 2 are the **test**: nobody looks at their single errors, but for two
listings of 2026-11-23, which showed some without names and on which nothing was chosen. The others are
development data: the causes of large errors are looked for in them, and some constants were chosen on them
(the cost of stores that fill part of a sector, what a flush leaves dirty in L2, the widths of intervals).

Compiled by {compilers}; the measured ones by clang 18 and ptxas 12.6.
A program is ended once all measured launches were asked for, or after {limit:.0f} s of its own CPU time, or
four times that of wall time; computing and predicting have half of it each. {tried} of {ours}
programs were tried. Inputs that the repository does not hold were not fetched.

A *kernel* is one name with one grid and block of one program; its figures are means of its launches.
*Operations*: FP32 and FP64 operations and integer instructions of predicated-on threads; a kernel is within
so many percent of the counters where all three are; PTX, which stands in where machine code cannot be run,
has other instructions and is left out of it. The integer counter
(`smsp__sass_thread_inst_executed_op_integer_pred_on`) takes {integers}.
FP counts are rates of another pass times the duration: of kernels of a few microseconds, whose integer
instructions agree to the last, they come out fractional and up to 12 % off.
*FP*: FP32 and FP64 operations together. *Bytes*: DRAM, read and written. Time: error
(predicted − measured)/measured; *bias* its median with sign, *held* the share of measured times inside the
10–90 % interval.
"""
INTEGER = (
    "IADD3",
    "IMAD",
    "ISETP",
    "LEA",
    "LOP3",
    "SGXT",
    "SHF",
    "IMNMX",
    "VIMNMX",
    "IABS",
    "IDP",
    "VABSDIFF",
)
"""Opcodes that the counter takes for integer instructions, modifiers aside: with them it agrees to the last
digit where both compilers make the same code. Selects, PRMT, moves, conversions and uniform ones are not."""
IDLE = """\
Kernels of milliseconds whose loads and stores are known to the last moved 1.0 to 1.5 GB/s more than those:
what the machine was doing besides, such as its display. Nothing is subtracted anywhere; *or idle* also counts
those that are off by less than 0.3 % of DRAM's peak, 2.3 GB/s, and *or unsteady* those of which two launches
that do the same moved amounts that differ by more than they are off by (secp256k1's 0.8 and 16.2 MB)."""
IN_CHECKOUT = r"\S*/src/"
"""Where the checkout lies does not matter."""
OFF = 0.1
"""Relative error from which on operations or bytes are missed."""
FAR = 0.25
"""The same from which on they are missed by far."""
NOTHING = 2.3e9
"""Bytes a second, 0.3 % of the RTX 3080's 760 GB/s. Kernels of one thread, or whose few stores are known,
show 0 to 2.2 GB/s on the measured machine, some at one time and none at another: what else it was doing."""
LEAST_BYTES = 100_000.0
"""Below this DRAM traffic is mostly code, constants and the profiler's own."""
SAME = 0.01
"""Relative difference of bytes and of operations up to which launches do the same."""
LEAST_OPERATIONS = 1000.0
"""Operations below which a share means nothing."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A kernel of a program: prediction and measurement, means of its launches."""

    program: str
    kernel: str
    predicted: Mapping[str, Any]
    measured: Row
    swing: float = 0.0
    """DRAM bytes by which the counters of launches differ that do the same."""

    def ratio(self, name: str) -> float | None:
        """Return predicted over measured of ``seconds``, ``dram``, ``fp32``, ``fp64`` or ``int_ops``."""
        mine, theirs = self.predicted[name], getattr(self.measured, name if name != "roofline" else "seconds")
        return mine / theirs if theirs else None

    @property
    def operations(self) -> float:
        """The largest relative error of the three kinds of operations."""
        kinds = ("fp32", "fp64", "int_ops")
        most = max(getattr(self.measured, kind) for kind in kinds)
        errors = [
            abs(self.predicted[kind] - getattr(self.measured, kind))
            / max(getattr(self.measured, kind), 0.01 * most, 1.0)
            for kind in kinds
        ]
        return float(max(errors))

    @property
    def machine_code(self) -> bool:
        """Whether operations are those of machine code."""
        return str(self.predicted["found_by"]).startswith("sass")

    @property
    def missed(self) -> bool:
        """Whether operations or bytes are off by more than :data:`OFF`."""
        return self.off_by(OFF)

    def off_by(self, share: float) -> bool:
        """Whether operations or bytes are off by more than a share of what was measured."""
        return (self.machine_code and self.operations > share) or not _within(self, "dram", share)

    @property
    def idle_bytes(self) -> bool:
        """Whether the bytes that are missed are under what :data:`NOTHING` would have moved meanwhile."""
        off = abs(float(self.predicted["dram"]) - self.measured.dram)
        return off < NOTHING * self.measured.seconds and not (self.machine_code and self.operations > FAR)

    @property
    def unsteady_bytes(self) -> bool:
        """Whether the bytes that are missed are fewer than those by which the counters differ."""
        return abs(float(self.predicted["dram"]) - self.measured.dram) < self.swing

    @property
    def inside(self) -> bool:
        """Whether the interval holds the measured time."""
        return bool(self.predicted["low"] <= self.measured.seconds <= self.predicted["high"])


def compared(programs: Sequence[Program], journal: Mapping[str, Mapping[str, Any]]) -> list[Compared]:
    """Match what was predicted with the rows, launch by launch, and average those of one shape."""
    found = []
    for program in programs:
        groups: dict[tuple[Any, ...], list[tuple[Mapping[str, Any], Row]]] = defaultdict(list)
        rows = {kernel: iter(rows) for kernel, rows in program.kernels.items()}
        for seen in journal.get(program.name, {}).get("seen", ()):
            row = next(rows[seen["kernel"]])
            shape = (tuple(seen["grid"]), tuple(seen["block"]))
            if shape == (row.grid, row.block) and "failure" not in seen:
                groups[seen["kernel"], *shape].append((seen, row))
        found += [_mean(program.name, kernel, pairs) for (kernel, *_), pairs in groups.items()]
    return found


def _mean(program: str, kernel: str, pairs: Sequence[tuple[Mapping[str, Any], Row]]) -> Compared:
    names = ("seconds", "low", "high", "roofline", "dram", "fp32", "fp64")
    predicted = {name: statistics.fmean(seen[name] for seen, _ in pairs) for name in names}
    predicted["int_ops"] = statistics.fmean(_integers(seen["opcodes"]) for seen, _ in pairs)
    first, row = pairs[0]
    measured = {
        name: statistics.fmean(getattr(row, name) for _, row in pairs)
        for name in ("seconds", "dram", "fp32", "fp64", "int_ops")
    }
    kept = {name: first[name] for name in ("bottleneck", "found_by", "clean")}
    kept["assumptions"] = sorted({name for seen, _ in pairs for name in seen["assumptions"]})
    counters = Row(kernel, row.grid, row.block, **measured)
    return Compared(program, kernel, {**predicted, **kept}, counters, _swing(pairs))


def _swing(pairs: Sequence[tuple[Mapping[str, Any], Row]]) -> float:
    """Return by how much the measured bytes of launches differ that do what the first does, by both."""
    first, row = pairs[0]
    alike = [
        other.dram
        for seen, other in pairs
        if abs(seen["dram"] - first["dram"]) <= SAME * first["dram"]
        and abs(other.int_ops - row.int_ops) <= SAME * row.int_ops
    ]
    return max(alike) - min(alike)


def _integers(opcodes: Mapping[str, float]) -> float:
    return sum(count for opcode, count in opcodes.items() if opcode.partition(".")[0] in INTEGER)


def page(
    programs: Sequence[Program],
    journal: Mapping[str, Mapping[str, Any]],
    before: Mapping[str, Mapping[str, Any]],
    made: str,
) -> str:
    """Return the page; ``before`` is the journal of an earlier state, ``made`` the commit of the journal."""
    every = compared(programs, journal)
    ours, test = ([c for c in every if is_test(c.program) is wanted] for wanted in (False, True))
    either = {**before, **journal}
    tried = [either[p.name] for p in programs if p.name in either]
    protocol = PROTOCOL.format(
        date=stamp()["date"],
        made=made,
        compilers=" and ".join(sorted({str(e.get("compiler")) for e in tried if e.get("compiler")})),
        limit=max((e.get("limit", 0.0) for e in tried), default=0.0),
        tried=len(tried),
        ours=len(programs),
        integers=", ".join(INTEGER),
    )
    both = {"development": ours, "test": test}
    large = {name: [c for c in group if c.measured.dram >= LEAST_BYTES] for name, group in both.items()}
    right = [c for c in ours if not c.missed]
    judged = {"right": right, "not": [c for c in ours if c not in right]}
    parts = ["# Whole programs beside hardware counters", protocol.strip()]
    parts += ["## Programs, as tried last", _programs(programs, either)]
    parts += ["## Kernels", _kernels(both)]
    parts += ["### What compiled them (development)", _kernels(_by(ours, compiler_of(journal)))]
    parts += ["### Those that are missed by more than 10 %", _silent(both, OFF)]
    parts += ["### Those that are missed by more than 25 %", _silent(both, FAR)]
    parts += ["### Bytes that the launch need not have moved", IDLE, _idle(both)]
    parts += [f"### Those that move {LEAST_BYTES / 1e3:.0f} kB or more", _kernels(large)]
    parts += ["## Time", _times(both)]
    parts += [
        "### Where operations and bytes are right within 10 %, and where not (development)",
        _times(judged),
    ]
    parts += ["### By what limits, in the prediction (development)", _times(_by(ours, _limit))]
    parts += ["### By how it is known what the launch does (development)", _both(_by(ours, _found_by))]
    if before:
        parts += ["## Before and after the work of this page's commit, kernels that both have"]
        parts += [_both(_shared(compared(programs, before), every))]
    parts += ["## Every development kernel", _list(ours)]
    parts += ["## Programs without a row", _missing(programs, either)]
    return "\n\n".join(parts) + "\n"


def compiler_of(journal: Mapping[str, Mapping[str, Any]]) -> Callable[[Compared], str]:
    """Return what says by what a kernel's program was compiled."""
    return lambda one: str(journal[one.program].get("compiler"))


def _silent(groups: Mapping[str, Sequence[Compared]], share: float) -> str:
    """Count what is missed, and of it what the result says: by its interval, or by an assumption it names."""
    columns = (
        "kernels", "missed", "time inside the interval", "else an assumption named", "neither: silent",
        "of these, bytes under 0.3 % of DRAM's peak, or unsteady",
    )  # fmt: skip
    lines = ["| | " + " | ".join(columns) + " |", "|---" + "|--:" * len(columns) + "|"]
    for name, group in groups.items():
        missed = [c for c in group if c.off_by(share)]
        outside = [c for c in missed if not c.inside]
        named = [c for c in outside if c.predicted["assumptions"]]
        silent = [c for c in outside if not c.predicted["assumptions"]]
        idle = [c for c in silent if c.idle_bytes or c.unsteady_bytes]
        cells = (
            name,
            len(group),
            len(missed),
            len(missed) - len(outside),
            len(named),
            len(outside) - len(named),
            len(idle),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _idle(groups: Mapping[str, Sequence[Compared]]) -> str:
    """Count the kernels whose bytes are right, or off by no more than what the machine moves besides."""
    columns = (
        "kernels",
        *(
            f"{part}{name}"
            for part in ("bytes ≤10 %", "≤25 %")
            for name in ("", ", or idle", ", or unsteady")
        ),
    )
    lines = ["| | " + " | ".join(columns) + " |", "|---" + "|--:" * len(columns) + "|"]
    for name, group in groups.items():
        cells = []
        for share in (OFF, FAR):
            right = [_within(c, "dram", share) for c in group]
            idle = [r or c.idle_bytes for r, c in zip(right, group, strict=True)]
            unsteady = [r or c.unsteady_bytes for r, c in zip(idle, group, strict=True)]
            cells += [_share(right), _share(idle), _share(unsteady)]
        lines.append(f"| {name} | {len(group)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _limit(one: Compared) -> str:
    return str(one.predicted["bottleneck"]).partition(" (")[0]


def _found_by(one: Compared) -> str:
    return str(one.predicted["found_by"])


def _shared(before: Sequence[Compared], after: Sequence[Compared]) -> dict[str, list[Compared]]:
    """Return the kernels that two journals both have, development and test apart."""
    found: dict[str, list[Compared]] = {}
    for name, wanted in (("development", False), ("test", True)):
        both = {_key(c) for c in before} & {_key(c) for c in after if is_test(c.program) is wanted}
        found[f"{name}, before"] = [c for c in before if _key(c) in both]
        found[f"{name}, after"] = [c for c in after if _key(c) in both]
    return found


def _key(one: Compared) -> tuple[object, ...]:
    return one.program, one.kernel, one.measured.grid, one.measured.block


def _programs(programs: Sequence[Program], journal: Mapping[str, Mapping[str, Any]]) -> str:
    columns = (
        "programs", "tried", "build", "all measured launches seen", "ended by themselves",
        "their own check fails", "launches", "of them without an assumption about contents",
        "CPU time computing, s", "predicting, s",
    )  # fmt: skip
    lines = ["| | " + " | ".join(columns) + " |", "|---" + "|--:" * len(columns) + "|"]
    for name, wanted in (("development", False), ("test", True)):
        own = [p for p in programs if is_test(p.name) is wanted]
        tried = [(p, journal[p.name]) for p in own if p.name in journal]
        entries = [e for _, e in tried]
        seen = sum(len(e.get("seen", ())) >= len(p.rows) for p, e in tried)
        ended = sum(e.get("status") == 0 for e in entries)
        failed = sum(e.get("check") == "failed" for e in entries)
        launches = sum(e.get("launches", 0) for e in entries)
        clean = sum(e.get("clean", 0) for e in entries)
        built = sum(e["builds"] for e in entries)
        seconds = [round(sum(e.get(part, 0.0) for e in entries)) for part in ("computing", "predicting")]
        cells = (name, len(own), len(entries), built, seen, ended, failed, launches, clean, *seconds)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _within(one: Compared, name: str, share: float) -> bool:
    ratio = one.ratio(name)
    return ratio is not None and abs(ratio - 1) <= share


def _share(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / len(values):.0f} %" if values else "–"


def _kernels(groups: Mapping[str, Sequence[Compared]]) -> str:
    head = "| | kernels | operations ≤3 % | ≤10 % | ≤25 % | FP ≤3 % | bytes ≤3 % | ≤10 % | ≤25 % |"
    lines = [head, "|---" + "|--:" * 8 + "|"]
    for name, group in groups.items():
        operations = " | ".join(
            _share([c.operations <= limit for c in group if c.machine_code]) for limit in (0.03, 0.1, 0.25)
        )
        floats = _share(
            [_floats(c) <= 0.03 for c in group if c.measured.fp32 + c.measured.fp64 > LEAST_OPERATIONS]
        )
        bytes_ = " | ".join(_share([_within(c, "dram", limit) for c in group]) for limit in (0.03, 0.1, 0.25))
        lines.append(f"| {name} | {len(group)} | {operations} | {floats} | {bytes_} |")
    return "\n".join(lines)


def _floats(one: Compared) -> float:
    mine = one.predicted["fp32"] + one.predicted["fp64"]
    theirs = one.measured.fp32 + one.measured.fp64
    return float(abs(mine - theirs) / theirs)


def _times(groups: Mapping[str, Sequence[Compared]]) -> str:
    head = (
        "| | kernels | mean | median | bias | ≤10 % | ≤30 % | ≤2× | held | roofline mean | median | ≤30 % |"
    )
    lines = [head, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    lines += [
        f"| {name} | {len(group)} | {_time_figures(group)} |" for name, group in groups.items() if group
    ]
    return "\n".join(lines)


def _time_figures(group: Sequence[Compared]) -> str:
    signed, roof = ([c.ratio(name) or 0.0 for c in group] for name in ("seconds", "roofline"))
    errors, roofs = ([abs(r - 1) for r in ratios] for ratios in (signed, roof))
    figures = [
        f"{100 * statistics.fmean(errors):.1f} %",
        f"{100 * statistics.median(errors):.1f} %",
        f"{100 * (statistics.median(signed) - 1):+.1f} %",
        _share([e <= 0.1 for e in errors]),
        _share([e <= 0.3 for e in errors]),
        _share([0.5 <= r <= 2 for r in signed]),
        _share([c.inside for c in group]),
        f"{100 * statistics.fmean(roofs):.1f} %",
        f"{100 * statistics.median(roofs):.1f} %",
        _share([e <= 0.3 for e in roofs]),
    ]
    return " | ".join(figures)


def _both(groups: Mapping[str, Sequence[Compared]]) -> str:
    return _kernels(groups) + "\n\n" + _times(groups)


def _by(group: Sequence[Compared], key: Callable[[Compared], str]) -> dict[str, list[Compared]]:
    found: dict[str, list[Compared]] = defaultdict(list)
    for one in group:
        found[key(one)].append(one)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _list(group: Sequence[Compared]) -> str:
    lines = ["| program | kernel | measured | time | DRAM bytes | FP32 | FP64 | integer | limited by |",
             "|---|---|--:|--:|--:|--:|--:|--:|---|"]  # fmt: skip
    for c in sorted(group, key=lambda c: (c.program, c.kernel)):
        ratios = [c.ratio(name) for name in ("seconds", "dram", "fp32", "fp64", "int_ops")]
        cells = [c.program, c.kernel, f"{c.measured.seconds * 1e6:.1f} µs"]
        ratios[-1] = ratios[-1] if c.machine_code else None
        cells += ["" if r is None else f"×{r:.2f}" if not 0 < r < 0.1 else f"×{r:.2g}" for r in ratios]
        lines.append(f"| {' | '.join([*cells, c.predicted['bottleneck']])} |")
    return "\n".join(lines)


def _missing(programs: Sequence[Program], journal: Mapping[str, Mapping[str, Any]]) -> str:
    """Say why programs have no row, those of the test only by their number."""
    why: Counter[str] = Counter()
    lines = []
    for program in programs:
        entry = journal.get(program.name)
        if entry is None or entry.get("seen"):
            continue
        reason = str(
            entry.get("note")
            or entry.get("reason")
            or f"ends with status {entry.get('status')} before its kernels"
        )
        if is_test(program.name):
            why["test"] += 1
        else:
            lines.append(f"- {program.name}: {re.sub(IN_CHECKOUT, '', reason)[:160]}")
    return "\n".join([*lines, f"- of the test: {why['test']}"])
