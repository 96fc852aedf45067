"""Models that know no clocks: a sweep may ask them only at clocks at which launches were measured."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from warpwatt.core.case import FittedModel
from warpwatt.core.errors import InputError
from warpwatt.models.registry import power_model, time_model

if TYPE_CHECKING:
    from warpwatt.compose import Choice
    from warpwatt.core.case import Profile
    from warpwatt.sweep.clocks import Asked
    from warpwatt.sweep.sweep import Sweep

TOLERANCE = 0.01
"""Relative: clocks that differ less count as the same."""
MEGA = 1e6


def clockless(choice: Choice) -> str | None:
    """Return the name of the chosen model that is fitted to measured launches; None where neither is."""
    models = time_model(choice.time), power_model(choice.power)
    return next((model.name for model in models if isinstance(model, FittedModel)), None)


def check_clocks(sweep: Sweep) -> None:
    """Refuse clocks at which a model that is fitted to measured launches would only repeat itself.

    Raises
    ------
    InputError
        Naming the model, the clocks that were measured and the first that was not.
    """
    fitted = clockless(sweep.choice)
    if fitted is None:
        return
    for gpu in sweep.gpus:
        own = [profile for profile in sweep.measured.profiles if profile.gpu == gpu.name]
        asked = [sweep.clocks[at] for at in sweep.clocks_of(gpu)]
        unknown = next(
            (clocks for clocks in asked if clocks is not None and not _measured(clocks, own)), None
        )
        if own and unknown is not None:
            raise InputError(
                f"model {fitted} knows no clocks: its launches ran {_clocks(own)}, {unknown.sm / MEGA:g} MHz "
                "is asked for",
                hint="--model time=wang-chu or the default model scales one launch to other clocks; or "
                "measure three grids at each",
            )


def _measured(asked: Asked, profiles: Iterable[Profile]) -> bool:
    """Whether some launch ran at these clocks; the SM clock of one that says none is not known."""
    return any(
        not profile.clocks.sustained
        and math.isclose(profile.clocks.sm, asked.sm, rel_tol=TOLERANCE)
        and math.isclose(profile.clocks.memory, asked.memory or profile.clocks.memory, rel_tol=TOLERANCE)
        for profile in profiles
    )


def _clocks(profiles: Iterable[Profile]) -> str:
    """Return at which SM clocks launches ran, in words."""
    known = sorted({round(profile.clocks.sm / MEGA) for profile in profiles if not profile.clocks.sustained})
    return f"at {', '.join(map(str, known))} MHz" if known else "at clocks that nobody wrote down"
