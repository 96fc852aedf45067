"""A run as text: a table of kernels as ``nsys stats`` prints it, copies, totals, and what is not known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.core.units import si
from warpwatt.frontend.select import short_name
from warpwatt.render.console import QUIET, facts_grid, panel, plain, section, to_text
from warpwatt.render.figures import bounds, interval, percent, quantity

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.panel import Panel

    from warpwatt.core.estimate import Estimate
    from warpwatt.render.context import Context
    from warpwatt.run.result import GpuRun, RunResult

NARROW = 100
"""Columns below which intervals stand below their values."""
NAME_WIDTH = 40
"""Columns of a kernel's name."""
ALLOCATED = "torch.cuda.max_memory_allocated"
ASSUMPTIONS_SHOWN = 5
"""Assumptions that are written out."""


def render(result: RunResult, context: Context) -> str:
    """Return the account of a run, one GPU after another."""
    return to_text(_account(result, context), context)


def _account(result: RunResult, context: Context) -> Iterator[RenderableType]:
    for run in result.runs:
        yield _headline(result, run)
        yield from section("Kernels", _kernels(run, context))
        if run.copies:
            yield from section("Copies", _copies(run))
        yield from _assumptions(run)
    yield from section("Not known", *(Text(f"! {plain(line)}", style="yellow") for line in not_known(result)))
    yield Text("")


def _headline(result: RunResult, run: GpuRun) -> Panel:
    kernels = sum(row.time.value for row in run.kernels)
    facts = facts_grid()
    facts.add_row("Time", Text(f"{si(run.end, 's')}, GPU busy {si(run.busy, 's')}", style="bold green"))
    facts.add_row(
        "Energy", Text(f"{si(run.energy, 'J')} from first to last work of the GPU", style="bold green")
    )
    joules = si(sum(row.energy.value for row in run.kernels), "J")
    facts.add_row("Kernels", f"{si(kernels, 's')} in {launches(result.launches)}, {joules}{without(run)}")
    if run.copies:
        seconds, joules = (sum(getattr(row, what) for row in run.copies) for what in ("seconds", "energy"))
        facts.add_row("Copies", f"{si(seconds, 's')}, {si(joules, 'J')}")
    facts.add_row("Idle", f"{si(run.idle, 's')} between them, {si(run.idle_energy, 'J')}")
    facts.add_row(
        "Power",
        f"{si(run.mean_power, 'W')} on average, {si(run.peak, 'W')} at most; "
        f"the board's sensor would read {si(run.reading, 'W')} at most",
    )
    facts.add_row("Memory", memory(result))
    facts.add_row("Host", f"{si(run.host, 's')}, measured on this machine")
    return panel(facts, plain(result.program.rpartition("/")[2]), run.gpu)


def memory(result: RunResult) -> str:
    """Return how much device memory a program held at most, and how much of that PyTorch used."""
    used = dict(result.values).get(ALLOCATED)
    own = f", {si(float(used), 'B')} of it in tensors of PyTorch" if used and used.isdigit() else ""
    return f"{si(float(result.peak_memory), 'B')} allocated at most{own}"


def _kernels(run: GpuRun, context: Context) -> Table:
    """Return a row per kernel."""
    narrow = context.width < NARROW
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET, collapse_padding=narrow)
    table.add_column("kernel", overflow="fold", max_width=max(NAME_WIDTH, context.width - 70))
    for head in ("calls", "total", "mean", "share", "power", "energy"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("limited by", overflow="fold")
    whole = sum(row.time.value for row in run.kernels)
    for row in run.kernels:
        share = percent(row.time.value / whole) if whole else ""
        name = plain(short_name(row.name, NAME_WIDTH))
        cells = (
            str(row.calls), _below(row.time) if narrow else interval(row.time), si(row.mean, "s"), share,
            si(row.power, "W"), quantity(row.energy),
        )  # fmt: skip
        shown = cells if row.times else (str(row.calls), "?", "?", "", "?", "?")
        table.add_row(Text(name), *map(Text, shown), Text(plain(row.limiter)))
    return table


def launches(count: int) -> str:
    """Return a number of launches in words."""
    return f"{count} launch{'es' if count != 1 else ''}"


def without(run: GpuRun) -> str:
    """Return which part of a run's launches its sums leave out, empty if none."""
    return f", all sums without {launches(run.not_predicted)} not predicted" if run.not_predicted else ""


def _below(estimate: Estimate) -> str:
    """Return a value with its interval below."""
    around = bounds(estimate)
    return f"{quantity(estimate)}\n{around}" if around else quantity(estimate)


def _copies(run: GpuRun) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    table.add_column("copies")
    for head in ("calls", "total", "bytes", "rate", "energy"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in run.copies:
        rate = si(row.bytes / row.seconds, "B/s") if row.seconds else ""
        cells = (str(row.calls), si(row.seconds, "s"), si(row.bytes, "B"), rate, si(row.energy, "J"))
        table.add_row(Text(str(row.kind)), *map(Text, cells))
    return table


def _assumptions(run: GpuRun) -> Iterator[RenderableType]:
    """Yield what the predictions assume, each assumption once."""
    found: dict[str, None] = {}
    for prediction in run.predictions:
        name = plain(short_name(prediction.case.kernel.display_name, NAME_WIDTH))
        found |= dict.fromkeys(f"{name}: {a.message}" for a in prediction.assumptions)
        found |= dict.fromkeys(prediction.case.kernel.warnings)
    for row in run.kernels:
        if row.is_library:
            found[f"{row.name}: assumed from its operations and bytes, as its kernels are not to be had"] = (
                None
            )
    lines = [Text(f"· {plain(line)}") for line in list(found)[:ASSUMPTIONS_SHOWN]]
    if len(found) > ASSUMPTIONS_SHOWN:
        lines.append(Text(f"· and {len(found) - ASSUMPTIONS_SHOWN} more: --format json", style=QUIET))
    yield from section("Assumptions", *lines)


def not_known(result: RunResult) -> Sequence[str]:
    """Return what went wrong and what is missing."""
    lines = [result.ended] if result.ended else []
    if result.timing_only:
        reads = f"; the program read such results {result.unknown_reads} times" * bool(result.unknown_reads)
        lines.append(f"times alone: {result.not_computed} large results were not computed{reads}")
    elif result.unknown_from:
        more = f" and {launches(result.not_computed - 1)} or calls more" * (result.not_computed > 1)
        lines.append(f"not computed, what they write is lost: {result.unknown_from}{more}")
    if result.borrowed:
        lines.append(f"{result.borrowed} launches are taken to be like others of theirs that were predicted")
    if result.unneeded:
        lines.append(f"{result.unneeded} launches were not computed to their end: nothing read their results")
    lines += [f"{name} is not there" + (f", called at {at}" if at else "") for name, at in result.unsupported]
    return [*lines, *result.failures]
