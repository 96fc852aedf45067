"""What the compilers made of one input for one target, before it is parsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warpwatt.core.program import Resources


@dataclass(frozen=True, slots=True)
class Source:
    """Source text with the name it is shown under; ``path`` is None for standard input."""

    name: str
    data: bytes
    path: Path | None = None

    @property
    def folder(self) -> Path:
        """Where quoted includes are looked up."""
        return self.path.parent if self.path is not None else Path.cwd()

    @property
    def text(self) -> str:
        """The source as text; bytes that are not UTF-8 are replaced."""
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Compiled:
    """PTX text, cubin and what ptxas reported, for one target.

    ``ptx`` is empty and ``cubin`` is empty where there is none. ``resources`` is by entry name.
    ``parameters`` maps a kernel's plain source name to the names of its parameters. ``dependencies`` are
    the files the compiler read beyond the source itself.
    """

    target: str
    toolkit: str
    ptx: str = ""
    cubin: bytes = b""
    resources: Mapping[str, Resources] = field(default_factory=dict)
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dependencies: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
