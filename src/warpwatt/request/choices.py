"""GPUs, clocks and models that words name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.compose import Choice
from warpwatt.core.errors import InputError, UnsupportedGpuError, UsageError
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.program import Level
from warpwatt.core.progress import interrupted
from warpwatt.gpus import default_clocks, find_many, missing, names_many, with_power_limit
from warpwatt.models.registry import split_choice

if TYPE_CHECKING:
    from warpwatt.request.options import ModelOptions

MEGA = 1e6
POWER_LIMITS = (0.2, 2.0)
"""Of the data sheet's power limit: below it boards do not go (100 of 700 W at least), nor makers beyond."""
OVERCLOCKED = 2.0
"""Times a data sheet's boost clock that nobody's board runs at; laptops have been seen at 1.5."""
STACKED = 0.02
"""Share by which the clock of stacked memory (HBM) may differ from the data sheet's: boards set no other."""
PIPELINE = "pipeline"
"""The time model whose time of PTX is another model's."""


def note(text: str) -> None:
    """Write a remark to stderr."""
    with interrupted():
        print(f"note: {text}", file=sys.stderr)  # noqa: T201 - diagnostics go to stderr


def complete_gpus(
    names: str, notify: Callable[[str], None] = note, power_limit: str | None = None
) -> tuple[Gpu, ...]:
    """Return the GPUs named; one that lacks data a prediction needs is an error, under ``all`` told.

    ``power_limit`` in W takes the place of that of the data sheet.

    Raises
    ------
    UnknownGpuError, UnsupportedGpuError
        If a GPU is not known, or lacks data a prediction needs.
    InputError
        If no board can be set to that limit.
    """
    found = find_many(names)
    complete = []
    for gpu in found:
        lacking = missing(gpu)
        if not lacking:
            complete.append(gpu)
        elif names_many(names):
            notify(f"{gpu.name} left out: {', '.join(lacking)} not known")
        else:
            hint = "put a user file with these fields into the folder that `warpwatt gpus check` names"
            raise UnsupportedGpuError(f"{gpu.name} lacks {', '.join(lacking)}", hint=hint)
    return tuple(_limited(gpu, power_limit) for gpu in complete)


def _limited(gpu: Gpu, power_limit: str | None) -> Gpu:
    if power_limit is None or gpu.power_limit is None:
        return gpu
    low, high = (round(share * gpu.power_limit) for share in POWER_LIMITS)
    try:
        watts = float(power_limit)
    except ValueError:
        raise InputError(f"not a power limit: {power_limit!r}", hint="write --power-limit WATTS") from None
    if not low <= watts <= high:
        hint = f"{gpu.name} has {gpu.power_limit:g} W on its data sheet; {low} to {high} W are taken"
        raise InputError(f"impossible power limit: {power_limit} W", hint=hint)
    return with_power_limit(gpu, watts)


def parse_clocks(text: str | None, gpu: Gpu) -> Clocks | None:
    """Read ``SM[,MEM]`` in MHz; None for the default."""
    if text is None:
        return None
    sm, _, memory = text.partition(",")
    try:
        clocks = Clocks(float(sm) * MEGA, float(memory) * MEGA if memory else default_clocks(gpu).memory)
    except ValueError:
        raise InputError(
            f"not a clock: {text!r}", hint="write --clock SM[,MEM] in MHz, for example 1410,1215"
        ) from None
    if not 50 * MEGA <= clocks.sm <= OVERCLOCKED * gpu.boost_clock:
        boost = round(gpu.boost_clock / MEGA)
        raise InputError(f"impossible clock: {text} MHz", hint=f"{gpu.name} runs up to {boost} MHz")
    least = (1 - STACKED) * gpu.memory_clock if gpu.memory_type.startswith("HBM") else 50 * MEGA
    most = (1 + STACKED if gpu.memory_type.startswith("HBM") else OVERCLOCKED) * gpu.memory_clock
    if not least <= clocks.memory <= most:
        own = round(gpu.memory_clock / MEGA)
        raise InputError(
            f"impossible memory clock: {memory} MHz",
            hint=f"{gpu.memory_type} of {gpu.name} runs at {own} MHz",
        )
    return clocks


def chosen_level(modelling: ModelOptions) -> Level | None:
    """Return the level that was asked for, None for the model's own choice."""
    return None if modelling.level is None else Level(modelling.level)


def model_choice(modelling: ModelOptions, loop_counts: tuple[tuple[int, float], ...] = ()) -> Choice:
    """Return the models named by ``--model`` options, defaults for the rest."""
    choice = Choice(loop_counts=loop_counts, unknown=modelling.unknown, level=chosen_level(modelling))
    for text in modelling.model:
        time, power = split_choice(text)
        choice = replace(choice, time=time or choice.time, power=power or choice.power)
        if time == PIPELINE and choice.level is Level.PTX:
            hint = "leave out --level ptx, or --model time=pipeline for the roofline's time"
            raise UsageError("the pipeline model follows machine code, and --level ptx has none", hint=hint)
    return choice
