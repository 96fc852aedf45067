"""What distinguishes the points of a sweep from each other, as words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.sweep.rows import Row


RESULT = "regs"
"""Column of what the compiler made of a choice."""


def varying(rows: Sequence[Row]) -> Mapping[str, Callable[[Row], str]]:
    """Return, by column head, how to write what varies between rows; one column where nothing does.

    >>> from warpwatt.sweep.rows import Row
    >>> rows = [Row(0, 0, "A100", block="64,1,1"), Row(1, 0, "A100", block="128,1,1")]
    >>> {head: [read(row) for row in rows] for head, read in varying(rows).items()}
    {'block': ['64', '128']}
    """
    macros = dict.fromkeys(name for row in rows for name, _ in row.defines)
    arguments = dict.fromkeys(name for row in rows for name, _ in row.arguments)
    readers: dict[str, Callable[[Row], str]] = {
        "GPU": lambda row: row.gpu,
        **{name: _argument(name) for name in arguments},
        **{name: _macro(name) for name in macros},
        "max regs": lambda row: str(row.max_registers or ""),
        "block": lambda row: _short(row.block),
        "grid": lambda row: _short(row.grid),
        "shared": lambda row: str(row.shared),
        RESULT: lambda row: str(row.registers or ""),
        "SM clock": lambda row: _mega(row.sm_clock),
    }
    found = {head: read for head, read in readers.items() if len({read(row) for row in rows}) > 1}
    if not any(row.clocks_fixed for row in rows):
        found.pop("SM clock", None)  # what each board chose for itself
    if found.keys() & {*macros, *arguments, "block"}:
        found.pop("grid", None)  # it follows them
    if len({(row.gpu, row.memory_clock) for row in rows}) > len({row.gpu for row in rows}):
        found["memory clock"] = lambda row: _mega(row.memory_clock)
    return found or {"GPU": readers["GPU"]}


def _mega(hertz: float | None) -> str:
    return f"{hertz / 1e6:.0f} MHz" if hertz else ""


def _macro(name: str) -> Callable[[Row], str]:
    return lambda row: dict(row.defines).get(name, "")


def _argument(name: str) -> Callable[[Row], str]:
    return lambda row: dict(row.arguments).get(name, "")


def title(row: Row, rows: Sequence[Row]) -> str:
    """Return the kernel of a launch, with the arguments that tell it from the other launches of ``rows``.

    >>> from warpwatt.sweep.rows import Row
    >>> rows = [Row(n, n, "T4", kernel="f", arguments=(("n", str(8 << n)), ("m", "1"))) for n in range(2)]
    >>> title(rows[1], rows)
    'f, n=16'
    """
    alike = [other for other in rows if (other.kernel, other.input) == (row.kernel, row.input)]
    differing = [
        f"{name}={value}"
        for name, value in row.arguments
        if len({dict(other.arguments).get(name) for other in alike}) > 1
    ]
    return ", ".join([row.kernel, *differing])


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
    """Return a point's name: what was chosen differently, in words."""
    chosen = {head: read(row) for head, read in heads.items() if head != RESULT}
    return ", ".join(given if head == "GPU" else f"{head} {given}" for head, given in chosen.items())
