"""Measured counters as the inputs of a trained model: those of the case's profile, and its clocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpwatt.core.case import Case, Timing

MEGA = 1e6


def inputs(
    names: Sequence[str],
    case: Case,
    timing: Timing | None,  # noqa: ARG001 - as all sources
    card: Mapping[str, Any],  # noqa: ARG001 - as all sources
) -> dict[str, float | None]:
    """Return those of ``names`` that the profile measured, under any spelling of them; no profile, none.

    ``coref`` and ``memf`` are the clocks in MHz, as public tables of counters call them.
    """
    if case.profile is None:
        return {}
    measured = {_plain(name): value for name, value in case.profile.counters.items()}
    known = {"coref": case.clocks.sm / MEGA, "memf": case.clocks.memory / MEGA, **measured}
    return {name: known[_plain(name)] for name in names if _plain(name) in known}


def _plain(name: str) -> str:
    """Return a counter's name in lower case with underscores.

    >>> _plain("l2_tex__t_bytes.sum"), _plain("Achieved Occupancy")
    ('l2_tex_t_bytes_sum', 'achieved_occupancy')
    """
    return "_".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
