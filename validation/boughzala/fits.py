"""Block models fitted to three sizes of each sweep, and the errors on the sizes that were left out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.models.hybrid import corrected
from warpwatt.published.boughzala import Form, fit, relative_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from validation.boughzala.sweeps import Sweep
    from warpwatt.published.boughzala import RelativeErrors

ENDS = "smallest, middle, largest"
LOW = "smallest, quarter, middle"
CHOICES: dict[str, Callable[[int], tuple[int, int, int]]] = {
    ENDS: lambda n: (0, n // 2, n - 1),
    LOW: lambda n: (0, n // 4 or 1, n // 2),
}
"""Which three of n sizes a model is fitted to; the second leaves the larger half to extrapolation."""
SCALED = "largest of the three, scaled by blocks"
PLAIN = "our default model, no run"
PROFILED = "our default model, the middle run as profile"
FORMS = {
    "line (1), (3)": Form.LINEAR,
    "rounds (4)-(7)": Form.ROUNDS,
    "resident rounds (E3), ours": Form.RESIDENT,
}
MODELS = (*FORMS, SCALED, PLAIN, PROFILED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Answers of one model about the sizes of one sweep that were left out; joules where power is known."""

    sweep: Sweep
    model: str
    time: RelativeErrors
    energy: RelativeErrors | None
    time_logs: tuple[float, ...] = field(default=())
    """log(predicted / measured) of each size."""
    power_logs: tuple[float, ...] = ()


def outcomes(sweep: Sweep, choice: str) -> tuple[list[Outcome], list[str]]:
    """Return what every model that applies makes of a sweep, and why others refuse."""
    chosen = CHOICES[choice](len(sweep.samples))
    left = [i for i in range(len(sweep.samples)) if i not in chosen]
    found, refused = [], []
    for name in MODELS:
        try:
            answer = _answer(sweep, name, chosen, left)
        except InputError as error:
            refused.append(f"{name}: {error.message}")
            continue
        if answer is not None:
            found.append(_outcome(sweep, name, left, *answer))
    return found, refused


def _answer(
    sweep: Sweep, name: str, chosen: Sequence[int], left: Sequence[int]
) -> tuple[list[float], list[float]] | None:
    """Return seconds and joules of the sizes left out; None where a model does not apply."""
    if name in FORMS:
        return _fitted(sweep, FORMS[name], chosen, left)
    if name == SCALED:
        last = sweep.samples[chosen[-1]]
        factors = [sweep.samples[i].blocks / last.blocks for i in left]
        joules = [last.seconds * last.watts * factor for factor in factors] if last.watts is not None else []
        return [last.seconds * factor for factor in factors], joules
    if not sweep.runs:
        return None
    if name == PLAIN:
        return [sweep.runs[i].timing.time.value for i in left], []
    profile = sweep.runs[chosen[1]]
    return [corrected(replace(sweep.runs[i], measured=None), profile).time.value for i in left], []


def known_rounds(sweep: Sweep, form: Form) -> bool:
    """Return whether the data say how many blocks a round has."""
    return sweep.sm_count is not None and (form is Form.ROUNDS or sweep.resident is not None)


def _fitted(
    sweep: Sweep, form: Form, chosen: Sequence[int], left: Sequence[int]
) -> tuple[list[float], list[float]] | None:
    if form is Form.ROUNDS and sweep.sm_count is None:
        return None
    samples = [sweep.samples[i] for i in chosen]
    # where occupancy is not known, a round of ours is one block: its grids have thousands of them
    sms, resident = (sweep.sm_count or 1, sweep.resident or 1) if known_rounds(sweep, form) else (1, 1)
    model = fit(samples, sms, sweep.idle_watts, form, resident)
    blocks = [sweep.samples[i].blocks for i in left]
    seconds = [model.time(n) for n in blocks]
    if min(seconds) <= 0:
        raise InputError("the line falls below zero between the sizes")
    known = model.joules_per_block is not None
    return seconds, [model.energy(n) for n in blocks] if known else []


def _outcome(
    sweep: Sweep, name: str, left: Sequence[int], seconds: Sequence[float], joules: Sequence[float]
) -> Outcome:
    samples = [sweep.samples[i] for i in left]
    measured = [sample.seconds for sample in samples]
    energies = [sample.seconds * sample.watts for sample in samples if sample.watts is not None]
    powers = [joule / second for joule, second in zip(joules, seconds, strict=False)]
    return Outcome(
        sweep,
        name,
        relative_errors(seconds, measured),
        relative_errors(joules, energies) if joules else None,
        tuple(math.log(p / m) for p, m in zip(seconds, measured, strict=True)),
        tuple(math.log(p / s.watts) for p, s in zip(powers, samples, strict=False) if s.watts),
    )
