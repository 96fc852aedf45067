"""Supporting analyses of chapter 6: arithmetic intensity (Algorithm 6.3), spills by MIN (Algorithm 6.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.published.resios.graph import LOAD

if TYPE_CHECKING:
    from warpwatt.published.resios.graph import Block, Value


def arithmetic_intensity(blocks: Iterable[Block], shared: frozenset[str] = frozenset()) -> float:
    """Return on-chip over off-chip instructions (Algorithm 6.3), each counted as often as it runs.

    ``shared`` names arrays in shared memory. The printed algorithm marks the results of on-chip compute
    instructions as off-chip, so that everything behind the first load is; the text's definition (operands are
    "registers of other compute instructions") is followed instead. Infinite without off-chip instructions.
    """
    on = off = 0.0
    for block in blocks:
        outside: set[Value] = set()
        for op in block.ops:
            array = op.element.array.name if op.element is not None else ""
            touches = bool(outside.intersection(op.uses)) or (op.memory and array not in shared)
            on, off = (on, off + block.executions) if touches else (on + block.executions, off)
            if op.kind == LOAD and array not in shared:
                assert op.result is not None
                outside.add(op.result)
    return on / off if off else math.inf


@dataclass(slots=True)
class Spilling:
    """What MIN did to one block: operations before which it spilled and reloaded, registers it used."""

    spills: list[int] = field(default_factory=list)
    reloads: list[int] = field(default_factory=list)
    registers: int = 0


def spills(uses: Sequence[Sequence[Value]], defs: Sequence[Value | None], k: int) -> Spilling:
    """Keep values of one block in ``k`` registers by Belady's MIN (Algorithm 6.4).

    Parameters
    ----------
    uses, defs
        Per instruction the values it reads and the one it makes. Values that nothing makes come from outside;
        they are in no register at first, and reading them the first time is no reload of ours.

    What is evicted is the value whose next use is farthest; a value is stored once at most, and never if
    nothing reads it again. An instruction's operands are all in registers at once, so ``k`` must hold them.
    """
    held: set[Value] = set()
    stored: set[Value] = set()
    made: set[Value] = set()
    found = Spilling()
    nexts = _next_uses(uses)
    for number, operands in enumerate(uses):
        wanted = [v for v in dict.fromkeys(operands) if v not in held]
        reloaded = [v for v in wanted if v in made]
        found.reloads += [number] * len(reloaded)
        stored.update(reloaded)
        held.update(wanted)
        made.update(wanted)
        _limit(held, stored, found, number, nexts, k, set(operands))
        result = defs[number]
        if result is not None:
            _limit(held, stored, found, number + 1, nexts, k - 1, set())
            held.add(result)
            made.add(result)
        found.registers = max(found.registers, len(_live(held, number + 1, nexts)))
    return found


def block_spills(block: Block, k: int) -> Spilling:
    """Return MIN's spills and reloads of a basic block."""
    return spills([op.uses for op in block.ops], [op.result for op in block.ops], k)


def _next_uses(uses: Sequence[Sequence[Value]]) -> dict[Value, list[int]]:
    places: dict[Value, list[int]] = {}
    for number, operands in enumerate(uses):
        for value in dict.fromkeys(operands):
            places.setdefault(value, []).append(number)
    return places


def _next(value: Value, number: int, nexts: dict[Value, list[int]]) -> float:
    """Return the place of the next use at or after an instruction, infinity if there is none."""
    return next((place for place in nexts.get(value, ()) if place >= number), math.inf)


def _limit(
    held: set[Value], stored: set[Value], found: Spilling, number: int,
    nexts: dict[Value, list[int]], room: int, pinned: set[Value],
) -> None:  # fmt: skip
    """LIMIT: evict the values used last until ``room`` hold the rest; ``pinned`` are operands in use."""
    order = sorted(held, key=lambda v: (v not in pinned, _next(v, number, nexts), str(v)))
    for value in order[max(room, 0) :]:
        held.discard(value)
        if value not in stored and _next(value, number, nexts) != math.inf:
            stored.add(value)
            found.spills.append(number)


def _live(held: set[Value], number: int, nexts: dict[Value, list[int]]) -> set[Value]:
    return {v for v in held if _next(v, number, nexts) != math.inf}


def pressure(blocks: Sequence[Block]) -> int:
    """Return registers per thread: the most a block needs at once, and scalars that others need after it."""
    names = {use for block in blocks for op in block.ops for use in op.uses if isinstance(use, str)}
    most = 1
    for block in blocks:
        alone = block_spills(block, 10**6).registers
        inside = {use for op in block.ops for use in op.uses if isinstance(use, str)}
        most = max(most, alone + len(names - inside))
    return most
