"""The table of quantities that budgets and tests speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs._pages.text import table as markdown_table

from warpwatt.budget.quantities import QUANTITIES, SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping


def pages() -> Mapping[str, str]:
    """Return the page."""
    text = (
        "# Quantities\n\nWhat [budgets](../how-to/budgets.md) limit and what a kernel under "
        f"[test](../how-to/pytest.md) has as attributes.\n\n{table()}"
    )
    return {"reference/quantities.md": text}


def table() -> str:
    """Return the table of quantities."""
    rows = [(f"`{q.name}`", "0 to 1" if q.unit == SHARE else q.unit, q.summary) for q in QUANTITIES.values()]
    return markdown_table(("quantity", "unit", "meaning"), rows)
