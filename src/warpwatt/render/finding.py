"""One thing worth saying about a prediction: :class:`Finding`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.core.program import SourceLine


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence about one topic; ``fix`` is the flag or change that helps, if one is known."""

    topic: str
    text: str
    line: SourceLine | None = None
    fix: str = ""
