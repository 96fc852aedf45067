"""Where results go: the chosen renderer, stdout or a file."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpwatt.commands.options import Format, format_by_name
from warpwatt.core.errors import InputError, OutputExistsError
from warpwatt.render.context import Context, text_width, wants_colour

if TYPE_CHECKING:
    from warpwatt.commands.options import OutputOptions
    from warpwatt.core.prediction import ApplicationPrediction, Prediction


@dataclass(frozen=True, slots=True)
class Writer:
    """A checked destination and format."""

    format: Format
    output: Path | None
    verbose: bool

    @classmethod
    def prepare(cls, options: OutputOptions) -> Writer:
        """Check the destination before any work is done.

        Raises
        ------
        OutputExistsError
            If the file exists and ``--force`` was not given.
        """
        chosen = options.format or format_by_name(options.output, Format)
        output = cls.check(options.output, force=options.force) if options.output is not None else None
        return cls(chosen, output, options.verbose)

    @staticmethod
    def check(path: Path, *, force: bool) -> Path:
        """Return a file that may be written; raise as :meth:`prepare`."""
        if path.exists() and not force:
            raise OutputExistsError("the output file exists", file=path, hint="--force overwrites it")
        if not path.parent.is_dir():
            raise InputError("no such folder", file=path.parent)
        return path

    def write_predictions(self, predictions: Sequence[Prediction]) -> None:
        """Render and write predictions."""
        from warpwatt.render.registry import renderer

        context = prediction_context(predictions, verbose=self.verbose, colour=self.output is None)
        self.write_text(renderer(self.format)(predictions, context))

    def write_applications(self, applications: Sequence[ApplicationPrediction]) -> None:
        """Render and write applications; only text and JSON know them."""
        from warpwatt.render.registry import application_renderer

        self.write_text(application_renderer(self.format)(applications, self.context()))

    def context(self) -> Context:
        """Return what renderers know where no source text is shown."""
        return _context({}, {}, verbose=self.verbose, colour=self.output is None)

    def write_text(self, text: str) -> None:
        """Write a rendered result."""
        write(text, self.output)


def write(text: str, output: Path | None) -> None:
    """Write a result to a file, and say so, or to standard output."""
    if output is None:
        click.echo(text, nl=bool(text) and not text.endswith("\n"))
        return
    output.write_text(text, encoding="utf-8", newline="")
    say_written(output)


def say_written(*files: Path) -> None:
    """Say on standard error which files were written."""
    for file in files:
        click.echo(f"wrote {file}", err=True)


def prediction_context(
    predictions: Sequence[Prediction], *, verbose: bool = False, colour: bool = True
) -> Context:
    """Return what renderers know beside the predictions: provenance, sources, the terminal."""
    toolkits = dict.fromkeys(p.case.kernel.toolkit for p in predictions if p.case.kernel.toolkit)
    return _context({"CUDA": ", ".join(toolkits)}, _sources(predictions), verbose=verbose, colour=colour)


def table_context(*, verbose: bool = False, colour: bool = True) -> Context:
    """Return what renderers of tables know beside the rows: the command, the terminal."""
    return _context({}, {}, verbose=verbose, colour=colour)


def _context(toolkits: dict[str, str], sources: dict[str, str], *, verbose: bool, colour: bool) -> Context:
    return Context(
        command=command_line(),
        toolkits=toolkits,
        verbosity=int(verbose),
        width=text_width(sys.stdout),
        colour=colour and wants_colour(sys.stdout, os.environ),
        sources=sources,
    )


def command_line() -> str:
    """Return the command as typed, for the record in results."""
    return shlex.join(["warpwatt", *sys.argv[1:]])


def _sources(predictions: Sequence[Prediction]) -> dict[str, str]:
    """Return the text of every source file a prediction's lines name, where it can be read."""
    texts = {}
    for name in dict.fromkeys(line.file for p in predictions for line in p.lines):
        try:
            texts[name] = Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
    return texts
