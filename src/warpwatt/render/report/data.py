"""The numbers behind the plots, embedded in the page so that it can hand them out as CSV and JSON."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from warpwatt.render.json import finite

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from warpwatt.render.report.values import Bar

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
