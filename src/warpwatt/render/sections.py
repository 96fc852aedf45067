"""The sections of one prediction as text, in Nsight Compute's order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from warpwatt.core.execution import LoopTrips
from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.core.program import SourceLine
from warpwatt.core.units import binary_bytes, si
from warpwatt.core.warps import Stall
from warpwatt.render.console import BAR_WIDTH, QUIET, bars, heat, plain, section
from warpwatt.render.figures import bar, count, l2_before, percent, plural
from warpwatt.render.rates import busy_units, rates
from warpwatt.render.reach import hit_texts, reaches, stride_text
from warpwatt.render.reasons import HELP, no_advice_text
from warpwatt.render.roofline import roofline
from warpwatt.render.verdict import verdict
from warpwatt.render.warned import all_warnings
from warpwatt.render.words import SCHEDULER_UNITS, component_name, unit_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from warpwatt.render.context import Context
    from warpwatt.render.reach import Reach

HOT_LINES = 5
"""Source lines shown without ``-v``."""
ACCESS_HEADS = ("line", "access", "requests", "lanes", "each", "ideal", "stride", "L1", "L2", "DRAM")
ACCESS_LEGEND = "each: 32-byte sectors (sec) or shared-memory wavefronts (wf) per request; L1, L2: hits"
BUSY_LEGEND = "busy share of the time; of L2 and DRAM, rate over the rate they reach"
SMALL = 0.005
"""Shares below this are left out without ``-v``."""


def sections(prediction: Prediction, context: Context) -> list[RenderableType]:
    """Return all sections that have something to show."""
    figures = (speed_of_light, help_, roof, memory, warp_state, occupancy, energy)
    parts = (*figures, source, accesses, assumptions)
    return [piece for part in parts for piece in part(prediction, context)]


def speed_of_light(prediction: Prediction, context: Context) -> list[RenderableType]:
    """Return the busy share of every unit, busiest first, and which of them limits."""
    limit = verdict(prediction.timing).unit
    rows = [
        (unit_name(key), share, note)
        for key, share, note in busy_units(prediction)
        if _shown(share, context) and (key not in SCHEDULER_UNITS or key == limit)
    ]
    return section("Speed of Light", bars(rows), Text(BUSY_LEGEND, style=QUIET)) if rows else []


def help_(prediction: Prediction, _context: Context) -> list[RenderableType]:
    """Return what changes to the kernel would save, where somebody asked."""
    if prediction.advice is None:
        return []
    if not prediction.advice:
        return section(HELP, Text(no_advice_text(prediction), style=QUIET))
    from warpwatt.render.annotated import advice_table  # which a short answer needs nothing of

    return section(HELP, advice_table(prediction.advice))


def roof(prediction: Prediction, _context: Context) -> list[RenderableType]:
    """Return how close the kernel comes to its roof."""
    line = roofline(prediction)
    if line is None:
        return section("Roofline", Text("no floating-point operations or no DRAM traffic", style=QUIET))
    ceiling = line.ceiling(line.intensity)
    note = f"{si(line.performance, 'FLOP/s')} of {si(ceiling, 'FLOP/s')}"
    where = f"{line.intensity:.3g} FLOP/B, ridge at {line.ridge:.3g} FLOP/B; peaks of the data sheet"
    return section(
        "Roofline",
        bars([(f"{line.binding.name} roof", line.performance / ceiling, note)]),
        Text(where, style=QUIET),
    )


def memory(prediction: Prediction, _context: Context) -> list[RenderableType]:
    """Return bytes and rates at each level, and what they are of its peak."""
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(justify="right", no_wrap=True)
    table.add_row("", *(Text(head, style=QUIET) for head in ("read", "written", "rate", "of the peak")))
    for key, level in rates(prediction).items():
        read, written = si(level.traffic.read, "B"), si(level.traffic.written, "B")
        share = Text(level.peak_text, style=QUIET)
        table.add_row(unit_name(key), read, written, si(level.rate, "B/s"), share)
    before = Text(plain(f"L2 before the launch: --l2 {l2_before(prediction.case.launch)}"), style=QUIET)
    return section("Memory", table, before)


def warp_state(prediction: Prediction, context: Context) -> list[RenderableType]:
    """Return issue utilisation and stall reasons, costliest first."""
    timing, busy = prediction.timing, prediction.timing.busy
    rows = [(name, busy[k], "of the time") for k, name in SCHEDULER_UNITS.items() if k in busy]
    stalls = sorted(timing.stalls.items(), key=lambda pair: -pair[1])
    waits = [(str(s), x, "") for s, x in stalls if s is not Stall.SELECTED and _shown(x, context)]
    rows += waits if context.verbosity > 0 else waits[:4]
    return section("Scheduler and Warp State", bars(rows)) if rows else []


def occupancy(prediction: Prediction, _context: Context) -> list[RenderableType]:
    """Return resident warps, what limits them, registers, shared memory and waves."""
    workload, resources = prediction.case.workload, prediction.case.kernel.resources
    held = workload.occupancy
    blocks = plural(held.resident_blocks, "block")
    note = f"{held.resident_warps} of {held.max_warps_per_sm} warps, {blocks} per SM"
    allowed = ", ".join(f"{name} {n}" for name, n in held.limits.items())
    registers = plural(resources.registers, "register") + " per thread" + " (assumed)" * resources.assumed
    waves = f"{workload.waves:.3g} waves on {plural(workload.active_sms, 'SM')}"
    facts = [
        f"limited by {held.limiter}" + (f" (blocks per SM: {allowed})" if allowed else ""),
        f"{registers}, {binary_bytes(held.shared_per_block)} shared per block, {waves}",
    ]
    if resources.spill_loads or resources.spill_stores:
        facts.append(f"spills {resources.spill_stores} B stored, {resources.spill_loads} B loaded per thread")
    body = [Text(fact, style=QUIET) for fact in facts]
    return section("Occupancy", bars([("Resident", held.resident, note)]), *body)


def energy(prediction: Prediction, context: Context) -> list[RenderableType]:
    """Return the energy by component, largest first."""
    whole = sum(prediction.energy_components.values())
    if not whole > 0:
        return []
    ordered = sorted(prediction.energy_components.items(), key=lambda part: -part[1])
    rows = [(component_name(k), x / whole, si(x, "J")) for k, x in ordered if _shown(x / whole, context)]
    return section("Energy", bars(rows if context.verbosity > 0 else rows[:6]))


def source(prediction: Prediction, context: Context) -> list[RenderableType]:
    """Return the hottest lines with their shares of time and energy, and the loops."""
    hot = _hot(prediction, context)
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", width=max(4, *(len(str(line.line)) for line in hot), 0))
    table.add_column(width=BAR_WIDTH // 2)
    table.add_column(justify="right", width=6)
    table.add_column(justify="right", width=6)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_row(*(Text(head, style=QUIET) for head in ("line", "", "time", "energy", "")))
    for line in hot:
        table.add_row(*_line_row(line))
    loops = [_loop(loop) for loop in prediction.case.workload.execution.loops]
    body: list[RenderableType] = [table] if hot else []
    return section("Source", *body, *loops)


def _hot(prediction: Prediction, context: Context) -> list[LineCost]:
    """Return the lines to show, hottest first."""
    limit = len(prediction.lines) if context.verbosity > 0 else HOT_LINES
    return sorted(prediction.lines, key=lambda line: (-line.time_share, line.file, line.line))[:limit]


def _line_row(line: LineCost) -> Iterable[Text]:
    yield Text(str(line.line))
    yield Text(bar(line.time_share, BAR_WIDTH // 2), style=heat(line.time_share))
    yield Text(percent(line.time_share))
    yield Text(percent(line.energy_share))
    yield Text(plain(line.text.strip()))


def accesses(prediction: Prediction, context: Context) -> list[RenderableType]:
    """Return what the hottest lines do to memory, by buffer: lanes, sectors, hits, bytes from DRAM."""
    found = reaches(prediction.case.workload)
    rows = [r for line in _hot(prediction, context) for r in found.get((line.file, line.line), ())]
    if not rows:
        return []
    cells = [[Text(head, style=QUIET) for head in ACCESS_HEADS], *(list(_access_row(row)) for row in rows)]
    needed = sum(max(cell.cell_len for cell in column) for column in zip(*cells, strict=True))
    roomy = needed + 2 * len(ACCESS_HEADS) <= context.width
    table = Table.grid(padding=(0, 2 if roomy else 1))
    for head in ACCESS_HEADS:
        name = head == "access"  # the one that is broken where the terminal is narrow: figures never are
        table.add_column(justify="left" if name else "right", no_wrap=not name, overflow="fold")
    for line in cells:
        table.add_row(*line)
    return section("Accesses", table, Text(ACCESS_LEGEND, style=QUIET))


def _access_row(reach: Reach) -> Iterable[Text]:
    seen = f"{count(reach.seen)} {'wf' if reach.shared else 'sec'}"
    yield Text(str(reach.line.line))
    yield Text(plain(reach.name))
    yield Text(count(reach.requests))
    yield Text(count(round(reach.lanes, 1)))
    yield Text(seen, style="yellow" if reach.wasteful else "")
    yield Text(count(reach.ideal))
    yield Text(stride_text(reach))
    yield from (Text(share) for share in hit_texts(reach))
    yield Text("" if reach.dram is None else si(reach.dram.total, "B"))


def _loop(loop: LoopTrips) -> Text:
    where = f"loop at line {loop.line.line}" if loop.line else f"loop at instruction {loop.header}"
    expression = f" = {plain(loop.expression)}" if loop.expression else ""
    early = f", lanes leave after {count(loop.lanes)}" if loop.lanes < 0.99 * loop.trips else ""
    how = "" if loop.known else f" (assumed: {_loop_fix(loop.line)})"
    return Text(f"{where}: {plural(loop.trips, 'iteration')}{expression}{early}{how}", style=QUIET)


def _loop_fix(line: SourceLine | None) -> str:
    return f"--loop {line.line if line else 'LINE'}=COUNT"


def assumptions(prediction: Prediction, _context: Context) -> list[RenderableType]:
    """Return what was taken for granted with the flag that removes it, and the warnings."""
    taken = [_assumption(a.message, a.line, a.fix) for a in prediction.assumptions]
    warned = [Text(f"! {plain(w)}", style="yellow") for w in all_warnings(prediction)]
    return [*section("Assumptions", *taken), *section("Warnings", *warned)]


def _assumption(message: str, line: SourceLine | None, fix: str) -> Text:
    where = f"line {line.line}: " if line else ""
    return Text.assemble(f"· {where}{plain(message)}", (f"  {plain(fix)}" if fix else "", "bold"))


def _shown(share: float, context: Context) -> bool:
    return context.verbosity > 0 or share >= SMALL
