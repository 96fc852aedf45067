"""What a choice makes small (:class:`Objective`)."""

from __future__ import annotations

from enum import StrEnum


class Objective(StrEnum):
    """What should be small."""

    TIME = "time"
    """Seconds."""
    ENERGY = "energy"
    """Joules."""
    EDP = "edp"
    """Energy-delay product: joules times seconds."""
