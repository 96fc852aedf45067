"""Source lines from ``.file`` and ``.loc``, inlining chains included (PTX ISA 11.5)."""

from __future__ import annotations

from warpwatt.core.program import SourceLine
from warpwatt.isa.ptx.syntax import File, Location, Module

_LONGEST_CHAIN = 64
"""Inlining deeper than this is cut: no compiler inlines so deep, and no text may grow chains without end."""


class Lines:
    """The source line that the instructions behind the latest ``.loc`` belong to.

    ``current`` is None before the first ``.loc`` and where the compiler says line 0 (code of no line).

    A ``.loc`` names the call site of inlined code by file, line and column; that site's own ``.loc``, which
    came before, says where it was inlined in turn.
    """

    def __init__(self, module: Module) -> None:
        self.files = {item.index: item.path for item in module.items if isinstance(item, File)}
        self.restart()

    def restart(self) -> None:
        """Forget every location: a new function begins."""
        self.current: SourceLine | None = None
        self._sites: dict[tuple[int, int, int], tuple[SourceLine, int]] = {}

    def advance(self, location: Location) -> None:
        """Take over a ``.loc``."""
        site, depth = None, 0
        if location.inlined_at is not None:
            site, depth = self._site(location.inlined_at)
        line = SourceLine(self._path(location.file), location.line, site)
        self._sites[location.file, location.line, location.column] = (line, depth)
        self.current = line if location.line else None

    def _site(self, place: tuple[int, int, int]) -> tuple[SourceLine, int]:
        """Return the line of a call site and the length of its own chain, plus one."""
        line, depth = self._sites.get(place, (SourceLine(self._path(place[0]), place[1]), 0))
        return (line if depth < _LONGEST_CHAIN else SourceLine(line.file, line.line)), depth + 1

    def _path(self, index: int) -> str:
        """Return the path of a file, or its number where the module does not name it."""
        return self.files.get(index, f"<file {index}>")
