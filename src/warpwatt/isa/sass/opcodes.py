"""The table of SASS opcodes (``opcodes.toml``): unit, rate, operations, memory, flow and register widths."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from warpwatt.core.program import Access, Flow, Space, Unit


@dataclass(frozen=True, slots=True)
class Opcode:
    """What one entry of the table says; the fields are described at the head of ``opcodes.toml``."""

    unit: Unit
    throughput: str = ""
    flops: float = 0.0
    writes: str = "first"
    width: str | tuple[int, ...] = (1,)
    space: Space | None = None
    access: Access | None = None
    flow: Flow = Flow.NEXT


@cache
def table() -> dict[str, tuple[tuple[tuple[str, ...], Opcode], ...]]:
    """Return base opcode -> (modifiers, entry) of every entry for it, most modifiers first."""
    text = (files("warpwatt.isa.sass") / "opcodes.toml").read_text("utf-8")
    found: dict[str, list[tuple[tuple[str, ...], Opcode]]] = {}
    for row in tomllib.loads(text).values():
        entry = _entry(row)
        for name in row["opcodes"]:
            base, *modifiers = name.split(".")
            found.setdefault(base, []).append((tuple(modifiers), entry))
    return {base: tuple(sorted(rows, key=lambda r: -len(r[0]))) for base, rows in found.items()}


@lru_cache(maxsize=4096)
def lookup(opcode: str) -> Opcode | None:
    """Return the entry for a full opcode, or None if the table lacks it.

    >>> lookup("LDG.E.128.CONSTANT").space
    <Space.GLOBAL: 'global'>
    >>> lookup("F2F.F32.F64").width, lookup("F2F.F64.F32").width
    ((1, 2), (2, 1))
    """
    base, *modifiers = opcode.split(".")
    return next((entry for wanted, entry in table().get(base, ()) if _contains(modifiers, wanted)), None)


def _contains(modifiers: list[str], wanted: tuple[str, ...]) -> bool:
    """Tell whether ``wanted`` is a subsequence of ``modifiers``."""
    rest = iter(modifiers)
    return all(name in rest for name in wanted)


def _entry(row: dict[str, object]) -> Opcode:
    """Return one table of the TOML file as an :class:`Opcode`."""
    width = row.get("width", [1])
    return Opcode(
        unit=Unit(str(row["unit"])),
        throughput=str(row.get("throughput", "")),
        flops=float(str(row.get("flops", 0))),
        writes=str(row.get("writes", "first")),
        width=tuple(width) if isinstance(width, list) else str(width),
        space=Space(str(row["space"])) if "space" in row else None,
        access=Access(str(row["access"])) if "access" in row else None,
        flow=Flow(str(row.get("flow", "next"))),
    )
