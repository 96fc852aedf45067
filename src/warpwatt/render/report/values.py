"""What several sections are made of: quantities with intervals, bars, and the numbers behind the plots.

These numbers are embedded in the page so that it can hand them out as CSV and JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import Prediction
from warpwatt.core.units import si
from warpwatt.render.console import plain
from warpwatt.render.figures import bounds, launch_shape, percent, quantity
from warpwatt.render.json import finite
from warpwatt.render.words import component_name


@dataclass(frozen=True, slots=True)
class Figure:
    """A quantity with its interval, as text and as percentages of a common scale for its bar."""

    name: str
    value: str
    interval: str
    source: str
    middle: float
    low: float
    high: float
    best: bool = False
    full: str = ""
    """What the right end of the scale stands for; the left is zero."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: ``share`` in percent of the full width; ``amount`` is the number behind it, in SI units."""

    label: str
    share: float
    text: str
    note: str = ""
    amount: float | None = None
    hint: str = ""
    """What it means, for people who do not know the name."""
    part: float = 0.0
    """The share, 0 to 1, not rounded."""


def figures(name: str, estimates: Sequence[Estimate], mark: int | None) -> list[Figure]:
    """Return figures on one scale, the one at ``mark`` as the best."""
    full = max(estimate.high for estimate in estimates)
    return [figure(name, estimate, full, marked=i == mark) for i, estimate in enumerate(estimates)]


def figure(name: str, estimate: Estimate, full: float, *, marked: bool = False) -> Figure:
    """Return a figure on a scale that ends at ``full``."""
    scale = 100 / full if full > 0 else 0.0
    ends = (estimate.value, estimate.low, estimate.high)
    middle, low, high = (round(min(100.0, max(0.0, x * scale)), 1) for x in ends)
    source, end = str(estimate.source), si(full, estimate.unit)
    return Figure(name, quantity(estimate), bounds(estimate), source, middle, low, high, marked, end)


def bar(label: str, share: float, note: str = "", amount: float | None = None, hint: str = "") -> Bar:
    """Return a bar of a share, 0 to 1."""
    width = 0.0 if math.isnan(share) else round(100 * min(1.0, max(0.0, share)), 1)
    return Bar(plain(label), width, percent(share), note, amount, hint, share)


def parts(amounts: Mapping[str, float], whole: float, unit: str) -> tuple[Bar, ...]:
    """Return components as bars, largest first."""
    if not whole > 0:
        return ()
    ordered = sorted(amounts.items(), key=lambda part: -part[1])
    return tuple(bar(component_name(name), x / whole, si(x, unit), x) for name, x in ordered if x)


def kernel_name(prediction: Prediction) -> str:
    """Return the kernel's name as people write it."""
    return plain(prediction.kernel_name)


def shape(prediction: Prediction) -> str:
    """Return blocks and threads of the launch."""
    return f"{launch_shape(prediction.case.launch)} threads"


Cell = str | float | int | bool | None
_UNSAFE = re.compile(r"[<>&]|[^\x20-\x7e]")
"""What could end a script element, or may not be printable; JSON may write all of it as escapes."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A table of one plot; units stand in the names of the columns (``time_s``). Numbers are SI."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def document(self, context: Mapping[str, str]) -> dict[str, Any]:
        """Return what is embedded; ``context`` says of which prediction it is."""
        return {"title": self.title, **context, "columns": self.columns, "rows": self.rows}


def bars_data(title: str, label: str, amount: str, bars: Iterable[Bar]) -> Dataset:
    """Return bars as a table of name, share, and the ``amount`` behind the share where that has a name."""
    if not amount:
        return Dataset(title, (label, "share"), tuple((b.label, b.part) for b in bars))
    return Dataset(title, (label, amount, "share"), tuple((b.label, b.amount, b.part) for b in bars))


def embedded(document: Any) -> Markup:
    r"""Return a document as JSON that may stand in a script element, whatever strings it holds.

    >>> print(embedded({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(finite(document), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(_UNSAFE.sub(_escape, text))  # noqa: S704 - nothing in it can end the element


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable() and character not in "<>&":
        return character
    return json.dumps(character)[1:-1] if ord(character) > 0x7E else f"\\u{ord(character):04x}"
