"""``warpwatt check``: hold kernels against a file of budgets, in CI or by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpwatt.commands.destination import Destination, destination_options
from warpwatt.core.errors import BudgetExceededError, WarpWattError

if TYPE_CHECKING:
    from warpwatt.core.budget import CheckResult


class CheckFormat(StrEnum):
    """Output formats of a check."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    JUNIT = "junit"


@dataclass(frozen=True, slots=True)
class CheckDestination(Destination[CheckFormat]):
    """Where the verdicts go, and how many of them."""

    quiet: bool = False


quiet_option = click.option("-q", "--quiet", is_flag=True, help="Text: show only what is exceeded.")


@click.command(epilog="Exit code 4 if a budget is exceeded.")
@click.argument("budgets", metavar="BUDGET.toml", type=click.Path(path_type=Path))
@click.option("--record", is_flag=True, help="Write the baseline that relative limits refer to, and end.")
@destination_options(CheckFormat, CheckDestination, quiet_option)
def check(budgets: Path, *, record: bool, writing: CheckDestination) -> None:
    r"""Hold kernels against budgets of time, power, energy, registers, occupancy and more.

    \b
    gpu = "h200"
    [[budget]]
    source = "saxpy.cu"
    max.time = "60 us"
    max.energy = "+5 %"      # over the file that `baseline = "..."` names
    min.occupancy = "75 %"
    """
    from warpwatt.budget import judge
    from warpwatt.budget.budgets import read_budgets
    from warpwatt.commands.output import table_context, write
    from warpwatt.render.registry import check_renderer
    from warpwatt.request.choices import note

    shape = writing.checked(CheckFormat)
    read = read_budgets(budgets)
    if record:
        number = judge.record(read, note)
        click.echo(f"{read.baseline}: {number} predictions recorded")
        return
    result = judge.judge(read, note)
    context = table_context(colour=writing.output is None)
    shown = replace(context, verbosity=-1) if writing.quiet else context
    text = check_renderer(shape)(result, shown)
    write(text, writing.output)
    _end(result, told=writing.output is None and shape is CheckFormat.TEXT)


def _end(result: CheckResult, *, told: bool) -> None:
    """Raise what failed, else that a budget is exceeded, else nothing; ``told``: people have read which."""
    if result.failures:
        first = result.failures[0]
        raise _of(first.error, f"budget {first.budget!r} ({result.file}:{first.line}): {first.error.message}")
    if result.exceeded:
        from warpwatt.render.check.words import hottest_text, sentence

        details = "\n".join(
            f"  {sentence(result, verdict)}\n    costs most: {hottest_text(verdict)}"
            for verdict in ([] if told else result.exceeded)
        )
        message = f"{len(result.exceeded)} of {len(result.verdicts)} limits exceeded"
        raise BudgetExceededError(message, file=result.file, details=details)


def _of(error: WarpWattError, message: str) -> WarpWattError:
    """Return an error of the same kind that names the budget, too."""
    return type(error)(message, hint=error.hint, file=error.file, line=error.line, details=error.details)
