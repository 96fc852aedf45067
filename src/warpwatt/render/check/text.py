"""A check for the terminal: every limit in one line, the costliest source line under what is exceeded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.core.budget import CheckResult, Verdict
from warpwatt.render.check.words import (
    allowed_text,
    found_text,
    hottest_text,
    judged_text,
    overshoot,
    summary,
)
from warpwatt.render.console import QUIET, glued, plain, to_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.render.context import Context

GOOD, BAD = "✓", "✗"


def render(result: CheckResult, context: Context) -> str:
    """Return all verdicts, budget by budget, then the sum."""
    return to_text(_parts(result, context), context)


def _parts(result: CheckResult, context: Context) -> Iterator[RenderableType]:
    for (name, _), group in groupby(result.verdicts, key=lambda v: (v.budget, id(v.prediction))):
        verdicts = list(group)
        if context.verbosity < 0 and not any(verdict.exceeded for verdict in verdicts):
            continue
        yield _heading(name, verdicts)
        yield _table(result, verdicts)
        hottest = hottest_text(next((v for v in verdicts if v.exceeded), verdicts[0]))
        if hottest and any(verdict.exceeded for verdict in verdicts):
            yield Text(f"  costs most: {glued(plain(hottest))}", style=QUIET)
        yield Text("")
    for failure in result.failures:
        yield Text.assemble(
            (BAD, "bold red"), f" {plain(failure.budget)}", (f"  {result.file}:{failure.line}", QUIET)
        )
        yield Text(f"  {plain(str(failure.error))}", style="red")
        if failure.error.hint:
            yield Text(f"  fix: {plain(failure.error.hint)}")
        yield Text("")
    bad = bool(result.exceeded or result.failures)
    yield Text(f"{result.file}: {summary(result)}", style="bold red" if bad else "bold green")


def _heading(name: str, verdicts: Sequence[Verdict]) -> Text:
    bad = any(verdict.exceeded for verdict in verdicts)
    first = verdicts[0]
    where = f"  {first.kernel} · {first.prediction.case.gpu.name}"
    return Text.assemble(
        (BAD if bad else GOOD, "bold red" if bad else "bold green"), (f" {plain(name)}", "bold"), plain(where)
    )


def _table(result: CheckResult, verdicts: Sequence[Verdict]) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(width=3, justify="right")
    table.add_column(no_wrap=True, min_width=10)
    table.add_column(min_width=20, overflow="fold")
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True, min_width=6)
    table.add_column(style=QUIET, no_wrap=True)
    for verdict in verdicts:
        bad = verdict.exceeded
        judged = judged_text(verdict)
        table.add_row(
            Text(BAD if bad else GOOD, style="red" if bad else "green"),
            verdict.limit.quantity.replace("_", " "),
            Text(glued(found_text(verdict))),
            Text(glued(allowed_text(verdict) + (f", {judged}" if judged else ""))),
            Text(overshoot(verdict) if bad else "", style="bold red"),
            f"{Path(result.file).name}:{verdict.limit.line}" if bad else "",
        )
    return table
