"""What every renderer knows beside the result: :class:`Context`.

Nothing in it depends on the date or the machine, so that the same input gives the same bytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.core.estimate import SEED
from warpwatt.core.version import __version__

if TYPE_CHECKING:
    from typing import TextIO

DEFAULT_WIDTH = 100
"""Columns where the output is not a terminal."""
MIN_WIDTH = 60
MAX_WIDTH = 120
"""Text wider than this is hard to read, however wide the terminal."""


@dataclass(frozen=True, slots=True)
class Context:
    """Provenance and presentation shared by all renderers.

    Attributes
    ----------
    version
        Version of WarpWatt.
    command
        The command line as the user could type it again; empty when called as a library.
    toolkits
        Tool or component to version (``"nvcc"``: ``"13.5.37"``).
    seed
        Seed of all parameter draws.
    verbosity
        -1 only the result, 0 the usual, 1 and more everything.
    width
        Columns of text output.
    colour
        Whether text output may carry ANSI colours.
    sources
        File name, as in :class:`~warpwatt.core.program.SourceLine`, to its text. Renderers read no files;
        without the text they show only the lines that cost something.
    """

    version: str = __version__
    command: str = ""
    toolkits: Mapping[str, str] = field(default_factory=dict)
    seed: int = SEED
    verbosity: int = 0
    width: int = DEFAULT_WIDTH
    colour: bool = False
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)


def wants_colour(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether ``stream`` should get colours: a terminal, and neither ``NO_COLOR`` nor ``TERM=dumb``.

    >>> import io
    >>> wants_colour(io.StringIO(), {})
    False
    """
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


def text_width(stream: TextIO) -> int:
    """Return the columns to use on ``stream``: the terminal's between 60 and 120; else 100.

    ``COLUMNS`` counts on a terminal only: what is piped or saved is the same in every environment.

    >>> import io
    >>> text_width(io.StringIO())
    100
    """
    if not stream.isatty():
        return DEFAULT_WIDTH
    columns = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    return max(MIN_WIDTH, min(MAX_WIDTH, columns))
