"""Tables of the time and power models, from the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs._pages.text import table

from warpwatt.models import registry

if TYPE_CHECKING:
    from collections.abc import Mapping


def pages() -> Mapping[str, str]:
    """Return the page."""
    return {"reference/models.md": _TEXT.format(time=time_table(), power=power_table())}


_TEXT = """# Models

`--model NAME` chooses a time or a power model,
`--model time=NAME --model power=NAME` says which. What they
compute, and how far to trust them: [time models](../explanation/time-models.md),
[power models](../explanation/power-models.md).

## Time

{time}
## Power

{power}
Other packages may register more: [a model of your own](../how-to/custom-model.md).
"""


def time_table() -> str:
    """Return the table of time models."""
    rows = [
        _row(name, registry.time_model(name).summary, registry.DEFAULT_TIME)
        for name in registry.time_models()
    ]
    return table(("model", "what it does"), rows)


def power_table() -> str:
    """Return the table of power models."""
    names = registry.power_models()
    return table(
        ("model", "what it does"),
        [_row(n, registry.power_model(n).summary, registry.DEFAULT_POWER) for n in names],
    )


def _row(name: str, summary: str, default: str) -> tuple[str, str]:
    return f"`{name}`{' (default)' if name == default else ''}", summary
