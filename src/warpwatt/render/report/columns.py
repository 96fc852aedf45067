"""Source, PTX and SASS as the page's script reads them: texts once, heat for each prediction.

Rows of a listing that several GPUs share stand in the page once. A listing longer than :data:`MOST_ROWS`
keeps its hottest rows and those around them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warpwatt.core.prediction import Prediction
from warpwatt.render.code import AROUND, CodeRow, listings
from warpwatt.render.listing import LEVEL_NAMES

if TYPE_CHECKING:
    from warpwatt.render.code import Listing
    from warpwatt.render.context import Context

MOST_ROWS = 20_000
"""Rows of one listing; more would make pages that browsers open slowly."""
LONGEST = 400
"""Characters of a row."""
DIGITS = 6
"""Of a share: more than a page shows."""

TIME, ENERGY = "Time", "Energy"
"""Kinds of heat beside the stall names."""
GAP = CodeRow("", "⋯", kind="gap")
Heat = tuple[list[int], list[float]]
"""Rows and their shares; rows that are not there have none."""


@dataclass(slots=True)
class Library:
    """The texts of all listings of a page, each once."""

    texts: list[dict[str, Any]] = field(default_factory=list)
    _numbers: dict[tuple[str, tuple[CodeRow, ...]], int] = field(default_factory=dict)

    def add(self, title: str, rows: Sequence[CodeRow]) -> int:
        """Return the number of a listing, which is added if it is new."""
        key = title, tuple(CodeRow(row.number, row.text, row.keys, kind=row.kind) for row in rows)
        if key not in self._numbers:
            self._numbers[key] = len(self.texts)
            self.texts.append(_text(title, rows))
        return self._numbers[key]


def _text(title: str, rows: Sequence[CodeRow]) -> dict[str, Any]:
    return {
        "title": title,
        "numbers": [row.number for row in rows],
        "texts": [row.text[:LONGEST] for row in rows],
        "keys": [row.keys for row in rows],
        "kinds": {number: row.kind for number, row in enumerate(rows) if row.kind != "code"},
    }


@dataclass(frozen=True, slots=True)
class Column:
    """One listing of a prediction: its text in the library, and what each row costs, by kind of heat."""

    title: str
    text: int
    heats: Mapping[str, Heat]

    def document(self) -> dict[str, Any]:
        """Return what is embedded."""
        return {"text": self.text, "heats": self.heats}


def columns(prediction: Prediction, context: Context, library: Library) -> tuple[Column, ...]:
    """Return source, PTX and SASS, as far as there are; texts go into ``library``."""
    return tuple(_column(listing, prediction, library) for listing in _ordered(listings(prediction, context)))


def heat_names(found: Sequence[Column]) -> tuple[str, ...]:
    """Return the kinds of heat to choose from: time, energy, then stalls, most frequent first."""
    total: dict[str, float] = {}
    for name, (_, shares) in (pair for column in found for pair in column.heats.items()):
        total[name] = max(total.get(name, 0.0), sum(shares))
    return tuple(sorted(total, key=lambda name: (name != TIME, name != ENERGY, -total[name])))


def _ordered(found: Sequence[Listing]) -> list[Listing]:
    """Return the source first, then C, PTX and SASS, whichever of them was analysed."""
    order = [None, *LEVEL_NAMES]
    return sorted(found, key=lambda one: order.index(one.program.level if one.program else None))


def _column(listing: Listing, prediction: Prediction, library: Library) -> Column:
    heats = _heats(listing, prediction)
    rows = kept(len(listing.rows), heats.get(TIME, {}))
    at = {row: place for place, row in enumerate(rows)}
    shown = [listing.rows[row] if row >= 0 else GAP for row in rows]
    number = library.add(listing.title, shown)
    return Column(listing.title, number, {name: _placed(heat, at) for name, heat in heats.items()})


def _placed(heat: Mapping[int, float], at: Mapping[int, int]) -> Heat:
    found = [(at[row], float(f"{share:.{DIGITS}g}")) for row, share in heat.items() if row in at]
    return [row for row, _ in found], [share for _, share in found]


def kept(total: int, heat: Mapping[int, float], most: int = MOST_ROWS) -> list[int]:
    """Return the rows to show of ``total``: all, or the hottest and those around them; -1 for a gap.

    >>> kept(3, {}), kept(40, {0: 0.1, 30: 0.9}, most=11)
    ([0, 1, 2], [-1, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, -1])
    """
    if total <= most:
        return list(range(total))
    chosen: set[int] = set()
    for row in sorted(range(total), key=lambda row: -heat.get(row, 0.0)):
        around = range(max(0, row - AROUND), min(total, row + AROUND + 1))
        if len(chosen) + len(around) > most:
            break
        chosen.update(around)
    rows: list[int] = []
    for row in sorted(chosen):
        if row and (not rows or rows[-1] != row - 1):
            rows.append(-1)
        rows.append(row)
    return rows if rows and rows[-1] == total - 1 else [*rows, -1]


def _heats(listing: Listing, prediction: Prediction) -> dict[str, dict[int, float]]:
    """Return kind of heat to row to share, of all the rows that have some."""
    if listing.program is None:
        return _line_heats(listing.rows)
    if listing.program.is_same(prediction.case.workload.execution.program):
        return _instruction_heats(listing.rows, prediction)
    return {}


def _line_heats(rows: Sequence[CodeRow]) -> dict[str, dict[int, float]]:
    costs = [(row, one.cost) for row, one in enumerate(rows) if one.cost is not None]
    heats: dict[str, dict[int, float]] = {TIME: {}, ENERGY: {}}
    for row, cost in costs:
        for name, share in ((TIME, cost.time_share), (ENERGY, cost.energy_share), *cost.stalls.items()):
            if share > 0:
                heats.setdefault(str(name), {})[row] = share
    return {name: heat for name, heat in heats.items() if heat}


def _instruction_heats(rows: Sequence[CodeRow], prediction: Prediction) -> dict[str, dict[int, float]]:
    by_name = {TIME: prediction.timing.shares, ENERGY: prediction.power_result.shares, **_stalls(prediction)}
    heats = {
        name: {
            row: shares[one.index]
            for row, one in enumerate(rows)
            if one.index is not None and one.index < len(shares) and shares[one.index] > 0
        }
        for name, shares in by_name.items()
    }
    return {name: heat for name, heat in heats.items() if heat}


def _stalls(prediction: Prediction) -> dict[str, list[float]]:
    """Return stall name to each instruction's share of all warp time."""
    warps = prediction.timing.warps
    if warps is None or not warps.total:
        return {}
    shares = (warps.cycles / warps.total).T.tolist()
    return {str(reason): column for reason, column in zip(warps.reasons, shares, strict=True)}
