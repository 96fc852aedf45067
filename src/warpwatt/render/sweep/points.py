"""What distinguishes the points of a sweep from each other, as words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.units import si

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warpwatt.advise.rows import Row


def varying(rows: Sequence[Row]) -> Mapping[str, Callable[[Row], str]]:
    """Return, by column head, how to write what varies between rows; one column where nothing does.

    >>> from warpwatt.advise.rows import Row
    >>> rows = [Row(0, 0, "A100", block="64,1,1"), Row(1, 0, "A100", block="128,1,1")]
    >>> {head: [read(row) for row in rows] for head, read in varying(rows).items()}
    {'block': ['64', '128']}
    """
    macros = dict.fromkeys(name for row in rows for name, _ in row.defines)
    readers: dict[str, Callable[[Row], str]] = {
        "GPU": lambda row: row.gpu,
        **{name: _macro(name) for name in macros},
        "max regs": lambda row: str(row.max_registers or ""),
        "grid": lambda row: _short(row.grid),
        "block": lambda row: _short(row.block),
        "shared": lambda row: str(row.shared),
        "regs": lambda row: str(row.registers or ""),
        "clock": lambda row: si(row.sm_clock, "Hz", 4) if row.sm_clock else "",
        "memory": lambda row: si(row.memory_clock, "Hz", 4) if row.memory_clock else "",
    }
    found = {head: read for head, read in readers.items() if len({read(row) for row in rows}) > 1}
    return found or {"GPU": readers["GPU"]}


def _macro(name: str) -> Callable[[Row], str]:
    return lambda row: dict(row.defines).get(name, "")


def _short(dimensions: str) -> str:
    """Return an extent without trailing ones.

    >>> _short("64,2,1"), _short("n/TILE")
    ('64×2', 'n/TILE')
    """
    parts = dimensions.split(",")
    while len(parts) > 1 and parts[-1] == "1":
        parts.pop()
    return "×".join(parts)


def name(row: Row, heads: Mapping[str, Callable[[Row], str]]) -> str:
    """Return a point's name: what varies, in words."""
    return ", ".join(read(row) if head == "GPU" else f"{head} {read(row)}" for head, read in heads.items())
