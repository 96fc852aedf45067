"""Clocks to ask for: ranges as typed, and which clocks the driver of a GPU offers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from warpwatt.core.errors import InputError
from warpwatt.core.gpu import Gpu

MEGA = 1e6
MOST = 10_000
"""Clocks of one range."""
LIMITS_MHZ = (50.0, 30_000.0)
"""No GPU runs slower or has a faster memory."""


class Asked(NamedTuple):
    """A pair of clocks in hertz; ``memory`` None is the GPU's own.

    ``ranged``: one of a range, which ends at each GPU's boost clock. ``only``: name of the one GPU meant.
    """

    sm: float
    memory: float | None = None
    ranged: bool = False
    only: str = ""

    def fits(self, gpu: Gpu) -> bool:
        """Whether this clock is asked of ``gpu`` too."""
        meant = self.only in ("", gpu.name)
        return meant and (not self.ranged or self.sm <= gpu.boost_clock * (1 + 1e-9))


def parse_range(text: str) -> tuple[Asked, ...]:
    """Read ``SM[,MEM...]``, both ``CLOCK`` or ``LOW:HIGH:STEP``, in MHz; the high end belongs to it.

    Several memory clocks are several lists of SM clocks, one after the other.

    Raises
    ------
    InputError
        If it cannot be read or is impossible.

    >>> [asked.sm / 1e6 for asked in parse_range("500:800:150,1215")]
    [500.0, 650.0, 800.0]
    >>> [(asked.sm / 1e6, asked.memory / 1e6) for asked in parse_range("500,2100,3000:3500:500")]
    [(500.0, 2100.0), (500.0, 3000.0), (500.0, 3500.0)]
    """
    given, *memories = text.split(",")
    sms = _values(given, text)
    own: list[float | None] = [clock for memory in memories for clock in _values(memory, text)]
    return tuple(Asked(sm, memory, ":" in given) for memory in own or [None] for sm in sms)


def _values(given: str, text: str) -> list[float]:
    """Read ``CLOCK`` or ``LOW:HIGH:STEP`` and return hertz; ``text`` is all that was typed."""
    try:
        numbers = [float(part) for part in given.split(":")]
        low, high, step = numbers if len(numbers) == 3 else (numbers[0], *numbers, 1.0)
    except (ValueError, IndexError):
        numbers, low, high, step = [], 0.0, 0.0, 1.0
    if len(numbers) not in (1, 3) or not step > 0 or not low <= high or (high - low) / step > MOST:
        hint = "write --clock SM[,MEM...] or LOW:HIGH:STEP[,MEM...] in MHz, for example 510:1410:15"
        raise InputError(f"not a clock: {text!r}", hint=hint)
    for value in (low, high):
        if not LIMITS_MHZ[0] <= value <= LIMITS_MHZ[1]:
            raise InputError(f"impossible clock: {value:g} MHz")
    steps = int((high - low) / step + 1e-9) + 1
    return [(low + i * step) * MEGA for i in range(steps)]


def offered_clocks(gpu: Gpu) -> tuple[float, ...]:
    """Return the SM clocks in hertz that the driver lets an operator lock, ascending, the boost clock last.

    Their distance is the architecture's; ``nvidia-smi -q -d SUPPORTED_CLOCKS`` has the list of a board.
    """
    facts = _offered(gpu.capability.version)
    step, lowest = facts["step_mhz"] * MEGA, facts["lowest_mhz"] * MEGA
    number = int(max(0.0, gpu.boost_clock - lowest) / step + 1e-9)
    return tuple(gpu.boost_clock - i * step for i in range(number, -1, -1))


def candidates(gpu: Gpu, asked: Iterable[Asked | None] = ()) -> tuple[Asked, ...]:
    """Return the clocks to choose from on ``gpu``: the offered ones next to those asked for, or all."""
    offered = offered_clocks(gpu)
    wanted = [clocks for clocks in asked if clocks is not None and clocks.fits(gpu)]
    if not wanted:
        return tuple(Asked(clock, only=gpu.name) for clock in offered)
    near = dict.fromkeys((nearest(clocks.sm, offered), clocks.memory) for clocks in wanted)
    return tuple(Asked(clock, memory, only=gpu.name) for clock, memory in near)


def nearest(clock: float, offered: Iterable[float]) -> float:
    """Return the offered clock next to ``clock``.

    >>> nearest(1.0, [0.9, 1.05, 2.0])
    1.05
    """
    return min(offered, key=lambda other: abs(other - clock))


@lru_cache(maxsize=1)
def _steps() -> dict[str, Any]:
    return tomllib.loads(files("warpwatt.sweep").joinpath("clocks.toml").read_text(encoding="utf-8"))


def _offered(version: str) -> dict[str, Any]:
    """Return the entry of the newest capability that is not newer."""
    table = _steps()["capability"]
    known = sorted(table, key=_key)
    at = [key for key in known if _key(key) <= _key(version)] or known[:1]
    found: dict[str, Any] = table[at[-1]]
    return found


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
