"""The two questions of ``warpwatt recommend``: which clocks and configuration, and which GPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.choose import gpu_choice as choosing
from warpwatt.choose import recommend as advice
from warpwatt.choose.carbon import read_carbon
from warpwatt.choose.gpu_choice import LeftOut, Question
from warpwatt.choose.prices import read_prices
from warpwatt.commands.aims import AdviceFormat
from warpwatt.commands.axes import sweep_of
from warpwatt.commands.output import table_context
from warpwatt.commands.workers import progress, run_all
from warpwatt.core.errors import InputError, UsageError
from warpwatt.render.sweep import advice as pages
from warpwatt.render.sweep import choice as ranking
from warpwatt.sweep.clockless import check_clocks
from warpwatt.sweep.pool import outcomes

if TYPE_CHECKING:
    from warpwatt.commands.aims import AdviceDestination, Aim
    from warpwatt.commands.axes import Axes
    from warpwatt.commands.workers import Workers
    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.units import Known


def settings(gpu: str, axes: Axes, aim: Aim, workers: Workers, writing: AdviceDestination) -> str:
    """Return the advice on clocks and configurations, for every task on every GPU.

    Raises
    ------
    InputError
        If no point has a result.
    UsageError
        If the format is one that only the choice of a GPU has.
    """
    if writing.shape(AdviceFormat) not in pages.FORMATS:
        hint = "write --format " + " or ".join(pages.FORMATS)
        raise UsageError("a page is made only where the question is which GPU", hint=hint)
    sweep = advice.choices(sweep_of(gpu, axes))
    check_clocks(sweep)
    rows = _rows(sweep, workers)
    found = advice.recommend(sweep, rows, aim.objective, aim.max_slowdown, workers.processes)
    if not found:
        raise _nothing(row.error for row in rows)
    return pages.FORMATS[writing.shape(AdviceFormat)](
        found, aim.max_slowdown, table_context(colour=writing.output is None)
    )


def gpu_choice(gpu: str, axes: Axes, aim: Aim, workers: Workers, writing: AdviceDestination) -> str:
    """Return the ranking of GPUs for all tasks together.

    Raises
    ------
    InputError
        If a price or the intensity cannot be read, or no GPU can run all tasks.
    UsageError
        If the objective needs prices or the intensity and they are not given.
    """
    question = question_of(aim)
    incomplete: list[LeftOut] = []
    sweep = sweep_of(gpu, axes, notify=lambda text: incomplete.append(_left_out(text)))
    able, unfit = choosing.able(sweep, question)
    if not able:
        raise _nothing(f"{one.gpu}: {one.reason}" for one in unfit)
    sweep = replace(sweep, gpus=able)
    if any(clocks is not None for clocks in sweep.clocks):
        sweep = advice.choices(sweep)
    rows, known = _points(sweep, workers)
    found = choosing.choose(sweep, rows, question, known, workers.processes)
    found = replace(found, left_out=(*incomplete, *unfit, *found.left_out))
    if not found.candidates:
        raise _nothing(f"{one.gpu}: {one.reason}" for one in found.left_out)
    context = table_context(verbose=writing.verbose, colour=writing.output is None)
    return ranking.render(writing.shape(AdviceFormat), found, context)


def question_of(aim: Aim) -> Question:
    """Return what is asked, its files read; raise as :func:`gpu_choice`."""
    if aim.objective == "cost" and aim.prices is None:
        raise UsageError("--objective cost needs prices", hint="--prices FILE.toml")
    if aim.objective == "carbon" and aim.carbon is None:
        raise UsageError(
            "--objective carbon needs the intensity", hint="--carbon 0.35kg/kWh or FILE.toml:ZONE"
        )
    prices = read_prices(aim.prices) if aim.prices is not None else None
    carbon = read_carbon(aim.carbon) if aim.carbon is not None else None
    return Question(aim.objective, prices, carbon, aim.max_slowdown)


def _left_out(text: str) -> LeftOut:
    """Return a GPU of which a remark says why it is left out."""
    name, _, why = text.partition(" left out: ")
    return LeftOut(name, why)


def _points(sweep: Sweep, workers: Workers) -> tuple[Sequence[Row], dict[int, Known] | None]:
    """Return all points, with their draws where each of them will be needed."""
    if workers.dask is not None or not choosing.one_point_each(sweep):
        return _rows(sweep, workers), None
    with progress(len(sweep), 0) as advance:
        known = outcomes(
            sweep, range(sweep.numbers), workers.processes, lambda batch: advance([row for row, _ in batch])
        )
    return [row for row, _ in known.values()], known


def _rows(sweep: Sweep, workers: Workers) -> list[Row]:
    kept: list[Row] = []
    run_all(sweep, workers, (), kept.extend)
    return kept


def _nothing(reasons: Iterable[str]) -> InputError:
    said = list(dict.fromkeys(reason for reason in reasons if reason))
    return InputError("nothing to choose from: no point has a result", details="\n".join(said))
