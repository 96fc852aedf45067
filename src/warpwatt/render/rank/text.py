"""A ranking for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.core.objective import Objective
from warpwatt.core.ranking import Ranked, Ranking
from warpwatt.core.units import si
from warpwatt.render.compare.words import relative
from warpwatt.render.console import HEADING, QUIET, plain, to_text
from warpwatt.render.figures import interval
from warpwatt.render.rank.words import probability, sentence

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.render.context import Context

OBJECTIVES = {Objective.TIME: "time", Objective.ENERGY: "energy", Objective.EDP: "energy × time"}
LEGEND = (
    "sure: probability that it beats the one below. Intervals hold 80 %; what they share is the same for all "
    "and does not make the order less sure."
)


def render(rankings: Sequence[Ranking], context: Context) -> str:
    """Return one table per GPU, each behind what to do."""
    return to_text(_parts(rankings), context)


def _parts(rankings: Sequence[Ranking]) -> Iterator[RenderableType]:
    for ranking in rankings:
        yield Text.assemble((ranking.gpu, HEADING), f", by {OBJECTIVES[ranking.objective]}")
        yield _table(ranking)
        for one in ranking.order:
            if one.not_followed:
                yield Text(plain(f"! {one.name}: {one.not_followed}; its place means little"))
        for failed in ranking.failed:
            hint = f"; {failed.error.hint}" if failed.error.hint else ""
            yield Text(plain(f"! {failed.name}: {failed.error}{hint}"))
        yield Text(plain(sentence(ranking)), style="bold")
        yield Text("")
    yield Text(LEGEND, style=QUIET)


def _table(ranking: Ranking) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for _ in range(3):
        table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    objective = OBJECTIVES[ranking.objective]
    table.add_row(
        *(Text(head, style=QUIET) for head in ("", "", objective, "to first", "sure", "limited by"))
    )
    for number, one in enumerate(ranking.order, 1):
        table.add_row(*_row(number, one, ranking.order[0]))
    return table


def _row(number: int, one: Ranked, first: Ranked) -> Iterator[str]:
    yield str(number)
    yield plain(one.name)
    yield interval(one.value) if one.value.unit in ("s", "J") else si(one.value.value, one.value.unit)
    yield "" if one is first else relative(one.value.value / first.value.value)
    yield probability(one.better_than_next)
    yield plain(one.limiter)
