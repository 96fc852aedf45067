"""The one way this front end refuses C it cannot port: file, line, reason, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpwatt.core.errors import InputError


class UnportableError(InputError):
    """C that is no data-parallel loop nest, or whose loops cannot be analysed (exit code 1)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Knows the file's name, so that a refusal needs only the line."""

    file: str

    def refused(self, message: str, line: int | None, hint: str = "") -> UnportableError:
        """Return the error to raise."""
        return UnportableError(message, file=self.file, line=line or None, hint=hint)


def line_of(node: Any) -> int:
    """Return the line of a syntax node, 0 where the parser lost it."""
    return int(node.coord.line) if getattr(node, "coord", None) is not None else 0
