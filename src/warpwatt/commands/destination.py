"""Where a verb's result goes: ``--format``, ``-o`` and ``--force`` of verbs with formats of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import click

from warpwatt.commands import options as o

if TYPE_CHECKING:
    from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Destination(Generic[o.FormatT]):
    """Where a result goes and how it looks; ``format`` None means by the file's name, else text."""

    format: o.FormatT | None = None
    output: Path | None = None
    force: bool = False

    def shape(self, formats: type[o.FormatT]) -> o.FormatT:
        """Return the format; raise ``UsageError`` where the file's ending is that of none."""
        return self.format or o.format_by_name(self.output, formats)

    def checked(self, formats: type[o.FormatT]) -> o.FormatT:
        """Return the format; refuse, before any work is done, a file that may not be written.

        Raises
        ------
        OutputExistsError, InputError
            If the file is there and ``--force`` was not given, or its folder is not.
        UsageError
            As :meth:`shape`.
        """
        from warpwatt.commands.output import Writer

        if self.output is not None:
            Writer.check(self.output, force=self.force)
        return self.shape(formats)


def destination_options(
    formats: type[StrEnum],
    kind: type[Destination[Any]] = Destination,
    *more: Callable[..., Any],
    file_help: str = "Write to a file.",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the options and ``more`` of the verb's own; it passes on ``writing``."""
    return o.group(
        "writing",
        kind,
        click.option("--format", type=o.EnumChoice(formats), help="Default: by the file's name, else text."),
        click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help=file_help),
        click.option("--force", is_flag=True, help="Overwrite the file."),
        *more,
    )
