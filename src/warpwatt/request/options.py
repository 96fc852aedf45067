"""What a user asks of compilation and models, as typed; None or empty where nothing was given.

The launch is :class:`~warpwatt.request.launch_text.LaunchText`; :mod:`.fields` describes all three.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpwatt.core.program import Unknown


@dataclass(frozen=True, slots=True)
class CompilationOptions:
    """How to compile."""

    define: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    toolkit: str = ""
    maxrregcount: int | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which models, level, clocks (``SM[,MEM]`` in MHz) and power limit (W)."""

    model: tuple[str, ...] = ()
    clock: str | None = None
    level: str | None = None
    unknown: Unknown = Unknown.ESTIMATE
    profile: Path | None = None
    profile_arg: tuple[str, ...] = ()
    power_limit: str | None = None
