"""Probes of instruction classes, from ``classes.toml``: one loop of dependent steps for each ILP from 1 to 3.

A latency is that of ILP 1 in one warp, a throughput that of many warps (Alavani 2023, section 3.2: pairs of
dependent instructions, repeated; ILP by independent copies of the chain).
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from warpwatt.lab.measure.microbench import ptx
from warpwatt.lab.measure.microbench.model import Expected, Probe

ILPS = (1, 2, 3)
OPERANDS = 8
"""Loop-invariant registers %a0, ... and %b0, ... of each kernel; ptxas drops those that no step reads."""


@dataclass(frozen=True, slots=True)
class InstructionClass:
    """One table of ``classes.toml``; the fields are described at its head."""

    name: str
    step: str
    type: str
    sass: dict[int, dict[str, int] | None]
    operands: str = ""
    registers: int = 1
    row: str = ""
    setup: str = ""
    unroll: int = 240
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def operand_type(self) -> str:
        """Type of the loop-invariant operands."""
        return self.operands or self.type


@cache
def classes() -> tuple[InstructionClass, ...]:
    """Return every class of the table, in its order."""
    text = (files("warpwatt.lab.measure.microbench") / "classes.toml").read_text("utf-8")
    return tuple(_read(name, row) for name, row in tomllib.loads(text).items())


def _read(name: str, row: dict[str, Any]) -> InstructionClass:
    least = row.pop("least", 75)
    sass: dict[int, dict[str, int] | None] = {least: row.pop("sass")}
    sass |= {int(key[5:]): row.pop(key) for key in list(row) if key.startswith("sass_")}
    sass |= dict.fromkeys(row.pop("without_from", ()))
    return InstructionClass(name=name, sass=dict(sorted(sass.items())), **row)


def probes() -> tuple[Probe, ...]:
    """Return the probes of all classes."""
    return tuple(probe(one, ilp) for one in classes() for ilp in ILPS)


def probe(one: InstructionClass, ilp: int) -> Probe:
    """Return the probe of a class with ``ilp`` independent chains."""
    name = f"{one.name}_ilp{ilp}"
    expected = {
        target: None
        if per_step is None
        else Expected({p: count * one.unroll for p, count in per_step.items()}, overhead=4, chains=ilp)
        for target, per_step in one.sass.items()
    }
    meaning = f"{one.step.rstrip(';')}: {ilp} independent chain{'s' if ilp > 1 else ''}"
    return Probe.of(name, "instruction", meaning, _frame(one, ilp), expected, one.unroll, row=one.row)


def _frame(one: InstructionClass, ilp: int) -> ptx.Frame:
    chained = ilp * one.registers
    kept = [("pred", f"%p{j}") for j in range(ilp)] if "{p}" in one.step else []
    kept += [(one.type, f"%x{j}") for j in range(chained)]
    return ptx.Frame(
        registers=[
            f".reg .{one.type} %x<{chained}>;",
            f".reg .{one.operand_type} %a<{OPERANDS}>, %b<{OPERANDS}>;",
            ".reg .pred %p<3>, %q, %r;",
            ".reg .u64 %mine;",
            *(f".reg .{kind} %{name};" for name, kind in one.extra.items()),
        ],
        before=[*_loads(one, chained), *([one.setup] if one.setup else []), *_predicates(one, ilp)],
        body=[_step(one, k % ilp, k // ilp) for k in range(one.unroll)],
        keep=kept,
    )


def _loads(one: InstructionClass, chained: int) -> list[str]:
    """Return loads of all registers: 256 bytes a thread, chains first; 256 threads' worth serves all."""
    lines = ["and.b32 %sm, %thread, 255;", "mad.wide.u32 %mine, %sm, 256, %in;"]
    lines += [f"ld.global.{one.type} %x{j}, [%mine+{8 * j}];" for j in range(chained)]
    for j in range(OPERANDS):
        lines.append(f"ld.global.{one.operand_type} %a{j}, [%mine+{128 + 8 * j}];")
        lines.append(f"ld.global.{one.operand_type} %b{j}, [%mine+{192 + 8 * j}];")
    return lines


def _predicates(one: InstructionClass, ilp: int) -> list[str]:
    """Return statements that set the predicates a step uses."""
    if not re.search(r"\{[pqr]\}", one.step):
        return []
    lines = [f"setp.ne.u32 %p{j}, %lane, {j};" for j in range(ilp)]
    return [*lines, "setp.ne.u32 %q, %warp, 0;", "setp.ne.u32 %r, %warp, 1;"]


def _step(one: InstructionClass, chain: int, position: int) -> str:
    """Return the PTX of one step; operands change places from step to step."""
    odd = position % 2
    names = {"p": f"%p{chain}", "minmax": ("min", "max")[odd]}
    names |= {"a": f"%a{odd}", "b": f"%b{1 - odd}", "q": ("%q", "%r")[odd]}
    names |= {f"{letter}{m}": f"%{letter}{m}" for letter in "ab" for m in range(OPERANDS)}
    names |= {f"x{m}": f"%x{chain * one.registers + m}" for m in range(one.registers)}
    return one.step.format(x=names["x0"], **names, **{name: f"%{name}" for name in one.extra})
