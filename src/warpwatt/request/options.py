"""What a user asks for, in words: values as typed, None or empty where nothing was said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.program import Unknown

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """The launch; ``arg`` and ``loop`` hold ``NAME=VALUE`` and ``LINE=COUNT`` texts, ``args`` a TOML file."""

    kernel: str | None = None
    grid: str | None = None
    block: str | None = None
    cluster: str | None = None
    shared: int | None = None
    arg: tuple[str, ...] = ()
    loop: tuple[str, ...] = ()
    args: Path | None = None


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
    """Which models, level and clocks; ``clock`` is ``SM[,MEM]`` in MHz."""

    model: tuple[str, ...] = ()
    clock: str | None = None
    level: str | None = None
    unknown: Unknown = Unknown.ESTIMATE
    profile: Path | None = None
    profile_arg: tuple[str, ...] = ()
