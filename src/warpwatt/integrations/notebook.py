"""``%load_ext warpwatt``: CUDA C++ in a notebook cell, predicted when the cell runs.

::

    %%warpwatt --grid 4096 --block 256 --arg n=1048576 --arg x=f32[n] --gpu h200,a100 --into p
    __global__ void scale(int n, float* x) { ... }

The options are those of ``warpwatt predict``; ``{name}`` stands for a Python variable. ``%warpwatt INPUT
[options]`` predicts a file, or a kernel that a variable holds.
"""

from __future__ import annotations

import ast
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpwatt.commands import options as o
from warpwatt.core.errors import UsageError, WarpWattError
from warpwatt.core.prediction import Prediction
from warpwatt.frontend.compiled import Source
from warpwatt.render.card import card
from warpwatt.render.card import line as one_line
from warpwatt.request.objects import run_object
from warpwatt.request.session import Session
from warpwatt.results import SCRATCH, Result, Results, results

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from warpwatt.request.launch_text import LaunchText
    from warpwatt.request.options import CompilationOptions, ModelOptions

MAGIC = "warpwatt"
CELL = "cell"
"""What messages call the cell; lines count from the magic's own, as editors of notebooks show them."""


class CellError(Exception):
    """An expected failure, shown without a traceback; ``text`` is what the user sees."""

    def __init__(self, text: str) -> None:
        super().__init__(text.partition("\n")[0])
        self.text = text

    def _render_traceback_(self) -> list[str]:
        """Return what stands in place of a traceback (IPython's protocol)."""
        return [self.text]


def register(shell: InteractiveShell) -> None:
    """Add the magic to a shell, and the looks of predictions that did not come from ``warpwatt.predict``."""

    def warpwatt(line: str, cell: str | None = None) -> Result | Results | None:
        """Predict CUDA C++ with the options of ``warpwatt predict``; ``%warpwatt --help`` lists them."""
        return _predict(shell, line, cell)

    magics: Any = shell.magics_manager  # its decorated methods have lost their types
    magics.register_function(warpwatt, "line_cell", MAGIC)
    formatter = getattr(shell, "display_formatter", None)
    if formatter is not None:
        formatter.formatters["text/html"].for_type(Prediction, _html)
        formatter.formatters["text/plain"].for_type(Prediction, _print)


def _html(prediction: Prediction) -> str:
    return prediction._repr_html_() if isinstance(prediction, Result) else card(prediction)


def _print(prediction: Prediction, printer: Any, _cycle: bool) -> None:
    printer.text(repr(prediction) if isinstance(prediction, Result) else f"<{one_line(prediction)}>")


@dataclass(frozen=True, slots=True)
class Call:
    """One use of the magic: the shell, and the cell's text as a source (None for the line magic)."""

    shell: InteractiveShell
    cell: Source | None

    def predict(self, words: Sequence[str]) -> Result | Results | None:
        """Return what the words on the magic's line ask for, None where they ask for help.

        Raises
        ------
        CellError
            If anything is wrong with them or with the kernel.
        """
        try:
            found: object = _command.main(
                [*([CELL] if self.cell else []), *words], f"%{MAGIC}", standalone_mode=False, obj=self
            )
        except click.ClickException as error:
            text = f"error: {error.format_message()}\n  fix: %{MAGIC} --help lists the options"
            raise CellError(text) from None
        except WarpWattError as error:
            raise CellError(explain_error(error, self.cell)) from None
        return found if isinstance(found, Result | Results) else None  # the exit code of --help


def _predict(shell: InteractiveShell, line: str, cell: str | None) -> Result | Results | None:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CellError(f"error: cannot read the options: {error}") from None
    # an empty line in place of the magic's own, so that lines of the kernel have the cell's numbers
    source = None if cell is None else Source(CELL, f"\n{cell}".encode())
    return Call(shell, source).predict(words)


@click.command(help="Predict a kernel: CUDA C++ in the cell, a file, or what a variable holds.")
@o.input_argument
@o.gpu_option
@o.launch_options
@o.compilation_options
@o.model_options
@click.option("--advice", is_flag=True, help="Try what changes to the kernel would save.")
@click.option("--into", metavar="NAME", help="Keep the result in this variable.")
@click.pass_obj
def _command(
    call: Call,
    source: str,
    gpu: str,
    launch: LaunchText,
    compilation: CompilationOptions,
    modelling: ModelOptions,
    advice: bool,
    into: str | None,
) -> Result | Results:
    if into is not None and not into.isidentifier():
        raise UsageError(f"not the name of a variable: {into!r}")
    kernel = call.cell or _input(source, call.shell.user_ns)
    named = isinstance(kernel, str | Source)
    session = Session(
        kernel if isinstance(kernel, str | Source) else Source("", b""),
        gpu,
        compilation,
        modelling,
        advice=advice,
    )
    found = session.run(launch) if named else run_object(session, kernel, launch, _values(launch.arg))
    all_of_them = results(found, {CELL: call.cell.text} if call.cell else {})
    shown = all_of_them[0] if len(all_of_them) == 1 else all_of_them
    if into is not None:
        call.shell.user_ns[into] = shown
    return shown


def _input(name: str, variables: Mapping[str, object]) -> object:
    """Return what a variable of that name holds, else the name: that of a file."""
    value = variables.get(name, name)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return Source(name, value.encode()) if isinstance(value, str) and "\n" in value else value


def _values(texts: Sequence[str]) -> dict[str, object]:
    """Return arguments as Python values; what is no number stays text."""
    numbers: dict[str, object] = {}
    for name, _, text in (text.partition("=") for text in texts):
        try:
            numbers[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            numbers[name] = text
    return numbers


def explain_error(error: WarpWattError, cell: Source | None = None) -> str:
    """Return an error as text: what and where, the line itself, the compiler's own words, the fix."""
    parts = [f"error: {error}"]
    lines: list[str] = []
    if cell is not None and error.file is not None and Path(error.file).name in (cell.name, SCRATCH):
        parts = [f"error: {str(error).replace(error.file, cell.name)}"]
        lines = cell.text.splitlines()
    if error.line is not None and 0 < error.line <= len(lines):
        parts.append(f"{error.line:5} | {lines[error.line - 1]}")
    parts += [error.details.rstrip()] if error.details else []
    parts += [f"  fix: {error.hint}"] if error.hint else []
    return "\n".join(parts)
