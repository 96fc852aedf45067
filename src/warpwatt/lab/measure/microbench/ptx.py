"""PTX text around a measured loop: parameters, clocks, the loop, and results that keep the work alive.

Every kernel has the parameters ``out`` and ``in`` (addresses) and ``iterations``, each of eight bytes, then
its own. Each thread leaves a record of ``RECORD`` bytes at ``out``: clock before and after the loop, number
of its SM, and whatever the loop computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

VERSION = "8.7"
"""The oldest PTX version that knows every target up to sm_120."""
RECORD = 128
"""Bytes of a thread's record: start, stop and SM as eight bytes each, then from ``SINK`` on results."""
SINK = 32
CONSTANT_BYTES = 65536
CONSTANT_TABLE = "constant_table"
COMMON = ("out", "in", "iterations")


@dataclass(frozen=True, slots=True)
class Frame:
    """The pieces of a kernel around its loop.

    Attributes
    ----------
    registers
        Declarations, ``.reg .f32 %x<8>;``.
    before
        Statements ahead of the first clock.
    body
        Statements of the loop.
    keep
        Register type and name of everything the loop computed; each is stored.
    parameters
        Names of further parameters; register ``%NAME`` holds each.
    """

    registers: Sequence[str]
    before: Sequence[str]
    body: Sequence[str]
    keep: Sequence[tuple[str, str]]
    parameters: Sequence[str] = ()


def entry(name: str, frame: Frame) -> str:
    """Return the PTX of a kernel.

    Registers at hand for its statements: ``%out``, ``%in`` (64 bits), ``%thread``, ``%lane``, ``%warp``,
    ``%gtid`` (32 bits, thread in the grid).
    """
    names = [*COMMON, *frame.parameters]
    lines = [
        f".visible .entry {name}({', '.join(f'.param .u64 p_{n}' for n in names)})",
        "{",
        f".reg .u64 {', '.join(f'%{n}' for n in names)}, %start, %stop, %record;",
        ".reg .u32 %thread, %lane, %warp, %gtid, %cta, %size, %sm, %left;",
        ".reg .pred %more;",
        *frame.registers,
        *(f"ld.param.u64 %{n}, [p_{n}];" for n in names),
        "mov.u32 %thread, %tid.x;",
        "mov.u32 %cta, %ctaid.x;",
        "mov.u32 %size, %ntid.x;",
        "mad.lo.u32 %gtid, %cta, %size, %thread;",
        "and.b32 %lane, %thread, 31;",
        "shr.u32 %warp, %thread, 5;",
        "cvt.u32.u64 %left, %iterations;",
        *frame.before,
        "bar.sync 0;",
        "mov.u64 %start, %clock64;",
        "LOOP:",
        '.pragma "nounroll";',  # ptxas would unroll once more
        *frame.body,
        "sub.u32 %left, %left, 1;",
        "setp.ne.u32 %more, %left, 0;",
        "@%more bra LOOP;",
        "mov.u64 %stop, %clock64;",
        "mov.u32 %sm, %smid;",
        f"mad.wide.u32 %record, %gtid, {RECORD}, %out;",
        "st.global.u64 [%record], %start;",
        "st.global.u64 [%record+8], %stop;",
        "st.global.u32 [%record+16], %sm;",
        *_stores(frame.keep),
        "ret;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _stores(keep: Iterable[tuple[str, str]]) -> list[str]:
    """Return the stores of results; predicates go through a register of their own."""
    lines, offset = [], SINK
    for kind, register in keep:
        if kind == "pred":
            lines += [f"selp.u32 %sm, 1, 0, {register};", f"st.global.u32 [%record+{offset}], %sm;"]
        else:
            lines.append(f"st.global.{kind} [%record+{offset}], {register};")
        offset += 8
    assert offset <= RECORD, "a record is too small for the results"
    return lines


def empty(name: str) -> str:
    """Return the PTX of a kernel that does nothing."""
    return f".visible .entry {name}()\n{{\nret;\n}}\n"


def module(target: str, entries: Iterable[str]) -> str:
    """Return the PTX of a module of kernels for a target such as ``sm_90``."""
    head = [
        f".version {VERSION}",
        f".target {target}",
        ".address_size 64",
        f".const .align 8 .b8 {CONSTANT_TABLE}[{CONSTANT_BYTES}];",
        "",
    ]
    return "\n".join(head) + "\n".join(entries)
